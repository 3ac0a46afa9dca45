"""What each run scores: mean, clustered standard error, both denominators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

import numpy as np

from foreshock.metrics import MetricSpec, harness_metric
from foreshock.records import Run, ScoreStatus
from foreshock.scoring._defaults import stored_specs
from foreshock.scoring._moments import Moments
from foreshock.store import Snapshot

ROWS = 1_000_000
"""Responses looked at together; ten times fewer when all their metrics are looked at together as well."""

_WITHOUT = tuple(status.value for status in ScoreStatus if status is not ScoreStatus.SCORED)
_COLUMNS = ("ingest_id", "row", "metric_id", "source", "value", "status", "item_key", "item_id", "filter")


class Aggregate(NamedTuple):
    """One metric of one run under one answer filter.

    Attributes:
        run_key, ingest_id, task, model: The run.
        filter: Answer-extraction filter of the harness; None when there is none.
        metric_id, source: The metric, and whether ``foreshock`` or the ``harness`` made the scores.
        value: Mean over the responses that were scored; None without any.
        stderr: Standard error of ``value``, clustered by item; None with fewer than two items.
        n: Responses that have a row for this metric, whatever its status.
        n_scored: Responses behind ``value``.
        n_items: Items behind ``value``.
        unparsed, needs, failed: Responses without a value, by status.
        expected: Responses that the run should have had; ``n`` where the log does not say.
        value_expected: The same sum over ``expected``: unparsed, undelivered and missing responses count as 0. None
            for metrics whose worst value is not 0.
    """

    run_key: str
    ingest_id: str
    task: str
    model: str
    filter: str | None
    metric_id: str
    source: str
    value: float | None
    stderr: float | None
    n: int
    n_scored: int
    n_items: int
    unparsed: int
    needs: int
    failed: int
    expected: int
    value_expected: float | None


def aggregate(
    snapshot: Snapshot,
    metrics: Iterable[MetricSpec | str] | None = None,
    *,
    tasks: Iterable[str] | None = None,
    source: Literal["foreshock", "harness"] | None = None,
) -> list[Aggregate]:
    """Aggregate stored scores per run, filter and metric; a metric that no response of the run could have is left out.

    Sums are correctly rounded and nothing is summed inside Polars, so the result does not depend on how rows lie in
    segments. Memory is bounded by the scores of one metric of one task.

    Args:
        snapshot: What to look at.
        metrics: Metrics, or metric ids as stored; None means all.
        tasks: Only these tasks.
        source: ``foreshock`` or ``harness``; None means both.

    Returns:
        Sorted by task, model, run, filter, source and metric.
    """
    wanted = None if metrics is None else _ids(metrics)
    chosen = None if tasks is None else set(tasks)
    runs = [run for run in snapshot.runs() if chosen is None or run.task in chosen]
    specs = stored_specs(snapshot)
    found: list[Aggregate] = []
    for group in _batches(runs):
        for metric_id in _split(snapshot, group, wanted):
            found += _of(snapshot, group, metric_id, source, specs)
    return sorted(found, key=lambda a: (a.task, a.model, a.run_key, a.ingest_id, a.filter or "", a.source, a.metric_id))


def _ids(metrics: Iterable[MetricSpec | str]) -> set[str]:
    return {name for metric in metrics for name in (metric.ids if isinstance(metric, MetricSpec) else (metric,))}


def _batches(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Runs by whole tasks, as many tasks together as are small: every look at the store costs some milliseconds."""
    batch: list[Run] = []
    for _, members in groupby(runs, key=lambda run: run.task):
        more = list(members)
        if batch and _rows(batch) + _rows(more) > ROWS:
            yield batch
            batch = []
        batch += more
    if batch:
        yield batch


def _rows(runs: Iterable[Run]) -> int:
    return sum(c.delivered + c.refused + c.error + c.missing for c in (run.counts for run in runs))


def _split(snapshot: Snapshot, runs: list[Run], wanted: set[str] | None) -> list[set[str] | None]:
    """Metric ids to look at together: all of them, or one at a time when there are many rows."""
    if _rows(runs) <= ROWS // 10:
        return [wanted]
    live = {run.ingest_id for run in runs}
    names = {m for segment in snapshot.segments("responses") if segment.live & live for m in snapshot.scores(segment)}
    harness = snapshot.scan("scores", tasks={r.task for r in runs}, source="harness", columns=["metric_id"])
    names |= set(harness.unique().collect()["metric_id"].to_list())
    return [{name} for name in sorted(names) if wanted is None or name in wanted]


def _of(
    snapshot: Snapshot,
    runs: list[Run],
    metric_ids: set[str] | None,
    source: Literal["foreshock", "harness"] | None,
    specs: dict[str, MetricSpec],
) -> list[Aggregate]:
    import polars as pl

    frame = snapshot.scan(
        "scores", tasks={run.task for run in runs}, metrics=metric_ids, source=source, columns=_COLUMNS
    )
    scored = pl.col("status") == ScoreStatus.SCORED.value
    # a response without any id is an item of its own
    known = pl.any_horizontal(pl.col("item_key", "item_id").is_not_null())
    item = pl.when(known).then(pl.struct("item_key", "item_id").hash()).otherwise(pl.struct("ingest_id", "row").hash())
    groups = (
        frame.with_columns(item.alias("item"))
        .group_by("ingest_id", "filter", "source", "metric_id")
        .agg(
            pl.col("value").filter(scored),
            pl.col("item").filter(scored),
            pl.len().alias("n"),
            *((pl.col("status") == status).sum().alias(status) for status in _WITHOUT),
        )
        .filter(pl.col("n") > pl.col("needs"))
        .collect()
    )
    filters = {str(key): len(rows["filter"].unique()) for (key,), rows in groups.group_by("ingest_id")}
    by_id = {run.ingest_id: run for run in runs}
    rows = ((by_id[row["ingest_id"]], row) for row in groups.iter_rows(named=True))
    return [_aggregate(run, row, filters[run.ingest_id], specs) for run, row in rows]


def _aggregate(run: Run, row: dict[str, Any], filters: int, specs: dict[str, MetricSpec]) -> Aggregate:
    moments = Moments.of(np.array(row["value"], np.float64), np.array(row["item"], np.uint64))
    announced = run.counts.expected
    # a reader announces one response per item and filter
    share = announced // filters if announced is not None and announced % filters == 0 else 0
    expected = max(row["n"], share)
    zero = _worst_is_zero(row["metric_id"], row["source"], specs)
    return Aggregate(
        run_key=run.run_key,
        ingest_id=run.ingest_id,
        task=run.task,
        model=run.model,
        filter=row["filter"],
        metric_id=row["metric_id"],
        source=row["source"],
        value=moments.mean,
        stderr=moments.stderr,
        n=row["n"],
        n_scored=moments.n,
        n_items=moments.clusters,
        unparsed=row["unparsed"],
        needs=row["needs"],
        failed=row["failed"],
        expected=expected,
        value_expected=moments.sum / expected if zero else None,
    )


def _worst_is_zero(metric_id: str, source: str, specs: dict[str, MetricSpec]) -> bool:
    known = harness_metric(metric_id) if source == "harness" else specs.get(metric_id)
    return known is not None and known.low == 0 and bool(known.higher_is_better)
