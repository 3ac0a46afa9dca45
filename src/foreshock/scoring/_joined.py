"""Responses beside all scores of them, task by task, read many tasks at a time.

A segment of responses holds rows of as many tasks as were added together, so that reading the scores of one task opens
nearly every file of a store. Here each file is read once for as many tasks as fit into memory, and a score is a column
beside its responses instead of a row of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreshock.records import Run, ScoreStatus
from foreshock.store import Segment, Snapshot

if TYPE_CHECKING:
    import polars as pl

ROWS = 400_000
"""Responses that are read together, about: their columns, sorted once, take less than 200 MB."""

RESPONSE = ("ingest_id", "row", "item_key", "item_id", "epoch", "filter", "perturbation")
"""Columns of each response."""

_KEY = ("ingest_id", "row")
_ROW_BITS = 40
_SCORE = ("metric_id", "value", "status", "label")


class Column(NamedTuple):
    """Where one metric stands in the frame of :class:`Joined`.

    Attributes:
        metric_id: The metric.
        source: ``foreshock`` or ``harness``.
        value, status: Columns; both are null in rows that have no score of it.
        label: Column of labels, where they were asked for and always for the harness's metrics.
    """

    metric_id: str
    source: str
    value: str
    status: str
    label: str | None


class Joined(NamedTuple):
    """The responses of one task with their scores.

    Attributes:
        task: The task.
        frame: A row per response, in order of ingest and row: :data:`RESPONSE`, ``run_key``, and those of ``columns``.
        columns: One per metric that some response of the task has a row for, ours first, by id.
    """

    task: str
    frame: pl.DataFrame
    columns: list[Column]


def joined(
    snapshot: Snapshot,
    tasks: Iterable[str],
    *,
    runs: Collection[str] | None = None,
    metrics: Collection[str] | None = None,
    labels: Collection[str] = (),
    rows: int = ROWS,
) -> Iterator[Joined]:
    """The responses of tasks beside their scores, one task after the other in the given order.

    Args:
        snapshot: What to look at.
        tasks: Tasks; those without a stored response give nothing.
        runs: Only these run keys; None means all.
        metrics: Ids of our metrics to read; None means all. The harness's are always read.
        labels: Ids of our metrics whose labels are read as well.
        rows: About how many responses are in memory at once; the largest task is whole in any case.

    Raises:
        StoreError: A file of the store is damaged.
    """
    chosen = {
        task: [run for run in snapshot.runs_among(tasks=[task]) if runs is None or run.run_key in runs]
        for task in tasks
    }
    for batch in _batches(chosen, rows):
        yield from _Batch(snapshot, batch, metrics, frozenset(labels)).tasks()


def _batches(chosen: Mapping[str, list[Run]], rows: int) -> Iterator[dict[str, list[Run]]]:
    batch: dict[str, list[Run]] = {}
    size = 0
    for task, runs in chosen.items():
        own = sum(run.counts.delivered for run in runs)
        if batch and size + own > rows:
            yield batch
            batch, size = {}, 0
        batch[task] = runs
        size += own
    if batch:
        yield batch


class _Batch:
    """Tasks that are read together."""

    def __init__(
        self,
        snapshot: Snapshot,
        tasks: Mapping[str, list[Run]],
        metrics: Collection[str] | None,
        labels: frozenset[str],
    ) -> None:
        places = {task: place for place, task in enumerate(tasks)}
        runs = sorted((run for members in tasks.values() for run in members), key=lambda run: run.ingest_id)
        self._snapshot, self._tasks, self._metrics, self._labels = snapshot, list(tasks), metrics, labels
        self._codes = {run.ingest_id: code for code, run in enumerate(runs)}
        self._keys = [run.run_key for run in runs]
        self._place = np.array([places[run.task] for run in runs], np.int64)
        self._ours: dict[str, Column] = {}

    def tasks(self) -> Iterator[Joined]:
        """The tasks in order, each with what belongs to it."""
        import polars as pl

        parts = [self._part(segment) for segment in self._segments("responses")]
        if not parts:
            return
        frame = pl.concat(parts, how="diagonal")
        del parts
        keys = _keys(frame)
        place = self._place[keys >> _ROW_BITS]
        order = np.lexsort((keys, place))
        frame, place = frame[order], place[order]
        theirs, columns = self._harness(keys[order])
        columns = [*(self._ours[name] for name in sorted(self._ours)), *columns]
        frame = pl.concat([frame, *theirs], how="horizontal") if theirs else frame
        named = pl.Series(self._keys, dtype=pl.String), pl.Series(list(self._codes), dtype=pl.String)
        ends = np.searchsorted(place, np.arange(len(self._tasks) + 1))
        for task, start, end in zip(self._tasks, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            if end > start:
                yield _of_task(task, frame[start:end], columns, *named)

    def _segments(self, table: str) -> list[Segment]:
        return [segment for segment in self._snapshot.segments(table) if segment.live & self._codes.keys()]

    def _part(self, segment: Segment) -> pl.DataFrame:
        """Rows of a segment that belong to the tasks, with our scores of them."""
        import polars as pl

        known = [name for name in self._snapshot.scores(segment) if self._metrics is None or name in self._metrics]
        told = [name for name in known if name in self._labels]
        frame = self._known(segment, self._snapshot.scored(segment, known, RESPONSE, labels=told))
        columns: list[pl.Expr] = []
        for name in known:
            column = self._ours.setdefault(name, _column(name, "foreshock", len(self._ours), name in self._labels))
            columns += [pl.col(name).alias(column.value), _status(pl.col(f"{name}|status")).alias(column.status)]
            columns += [pl.col(f"{name}|label").alias(column.label)] if column.label else []
        return frame.select("code", *RESPONSE[1:], *columns)

    def _known(self, segment: Segment, frame: pl.DataFrame) -> pl.DataFrame:
        """Visible rows of the ingests that are asked for, with the number of each beside its name."""
        import polars as pl

        codes = {name: self._codes[name] for name in segment.live if name in self._codes}
        code = pl.col("ingest_id").replace_strict(codes, default=None, return_dtype=pl.Int64)
        return frame.with_columns(code=code).filter(pl.col("code").is_not_null())

    def _harness(self, keys: NDArray[np.int64]) -> tuple[list[pl.DataFrame], list[Column]]:
        """The harness's scores as columns beside responses with these keys (see :func:`_keys`)."""
        import polars as pl

        parts = [
            self._known(segment, self._snapshot.frame(segment, (*_KEY, *_SCORE)))
            for segment in self._segments("scores")
        ]
        if not parts:
            return [], []
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        found: list[pl.DataFrame] = []
        columns: list[Column] = []
        for (name,), scores in sorted(pl.concat(parts).partition_by("metric_id", as_dict=True).items()):
            column = _column(str(name), "harness", len(columns), labelled=True)
            assert column.label is not None
            picked = pl.Series(_places(_keys(scores), ordered, order))
            picked = picked.set(picked < 0, None)
            taken = scores.select(
                pl.col("value").gather(picked).alias(column.value),
                _status(pl.col("status")).gather(picked).alias(column.status),
                pl.col("label").gather(picked).alias(column.label),
            )
            found.append(taken)
            columns.append(column)
        return found, columns


def _keys(frame: pl.DataFrame) -> NDArray[np.int64]:
    """Number of the ingest and row as one number, which is found faster than a name."""
    code, row = (frame[name].to_numpy().astype(np.int64) for name in ("code", "row"))
    return np.asarray((code << _ROW_BITS) + row)


def _places(wanted: NDArray[np.int64], ordered: NDArray[np.int64], order: NDArray[np.intp]) -> NDArray[np.int64]:
    """For each response the place of its score among ``wanted``, the first of several; -1 where it has none."""
    at = np.minimum(np.searchsorted(ordered, wanted), max(ordered.size - 1, 0))
    there = np.flatnonzero(ordered[at] == wanted)[::-1]
    places = np.full(ordered.size, -1)
    places[order[at[there]]] = there
    return places


def _of_task(task: str, frame: pl.DataFrame, columns: Sequence[Column], keys: pl.Series, ingests: pl.Series) -> Joined:
    import polars as pl

    there = [column for column in columns if frame[column.status].null_count() < frame.height]
    names = [name for c in there for name in (c.value, c.status, c.label) if name is not None]
    code = pl.col("code")
    frame = frame.select(
        pl.lit(ingests).gather(code).alias("ingest_id"),
        pl.lit(keys).gather(code).alias("run_key"),
        *RESPONSE[1:],
        *names,
    )
    return Joined(task, frame, there)


def _column(metric_id: str, source: str, number: int, labelled: bool) -> Column:
    lead = f"{source[0]}{number}"
    return Column(metric_id, source, f"{lead}|value", f"{lead}|status", f"{lead}|label" if labelled else None)


def _status(column: pl.Expr) -> pl.Expr:
    """Words as numbers: a byte for each instead of a text."""
    import polars as pl

    return column.cast(pl.Enum([status.value for status in ScoreStatus]))
