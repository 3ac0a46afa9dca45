"""What each run scores: mean, clustered standard error, both denominators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foreshock.metrics import PER_ROW, MetricSpec, harness_metric
from foreshock.records import Run, ScoreStatus
from foreshock.scoring._defaults import stored_specs
from foreshock.scoring._moments import Moments
from foreshock.scoring._whole import whole_run
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

ROWS = 1_000_000
"""Responses looked at together; ten times fewer when all their metrics are looked at together as well."""

_WITHOUT = tuple(status.value for status in ScoreStatus if status is not ScoreStatus.SCORED)
_GROUP = ("ingest_id", "filter", "perturbation", "source", "metric_id")
_COLUMNS = (
    "ingest_id",
    "row",
    "metric_id",
    "source",
    "value",
    "status",
    "item_key",
    "item_id",
    "filter",
    "perturbation",
)


class Aggregate(NamedTuple):
    """One metric of one run under one answer filter and one perturbation of its items.

    Attributes:
        run_key, ingest_id, task, model: The run.
        filter: Answer-extraction filter of the harness; None when there is none.
        metric_id, source: The metric, and whether ``foreshock`` or the ``harness`` made the scores.
        value: Mean over the responses that were scored; for metrics of grain ``run`` their value of these responses
            together. None without any.
        stderr: Standard error of ``value``, clustered by item; for grain ``run`` by resampling of items. None
            with fewer than two items.
        n: Responses that have a row for this metric, whatever its status.
        n_scored: Responses behind ``value``.
        n_items: Items behind ``value``.
        unparsed, needs, failed: Responses without a value, by status.
        expected: Responses that the run should have had; ``n`` where the log does not say.
        value_expected: The same sum over ``expected``: unparsed, undelivered and missing responses count as 0. None
            for metrics whose worst value is not 0, and for those of grain ``run``.
        unit: Unit of ``value``; None when it has no dimension. Responses whose values are in several units give an
            aggregate for each, and those without a value are counted in all of them.
        perturbation: How the items were altered; None for the items as they are.
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
    unit: str | None = None
    perturbation: str | None = None


def aggregate(
    snapshot: Snapshot,
    metrics: Iterable[MetricSpec | str] | None = None,
    *,
    tasks: Iterable[str] | None = None,
    runs: Iterable[str] | None = None,
    source: Literal["foreshock", "harness"] | None = None,
) -> list[Aggregate]:
    """Aggregate stored scores per run, filter, perturbation and metric.

    A metric that no response of the run could have is left out.

    Sums are correctly rounded and nothing is summed inside Polars, so the result does not depend on how rows lie in
    segments. Memory is bounded by the scores of one metric of one task.

    Args:
        snapshot: What to look at.
        metrics: Metrics, or metric ids as stored; None means all.
        tasks: Only these tasks.
        runs: Only the runs with these keys.
        source: ``foreshock`` or ``harness``; None means both.

    Returns:
        Sorted by task, model, run, filter, perturbation, source, metric and unit.
    """
    wanted = None if metrics is None else _ids(metrics)
    chosen = None if tasks is None else set(tasks)
    asked = None if runs is None else set(runs)
    kept = [
        run
        for run in snapshot.runs()
        if (chosen is None or run.task in chosen) and (asked is None or run.run_key in asked)
    ]
    specs = stored_specs(snapshot)
    found: list[Aggregate] = []
    for group in _batches(kept):
        for metric_id in _split(snapshot, group, wanted):
            found += _of(snapshot, group, metric_id, source, specs)
    return sorted(found, key=_place)


def _place(found: Aggregate) -> tuple[str, ...]:
    run = (found.task, found.model, found.run_key, found.ingest_id, found.filter or "", found.perturbation or "")
    return (*run, found.source, found.metric_id, found.unit or "")


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

    whole, mixed = _labelled(snapshot, metric_ids, specs)
    columns = (*_COLUMNS, "label") if whole or mixed else _COLUMNS
    frame = snapshot.scan(
        "scores",
        runs={run.run_key for run in runs},
        tasks={run.task for run in runs},
        metrics=metric_ids,
        source=source,
        columns=columns,
    )
    scored = pl.col("status") == ScoreStatus.SCORED.value
    ours = pl.col("source") == "foreshock"
    label = pl.col("label") if whole or mixed else pl.lit(None, pl.String)
    # a response without any id is an item of its own
    known = pl.any_horizontal(pl.col("item_key", "item_id").is_not_null())
    item = pl.when(known).then(pl.struct("item_key", "item_id").hash()).otherwise(pl.struct("ingest_id", "row").hash())
    groups = (
        frame.with_columns(
            item.alias("item"),
            pl.when(ours & scored & pl.col("metric_id").is_in(sorted(mixed))).then(label).alias("unit"),
            pl.when(ours & pl.col("metric_id").is_in(sorted(whole))).then(label).alias("statistics"),
        )
        .group_by(*_GROUP, "unit")
        .agg(
            *(pl.col(name).filter(scored) for name in ("value", "item", "statistics")),
            pl.len().alias("n"),
            *((pl.col("status") == status).sum().alias(status) for status in _WITHOUT),
        )
        .collect()
    )
    filters = {str(key): _filters(rows) for (key,), rows in groups.group_by("ingest_id")}
    by_id = {run.ingest_id: run for run in runs}
    rows = _with_valueless(groups.to_dicts(), mixed)
    return [
        _aggregate(by_id[row["ingest_id"]], row, filters[row["ingest_id"]], specs)
        for row in rows
        if row["n"] > row["needs"]
    ]


def _filters(rows: pl.DataFrame) -> int | None:
    """Number of answer filters, each of which has every response; None where items are also perturbed."""
    return len(rows["filter"].unique()) if rows["perturbation"].null_count() == rows.height else None


def _labelled(
    snapshot: Snapshot, metric_ids: set[str] | None, specs: dict[str, MetricSpec]
) -> tuple[set[str], set[str]]:
    """Of the stored metrics, those whose labels hold statistics, and those whose labels hold units."""
    stored = {name for segment in snapshot.segments("responses") for name in snapshot.scores(segment)}
    known = {name: specs[name] for name in stored if name in specs and (metric_ids is None or name in metric_ids)}
    whole = {name for name, spec in known.items() if spec.grain == "run"}
    return whole, {name for name, spec in known.items() if spec.unit == PER_ROW}


def _with_valueless(groups: list[dict[str, Any]], mixed: set[str]) -> list[dict[str, Any]]:
    """Count responses without a value, which have no unit, in the group of each unit that their metric has."""
    kept = [row for row in groups if row["unit"] is not None or row["metric_id"] not in mixed]
    units: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in kept:
        units.setdefault(_group(row), []).append(row)
    for row in groups:
        if row["unit"] is None and row["metric_id"] in mixed:
            for other in units.get(_group(row), ()):
                other.update({name: other[name] + row[name] for name in ("n", *_WITHOUT)})
            if _group(row) not in units:
                kept.append(row)
    return kept


def _group(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _GROUP)


def _aggregate(run: Run, row: dict[str, Any], filters: int | None, specs: dict[str, MetricSpec]) -> Aggregate:
    items = np.array(row["item"], np.uint64)
    moments = Moments.of(np.array(row["value"], np.float64), items)
    announced = run.counts.expected
    # a reader announces one response per item and filter; how many of each perturbation is not known
    share = announced // filters if announced is not None and filters and announced % filters == 0 else 0
    expected = max(row["n"], share)
    spec = specs.get(row["metric_id"]) if row["source"] == "foreshock" else None
    value, stderr = moments.mean, moments.stderr
    if spec is not None and spec.grain == "run":
        value, stderr = whole_run(spec, row["metric_id"], row["statistics"], items)
    zero = _worst_is_zero(row["metric_id"], row["source"], specs)
    return Aggregate(
        run_key=run.run_key,
        ingest_id=run.ingest_id,
        task=run.task,
        model=run.model,
        filter=row["filter"],
        metric_id=row["metric_id"],
        source=row["source"],
        value=value,
        stderr=stderr,
        n=row["n"],
        n_scored=moments.n,
        n_items=moments.clusters,
        unparsed=row["unparsed"],
        needs=row["needs"],
        failed=row["failed"],
        expected=expected,
        value_expected=moments.sum / expected if zero else None,
        perturbation=row["perturbation"],
        unit=row["unit"] or (None if spec is None or spec.unit == PER_ROW else spec.unit),
    )


def _worst_is_zero(metric_id: str, source: str, specs: dict[str, MetricSpec]) -> bool:
    known = harness_metric(metric_id) if source == "harness" else specs.get(metric_id)
    if isinstance(known, MetricSpec) and known.grain == "run":
        return False
    return known is not None and known.low == 0 and bool(known.higher_is_better)
