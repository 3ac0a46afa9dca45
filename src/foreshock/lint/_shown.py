"""What stored runs show about the size and the spread of a task: arithmetic over the tables of a store."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from foreshock.lint._facts import Best, Denominator, Flips, Repeats, Spread
from foreshock.metrics import MetricSpec, harness_metric
from foreshock.records import Run
from foreshock.scoring import Aggregate
from foreshock.series import conditions_text, load_blocks
from foreshock.stats import discordance, mean_interval, wilson
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
_PAIRS = 30  # neighbouring pairs of models that are looked at; more do not move the median


def positions(values: Sequence[float], *, log: bool) -> tuple[float, ...]:
    """Places on an axis from 0 to 1; a single place, or one that has none on the scale, stands at 0.

    Examples:
        >>> positions([1, 10, 100], log=True), positions([5], log=True)
        ((0.0, 0.5, 1.0), (0.0,))
    """
    x = np.asarray(values, float)
    if log:
        x = np.log(np.maximum(x, 1.0))  # step 0 stands where step 1 does
    span = float(x[-1] - x[0]) if x.size else 0.0
    return tuple(float(v) for v in ((x - x[0]) / span if span > 0 else np.zeros(x.size)))


def spreads(
    snapshot: Snapshot, task: str, runs: Sequence[str], specs: Mapping[str, MetricSpec]
) -> dict[tuple[str, str], Spread]:
    """How many values of each metric lie strictly between 0 and 1, by metric id and source.

    Only of metrics whose values all lie from 0 to 1 and whose range is that, or not known.
    """
    import polars as pl

    value = pl.col("value")
    scores = snapshot.scan("scores", tasks=[task], runs=runs, columns=["metric_id", "source", "value", "status"])
    ends = ((value == 0) | (value == 1)).sum().alias("ends")
    rows = (
        scores.filter(pl.col("status") == "scored")
        .group_by("metric_id", "source")
        .agg(pl.len().alias("n"), ends, value.min().alias("low"), value.max().alias("high"))
        .sort("source", "metric_id")
        .collect()
    )
    found = {}
    for row in rows.iter_rows(named=True):
        if row["low"] >= 0 and row["high"] <= 1 and _of_unit_range(row["metric_id"], row["source"], specs):
            found[row["metric_id"], row["source"]] = Spread(int(row["n"]), int(row["n"] - row["ends"]))
    return found


def _of_unit_range(metric: str, source: str, specs: Mapping[str, MetricSpec]) -> bool:
    if source == "foreshock":
        return metric in specs and (specs[metric].low, specs[metric].high) == (0, 1)
    known = harness_metric(metric)
    return known is None or (known.low, known.high) in ((0, 1), (None, None))


def totals(snapshot: Snapshot, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Logged totals of whole tasks, one row each."""
    columns = ["run_key", "subset", "metric_id", "filter", "value", "stderr", "n"]
    frame = snapshot.scan("aggregates", runs=sorted(run.run_key for run in runs), columns=columns).collect()
    return [row for row in frame.iter_rows(named=True) if row["subset"] is None and row["value"] is not None]


def first_filter(rows: Sequence[Aggregate]) -> list[Aggregate]:
    """One row per run: that of the first answer filter, none before any."""
    found: dict[str, Aggregate] = {}
    for row in sorted(rows, key=lambda row: (row.filter is not None, row.filter or "")):
        found.setdefault(row.run_key, row)
    return [found[key] for key in sorted(found)]


def items_of(rows: Sequence[Aggregate], logged: Sequence[Mapping[str, Any]], runs: Sequence[Run] = ()) -> int | None:
    """Items of the smallest run; of totals as logged, or as a rate and its standard error give them.

    Of a log that holds neither responses nor totals, the responses that its header announces over its epochs.
    """
    if any(row.n_items for row in rows):
        return min(row.n_items for row in rows if row.n_items)
    sizes = [size for row in logged if (size := _size(row)) is not None]
    if not sizes:
        sizes = [run.counts.expected // epochs_of(run) for run in runs if run.counts.expected]
    return min(sizes) if sizes else None


def epochs_of(run: Run) -> int:
    """Epochs that a log states; 1 where it states none.

    Examples:
        >>> run = Run(run_key="1", format="inspect", reader="r@1", model="m", task="t", conditions={"epochs": "4"})
        >>> epochs_of(run)
        4
    """
    told = run.conditions.get("epochs", "1")
    return int(told) if told.isdecimal() and 0 < len(told) < 7 and int(told) else 1


def _size(row: Mapping[str, Any]) -> int | None:
    if row["n"] is not None:
        return int(row["n"])
    known = harness_metric(str(row["metric_id"]))
    p, error = float(row["value"]), row["stderr"]
    if known is None or known.kind != "hard" or not error or not 0 < p < 1:
        return None
    return round(p * (1 - p) / float(error) ** 2 + 1)


def repeats_of(rows: Sequence[Aggregate], runs: Sequence[Run]) -> int | None:
    """Responses per item in the run that has fewest; without items, the epochs that all logs state, else None."""
    found = [row.n_scored // row.n_items for row in rows if row.n_items]
    if not found and all("epochs" in run.conditions for run in runs):
        found = [epochs_of(run) for run in runs]
    return min(found) if found else None


def options_of(snapshot: Snapshot, task: str) -> tuple[tuple[int, int] | None, float | None]:
    """Smallest and largest number of options of an item, and the mean of 1 / options; None without items."""
    import polars as pl

    count = pl.col("choices").list.len().fill_null(0)
    frame = snapshot.scan("items", tasks=[task], columns=["choices"]).select(count.alias("n")).collect()
    if frame.is_empty():
        return None, None
    counts = frame["n"].to_numpy()
    with_options = counts[counts > 0]
    guess = float(np.mean(1 / with_options)) if with_options.size == counts.size else None
    return (int(counts.min()), int(counts.max())), guess


def flips(snapshot: Snapshot, task: str, runs: Sequence[str], main: tuple[str, str]) -> Flips | None:
    """How often neighbouring models answer an item differently; the pair in the middle, with its interval."""
    blocks = load_blocks(snapshot, task, runs, {main[1]: True})
    if not blocks or main[1] not in blocks[0].values:
        return None
    values = blocks[0].values[main[1]]
    if np.nanmin(values) < 0 or np.nanmax(values) > 1:
        return None
    values = values[np.argsort(np.nanmean(values, axis=1), kind="stable")]
    pairs = list(pairwise(range(len(values))))
    chosen = [pairs[int(i)] for i in np.unique(np.linspace(0, len(pairs) - 1, min(len(pairs), _PAIRS)).round())]
    found = [flip for a, b in chosen if (flip := _flips(values[b] - values[a])) is not None]
    if not found:
        return None
    middle = sorted(found)[len(found) // 2]
    return Flips(*middle, pairs=len(found))


def _flips(difference: Floats) -> tuple[float, float, float] | None:
    kept = difference[~np.isnan(difference)]
    if kept.size < 2:
        return None
    square = kept**2
    if np.isin(square, (0.0, 1.0)).all():
        low, high = wilson(square.sum(), square.size)
        return discordance(kept, bound=1.0), float(low), float(high)
    mean, low_end, high_end = mean_interval(square)
    return mean, max(0.0, low_end), min(1.0, high_end)


def repeat_spread(snapshot: Snapshot, task: str, runs: Sequence[str], main: tuple[str, str]) -> Repeats | None:
    """Variance between and within items, as the mean over runs; None where no item was asked twice."""
    import polars as pl

    item = ["run_key", "filter", "item_key", "item_id"]
    scores = snapshot.scan("scores", tasks=[task], runs=runs, metrics=[main[1]], columns=[*item, "source", "value"])
    value = pl.col("value")
    rows = (
        scores.filter(pl.col("source") == main[0])
        .drop_nulls("value")
        .group_by(item)
        .agg(value.mean().alias("mean"), value.var().alias("within"), pl.len().alias("n"))
        .filter(pl.col("n") > 1)
        .sort(item)
        .collect()
    )
    if rows.is_empty():
        return None
    found = [_parts(group) for _, group in rows.group_by("run_key", maintain_order=True) if group.height > 1]
    if not found:
        return None
    between, within = (math.fsum(part) / len(found) for part in zip(*found, strict=True))
    return Repeats(max(0.0, between), within)


def _parts(group: pl.DataFrame) -> tuple[float, float]:
    means, within, n = (group[name].to_numpy().astype(float) for name in ("mean", "within", "n"))
    return float(means.var(ddof=1) - np.mean(within / n)), float(within.mean())


def best(runs: Sequence[Run], rows: Sequence[Aggregate], logged: Sequence[Mapping[str, Any]]) -> Best | None:
    """The best score on the metric that speaks for the task, if it is a rate."""
    names = {run.run_key: run.model for run in runs}
    scored = [row for row in rows if row.value is not None and row.n_items and 0 <= row.value <= 1]
    if scored:
        top = max(scored, key=lambda row: (row.value or 0.0, row.run_key))
        assert top.value is not None
        low, high = wilson(top.value * top.n_items, top.n_items)
        return Best(top.model, top.value, float(low), float(high))
    rates = [row for row in logged if _is_rate(row) and 0 <= float(row["value"]) <= 1]
    if not rates:
        return None
    first = min(str(row["metric_id"]) for row in rates)
    row = max((r for r in rates if r["metric_id"] == first), key=lambda r: (float(r["value"]), str(r["run_key"])))
    value, error = float(row["value"]), row["stderr"]
    size = _size(row)
    if size is not None:
        low, high = wilson(value * size, size)
        return Best(names[row["run_key"]], value, float(low), float(high))
    half = 1.96 * float(error) if error else math.inf
    return Best(names[row["run_key"]], value, max(0.0, value - half), min(1.0, value + half))


def _is_rate(row: Mapping[str, Any]) -> bool:
    known = harness_metric(str(row["metric_id"]))
    return known is not None and known.kind == "hard" and (known.low, known.high) == (0, 1)


def denominators(runs: Sequence[Run], rows: Sequence[Aggregate]) -> tuple[Denominator, ...]:
    """Responses behind every run's score on the metric that speaks for the task."""
    by_key = {run.run_key: run for run in runs}
    return tuple(
        Denominator(
            row.run_key,
            row.model,
            row.n_scored,
            by_key[row.run_key].counts.expected,
            conditions_text(by_key[row.run_key]),
        )
        for row in rows
    )
