"""Which lines are watched: those of model families, releases that no family holds together, and repeated runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from foreshock.records import ModelCard, Run, RunStatus
from foreshock.series import Line, Stop, axis_value, conditions_text, lines

LEAST_REPEATS = 3
"""Runs of one model under the same conditions from which they are a line of their own, in order of creation."""


def watched_lines(
    runs: Iterable[Run], cards: Mapping[str, ModelCard], axis: str | None = None, *, alone: bool = False
) -> list[Line]:
    """Every line along which a trend can be watched.

    Those of :func:`foreshock.series.lines`; the models of a task that stand alone in their families (``agent-1.0``,
    ``agent-1.1``: names that say nothing of sizes), one after the other as they came out; and runs of one model under
    the same conditions, as they were made.

    Args:
        runs: Runs of a snapshot.
        cards: Card of each run, by run key.
        axis: Force this axis, which leaves only its lines.
        alone: Whether models that stand on none of these lines are lines of one point each: they have no trend, but a
            score that can lie beyond a line of the user's.

    Raises:
        ConfigError: ``axis`` is not one of :data:`foreshock.series.AXES`.
    """
    every = list(runs)
    found = lines(every, cards, axis)
    if axis is not None:
        return found
    made = [*(line for line in found if len(line.stops) > 1), *release_lines(found, cards), *repeat_lines(every)]
    placed = {run.run_key for line in made for run in _runs(line)}
    return [*made, *(line for line in found if alone and placed.isdisjoint(run.run_key for run in _runs(line)))]


def _runs(line: Line) -> list[Run]:
    return [run for stop in line.stops for group in stop.groups for run in group]


def release_lines(found: Iterable[Line], cards: Mapping[str, ModelCard]) -> list[Line]:
    """Models that stand alone on their lines, as one line for each task and set of conditions.

    They are in order of release where every one has a date of it, else in order of creation.
    """
    alone: dict[str, list[Run]] = defaultdict(list)
    for line in found:
        if len(line.stops) == 1:
            alone[line.task] += [run for group in line.stops[0].groups for run in group]
    made = []
    for _, members in sorted(alone.items()):
        dated = all(axis_value(run, cards[run.run_key], "released") is not None for run in members)
        made += [line for line in lines(members, cards, "released" if dated else "created") if len(line.stops) > 1]
    return made


def repeat_lines(runs: Iterable[Run]) -> list[Line]:
    """Runs of one model on one task under the same conditions, as lines in order of creation.

    A line of models takes the newest run of each; whoever runs the same model every night looks at these.
    """
    groups: dict[tuple[str, str, str, int | None], list[Run]] = defaultdict(list)
    for run in runs:
        if run.status is RunStatus.COMPLETE and run.created:
            groups[run.task, run.model, conditions_text(run), run.seed].append(run)
    shared: dict[tuple[str, str], set[str]] = defaultdict(set)
    for task, model, conditions, _ in groups:
        shared[task, model].add(conditions)
    found = []
    for (task, model, conditions, seed), alike in sorted(groups.items(), key=lambda kv: (*kv[0][:3], str(kv[0][3]))):
        if len(alike) >= LEAST_REPEATS:
            ordered = sorted(alike, key=lambda run: (run.created or "", run.run_key))
            stops = tuple(Stop(run.created or "", float(i), ((run,),)) for i, run in enumerate(ordered))
            told = conditions if len(shared[task, model]) > 1 else ""
            name = f"{model}, repeated" if seed is None else f"{model} seed {seed}, repeated"
            found.append(Line(task, name, "created", True, False, told, stops, 0))
    return found
