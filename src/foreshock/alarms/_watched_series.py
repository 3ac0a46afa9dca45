"""Every metric of every line as a series: item scores, totals, counts of steps, whatever the store holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from foreshock._base import digest
from foreshock.alarms._looks import cut
from foreshock.alarms._watched_twins import with_twins
from foreshock.metrics import MetricSpec, harness_metric
from foreshock.records import Run
from foreshock.scoring import Aggregate, aggregate, stored_specs
from foreshock.series import Declared, Line, Point, Series, aggregate_series, conditions_text
from foreshock.store import Snapshot

_SPREADS = frozenset({"std", "stdev", "var", "variance", "stderr", "bootstrap_stderr"})

_Key = tuple[str | None, str | None, str, str, str | None]
_Values = Mapping[_Key, Mapping[str, Aggregate]]


class WatchedSeries(NamedTuple):
    """One series that is watched.

    Attributes:
        id: Its name over time: hash of task, family, conditions, axis, metric, answer filter, perturbation and unit;
            not of the runs, so that it stays the same when runs come.
        series: Its points; ``declared`` holds what is known of the metric.
        metric_id: The metric as the store knows it.
        variant: Answer filter and perturbation; None without either.
        counted: Whether each value is a mean of 0/1 over ``n`` items.
        unit: Unit of the values; None has no dimension.
        twin: Id of the series of a continuous metric of the same responses that this hard one is read against.
        line: Which runs stand where.
        repeats: Whether the points are runs of one model.
    """

    id: str
    series: Series
    metric_id: str
    variant: str | None
    counted: bool
    unit: str | None
    twin: str | None
    line: Line
    repeats: bool


def watched_series(
    snapshot: Snapshot, lines: Iterable[Line], *, least: int = 2, aggregates: Iterable[Aggregate] | None = None
) -> list[WatchedSeries]:
    """Series of every metric of some lines, in order of line, answer filter and metric.

    Of a point, the newest run of each seed counts, and seeds are averaged; a point that lacks a metric for one of them
    is left out of that metric's series. An answer that could not be extracted counts as 0 under a hard metric, as on
    the trust card. Totals are taken where a line has no responses, and those totals of a line with responses that are
    not the mean of stored scores. :attr:`Series.declared` says kind, ends of the scale and direction of the metric.

    Args:
        snapshot: What to look at.
        lines: Lines, as :func:`watched_lines` makes them.
        least: Points below which a series is left out.
        aggregates: Means of the lines' tasks over all metrics, where they are known already.
    """
    wanted = list(lines)
    specs = stored_specs(snapshot)
    with_rows = [line for line in wanted if any(run.counts.delivered for run in _newest(line))]
    values = _values(snapshot, with_rows, aggregates)
    binary = _binary(snapshot, with_rows)
    logged: dict[tuple[str, str, str], list[Series]] = defaultdict(list)
    for one in aggregate_series(snapshot, wanted):
        logged[one.task, one.family, one.axis].append(one)
    found: list[WatchedSeries] = []
    for line in wanted:
        rows = any(run.counts.delivered for run in _newest(line))
        mine = _of_scores(line, values[line.task], specs, binary) if rows and line.task in values else []
        known = {one.metric_id for one in mine}
        totals = [_of_total(line, one) for one in logged[line.task, _family(line), line.axis]]
        totals = [total for total in totals if not _is_known(total.metric_id, known)]
        found += [made for made in with_twins(mine, totals, specs) if len(made.series.points) >= least]
    return found


def label_of(one: WatchedSeries, at: float | None) -> str | None:
    """What the point at a place of the axis is called; None for no place."""
    return None if at is None else next((cut(point.label) for point in one.series.points if point.x == at), f"{at:g}")


def _newest(line: Line) -> list[Run]:
    return [group[0] for stop in line.stops for group in stop.groups]


def _values(
    snapshot: Snapshot, lines: Sequence[Line], known: Iterable[Aggregate] | None
) -> dict[str, dict[_Key, dict[str, Aggregate]]]:
    """Means by task, then by variant and metric, then by run."""
    found: dict[str, dict[_Key, dict[str, Aggregate]]] = defaultdict(lambda: defaultdict(dict))
    tasks, keys = {line.task for line in lines}, {run.run_key for line in lines for run in _newest(line)}
    if known is None:
        known = aggregate(snapshot, tasks=tasks, runs=keys) if keys else ()
    for one in known:
        if one.run_key not in keys or one.task not in tasks:
            continue
        key = (one.filter, one.perturbation, one.source, one.metric_id, one.unit)
        found[one.task][key][one.run_key] = one
    return found


def _binary(snapshot: Snapshot, lines: Sequence[Line]) -> set[tuple[str, str]]:
    """Task and metric of scores that only ever are 0 or 1."""
    import polars as pl

    tasks = {line.task for line in lines}
    if not tasks:
        return set()
    value = pl.col("value")
    frame = snapshot.scan("scores", tasks=tasks, columns=["task", "metric_id", "value"])
    told = frame.group_by("task", "metric_id").agg(((value == 0) | (value == 1)).all().alias("binary")).collect()
    return {(task, metric) for task, metric, binary in told.iter_rows() if binary}


def _of_scores(
    line: Line, values: _Values, specs: Mapping[str, MetricSpec], binary: set[tuple[str, str]]
) -> list[WatchedSeries]:
    keys = sorted(values, key=lambda key: tuple(part or "" for part in key))
    several = len({key[:2] for key in keys}) > 1
    found = []
    for key in keys:
        way, perturbation, source, metric_id, unit = key
        spec = specs.get(metric_id) if source == "foreshock" else None
        said = _declared(line, metric_id, spec, binary=(line.task, metric_id) in binary)
        counted = (line.task, metric_id) in binary and (said.low, said.high) == (0, 1)
        points = tuple(_points(line, values[key], as_zero=said.kind == "hard" and said.low == 0, counted=counted))
        if not points:
            continue
        if any(not _inside(point.value, said) for point in points):
            # the log's scale is not the usual one (percent): nothing is assumed about its ends
            said, counted = replace(said, low=None, high=None, chance=None), False
        variant = ", ".join(part for part in (way, perturbation) if part is not None) or None
        made = Series(
            task=line.task if not several or variant is None else f"{line.task} [{variant}]",
            family=_family(line),
            metric=_name(metric_id, spec) + (f" ({unit})" if unit and spec and spec.unit != unit else ""),
            axis=line.axis,
            axis_known=line.axis_known,
            log_axis=line.log_axis,
            points=points,
            source=source,
            declared=said,
        )
        identity = _identity(line, metric_id, way, perturbation, unit)
        found.append(WatchedSeries(identity, made, metric_id, variant, counted, unit, None, line, _is_repeat(line)))
    return found


def _points(line: Line, means: Mapping[str, Aggregate], *, as_zero: bool, counted: bool) -> Iterator[Point]:
    for stop in line.stops:
        rows = [means.get(group[0].run_key) for group in stop.groups]
        told = [_mean(row, as_zero=as_zero) for row in rows if row is not None]
        values = [value for value, _, _ in told if value is not None]
        if not values or len(values) < len(rows):
            continue
        errors = [error for _, error, _ in told]
        stderr = None if None in errors else float(np.sqrt(sum(e * e for e in errors if e is not None))) / len(errors)
        label, key = stop.label, stop.groups[0][0].run_key
        # a count of 0/1 carries its own error, which is not 0 at 0 of n
        yield Point(
            label,
            stop.x,
            float(np.mean(values)),
            None if counted else stderr,
            min(n for _, _, n in told),
            key,
            tuple(values),
        )


def _mean(row: Aggregate, *, as_zero: bool) -> tuple[float | None, float | None, int]:
    """Value, standard error and items of one run, unparsed answers counted as 0 where asked."""
    if not as_zero or not row.unparsed:
        return row.value, row.stderr, row.n_items
    total = (row.value or 0.0) * row.n_scored
    answers = row.n_scored + row.unparsed
    items = max(1, round((row.n_items or row.n_scored) * answers / max(row.n_scored, 1))) if row.n_scored else answers
    return total / answers, None, items


def _declared(line: Line, metric_id: str, spec: MetricSpec | None, *, binary: bool) -> Declared:
    """What is known of a metric: by its own declaration, by what the log said of it, or by its name."""
    run = line.stops[0].groups[0][0]
    if spec is not None:
        chance = spec.chance(None)
        return Declared(spec.kind, None, chance, spec.low, spec.high, spec.higher_is_better)
    told = run.meta.get("metrics")
    own = told.get(metric_id) if isinstance(told, dict) else None
    own = own if isinstance(own, dict) else {}
    known = harness_metric(metric_id)
    kind = own.get("kind") or (known.kind if known else None) or ("hard" if binary else "continuous")
    twin = own.get("twin")
    ends = (known.low, known.high) if known else (0.0, 1.0) if binary else (None, None)
    better = known.higher_is_better if known else None
    chance = run.chance if kind == "hard" else None
    return Declared(kind, twin if isinstance(twin, str) else None, chance, *ends, better)


def _name(metric_id: str, spec: MetricSpec | None) -> str:
    return metric_id if spec is None else str(spec) + metric_id.removeprefix(spec.id)


def _family(line: Line) -> str:
    return line.family if not line.conditions else f"{line.family} ({line.conditions})"


def _identity(line: Line, metric_id: str, *parts: str | None) -> str:
    """Hash of what a series is. All conditions are in it: which of them are told changes when other runs come."""
    said = conditions_text(line.stops[0].groups[0][0])
    return digest(["FS401", line.task, line.family, said, line.axis, metric_id, *parts], 12)


def _is_repeat(line: Line) -> bool:
    return line.axis == "created" and line.axis_known


def _of_total(line: Line, made: Series) -> WatchedSeries:
    known = harness_metric(made.metric)
    said = made.declared
    if known is not None:
        said = Declared(
            kind=said.kind or known.kind,
            twin=said.twin,
            chance=said.chance if known.kind == "hard" or said.kind == "hard" else None,
            low=said.low if said.low is not None else known.low,
            high=said.high if said.high is not None else known.high,
            higher_is_better=known.higher_is_better if said.higher_is_better is None else said.higher_is_better,
        )
    if any(not _inside(point.value, said) for point in made.points):
        # the harness's scale is not the usual one (percent): nothing is assumed about its ends
        said = replace(said, low=None, high=None, chance=None)
    counted = said.kind == "hard" and (said.low, said.high) == (0, 1)
    identity = _identity(line, made.metric, "totals")
    made = replace(made, declared=said)
    return WatchedSeries(identity, made, made.metric, None, counted, None, None, line, _is_repeat(line))


def _inside(value: float, said: Declared) -> bool:
    return (said.low is None or value >= said.low) and (said.high is None or value <= said.high)


def _is_known(name: str, known: set[str]) -> bool:
    """Whether a total is the mean of scores that are watched, or says how far these lie apart."""
    base = name.partition("[")[0].partition(",")[0]
    scorer, _, part = base.rpartition(":")
    return base in known or bool(scorer and part in _SPREADS and known)
