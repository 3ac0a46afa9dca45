"""The responses of a segment, in pieces that are small whatever the segment holds.

A file of responses is sorted by item and run, and texts that many rows share (the targets of one item, the trace of a
long episode) are shared in Polars but not as Python objects. So a segment is read in blocks of whole row groups, and a
block is handed out in pieces bounded by the Python objects that it becomes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foreshock.metrics import MetricSpec
from foreshock.records import TABLES
from foreshock.scoring._beside import ATTACHED, attach, rest_of, weights
from foreshock.scoring._extraction import hide_answers, silent_runs, undisputed
from foreshock.store import Segment, Snapshot

if TYPE_CHECKING:
    import polars as pl

BLOCK_ROWS = 16_384
"""Responses read at once: two row groups of a segment's file."""

PIECE_BYTES = 16 * 2**20
"""Text, numbers and steps that become Python objects at once. One response, or one item of a run where a metric looks
at all its responses together, is never cut."""

REPEATS = ("ingest_id", "run_key", "task", "filter", "perturbation", "item_key", "item_id")
"""What the responses of one run to one item have in common."""

_GROUP = ("task", "item_key", "item_id", "run_key", "ingest_id")  # the order of a segment begins with these
_ITEM = frozenset(c.name for c in TABLES["items"]) - frozenset(c.name for c in TABLES["responses"])


class Rows:
    """Some consecutive responses of a segment; columns become lists when a metric first asks for them.

    Attributes:
        start: Place of the first row in the segment.
        height: Number of rows.
        tasks: Task of every row.
    """

    def __init__(self, start: int, own: _Part, rest: _Part) -> None:
        self.start = start
        self.height = own.frame.height
        self.tasks: list[str] = own.frame["task"].to_list()
        self._own, self._rest = own, rest

    def of(self, spec: MetricSpec) -> dict[str, list[Any]]:
        """The columns that a metric looks at.

        With grain ``item``, the responses that the same runs gave to the same items and that lie in other segments
        stand after the rows of this one.
        """
        names = dict.fromkeys((*spec.inputs, *spec.unless, "delivery", "output"))
        if spec.grain != "item":
            return {name: self._own[name] for name in names}
        names |= dict.fromkeys(REPEATS)
        return {name: self._own[name] + self._rest[name] for name in names}

    def empty(self, name: str) -> bool:
        """Whether no row has anything in this column; an absent answer beside an output is something: unparsed."""
        if name in ATTACHED:
            return not any(self._own[name])
        names = ("answer", "output") if name == "answer" else (name,)
        return all(self._own.frame[each].null_count() == self.height for each in names)

    def full(self, name: str) -> bool:
        """Whether every row has something in this column."""
        import polars as pl

        if name in ATTACHED:
            return all(self._own[name])
        column = self._own.frame[name]
        listed = isinstance(column.dtype, pl.List)
        return column.null_count() == 0 and (not listed or bool((column.list.len() > 0).all()))

    @property
    def repeated(self) -> bool:
        """Whether some run answered some item of these rows more than once."""
        import polars as pl

        every = pl.concat([part.frame.select(REPEATS) for part in (self._own, self._rest)])
        known = every.filter(pl.any_horizontal(pl.col("item_key", "item_id").is_not_null()))
        return bool(known.is_duplicated().any())


class _Part:
    """Rows as a frame, beside what other tables hold of them."""

    def __init__(self, frame: pl.DataFrame, attached: dict[str, list[Any]]) -> None:
        self.frame = frame
        self._lists = attached

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self._lists:
            self._lists[name] = self.frame[name].to_list()
        return self._lists[name]


class Reader:
    """Reads one segment for some metrics.

    Args:
        snapshot: The store.
        segment: A segment of responses.
        specs: Metrics; only the columns that they look at are read.
        others: Segments that hold more responses of runs to items of this one.
    """

    def __init__(
        self, snapshot: Snapshot, segment: Segment, specs: Sequence[MetricSpec], others: Sequence[Segment]
    ) -> None:
        self._snapshot, self._segment, self._others = snapshot, segment, others
        self._whole = any(spec.grain == "item" for spec in specs)
        self._wanted = {name for spec in specs for name in (*spec.inputs, *spec.unless)}
        self._shared = {n for spec in specs if spec.grain == "item" for n in (*spec.inputs, *spec.unless)}
        self._silent = silent_runs(snapshot, segment) if "answer" in self._wanted else frozenset[str]()

    def __iter__(self) -> Iterator[Rows]:
        """The rows of the segment in order, in pieces."""
        for start, block in self._blocks():
            frame = self._finish(block, self._wanted)
            size = weights(self._snapshot, frame, self._wanted & ATTACHED)
            for low, high in _pieces(size, _starts(frame) if self._whole else None):
                yield self._piece(start + low, frame.slice(low, high - low))

    def _piece(self, start: int, frame: pl.DataFrame) -> Rows:
        return Rows(start, self._part(frame, self._wanted), self._part(self._rest(frame), self._shared))

    def _part(self, frame: pl.DataFrame, wanted: set[str]) -> _Part:
        return _Part(frame, {name: attach(self._snapshot, frame, name) for name in sorted(wanted & ATTACHED)})

    def _blocks(self) -> Iterator[tuple[int, pl.DataFrame]]:
        """Whole row groups; the responses of a run to an item stay together where a metric wants them so."""
        import polars as pl

        carried: pl.DataFrame | None = None
        names, start = _columns(self._wanted), 0
        for first in range(0, self._segment.rows, BLOCK_ROWS):
            block = _read(self._snapshot.frame(self._segment, names, start=first, rows=BLOCK_ROWS), self._wanted)
            block = block if carried is None else pl.concat([carried, block])
            last = first + BLOCK_ROWS >= self._segment.rows
            cut = block.height if last or not self._whole else int(_starts(block)[-1])
            if cut:
                yield start, block.slice(0, cut)
            start += cut
            carried = block.slice(cut)

    def _finish(self, frame: pl.DataFrame, wanted: set[str]) -> pl.DataFrame:
        if "answer" in wanted:
            frame = hide_answers(frame, self._silent)
        items = sorted(wanted & _ITEM)
        return undisputed(self._snapshot, self._snapshot.with_items(frame, items), items) if items else frame

    def _rest(self, frame: pl.DataFrame) -> pl.DataFrame:
        if not self._others:
            return frame.clear()
        columns = _columns(self._shared)
        found = rest_of(self._snapshot, self._segment, self._others, frame.select(REPEATS), columns)
        return self._finish(_read(found, self._shared), self._shared)


def _columns(wanted: set[str]) -> list[str]:
    """Columns of responses that are read for some metrics."""
    return list(dict.fromkeys((*REPEATS, "row", "delivery", "output", *sorted(wanted - _ITEM - ATTACHED))))


def _read(frame: pl.DataFrame, wanted: set[str]) -> pl.DataFrame:
    import polars as pl

    if "output" in wanted:
        return frame
    # a text that no metric reads still tells whether there was one
    return frame.with_columns(pl.when(pl.col("output").is_not_null()).then(pl.lit("")).alias("output"))


def _starts(frame: pl.DataFrame) -> np.ndarray:
    """Places where another item or run begins."""
    import polars as pl

    same = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift()) for name in _GROUP)
    begins = frame.select(~same.alias("begins"))["begins"].to_numpy().copy()
    begins[0] = True
    return np.flatnonzero(begins)


def _pieces(size: np.ndarray, starts: np.ndarray | None) -> Iterator[tuple[int, int]]:
    """Cut rows of these sizes, before one of ``starts`` (before any row when it is None)."""
    places = np.arange(len(size)) if starts is None else starts
    ends = np.append(places[1:], len(size))
    total = np.concatenate([[0], np.cumsum(size)])
    low = 0
    while low < len(size):
        fits = np.searchsorted(total[ends], total[low] + PIECE_BYTES, side="right") - 1
        first = np.searchsorted(ends, low, side="right")
        high = int(ends[max(fits, first)])
        yield low, high
        low = high
