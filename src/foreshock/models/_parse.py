"""Bodies of an OpenAI-compatible endpoint: taken apart with distrust."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from foreshock.records import Delivery, Reply, Token

NOTE = 300
"""Characters kept of what an endpoint says about itself."""

TOKENS = 100_000
"""Tokens of a reply at the most; more than any model writes."""

ALTERNATIVES = 64

_SLACK = 1e-3  # half precision may put a certain token a little above probability 1
_BLOCKED = ("content_filter", "content_policy", "responsibleai")
_STATES = {"length": Delivery.TRUNCATED, "max_tokens": Delivery.TRUNCATED, "content_filter": Delivery.BLOCKED}


def decode(body: bytes) -> Any:
    """JSON, with NaN and infinities as null; None when it is no JSON.

    Examples:
        >>> decode(b'{"a": NaN}'), decode(b"<html>") is None
        ({'a': None}, True)
    """
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(body, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None


def member(value: Any, *path: str | int) -> Any:
    """The member at ``path``; None where there is none.

    Examples:
        >>> member({"choices": [{"text": "4"}]}, "choices", 0, "text")
        '4'
        >>> member({"choices": {}}, "choices", 0) is None
        True
    """
    for step in path:
        if isinstance(step, int):
            if not isinstance(value, list) or len(value) <= step:
                return None
            value = value[step]
        else:
            if not isinstance(value, dict):
                return None
            value = value.get(step)
    return value


def words(value: Any) -> str | None:
    """A text of the endpoint's own, cut to a line that may be shown."""
    if not isinstance(value, str) or not value.strip():
        return None
    line = " ".join(value[: 4 * NOTE].split()).encode("utf-8", "replace").decode()
    return line if len(line) <= NOTE else line[: NOTE - 1] + "…"


def error_of(value: Any) -> str | None:
    """What the endpoint says went wrong."""
    found = member(value, "error")
    told = member(found, "message") if isinstance(found, dict) else found
    return words(told) or words(member(value, "message")) or words(member(value, "detail"))


def is_block(value: Any) -> bool:
    """Whether an error is a content filter's."""
    marks = (member(value, "error", name) for name in ("code", "type"))
    return any(isinstance(mark, str) and mark.lower().startswith(_BLOCKED) for mark in marks)


def generated(value: Any, *, chat: bool) -> Reply:
    """The reply in a body of status 200."""
    choice = member(value, "choices", 0)
    if not isinstance(choice, dict):
        return failed(error_of(value) or "the endpoint answered without a choice", value)
    text = member(choice, "message", "content") if chat else choice.get("text")
    stop = choice.get("finish_reason")
    stop = words(stop)
    refusal = words(member(choice, "message", "refusal")) if chat else None
    if refusal is not None:
        return _reply(value, Delivery.REFUSED, text if isinstance(text, str) else None, stop, note=refusal)
    if not isinstance(text, str):
        state = _STATES.get(stop or "", Delivery.ERROR)
        blocked = state is Delivery.BLOCKED
        return _reply(value, state if blocked else Delivery.ERROR, None, stop, note="the reply has no text")
    tokens = chat_tokens(choice) if chat else completion_tokens(choice)
    return _reply(value, _STATES.get(stop or "", Delivery.OK), text, stop, tokens=tokens)


def failed(note: str, value: Any = None, *, delivery: Delivery = Delivery.ERROR, final: bool = True) -> Reply:
    """A reply that says what went wrong."""
    return Reply(delivery=delivery, note=note, model=words(member(value, "model")), final=final)


def _reply(
    value: Any,
    delivery: Delivery,
    text: str | None,
    stop: str | None,
    *,
    tokens: tuple[Token, ...] = (),
    note: str | None = None,
) -> Reply:
    return Reply(
        delivery=delivery,
        text=None if text is None else clean(text),
        tokens=tokens,
        stop_reason=stop,
        input_tokens=_count(member(value, "usage", "prompt_tokens")),
        output_tokens=_count(member(value, "usage", "completion_tokens")),
        model=words(member(value, "model")),
        note=note,
    )


def chat_tokens(choice: Any) -> tuple[Token, ...]:
    """Tokens of a chat completion: ``logprobs.content``, each with its alternatives."""
    content = member(choice, "logprobs", "content")
    if not isinstance(content, list):
        return ()
    found = []
    for entry in content[:TOKENS]:
        tops = member(entry, "top_logprobs")
        listed = tops[:ALTERNATIVES] if isinstance(tops, list) else []
        pairs = ((member(top, "token"), member(top, "logprob")) for top in listed)
        found.append(_token(member(entry, "token"), member(entry, "logprob"), pairs))
    return tuple(found)


def completion_tokens(choice: Any) -> tuple[Token, ...]:
    """Tokens of a completion: the parallel lists of ``logprobs``; some servers give those of a chat instead."""
    texts, values = (member(choice, "logprobs", name) for name in ("tokens", "token_logprobs"))
    if not isinstance(texts, list) or not isinstance(values, list) or len(texts) != len(values):
        return chat_tokens(choice)
    tops = member(choice, "logprobs", "top_logprobs")
    found = []
    for place, (text, value) in enumerate(zip(texts[:TOKENS], values[:TOKENS], strict=True)):
        top = member(tops, place)
        pairs = list(top.items())[:ALTERNATIVES] if isinstance(top, dict) else ()
        found.append(_token(text, value, pairs))
    return tuple(found)


def _token(text: Any, value: Any, alternatives: Any) -> Token:
    top = {clean(t): p for t, v in alternatives if isinstance(t, str) and (p := logprob(v)) is not None}
    return Token(clean(text) if isinstance(text, str) else "", logprob(value), top)


def logprob(value: Any) -> float | None:
    """A log-probability: finite and at most 0, else None.

    Examples:
        >>> logprob(-1.5), logprob(0.0001), logprob(3), logprob(float("nan")), logprob(True)
        (-1.5, 0.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return min(number, 0.0) if math.isfinite(number) and number <= _SLACK else None


def clean(text: str) -> str:
    """Valid Unicode: a lone half of a surrogate pair becomes a question mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def sound(reply: Reply) -> Reply:
    """A reply of a stranger's function or file, held to what the reply of an endpoint is held to.

    Texts are valid Unicode, what is said about the reply is short, log-probabilities are at most 0, counts are counts.

    Raises:
        TypeError: The text is no text, or tokens are no tokens.
    """
    if not isinstance(reply.text, str | None):
        raise TypeError(f"its text is a {type(reply.text).__name__}")
    seconds = reply.seconds
    timed = isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0
    return msgspec.structs.replace(
        reply,
        text=None if reply.text is None else clean(reply.text),
        tokens=tuple(_token(t.text, t.logprob, t.top.items()) for t in reply.tokens[:TOKENS]),
        target_tokens=tuple(_token(t.text, t.logprob, t.top.items()) for t in reply.target_tokens[:TOKENS]),
        stop_reason=words(reply.stop_reason),
        input_tokens=_count(reply.input_tokens),
        output_tokens=_count(reply.output_tokens),
        model=words(reply.model),
        seconds=seconds if timed else None,
        note=words(reply.note),
    )


def _count(value: Any) -> int | None:
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if known else None
