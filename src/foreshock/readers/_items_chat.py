"""Chat completions of the OpenAI API, which many home-made logs keep whole in a column."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeGuard

from foreshock.records import Delivery

_FAULTS = {"length": Delivery.TRUNCATED, "content_filter": Delivery.BLOCKED}


class Chat(NamedTuple):
    """What one completion says."""

    outputs: list[str]
    delivery: Delivery
    model: str | None
    created: str | None
    tokens: tuple[int | None, int | None, int | None]


def is_chat(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether ``value`` is a chat completion object."""
    if not isinstance(value, dict):
        return False
    choices = value.get("choices")
    return isinstance(choices, list) and (not choices or (isinstance(choices[0], dict) and "message" in choices[0]))


def chat(value: dict[str, Any]) -> Chat:
    """Texts, delivery, model and token counts of a chat completion."""
    choices = [c for c in value.get("choices") or [] if isinstance(c, dict)]
    messages = [m if isinstance(m := c.get("message"), dict) else {"content": m} for c in choices]
    delivery = Delivery.OK if choices else Delivery.MISSING
    if choices:
        delivery = _FAULTS.get(str(choices[0].get("finish_reason")), Delivery.OK)
        if messages[0].get("refusal"):
            delivery = Delivery.REFUSED
    usage = value.get("usage") if isinstance(value.get("usage"), dict) else {}
    counts = [(usage or {}).get(f"{kind}_tokens") for kind in ("prompt", "completion", "total")]
    tokens = tuple(c if type(c) is int and 0 <= c < 2**63 else None for c in counts)
    model = value.get("model")
    return Chat(
        [_text(m.get("content")) for m in messages],
        delivery,
        model if isinstance(model, str) and model else None,
        _moment(value.get("created")),
        (tokens[0], tokens[1], tokens[2]),
    )


def _text(content: Any) -> str:
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict)]
        return "\n".join(p for p in parts if isinstance(p, str))
    return content if isinstance(content, str) else ""


def _moment(created: Any) -> str | None:
    if not isinstance(created, int | float) or isinstance(created, bool) or not 0 < created < 1e11:
        return None
    return datetime.fromtimestamp(created, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
