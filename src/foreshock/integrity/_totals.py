"""Every total of every run in one form, whether it was computed from responses or stood in the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from foreshock.metrics import harness_metric
from foreshock.records import Run
from foreshock.scoring import Aggregate
from foreshock.store import Snapshot

_COLUMNS = (
    "run_key",
    "subset",
    "metric_id",
    "filter",
    "reducer",
    "value",
    "stderr",
    "n",
    "low",
    "high",
    "higher_is_better",
)


class Total(NamedTuple):
    """One metric of one run.

    Attributes:
        run: The run.
        metric: Name of the metric, with filter, reducer and subset as harnesses write them.
        value: The score in its own scale.
        stderr: Its standard error; None when unknown.
        n: Items or responses behind it; None when unknown.
        low, high: Smallest and largest possible value; None when unknown.
        hard: Whether a response can only be right or wrong; None when not known.
        rising: False for a metric of which less is better.
        logged: Whether the number stood in the log (else it was computed from the responses).
        whole: Whether it is over the whole task, not a subset.
        ours: Whether one of our own metrics gave it, which has one scale in all runs.
    """

    run: Run
    metric: str
    value: float
    stderr: float | None
    n: int | None
    low: float | None
    high: float | None
    hard: bool | None
    rising: bool
    logged: bool
    whole: bool
    ours: bool = False


def totals(snapshot: Snapshot, runs: Sequence[Run], computed: Iterable[Aggregate]) -> list[Total]:
    """Totals of some runs, those computed from responses first."""
    by_key = {run.run_key: run for run in runs}
    found = [_of_responses(by_key[a.run_key], a) for a in computed if a.run_key in by_key and a.value is not None]
    frame = snapshot.scan("aggregates", runs=sorted(by_key), columns=_COLUMNS).collect()
    found += [_of_row(by_key[row["run_key"]], row) for row in frame.iter_rows(named=True) if row["value"] is not None]
    return found


def largest(snapshot: Snapshot, runs: Sequence[Run]) -> list[Total]:
    """The largest score that a harness gave in each run by each of its metrics: what shows the scale of item scores."""
    import polars as pl

    by_key = {run.run_key: run for run in runs}
    frame = snapshot.scan("scores", runs=sorted(by_key), source="harness", columns=["run_key", "metric_id", "value"])
    most = frame.group_by("run_key", "metric_id").agg(pl.col("value").max()).drop_nulls("value")
    found = []
    for key, metric, value in most.sort("run_key", "metric_id").collect().iter_rows():
        row = dict.fromkeys(_COLUMNS) | {"metric_id": metric, "value": value}
        found.append(_of_row(by_key[key], row)._replace(logged=False))
    return found


def _of_responses(run: Run, row: Aggregate) -> Total:
    assert row.value is not None
    known = harness_metric(row.metric_id) if row.source == "harness" else None
    return Total(
        run=run,
        metric=row.metric_id + "".join(f",{part}" for part in (row.filter, row.perturbation) if part),
        value=row.value,
        stderr=row.stderr,
        n=row.n_items,
        low=known.low if known else None,
        high=known.high if known else None,
        hard=known.kind == "hard" and (known.low, known.high) == (0, 1) if known and known.kind else None,
        rising=known is None or known.higher_is_better is not False,
        logged=False,
        whole=row.perturbation is None,
        ours=row.source != "harness",
    )


def _of_row(run: Run, row: Mapping[str, object]) -> Total:
    name = str(row["metric_id"])
    known = harness_metric(name)
    low, high = _number(row["low"]), _number(row["high"])
    better = row["higher_is_better"]
    return Total(
        run=run,
        metric=name + "".join(f",{row[k]}" for k in ("filter", "reducer", "subset") if row[k]),
        value=float(str(row["value"])),
        stderr=_number(row["stderr"]),
        n=None if row["n"] is None else int(str(row["n"])),
        low=low if low is not None else known.low if known else None,
        high=high if high is not None else known.high if known else None,
        hard=known.kind == "hard" and (known.low, known.high) == (0, 1) if known and known.kind else None,
        rising=bool(better) if better is not None else known is None or known.higher_is_better is not False,
        logged=True,
        whole=row["subset"] is None,
    )


def _number(value: object) -> float | None:
    return None if value is None else float(str(value))
