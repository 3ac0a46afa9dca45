"""What else a sample's log says about its response: kept as JSON text, bounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from foreshock.readers._inspect_json import present
from foreshock.readers._inspect_log import Texts
from foreshock.readers._inspect_types import Sample, Score, Usage

_MAX_METADATA = 4_096
_MAX_ANSWER = 500
_MAX_ERROR = 500
NO_USAGE = Usage()


class Meta(msgspec.Struct, omit_defaults=True):
    """What else the log says about a response; becomes JSON text."""

    stop_reason: str | None = None
    error: str | None = None
    error_retries: int | None = None
    limit: str | None = None
    limit_value: float | None = None
    invalidated: msgspec.Raw | None = None
    delivery: str | None = None  # before it was declared invalid
    problem: str | None = None
    member: str | None = None
    completions: int | None = None
    answers: dict[str, str] | None = None  # of the other scorers
    usage: dict[str, list[int | None]] | None = None  # [input, output, total] of every model, when there are several
    last_usage: list[int | None] | None = None  # of the last generation, when it is not all
    cache_read: int | None = None
    cache_write: int | None = None
    trace_left_out: int | None = None
    started_at: str | None = None
    total_time: float | None = None
    uuid: str | None = None
    metadata: msgspec.Raw | None = None
    metadata_bytes: int | None = None  # of metadata too large to keep


def answer_of(scores: dict[str, Score], texts: Texts, order: Sequence[str], meta: Meta) -> str | None:
    """The first scorer's extracted answer; the other scorers' go to ``meta``, cut where they are whole texts."""
    found = {k: texts(_text(s.answer)) for k, s in scores.items() if s.answer is not None}
    if not found:
        return None
    answer = found.pop(_first(found, order))
    if found:
        meta.answers = {k: a[:_MAX_ANSWER] for k, a in found.items()}
    return answer


def _first(found: dict[str, str], order: Sequence[str]) -> str:
    for name in order:
        if name in found:
            return name
    return next(iter(found))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def usage_of(sample: Sample, model: str, meta: Meta) -> Usage:
    """Tokens that ``model`` used over the whole sample, else in its last generation; the rest goes to ``meta``."""
    used, last = sample.model_usage or {}, sample.output.usage if sample.output else None
    usage = used.get(model) or last or NO_USAGE
    if len(used) > 1 or (used and model not in used):
        meta.usage = {k: _counts(u) for k, u in used.items()}
    if last is not None and last != usage and _counts(last) != _counts(usage):
        meta.last_usage = _counts(last)
    meta.cache_read = whole(usage.input_tokens_cache_read) or None
    meta.cache_write = whole(usage.input_tokens_cache_write) or None
    return usage


def _counts(usage: Usage) -> list[int | None]:
    return [whole(usage.input_tokens), whole(usage.output_tokens), whole(usage.total_tokens)]


def note_facts(sample: Sample, meta: Meta) -> None:
    """How the sample ended, when and how long it ran, and its metadata."""
    output = sample.output
    if output and output.choices:
        meta.stop_reason = output.choices[0].stop_reason
        if len(output.choices) > 1:
            meta.completions = len(output.choices)
    if sample.error is not None:
        meta.error = (sample.error.message or "")[:_MAX_ERROR]
    elif output is not None and output.error is not None:
        meta.error = output.error[:_MAX_ERROR]
    if sample.error_retries:
        meta.error_retries = len(sample.error_retries)
    if sample.limit is not None:
        meta.limit, meta.limit_value = sample.limit.type, finite(sample.limit.limit)
    meta.started_at, meta.total_time, meta.uuid = sample.started_at, finite(sample.total_time), sample.uuid
    if present(sample.metadata):
        size = memoryview(sample.metadata).nbytes
        if size > _MAX_METADATA:
            meta.metadata_bytes = size
        elif size > 2:
            meta.metadata = compact(sample.metadata)


def compact(raw: msgspec.Raw) -> msgspec.Raw:
    """The same JSON without the writer's white space."""
    return msgspec.Raw(msgspec.json.format(raw, indent=-1))


def whole(value: int | None) -> int | None:
    """An integer that a column can hold."""
    return value if value is not None and -(2**63) <= value < 2**63 else None


def finite(value: float | None) -> float | None:
    """A float that is a number."""
    return value if value is not None and math.isfinite(value) else None
