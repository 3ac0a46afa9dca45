"""What readers of record-wise logs share: replies in, rows of items, responses, traces and scores out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import msgspec

from foreshock._base import count_of
from foreshock.readers._contain import reported
from foreshock.readers._json import decode
from foreshock.readers._plain import Problems
from foreshock.readers._rows import Rows, item_name
from foreshock.records import Batch, Delivery, ScoreStatus

T = TypeVar("T")
_ANY = msgspec.json.Decoder(Any)

_NUMBERED = {
    "items": ("item_key", "item_id", "input", "choices", "targets", "gold_index", "subset"),
    "responses": (
        *("row", "item_key", "item_id", "epoch", "sample", "filter", "prompt_hash", "delivery", "output", "reasoning"),
        *("answer", "choice_logprobs", "gold_logprob", "output_token_logprobs", "input_tokens", "output_tokens"),
        *("reasoning_tokens", "total_tokens", "token_unit", "seconds", "meta"),
    ),
    "trace": ("row", "seq", "turn", "kind", "name", "ok", "tokens", "unit", "seconds", "value"),
    "scores": ("row", "metric_id", "source", "value", "status", "label"),
}
MAX_META = 4_000
"""Longest JSON of what else a record says; a longer one is replaced by the names of its members."""
MAX_VALUE = 200
MAX_STEPS = 2_000
MAX_COUNT = 2**53


class Asked(NamedTuple):
    """The item of a record; see the columns of the items table."""

    key: str | None = None
    question: str | None = None
    choices: list[str] | None = None
    targets: list[str] | None = None
    gold: int | None = None
    subset: str | None = None


class Reply(NamedTuple):
    """One response; see the columns of the responses table."""

    epoch: int = 1
    sample: int = 0
    filter: str | None = None
    prompt_hash: str | None = None
    delivery: Delivery = Delivery.OK
    output: str | None = None
    reasoning: str | None = None
    answer: str | None = None
    choice_logprobs: list[float] | None = None
    gold_logprob: float | None = None
    output_token_logprobs: list[float] | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None
    token_unit: str | None = None
    seconds: float | None = None
    meta: Mapping[str, Any] = MappingProxyType({})


class Marked(NamedTuple):
    """One score of the harness; ``value`` is None where it has none, and ``status`` says why."""

    metric: str
    value: float | None
    label: str | None = None
    status: ScoreStatus | None = None


class Step(NamedTuple):
    """One step inside a response; see the columns of the trace table."""

    turn: int | None
    kind: str
    name: str | None = None
    ok: bool | None = None
    tokens: int | None = None
    unit: str | None = None
    seconds: float | None = None
    value: str | None = None


class ReplyRows:
    """Builds the batches of one run.

    Args:
        bad: Takes records that turn out to be broken.

    Attributes:
        bad: The same.
        responses: Number of the next response.
        odd: What else is worth a warning, with how often it was met.
    """

    def __init__(self, bad: Problems) -> None:
        self.bad, self.responses, self.odd = bad, 0, Counter[str]()
        self._rows = Rows(_NUMBERED)
        self._append = {name: self._rows.appender(name) for name in _NUMBERED}
        self._items: dict[str, set[int]] = {}
        self._unequal = 0

    def batches(self, records: Iterable[tuple[int, T]], take: Callable[[T], int]) -> Iterator[Batch]:
        """Rows of every record.

        Args:
            records: Number and content.
            take: Adds the rows of one record and returns the characters of text in them; what it raises is noted, and
                its rows are taken back.
        """
        for number, record in records:
            before = self.responses
            try:
                size = take(record)
            except BaseException as error:  # noqa: BLE001 - one bad record is not the others
                self.bad.add(number, reported(error, Path()).found)
                self._rows.undo(before)
                self.responses, size = before, 0
            self._rows.grow(size)
            if self._rows.full:
                yield from self._rows.flush()
        yield from self._rows.flush()

    def rest(self) -> Iterator[Batch]:
        """Rows of the records before something that stopped the reading."""
        yield from self._rows.flush()

    def ask(self, item_id: str, item: Asked) -> str:
        """Add an item unless it is known, and return its id as the rows hold it."""
        name = item_name(item_id)
        known = self._items.setdefault(name, set())
        mark = hash((item.key, item.gold, tuple(item.targets or ())))
        if mark not in known:
            self._unequal += bool(known)
            known.add(mark)
            self._append["items"]((item.key, name, *item[1:]))
        return name

    def reply(self, name: str, item: Asked, reply: Reply, steps: Sequence[Step] = ()) -> int:
        """Add a response and its steps; returns its number."""
        number = self.responses
        before, after = reply[:4], reply[5:-1]
        meta = encoded(reply.meta)
        self._append["responses"]((number, item.key, name, *before, reply.delivery.value, *after, meta))
        for seq, step in enumerate(steps[:MAX_STEPS]):
            self._append["trace"]((number, seq, *step[:-1], cut(step.value)))
        if len(steps) > MAX_STEPS:
            self.odd[f"responses with more than {MAX_STEPS:,} steps; the rest are left out"] += 1
        self.responses += 1
        return number

    def mark(self, number: int, scores: Iterable[Marked]) -> None:
        """Add the harness's scores of a response."""
        for metric, value, label, status in scores:
            state = status or (ScoreStatus.FAILED if value is None else ScoreStatus.SCORED)
            self._append["scores"]((number, metric, "harness", value, state.value, cut(label)))

    def late(self, *problems: str) -> Iterator[Batch]:
        """What only shows at the end, as facts about the run; with ``problems`` it is partial."""
        told = [*problems, *self.bad.sentences()]
        notes = [f"{what}: {times:,}" for what, times in self.odd.items()]
        if self._unequal:
            notes.append(f"{count_of(self._unequal, 'item')} with the id of another one; both are kept")
        facts: dict[str, list[Any]] = {}
        if told or notes:
            facts["warnings"] = [[*told, *notes]]
        if told:
            facts["status"] = ["partial"]
        if facts:
            yield Batch("runs", facts)


def encoded(meta: Mapping[str, Any]) -> str | None:
    """What else a record says, as bounded JSON; None when it is nothing."""
    kept = {k: v for k, v in meta.items() if v not in (None, "", [], {})}
    if not kept:
        return None
    text = msgspec.json.encode(kept).decode()
    return text if len(text) <= MAX_META else msgspec.json.encode({"too_long": sorted(kept)[:50]}).decode()


def cut(text: str | None) -> str | None:
    """At most 200 characters of a text; None when it is empty."""
    if not text:
        return None
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "…"


def plain(value: Any) -> str | None:
    """A value as text: texts stay, anything else becomes JSON with sorted keys; None stays None."""
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value, order="sorted").decode()


def whole_number(value: Any) -> int | None:
    """A count that a column holds; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < MAX_COUNT and value == int(value) else None


def texts(value: Any) -> list[str] | None:
    """A list as texts; None when it is no list."""
    return [plain(v) or "" for v in value] if isinstance(value, list) else None


def loaded(raw: msgspec.Raw | bytes, where: str) -> Any:
    """One encoded value, whatever it is."""
    return decode(bytes(raw), _ANY, where)


def listed(value: Any) -> list[Any]:
    """A list, or an empty one for anything else."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str | None:
    """A text that says something; None for anything else."""
    return value if isinstance(value, str) and value.strip() else None
