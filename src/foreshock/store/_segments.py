"""Segments: content-named Parquet files of rows, and the buffer that fills them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from foreshock.records import MAX_BYTES, MAX_ROWS
from foreshock.store._commit import SegmentEntry
from foreshock.store._files import drafting, file_sha256, publish, writing
from foreshock.store._frames import SCHEMAS, build, complete

SEGMENT_ROWS = 250_000
BUFFER_BYTES = 16 * 2**20
"""Rows held in memory over all tables. Writing Parquet costs several times this beside it: 50,000 lm-eval samples of
8 kB peak at 188 MB with 16 MiB, 207 MB with 24 and 213 MB with 32, of which 70 MB are Python and Polars; the CPU time
is the same within what can be measured."""

ROW_GROUP = 8_192

ORDER: dict[str, tuple[str, ...]] = {
    "items": ("task", "item_key", "item_id"),
    "responses": ("task", "item_key", "item_id", "run_key", "ingest_id", "row"),
    "trace": ("ingest_id", "row", "seq"),
    "scores": ("ingest_id", "row", "metric_id", "source"),
    "aggregates": ("task", "metric_id", "subset", "filter", "reducer", "run_key", "ingest_id"),
}
"""Sort order of every table: task, item, run wherever the table has them."""


def segment_path(root: Path, table: str, sha256: str) -> Path:
    """Where a segment lies; nothing that a user or a log wrote is part of the path."""
    return root / table / f"{sha256}.parquet"


def write_parquet(root: Path, table: str, frame: pl.DataFrame) -> tuple[str, int]:
    """Write ``frame`` as it is and return the file's SHA-256 and size; equal frames share one file."""
    with writing(root / table), drafting(root) as draft:
        # level 1 costs two thirds of the CPU of the default level 3, for 15% more bytes
        frame.write_parquet(draft, compression="zstd", compression_level=1, row_group_size=ROW_GROUP)
        sha256 = file_sha256(draft)
        size = draft.stat().st_size
        publish(draft, segment_path(root, table, sha256))
    return sha256, size


class Written(NamedTuple):
    """A segment on disk that no commit names yet.

    Attributes:
        table: Table of the rows.
        sha256: Hash and name of the file.
        rows: Number of rows.
        bytes: Size of the file.
        memory: Size of the rows in memory.
        ingests: Ingests that have rows in it.
        low: Task and item key of the first row, for tables sorted by them.
        high: Task and item key of the last row.
    """

    table: str
    sha256: str
    rows: int
    bytes: int
    memory: int
    ingests: list[str]
    low: list[str | None]
    high: list[str | None]

    def entry(self, runs: Mapping[str, int]) -> SegmentEntry:
        """The segment as a commit names it; ``runs`` gives the position of each ingest in the commit."""
        return SegmentEntry(
            table=self.table,
            sha256=self.sha256,
            rows=self.rows,
            bytes=self.bytes,
            memory=self.memory,
            runs=sorted(runs[name] for name in self.ingests if name in runs),
            stray=any(name not in runs for name in self.ingests),
            low=self.low,
            high=self.high,
        )


def write_sorted(root: Path, table: str, frame: pl.DataFrame) -> Written:
    """Write ``frame``, which has all columns of ``table`` and is sorted by ``ORDER``."""
    memory = int(frame.estimated_size())
    sha256, size = write_parquet(root, table, frame)
    ingests = frame["ingest_id"].unique().sort().to_list() if "ingest_id" in frame.columns else []
    low: list[str | None] = []
    high: list[str | None] = []
    if "item_key" in frame.columns:
        low, high = (list(frame.select("task", "item_key").row(i)) for i in (0, -1))
    return Written(table, sha256, frame.height, size, memory, ingests, low, high)


class _Pending:
    """Small batches of one table, kept as lists: a frame of 20 rows costs as much time as one of 1,000."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.rows = 0
        self.characters = 0
        self.columns: dict[str, list[Any]] = {}

    def add(self, columns: Mapping[str, list[Any]], rows: int) -> None:
        for name in columns.keys() - self.columns.keys():
            self.columns[name] = [None] * self.rows
        for name, values in self.columns.items():
            new = columns.get(name)
            values.extend([None] * rows if new is None else new)
        self.rows += rows
        if rows < MAX_ROWS:
            texts = chain.from_iterable(columns.values())
            self.characters += sum(len(value) for value in texts if isinstance(value, str | list))

    @property
    def full(self) -> bool:
        return self.rows >= MAX_ROWS or self.characters >= MAX_BYTES

    def take(self) -> pl.DataFrame:
        # Ctrl-C inside add() leaves some columns longer than others; the batch it cut was not counted
        frame = build(self.table, {name: values[: self.rows] for name, values in self.columns.items()})
        self.__init__(self.table)  # type: ignore[misc]
        return frame


class Buffer:
    """Rows waiting to become segments; bounded over all tables together.

    Args:
        root: Folder of the store.
        news: Takes the items about to be written and returns those that the store does not have yet.

    Attributes:
        written: Segments on disk.
        dropped: Ingests that failed; their rows are left out as far as they are not on disk yet.
    """

    def __init__(self, root: Path, news: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
        self.written: list[Written] = []
        self.dropped: set[str] = set()
        self._root = root
        self._news = news
        self._pending = {table: _Pending(table) for table in SCHEMAS}
        self._frames: dict[str, list[pl.DataFrame]] = {table: [] for table in SCHEMAS}
        self._bytes = dict.fromkeys(SCHEMAS, 0)
        self._rows = dict.fromkeys(SCHEMAS, 0)

    def add(self, table: str, columns: Mapping[str, list[Any]], rows: int) -> None:
        """Take some checked rows; writes a segment when there are enough."""
        pending = self._pending[table]
        pending.add(columns, rows)
        if pending.full:
            self._frame(table)

    def finish(self) -> list[Written]:
        """Write what is left and return every segment, in a fixed order."""
        for table, pending in self._pending.items():
            if pending.rows:
                self._frame(table)
            if self._frames[table]:
                self._spill(table, last=True)
        return sorted(self.written)

    def _frame(self, table: str) -> None:
        frame = self._pending[table].take()
        self._frames[table].append(frame)
        self._rows[table] += frame.height
        self._bytes[table] += int(frame.estimated_size())
        if self._rows[table] >= SEGMENT_ROWS:
            self._spill(table)
        while sum(self._bytes.values()) > BUFFER_BYTES:
            self._spill(max(self._bytes, key=self._bytes.__getitem__))

    def _spill(self, table: str, *, last: bool = False) -> None:
        frame = complete(self._frames[table], table)
        if self.dropped and "ingest_id" in frame.columns:
            frame = frame.filter(~pl.col("ingest_id").is_in(sorted(self.dropped)))
        if table == "items":
            frame = frame.unique(maintain_order=True)
            if not last and frame.height < self._rows[table] // 2:
                self._set(table, frame)
                return
            frame = self._news(frame)
        try:
            self._set(table, None)
            if frame.height:
                frame = frame.sort(ORDER[table], maintain_order=True)
                self.written.append(write_sorted(self._root, table, frame))
        except BaseException:
            # a full disk or Ctrl-C: runs that were complete may still be committed, and need these rows
            self._set(table, frame)
            raise

    def _set(self, table: str, frame: pl.DataFrame | None) -> None:
        self._frames[table] = [] if frame is None else [frame]
        self._rows[table] = 0 if frame is None else frame.height
        self._bytes[table] = 0 if frame is None else int(frame.estimated_size())
