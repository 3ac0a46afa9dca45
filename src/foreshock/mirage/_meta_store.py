"""Every metric of every line of models in a store, as series: what a count of emergent triplets is made from."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from foreshock._base import Progress, count_of, quiet
from foreshock.metrics import MetricSpec
from foreshock.mirage._case import POINTS
from foreshock.records import ModelCard, Run
from foreshock.scoring import Aggregate, aggregate, stored_specs
from foreshock.series import Declared, Line, Point, Series, aggregate_series, family_label, lines
from foreshock.store import Snapshot

_BATCH = 50


class Gathered(NamedTuple):
    """What a store holds for a count of emergent triplets.

    Attributes:
        series: One for each line of models and metric.
        groups: Family whose models each line has, by the line's name: its sizes, trajectories and conditions.
        notes: What was left out.
    """

    series: list[Series]
    groups: dict[str, str]
    notes: list[str]


def gather(
    snapshot: Snapshot,
    runs: Sequence[Run],
    cards: Mapping[str, ModelCard],
    *,
    axis: str | None = None,
    progress: Progress = quiet,
) -> Gathered:
    """Series of all metrics of the given runs: our own and the harness's scores of items, and logged totals.

    A family that has enough sizes for a line is followed along its sizes only: the checkpoints of these models are the
    same models again. ``axis`` forces another line.

    Args:
        snapshot: What to look at; metrics are those that were scored before.
        runs: Runs of it.
        cards: Card of each run, by run key.
        axis: Force this axis; see :data:`foreshock.series.AXES`.
        progress: Told about runs.
    """
    found, notes = _main_lines(lines(runs, cards, axis))
    groups: dict[str, str] = {}
    for line in found:
        first = line.stops[0].groups[0][0] if line.stops else None
        if first is not None:
            groups[_name(line)] = line.family if line.family == "all models" else family_label(cards[first.run_key])
    itemised = [line for line in found if any(_of_items(run) for run in _runs(line))]
    whole = [line for line in found if line not in itemised]
    specs = stored_specs(snapshot)
    made: list[Series] = []
    for start in range(0, len(itemised), _BATCH):
        progress("series", start, len(itemised))
        batch = itemised[start : start + _BATCH]
        by_run: dict[str, dict[Key, Aggregate]] = defaultdict(dict)
        for row in aggregate(snapshot, runs={run.run_key for line in batch for run in _runs(line)}):
            # values in units of one model's own (its tokens) make no series over models
            if row.value is not None and row.unit is None:
                by_run[row.run_key][row.metric_id, row.filter, row.perturbation, row.source] = row
        for line in batch:
            made += _of_line(line, by_run, specs)
    progress("series", len(itemised), len(itemised))
    return Gathered([*made, *aggregate_series(snapshot, whole)], groups, notes)


def _of_items(run: Run) -> bool:
    return run.counts.delivered > 0


def _main_lines(every: Iterable[Line]) -> tuple[list[Line], list[str]]:
    """One view of each family: along its sizes where there are enough, else along its checkpoints."""
    by_task: dict[str, list[Line]] = defaultdict(list)
    for line in every:
        by_task[line.task].append(line)
    kept: list[Line] = []
    dropped = 0
    for mine in by_task.values():
        long = {key for line in mine if not line.trajectory and len(line.stops) >= POINTS for key in _keys(line)}
        shared = [line for line in mine if line.trajectory and not long.isdisjoint(_keys(line))]
        kept += [line for line in mine if line not in shared]
        dropped += len(shared)
    note = f"{count_of(dropped, 'line')} along checkpoints left out: the sizes of the same family are followed"
    return kept, [note] if dropped else []


def _keys(line: Line) -> set[str]:
    return {run.run_key for run in _runs(line)}


def _runs(line: Line) -> list[Run]:
    return [group[0] for stop in line.stops for group in stop.groups]


def _name(line: Line) -> str:
    return line.family if not line.conditions else f"{line.family} ({line.conditions})"


Key = tuple[str, str | None, str | None, str]


def _of_line(
    line: Line, by_run: Mapping[str, Mapping[Key, Aggregate]], specs: Mapping[str, MetricSpec]
) -> list[Series]:
    keys = dict.fromkeys(key for run in _runs(line) for key in by_run.get(run.run_key, ()))
    made = []
    for key in keys:
        points = []
        for stop in line.stops:
            rows = [row for group in stop.groups if (row := by_run.get(group[0].run_key, {}).get(key)) is not None]
            if rows:
                points.append(_point(stop.label, stop.x, rows))
        metric_id, answer, perturbation, source = key
        told = ", ".join(part for part in (answer, perturbation) if part)
        task = f"{line.task} [{told}]" if told else line.task
        name, said = _told(metric_id, source, specs)
        place = (task, _name(line), name, line.axis, line.axis_known, line.log_axis)
        made.append(Series(*place, tuple(points), "items", said))
    return made


def _told(metric_id: str, source: str, specs: Mapping[str, MetricSpec]) -> tuple[str, Declared]:
    spec = specs.get(metric_id) if source == "foreshock" else None
    if spec is None:
        return metric_id, Declared()
    said = Declared(kind=spec.kind, low=spec.low, high=spec.high, higher_is_better=spec.higher_is_better)
    return str(spec), said


def _point(label: str, x: float, rows: Sequence[Aggregate]) -> Point:
    """The mean over seeds at one place, with the standard error of the items."""
    values = [row.value for row in rows if row.value is not None]
    errors = [row.stderr for row in rows if row.stderr is not None]
    error = math.sqrt(sum(e * e for e in errors)) / len(values) if len(errors) == len(values) else None
    items = min(row.n_items for row in rows)
    return Point(label, x, sum(values) / len(values), error, items, rows[0].run_key, tuple(values))
