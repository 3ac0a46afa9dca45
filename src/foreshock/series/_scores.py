"""All scores of one task as arrays, from which blocks are made metric by metric."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreshock.records import ScoreStatus
from foreshock.scoring import Column, Joined, joined
from foreshock.series._block import Block
from foreshock.series._types import Floats
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

Counts = NDArray[np.int32]


class Seen(NamedTuple):
    """A metric that has scores.

    Attributes:
        metric_id: The metric.
        source: ``foreshock`` or ``harness``.
        rows: Responses that have a score.
        binary: Whether all of these are 0 or 1.
    """

    metric_id: str
    source: str
    rows: int
    binary: bool


class Sums(NamedTuple):
    """One metric, shape (runs, items) each: sum of scores over epochs, their number, and answers not extracted."""

    total: Floats
    scored: Counts
    unparsed: Counts | None


@dataclass(slots=True)
class Variant:
    """Scores under one answer filter and one perturbation of the items.

    Attributes:
        filter, perturbation: As in :class:`Block`.
        runs: Run keys, the rows.
        items: Item labels, the columns.
        sums: By metric id.
        lists: By id of a metric of grain ``position``: the cell of each list, ``row * items + column``, and the lists.
    """

    filter: str | None
    perturbation: str | None
    runs: tuple[str, ...]
    items: tuple[str, ...]
    sums: dict[str, Sums] = field(default_factory=dict)
    lists: dict[str, tuple[NDArray[np.int64], pl.Series]] = field(default_factory=dict)

    def block(self, task: str, metrics: Mapping[str, bool], runs: Collection[str] | None = None) -> Block | None:
        """Runs (only the given ones) and items that have any of the metrics; None when none has."""
        there = [metric for metric in sorted(metrics) if metric in self.sums]
        counts = {metric: _counted(self.sums[metric], as_zero=metrics[metric]) for metric in there}
        seen = np.zeros((len(self.runs), len(self.items)), bool)
        for count in counts.values():
            seen |= count > 0
        if runs is not None:
            seen[[run not in runs for run in self.runs]] = False
        rows, columns = seen.any(axis=1), seen.any(axis=0)
        if not rows.any():
            return None
        values = {}
        for metric in there:
            total, count = self.sums[metric].total[rows][:, columns], counts[metric][rows][:, columns]
            if not count.any():
                continue
            values[metric] = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
            counts[metric] = count
        return Block(
            task=task,
            filter=self.filter,
            perturbation=self.perturbation,
            runs=tuple(np.array(self.runs, object)[rows].tolist()),
            items=tuple(np.array(self.items, object)[columns].tolist()),
            values=values,
            counts={metric: counts[metric].astype(float) for metric in values},
        )

    @property
    def nbytes(self) -> int:
        """Memory that it takes, about; arrays that metrics share count once."""
        arrays = {id(a): a.nbytes for sums in self.sums.values() for a in sums if a is not None}
        lists = sum(cells.nbytes + int(texts.estimated_size()) for cells, texts in self.lists.values())
        return sum(arrays.values()) + lists + sum(len(item) + 60 for item in self.items)


@dataclass(frozen=True, slots=True)
class Scores:
    """Every score of one task.

    Attributes:
        task: The task.
        seen: Metrics with scores, ours first, by id.
        variants: By perturbation and answer filter, none first.
    """

    task: str
    seen: tuple[Seen, ...] = ()
    variants: tuple[Variant, ...] = ()

    def blocks(self, metrics: Mapping[str, bool], runs: Collection[str] | None = None) -> list[Block]:
        """Blocks of some metrics, of all runs or some; see :func:`load_blocks`."""
        made = (variant.block(self.task, metrics, runs) for variant in self.variants)
        return [block for block in made if block is not None]

    def positions(self, block: Block, metric_id: str) -> Floats | None:
        """Per-position correctness behind a metric of grain ``position``, for the runs and items of a block.

        Returns:
            Shape (runs, items, positions), the mean over epochs; NaN past the end of an answer and where there is no
            score. None when the metric has no scores there, or when its lists were not read.
        """
        for variant in self.variants:
            if (variant.filter, variant.perturbation) == (block.filter, block.perturbation):
                return _positions(variant, block, metric_id) if metric_id in variant.lists else None
        return None

    @property
    def nbytes(self) -> int:
        """Memory that it takes, about."""
        return sum(variant.nbytes for variant in self.variants)


def load_blocks(snapshot: Snapshot, task: str, runs: Iterable[str], metrics: Mapping[str, bool]) -> list[Block]:
    """Load the scores of one task; :class:`Shelf` reads many tasks faster.

    Args:
        snapshot: What to look at.
        task: Task name.
        runs: Run keys.
        metrics: Metric id to whether an answer that could not be extracted counts as 0 (true of hard metrics: the
            model was asked and did not give the answer) or as no score.

    Returns:
        One block per answer filter and perturbation, in the order of their names, none first. Responses that did
        not arrive have no score: they are counted apart, never as 0.
    """
    found = joined(snapshot, [task], runs=frozenset(runs), metrics=frozenset(metrics))
    return [block for one in found for block in scores_of(one).blocks(metrics)]


def scores_of(task: Joined) -> Scores:
    """The arrays of a task from its responses beside their scores.

    An item is named by its key, or ``id:`` and the harness's id where there is no text; where one run asks the same
    question under several ids, by both together.
    """
    import polars as pl

    frame = task.frame.with_columns(item=_labels(task.frame))
    seen = (_seen(frame, column) for column in task.columns)
    ways = frame.select("perturbation", "filter").unique().sort("perturbation", "filter", nulls_last=False).rows()
    variants = []
    for way, name in ways:
        alike = pl.col("filter").eq_missing(pl.lit(name)) & pl.col("perturbation").eq_missing(pl.lit(way))
        variants.append(_variant(frame.filter(alike) if len(ways) > 1 else frame, name, way, task.columns))
    return Scores(task.task, tuple(one for one in seen if one.rows), tuple(variants))


def _seen(frame: pl.DataFrame, column: Column) -> Seen:
    values = frame[column.value].filter(frame[column.status] == ScoreStatus.SCORED.value)
    binary = bool(values.is_in([0.0, 1.0]).all())
    return Seen(column.metric_id, column.source, len(values), binary)


def _variant(frame: pl.DataFrame, name: str | None, way: str | None, columns: list[Column]) -> Variant:
    runs, items = (frame.get_column(column).unique().sort() for column in ("run_key", "item"))
    rows, places = runs.search_sorted(frame.get_column("run_key")), items.search_sorted(frame.get_column("item"))
    cells = rows.to_numpy().astype(np.int64) * len(items) + places.to_numpy()
    made = Variant(name, way, tuple(runs.to_list()), tuple(items.to_list()))
    shape = (len(runs), len(items))
    known: list[Counts] = []
    for column in columns:
        # where two metrics have one id ours counts: it stands first
        if column.metric_id not in made.sums:
            made.sums[column.metric_id] = _sums(frame, column, cells, shape, known)
            if column.source == "foreshock" and column.label is not None:
                lists = frame[column.label]
                there = lists.str.starts_with("[").fill_null(value=False)
                made.lists[column.metric_id] = cells[there.to_numpy()], lists.filter(there)
    return made


def _sums(
    frame: pl.DataFrame, column: Column, cells: NDArray[np.int64], shape: tuple[int, int], known: list[Counts]
) -> Sums:
    value = frame[column.value]
    mine = value.is_not_null().to_numpy()
    # bincount adds in row order, which a snapshot fixes: the same input gives the same bytes
    total: Floats = np.bincount(cells[mine], value.to_numpy()[mine], shape[0] * shape[1]).astype(float)
    count = _shared(_count(cells[mine], shape), known)
    unparsed = (frame[column.status] == ScoreStatus.UNPARSED.value).fill_null(value=False).to_numpy()
    return Sums(total.reshape(shape), count, _shared(_count(cells[unparsed], shape), known) if unparsed.any() else None)


def _count(cells: NDArray[np.int64], shape: tuple[int, int]) -> Counts:
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.int32)


def _shared(count: Counts, known: list[Counts]) -> Counts:
    """The same array for metrics that have the same scores, as most have."""
    for one in known:
        if np.array_equal(one, count):
            return one
    known.append(count)
    return count


def _counted(sums: Sums, *, as_zero: bool) -> Counts:
    return sums.scored if sums.unparsed is None or not as_zero else sums.scored + sums.unparsed


def _positions(variant: Variant, block: Block, metric_id: str) -> Floats | None:
    import polars as pl

    cells, texts = variant.lists[metric_id]
    rows, columns = (_within(every, kept) for every, kept in ((variant.runs, block.runs), (variant.items, block.items)))
    row, column = rows[cells // len(variant.items)], columns[cells % len(variant.items)]
    mine = (row >= 0) & (column >= 0)
    lists = texts.filter(pl.Series(mine)).str.json_decode(pl.List(pl.Float64))
    lengths = lists.list.len().to_numpy().astype(np.int64)
    if not lengths.size or lengths.max() == 0:
        return None
    longest = int(lengths.max())
    start = (row[mine] * len(block.items) + column[mine]) * longest
    place = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    filled = np.repeat(start, lengths) + place
    values = lists.filter(lists.list.len() > 0).explode().to_numpy()
    size = len(block.runs) * len(block.items) * longest
    total, count = np.bincount(filled, values, size), np.bincount(filled, minlength=size)
    mean: Floats = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return mean.reshape(len(block.runs), len(block.items), longest)


def _within(every: tuple[str, ...], kept: tuple[str, ...]) -> NDArray[np.int64]:
    """Place of each of ``every`` among ``kept``, -1 where it is not there; both are sorted."""
    place = {label: at for at, label in enumerate(kept)}
    return np.array([place.get(label, -1) for label in every], np.int64)


def _labels(frame: pl.DataFrame) -> pl.Series:
    import polars as pl

    key = pl.col("item_key")
    ids = pl.concat_str(pl.lit("id:"), pl.col("item_id").fill_null(""))
    asked = frame.lazy().filter(key.is_not_null()).group_by("run_key", "item_key").agg(pl.col("item_id").n_unique())
    twice = asked.filter(pl.col("item_id") > 1).select("item_key").unique().collect().to_series()
    both = pl.concat_str(key, pl.lit(" "), ids) if len(twice) else key
    label = pl.when(key.is_null()).then(ids).when(key.is_in(twice.to_list())).then(both).otherwise(key)
    return frame.select(label.alias("item")).to_series()
