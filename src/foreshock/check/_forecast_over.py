"""Curves over other axes than sizes and dates: compute that was derived, another benchmark, an ability behind many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from foreshock._base import ConfigError, NotEnoughDataError, count_of
from foreshock.check._forecast_lines import ForecastLine
from foreshock.curves import Axis, Curve, ability_axis, benchmark_axis, loss_axis
from foreshock.records import ModelCard

ABILITY = "ability"
"""Name of the axis that is made of all other tasks."""
LEAST = 3


def with_compute(line: ForecastLine, cards: Mapping[str, ModelCard]) -> ForecastLine:
    """The line with what must be said of its compute: how much of it was derived."""
    if line.axis != "flops":
        return line
    mine = [cards[key] for key in line.runs if key in cards]
    derived = sum(card.flops is None for card in mine)
    if not derived:
        return line
    note = f"6 FLOPs for each active parameter and token, of {derived} of {count_of(len(mine), 'model')}"
    return replace(line, notes=(*line.notes, note))


def over(lines: Sequence[ForecastLine], others: Sequence[ForecastLine], name: str) -> list[ForecastLine]:
    """The same scores over another benchmark, or over the ability behind all other tasks.

    Models are matched by their place on the axis that they had, within one family; those without a score there are left
    out. A score between two ends becomes its log-odds, a loss one over it.

    Args:
        lines: What is forecast.
        others: What can be an axis: every task's speaking metric.
        name: A task, or :data:`ABILITY`.

    Raises:
        ConfigError: There is no such task.
        NotEnoughDataError: Fewer than three models have a place.
    """
    known = {other.task for other in others}
    if name != ABILITY and name not in known:
        raise ConfigError(
            f"--over {name[:100]!r}",
            expected=f"{ABILITY}, or one of {', '.join(sorted(str(task) for task in known))[:500]}",
            do="name a task with scores of the same models",
        )
    return [_over(line, others, name) for line in lines if line.task != name]


def _over(line: ForecastLine, others: Sequence[ForecastLine], name: str) -> ForecastLine:
    mine = [o for o in others if (o.family, o.axis) == (line.family, line.axis) and o.task != line.task]
    if name != ABILITY:
        mine = [other for other in mine if other.task == name]
    scores = np.array([_scores(other, line.curve.x) for other in mine]).T if mine else np.empty((line.curve.points, 0))
    there = ~np.isnan(scores).all(axis=1) if mine else np.zeros(line.curve.points, bool)
    if there.sum() < LEAST:
        raise NotEnoughDataError(
            f"{count_of(int(there.sum()), 'model')} of {line.group} with a place on {name}",
            expected=f"at least {LEAST}",
            do="run the other benchmark on more of these models",
        )
    axis = _axis(scores, mine, name)
    return _on(line, axis, name)


def _axis(scores: np.ndarray, mine: Sequence[ForecastLine], name: str) -> Axis:
    if name == ABILITY:
        return ability_axis(scores, np.ones(len(scores), bool))
    first = mine[0].curve
    if first.low is not None and first.high is not None:
        return benchmark_axis(scores[:, 0], first.low, first.high)
    return loss_axis(scores[:, 0])


def _scores(other: ForecastLine, x: np.ndarray) -> np.ndarray:
    """Scores of another task at places of the axis, NaN where there is none."""
    at = dict(zip(other.curve.x.tolist(), other.curve.y.tolist(), strict=True))
    return np.array([at.get(place, np.nan) for place in x.tolist()])


def _on(line: ForecastLine, axis: Axis, name: str) -> ForecastLine:
    """The line with other places, sorted by them; models without one are left out."""
    order = [int(i) for i in np.argsort(axis.x, kind="stable") if axis.known[i]]
    curve = line.curve
    gone = curve.points - len(order)

    def part(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else values[order]

    moved = Curve(
        x=axis.x[order], y=curve.y[order], items=part(curve.items), stderr=part(curve.stderr), low=curve.low,
        high=curve.high, chance=curve.chance, log_x=axis.log, name=curve.name, group=curve.group,
    )  # fmt: skip
    notes = [
        f"places are {name}: {axis.how}" if axis.how else f"places are {name}",
        *([f"{count_of(gone, 'model')} without a place left out"] if gone else []),
    ]
    return replace(
        line,
        curve=moved,
        axis=name,
        labels=tuple(line.labels[i] for i in order) if line.labels else (),
        twin=None,
        twin_metric=None,
        notes=(*line.notes, *notes),
    )


def place_over(others: Sequence[ForecastLine], name: str, score: float) -> float:
    """A score of another task as a place on the axis that it makes.

    Raises:
        ConfigError: An ability has no scores, or the score is outside the scale.
    """
    mine = [other for other in others if other.task == name]
    if not mine:
        raise ConfigError(
            f"--at beside --over {name[:100]}", expected="--next: an ability has no scores", do="use --next"
        )
    return float(_axis(np.array([[score]]), mine, name).x[0])
