"""Curves over other axes than sizes and dates: compute that was derived, another benchmark, an ability behind many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from foreshock._base import ConfigError, MetricError, count_of
from foreshock.check._forecast_lines import ForecastLine, fits
from foreshock.check._forecast_scale import PlaceScale
from foreshock.curves import Axis, Curve, ability_axis
from foreshock.records import ModelCard

ABILITY = "ability"
"""Name of the axis that is made of all other tasks."""


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


class Others(NamedTuple):
    """What can be an axis.

    Attributes:
        speaking: Every task's speaking metric.
        measured: Every metric of every task.
    """

    speaking: Sequence[ForecastLine]
    measured: Sequence[ForecastLine]

    def named(self, line: ForecastLine, name: str) -> list[ForecastLine]:
        """What is an axis for a line: another task, all other tasks, or another metric of its own task."""
        alike = (line.family, line.axis)
        if name == ABILITY:
            return [o for o in self.speaking if (o.family, o.axis) == alike and o.task != line.task]
        if self.is_task(name):
            return [o for o in self.speaking if (o.family, o.axis, o.task) == (*alike, name)]
        mine = [o for o in self.measured if (o.family, o.axis, o.task) == (*alike, line.task)]
        return [o for o in mine if o.metric != line.metric and fits(o.metric, [name])][:1]

    def is_task(self, name: str) -> bool:
        """Whether a name is that of a task."""
        return any(other.task == name for other in self.speaking)


def over(lines: Sequence[ForecastLine], others: Others, name: str) -> list[ForecastLine]:
    """The same scores over another benchmark, over another metric of the task, or over the ability behind all others.

    Models are matched by their place on the axis that they had, within one family; those without a score there are left
    out. A score between two ends becomes its log-odds, a loss one over it; places are told as the score or the loss. A
    line of which no model has a place stays, without a point, and is refused by itself.

    Args:
        lines: What is forecast.
        others: What can be an axis.
        name: A task, a metric, or :data:`ABILITY`.

    Raises:
        ConfigError: There is neither such a task nor such a metric, or nothing is left to forecast.
    """
    if name != ABILITY and not others.is_task(name) and not any(fits(o.metric, [name]) for o in others.measured):
        tasks, metrics = (sorted({str(n) for n in names}) for names in _names(others))
        raise ConfigError(
            f"--over {name[:100]!r}",
            expected=f"{ABILITY}, a task ({', '.join(tasks)[:300]}) or a metric ({', '.join(metrics)[:300]})",
            do="name something with scores of the same models",
        )
    # a task is not drawn over itself, nor a metric over itself
    kept = [one for one in lines if name == ABILITY or not _itself(one, others, name)]
    if not kept:
        raise ConfigError(
            f"--over {name[:100]!r}, and nothing else is to be forecast",
            expected="another task or metric than the one that is forecast",
            do="name another axis, or further tasks",
        )
    return [_over(line, others.named(line, name), name) for line in kept]


def _names(others: Others) -> tuple[set[str | None], set[str | None]]:
    return {other.task for other in others.speaking}, {other.metric for other in others.measured}


def _itself(line: ForecastLine, others: Others, name: str) -> bool:
    return line.task == name if others.is_task(name) else fits(line.metric, [name])


def _over(line: ForecastLine, mine: Sequence[ForecastLine], name: str) -> ForecastLine:
    scores = np.array([_scores(other, line.curve.x) for other in mine]).T if mine else np.empty((line.curve.points, 0))
    scale = None if name == ABILITY or not mine else _scale(mine[0], scores[:, 0])
    try:
        axis = _axis(scores, mine, scale, name)
    except MetricError as why:  # what is wrong with one line's axis is no reason to forecast none
        nothing = np.full(line.curve.points, np.nan)
        axis = Axis(name, nothing, False, np.zeros(nothing.shape, bool), f"none: {why.found}")
    return _on(line, axis, name, scale)


def _scale(other: ForecastLine, scores: np.ndarray) -> PlaceScale:
    """How places are told that are scores of another line."""
    curve = other.curve
    if curve.low is not None and curve.high is not None:
        return PlaceScale(curve.low, curve.high)
    falls = other.rising is False or (other.rising is None and curve.low == 0)
    return PlaceScale() if falls and not (scores <= 0).any() else PlaceScale(linear=True, falls=falls)


def _axis(scores: np.ndarray, mine: Sequence[ForecastLine], scale: PlaceScale | None, name: str) -> Axis:
    """Places of the models of one line, NaN where one has none."""
    if not mine:
        nothing = np.full(len(scores), np.nan)
        return Axis(name, nothing, False, np.zeros(nothing.shape, bool))
    if scale is None:
        return ability_axis(scores, np.ones(len(scores), bool))
    return Axis(name, scale.on_axis(scores[:, 0]), scale.log, np.zeros(len(scores), bool), scale.how)


def _scores(other: ForecastLine, x: np.ndarray) -> np.ndarray:
    """Scores of another task at places of the axis, NaN where there is none."""
    at = dict(zip(other.curve.x.tolist(), other.curve.y.tolist(), strict=True))
    return np.array([at.get(place, np.nan) for place in x.tolist()])


def _on(line: ForecastLine, axis: Axis, name: str, scale: PlaceScale | None) -> ForecastLine:
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
        axis_known=True,
        labels=tuple(line.labels[i] for i in order) if line.labels else (),
        twin=None,
        twin_metric=None,
        scale=scale,
        axis_unit=1.0,
        notes=(*line.notes, *notes),
    )
