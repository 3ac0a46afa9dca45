"""The steps inside a response: turns, reasoning, tool calls, errors, limits."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from foreshock.readers._inspect_json import present, raw_text
from foreshock.readers._inspect_log import Texts
from foreshock.readers._inspect_meta import whole
from foreshock.readers._inspect_text import reasoning_parts, said
from foreshock.readers._inspect_types import Event, Generation, Message, Problem, Sample, ToolCall, Usage

MAX_STEPS = 2_000
_KINDS = frozenset({"model", "tool", "error", "sample_limit"})
_MAX_VALUE = 200
_STRING = msgspec.json.Decoder(str)


class Step(NamedTuple):
    """One row of the trace, without its number and the number of its response."""

    turn: int | None
    kind: str
    name: str | None = None
    ok: bool | None = None
    tokens: int | None = None
    unit: str | None = None
    seconds: float | None = None
    value: str | None = None


class _Timed(NamedTuple):
    usage: Usage | None
    seconds: float | None


def steps(sample: Sample, texts: Texts) -> list[Step]:
    """Steps of a sample in the order of its conversation; what ended it comes last.

    Messages say what happened; events add how long it took, how many tokens a turn had, and the errors that no
    message shows.
    """
    events = sample.events or (sample.transcript and sample.transcript.events) or []
    seen = _Events(events)
    out: list[Step] = []
    _conversation(sample.messages or [], seen, texts, out)
    out += [_event(event) for event in seen.rest]
    for retry in sample.error_retries or []:
        out.append(Step(None, "error", "retried", False, value=_cut(retry.message or "")))
    if sample.error is not None and not seen.errors:
        out.append(Step(None, "error", "sample", False, value=_cut(sample.error.message or "")))
    if sample.limit is not None and not seen.limits:
        out.append(Step(None, "limit", sample.limit.type, value=_cut(sample.limit.reason or "")))
    return out


class _Events:
    """The events that matter, by the message or call that they belong to."""

    def __init__(self, events: list[Event]) -> None:
        self.turns: dict[str, _Timed] = {}
        self.tools: dict[str, float | None] = {}
        self.rest: list[Event] = []
        self.errors = self.limits = 0
        for event in events:
            if event.event in _KINDS:
                self._take(event, event.event)

    def _take(self, event: Event, kind: str | None) -> None:
        if kind == "model":
            self._model(event)
        elif kind == "tool":
            call = _string(event.id)
            if call:
                self.tools[call] = event.working_time
        else:
            self.errors += kind == "error"
            self.limits += kind == "sample_limit"
            self.rest.append(event)

    def _model(self, event: Event) -> None:
        if event.error is not None:
            self.rest.append(event)
        output = event.output
        if isinstance(output, Generation) and output.choices:
            message = output.choices[0].message
            if message is not None and message.id:
                self.turns[message.id] = _Timed(output.usage, event.working_time)


def _conversation(messages: list[Message], seen: _Events, texts: Texts, out: list[Step]) -> None:
    replies = {m.tool_call_id: m for m in messages if m.tool_call_id and m.role == "tool"}
    called: set[str] = set()
    turn = -1
    for message in messages:
        if message.role == "assistant":
            turn += 1
            _turn(message, turn, seen, texts, out)
            for call in message.tool_calls or []:
                called.add(call.id or "")
                out.append(_tool(call, replies.get(call.id or ""), turn, seen))
        elif message.role == "tool" and message.tool_call_id not in called:
            # a reply whose call is not in the log
            call = ToolCall(id=message.tool_call_id, function=message.function)
            out.append(_tool(call, message, max(turn, 0), seen))


def _turn(message: Message, turn: int, seen: _Events, texts: Texts, out: list[Step]) -> None:
    segments = reasoning_parts(message, texts)
    out += [Step(turn, "reasoning", None, None, len(segment), "characters") for segment in segments]
    timed = seen.turns.get(message.id or "")
    tokens = whole(timed.usage.output_tokens) if timed and timed.usage else None
    size = len(said(message, texts)) if tokens is None else tokens
    unit = "characters" if tokens is None else "tokens"
    out.append(Step(turn, "turn", "assistant", None, size, unit, timed and timed.seconds))
    if isinstance(message.content, list):
        for part in message.content:
            if part.type == "tool_use":  # run by the provider, inside the turn
                value = _cut(raw_text(part.arguments))
                out.append(Step(turn, "tool", part.name, not present(part.error), value=value))


def _tool(call: ToolCall, reply: Message | None, turn: int, seen: _Events) -> Step:
    problem = call.parse_error or (reply and (reply.tool_error or _problem(reply.error)))
    value = problem or raw_text(call.arguments)
    # a call without a reply has no outcome: the sample ended first
    ok = None if reply is None and not problem else not problem
    seconds = seen.tools.get(call.id or "")
    return Step(turn, "tool", _cut(call.function or ""), ok, seconds=seconds, value=_cut(value))


def _event(event: Event) -> Step:
    if event.event == "sample_limit":
        return Step(None, "limit", _string(event.type), value=_cut(_string(event.message) or ""))
    found = event.error if isinstance(event.error, str) else _problem(event.error) or ""
    name = "sample" if event.event == "error" else "model"
    return Step(None, "error", name, False, seconds=event.working_time, value=_cut(found))


def _problem(problem: Problem | None) -> str | None:
    return None if problem is None else f"{problem.type}: {problem.message}" if problem.type else problem.message or "?"


def _string(raw: msgspec.Raw) -> str | None:
    """A field that was kept encoded because some kinds of event hold something else than a text there."""
    try:
        return _STRING.decode(raw) if present(raw) else None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _cut(text: str) -> str | None:
    if not text:
        return None
    return text if len(text) <= _MAX_VALUE else text[: _MAX_VALUE - 1] + "…"
