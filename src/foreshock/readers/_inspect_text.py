"""Texts out of messages: the question, the answer's text, the reasoning apart from it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from foreshock.readers._inspect_log import Texts
from foreshock.readers._inspect_types import Message, Output, Part, Sample

_MEDIA = ("image", "audio", "video", "document")
_MAX_REFERENCE = 200


def question(sample: Sample, texts: Texts) -> str | None:
    """What was asked, without system messages; a conversation of several messages is told by role."""
    if not isinstance(sample.input, list):
        return None if sample.input is None else texts(sample.input)
    asked = [m for m in sample.input if m.role != "system"]
    if len(asked) == 1 and asked[0].role in ("user", None):
        return said(asked[0], texts, media=True)
    return "\n".join(f"{m.role}: {said(m, texts, media=True)}" for m in asked) or None


def completion(output: Output | None, texts: Texts) -> str | None:
    """Text of the last generation without its reasoning; None when there was no generation."""
    if output is None or not output.choices:
        return None
    if output.completion:
        return texts(output.completion)
    message = output.choices[0].message
    return "" if message is None else said(message, texts)


def said(message: Message, texts: Texts, media: bool = False) -> str:
    """Text of a message; with ``media``, pictures and the like appear as references to their content."""
    content = message.content
    if content is None or isinstance(content, str):
        return texts(content or "")
    shown = (_part(part, texts, media) for part in content)
    return "\n".join(text for text in shown if text is not None)


def reasoning(message: Message | None, texts: Texts) -> str | None:
    """Reasoning of a message, its parts one to a line; a redacted one is its summary; None without any."""
    if message is None:
        return None
    parts = reasoning_parts(message, texts)
    return "\n".join(parts) if parts else None


def reasoning_parts(message: Message, texts: Texts) -> list[str]:
    """The segments of reasoning in a message."""
    out = [texts(message.reasoning)] if message.reasoning else []
    if isinstance(message.content, list):
        parts = (p for p in message.content if p.type == "reasoning")
        out += [texts((p.summary if p.redacted else p.reasoning) or "") for p in parts]
    return out


def gold_index(choices: Sequence[str], targets: Sequence[str]) -> int | None:
    """Position of the right choice when the target is one letter (A is the first) or the text of one choice."""
    if len(targets) != 1:
        return None
    target = targets[0].strip()
    if len(target) == 1 and "A" <= target <= "Z" and ord(target) - 65 < len(choices):
        return ord(target) - 65
    places = [n for n, choice in enumerate(choices) if choice == targets[0]]
    return places[0] if len(places) == 1 else None


def _part(part: Part, texts: Texts, media: bool) -> str | None:
    if part.type == "text" or (part.type is None and part.text is not None):
        return texts(part.text or "")
    if media and part.type in _MEDIA:
        return f"[{part.type}: {_reference(texts(getattr(part, part.type) or ''))}]"
    return None


def _reference(link: str) -> str:
    if len(link) <= _MAX_REFERENCE and not link.startswith("data:"):
        return link
    return f"sha256:{hashlib.sha256(link.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
