"""Scores of one task as arrays: runs x items, one array per metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from foreshock.series._types import Floats, Matrix
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = ["run_key", "item_key", "item_id", "epoch", "filter", "perturbation", "metric_id", "value", "status"]


@dataclass(frozen=True, slots=True)
class Block:
    """Scores of one task under one answer filter and one perturbation of its items.

    Attributes:
        task: Task.
        filter: Answer-extraction filter of the harness, None where there is none.
        perturbation: How the items were altered (HELM), None for the items as they are.
        runs: Run keys, the rows.
        items: Item labels, the columns: the item key, or ``id:`` and the harness's id where there is no text; where one
            run asks the same question under several ids, both together.
        values: Metric id to scores, shape (runs, items); mean over epochs and samples; NaN where there is no score.
        counts: Metric id to the number of scores behind each of these means.
    """

    task: str
    filter: str | None
    perturbation: str | None
    runs: tuple[str, ...]
    items: tuple[str, ...]
    values: dict[str, Floats]
    counts: dict[str, Floats]

    @property
    def variant(self) -> str | None:
        """Filter and perturbation as one text; None without either."""
        return ", ".join(part for part in (self.filter, self.perturbation) if part is not None) or None

    def total(self, metric_id: str, run_key: str) -> float:
        """Sum over all scored responses of one run."""
        row = self.runs.index(run_key)
        return float(np.nansum(self.values[metric_id][row] * self.counts[metric_id][row]))

    def row(self, metric_id: str, run_key: str) -> Floats:
        """Scores of one run, shape (items,); all NaN when the run is not here."""
        if run_key not in self.runs or metric_id not in self.values:
            return np.full(len(self.items), np.nan)
        row: Floats = self.values[metric_id][self.runs.index(run_key)]
        return row

    def matrix(self, metric_id: str, models: Mapping[str, str]) -> Matrix:
        """Models x items of one metric; ``models`` names the model of each run key."""
        labels = tuple(models[key] for key in self.runs)
        return Matrix(self.task, metric_id, labels, self.items, self.values[metric_id])


def load_blocks(snapshot: Snapshot, task: str, runs: Iterable[str], metrics: Mapping[str, bool]) -> list[Block]:
    """Load the scores of one task; :func:`blocks_of` what :func:`task_scores` reads.

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
    return blocks_of(task, task_scores(snapshot, task, runs, metrics), metrics)


def task_scores(
    snapshot: Snapshot, task: str, runs: Iterable[str], metrics: Iterable[str] | None = None, *, positions: bool = False
) -> pl.DataFrame:
    """Scores of one task, a row each, as blocks are made of; one look into the store serves many of these.

    Args:
        snapshot: What to look at.
        task: Task name.
        runs: Run keys.
        metrics: Metric ids; None means all.
        positions: Whether to read the lists of metrics of grain ``position`` as well.
    """
    columns = [*_COLUMNS, "source", *(["label"] if positions else [])]
    return snapshot.scan("scores", runs=runs, tasks=[task], metrics=metrics, columns=columns).collect()


def blocks_of(task: str, scores: pl.DataFrame, metrics: Mapping[str, bool]) -> list[Block]:
    """Blocks of the rows of :func:`task_scores`; ``metrics`` and the result as of :func:`load_blocks`."""
    import polars as pl

    scores = scores.filter(pl.col("metric_id").is_in(list(metrics)))
    zero = [metric for metric, as_zero in metrics.items() if as_zero]
    unparsed = (pl.col("status") == "unparsed") & pl.col("metric_id").is_in(zero)
    scores = scores.with_columns(value=pl.when(unparsed).then(0.0).otherwise(pl.col("value"))).drop_nulls("value")
    scores = _labelled(scores)
    variants = scores.select("perturbation", "filter").unique().sort("perturbation", "filter", nulls_last=False)
    return [_block(task, name, way, scores.filter(_variant(name, way))) for way, name in variants.iter_rows()]


def load_positions(snapshot: Snapshot, block: Block, metric_id: str) -> Floats | None:
    """Per-position correctness behind a position metric.

    Args:
        snapshot: What to look at.
        block: Rows and columns to fill.
        metric_id: Id of a metric of grain ``position``; its labels hold the lists.

    Returns:
        Shape (runs, items, positions), the mean over epochs; NaN past the end of an answer and where there is no
        score. None when the metric has no scores here.
    """
    return positions_of(task_scores(snapshot, block.task, block.runs, [metric_id], positions=True), block, metric_id)


def positions_of(scores: pl.DataFrame, block: Block, metric_id: str) -> Floats | None:
    """The same from the rows of :func:`task_scores` with ``positions``."""
    import polars as pl

    wanted = (pl.col("metric_id") == metric_id) & pl.col("label").str.starts_with("[")
    scores = scores.filter(_variant(block.filter, block.perturbation), wanted)
    if scores.is_empty():
        return None
    scores = _labelled(scores).filter(
        pl.col("item").is_in(list(block.items)), pl.col("run_key").is_in(list(block.runs))
    )
    lists = scores.get_column("label").str.json_decode(pl.List(pl.Float64))
    lengths = lists.list.len().to_numpy().astype(np.int64)
    if not lengths.size or lengths.max() == 0:
        return None
    runs, items = (pl.Series(labels, dtype=pl.String) for labels in (block.runs, block.items))
    # both are sorted: a block is made so
    rows = runs.search_sorted(scores.get_column("run_key")).to_numpy().astype(np.int64)
    columns = items.search_sorted(scores.get_column("item")).to_numpy().astype(np.int64)
    longest = int(lengths.max())
    start = (rows * len(items) + columns) * longest
    place = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    cells = np.repeat(start, lengths) + place
    values = lists.filter(lists.list.len() > 0).explode().to_numpy()
    size = len(runs) * len(items) * longest
    total, count = np.bincount(cells, values, size), np.bincount(cells, minlength=size)
    mean: Floats = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return mean.reshape(len(runs), len(items), longest)


def _variant(name: str | None, way: str | None) -> pl.Expr:
    import polars as pl

    return pl.col("filter").eq_missing(pl.lit(name)) & pl.col("perturbation").eq_missing(pl.lit(way))


def _labelled(scores: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    ids = pl.concat_str(pl.lit("id:"), pl.col("item_id").fill_null(""))
    twice = (
        scores.group_by("run_key", "item_key")
        .agg(pl.col("item_id").n_unique().alias("ids"))
        .filter(pl.col("ids") > 1)
        .get_column("item_key")
        .drop_nulls()
        .unique()
    )
    key = pl.col("item_key")
    both = pl.concat_str(key, pl.lit(" "), ids)
    label = pl.when(key.is_null()).then(ids).when(key.is_in(twice.to_list())).then(both).otherwise(key)
    return scores.with_columns(item=label)


def _block(task: str, name: str | None, way: str | None, scores: pl.DataFrame) -> Block:
    runs, items = (scores.get_column(column).unique().sort() for column in ("run_key", "item"))
    rows = runs.search_sorted(scores.get_column("run_key")).to_numpy()
    columns = items.search_sorted(scores.get_column("item")).to_numpy()
    cells = rows.astype(np.int64) * len(items) + columns
    metric, value = scores.get_column("metric_id").to_numpy(), scores.get_column("value").to_numpy()
    values, counts = {}, {}
    for metric_id in scores.get_column("metric_id").unique().sort().to_list():
        mine = metric == metric_id
        # bincount adds in row order, which a snapshot fixes: the same input gives the same bytes
        total = np.bincount(cells[mine], value[mine], len(runs) * len(items))
        count = np.bincount(cells[mine], minlength=len(runs) * len(items))
        mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        values[metric_id] = mean.reshape(len(runs), len(items))
        counts[metric_id] = count.reshape(len(runs), len(items)).astype(float)
    return Block(task, name, way, tuple(runs.to_list()), tuple(items.to_list()), values, counts)
