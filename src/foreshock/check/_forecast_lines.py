"""What is forecast: one metric of one task along one line of models, or one curve of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from foreshock._base import ConfigError
from foreshock.alarms import WatchedSeries
from foreshock.check._forecast_scale import PlaceScale
from foreshock.check._measures import PRIMARY
from foreshock.check._tables import unit_of
from foreshock.curves import Curve, curve_of
from foreshock.metrics import harness_metric
from foreshock.series import Series

Floats = np.ndarray
NONE = np.empty(0)
SHOWN = 6
"""Further metrics that a line names."""
_DATES = frozenset({"date", "released"})


@dataclass(frozen=True, slots=True, eq=False)
class ForecastLine:
    """One curve to forecast, with its names.

    Attributes:
        curve: What is known.
        group: Its name in tables.
        task, family, metric: What was scored.
        axis: What orders the points.
        axis_known: False when the order is only the order of creation.
        labels: Model or checkpoint of each point.
        unit: Unit of the scores; ``fraction`` is shown in percent.
        rising: Whether more is better; None where neither is, or nobody says.
        held_x, held_y: Points kept from the forecast, and what came there (NaN: not known), shape (held,).
        twin: A continuous score of the same outputs along the same axis.
        twin_metric: Its name.
        link: How the score hangs on what lies beneath it (``all-of-N``, ...).
        runs: Runs behind it.
        notes: How it was read.
        axis_unit: What a bare number of its column of places was multiplied with, such as 1e9 of sizes in billions.
        scale: How places are told, where the axis is read in another unit; None is as they are.
    """

    curve: Curve
    group: str
    task: str | None
    family: str | None
    metric: str
    axis: str
    axis_known: bool
    labels: tuple[str, ...] = ()
    unit: str = "score"
    rising: bool | None = None
    held_x: Floats = field(default_factory=NONE.copy)
    held_y: Floats = field(default_factory=NONE.copy)
    twin: Curve | None = None
    twin_metric: str | None = None
    link: str | None = None
    runs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    axis_unit: float = 1.0
    scale: PlaceScale | None = None

    def place_of(self, told: float) -> float:
        """A place of the axis from what was told of it.

        Raises:
            MetricError: There is no such loss or score.
        """
        return told if self.scale is None else float(self.scale.on_axis(np.array([told]))[0])

    def told(self, x: float) -> float:
        """A place of the axis as it is told: a loss, or a score of another task, where the axis is made of them."""
        return x if self.scale is None else self.scale.told(x)

    def bare_place(self, number: float) -> float:
        """A place told by a number without a unit: in the unit of the column's own, as 70 among sizes in billions.

        A number that lies nearer to the last place as it stands (70e9 there) is taken so.
        """
        if self.axis_unit == 1 or not self.curve.points:
            return number
        last, scaled = float(self.curve.x[-1]), number * self.axis_unit
        if number <= 0 or last <= 0:
            return scaled
        return scaled if abs(np.log(scaled / last)) <= abs(np.log(number / last)) else number

    @property
    def dates(self) -> bool:
        """Whether places on the axis are dates, in days since 1970-01-01."""
        return self.axis in _DATES

    def named(self, group: str) -> ForecastLine:
        """The same under another name."""
        return replace(self, group=group)

    def on_scale(self, low: float | None, high: float | None, link: str | None) -> ForecastLine:
        """The same with other ends of its scores; what is None stays as it is.

        Args:
            low, high: Smallest and largest possible score.
            link: ``identity`` takes both ends away, ``log`` the upper one; ``logit`` needs both.

        Raises:
            ConfigError: ``logit`` without two ends.
        """
        if link == "identity":
            return replace(self, curve=replace(self.curve, low=None, high=None, chance=None))
        ends = (self.curve.low if low is None else low, self.curve.high if high is None else high)
        if link == "log":
            ends = (ends[0] or 0.0, None)
        if link == "logit" and None in ends:
            raise ConfigError(
                f"--link logit, and {self.metric} has an open end", expected="both ends", do="give --low and --high"
            )
        return replace(self, curve=replace(self.curve, low=ends[0], high=ends[1]))

    @property
    def placed(self) -> dict[str, Any]:
        """The fields that every row about it begins with."""
        return {
            "group": self.group,
            "task": self.task,
            "family": self.family,
            "metric": self.metric,
            "axis": self.axis,
            "axis_known": self.axis_known,
            "unit": self.unit,
        }


def lines_of_store(watched: Sequence[WatchedSeries], metrics: Sequence[str] = ()) -> list[ForecastLine]:
    """What is forecast of the series of a store: of every line and answer filter the metric that speaks for the task.

    Args:
        watched: Series of every metric, as :func:`foreshock.alarms.watched_series` gives them.
        metrics: Glob patterns of metrics that are wanted instead.
    """
    by_id = {one.id: one for one in watched}
    places: dict[tuple[str, str, str], list[WatchedSeries]] = {}
    for one in watched:
        places.setdefault((one.series.task, one.series.family, one.series.axis), []).append(one)
    found = []
    for alike in places.values():
        twins = {one.twin for one in alike}
        wanted = [one for one in alike if fits(one.series.metric, metrics)] if metrics else _speaking(alike, twins)
        others = [one.series.metric for one in alike if one not in wanted]
        found += [line_of(one, by_id.get(one.twin or ""), others) for one in wanted]
    return found


def _speaking(alike: Sequence[WatchedSeries], twins: set[str | None]) -> list[WatchedSeries]:
    """The metric that speaks for a line: ours, the harness's hard one with most items, else all that are no twins."""
    for name in PRIMARY:
        mine = [one for one in alike if one.series.source == "foreshock" and bare(one.series.metric) == name]
        if mine:
            return mine[:1]
    hard = [one for one in alike if one.series.declared.kind == "hard" and one.series.source != "foreshock"]
    if hard:
        return [max(hard, key=lambda one: (_items(one.series), -alike.index(one)))]
    rest = [one for one in alike if one.id not in twins]
    theirs = [one for one in rest if one.series.source != "foreshock"]
    return theirs or rest[:1]


def _items(made: Series) -> int:
    return max((point.n or 0 for point in made.points), default=0)


def line_of(one: WatchedSeries, twin: WatchedSeries | None = None, others: Sequence[str] = ()) -> ForecastLine:
    """A series of the store as something to forecast; ``others`` are further metrics of its line."""
    made = one.series
    known = harness_metric(made.metric)
    by_x = {point.x: point.label for point in made.points}
    curve = _curve(one)
    paired = twin if twin is not None and _alike(made, twin.series) else None
    more = [f"other metrics here: {', '.join(others[:SHOWN])}{', …' if len(others) > SHOWN else ''} (--metric)"]
    return ForecastLine(
        curve=curve,
        group=" · ".join(part for part in (made.task, made.family, made.metric) if part),
        task=made.task,
        family=made.family,
        metric=made.metric,
        axis=made.axis,
        axis_known=made.axis_known,
        labels=tuple(by_x.get(float(x), f"{x:g}") for x in curve.x),
        unit=one.unit or unit_of(made.declared.low, made.declared.high),
        rising=made.declared.higher_is_better,
        twin=None if paired is None else _curve(paired),
        twin_metric=None if paired is None else paired.series.metric,
        link=known.link if known else None,
        runs=tuple(dict.fromkeys(point.run_key for point in made.points)),
        notes=tuple(more) if others else (),
    )


def _curve(one: WatchedSeries) -> Curve:
    return curve_of(one.series, counted=one.counted)


def _alike(one: Series, other: Series) -> bool:
    return [p.x for p in one.points] == [p.x for p in other.points]


def bare(metric: str) -> str:
    """A metric's name without parameters, filter and reducer.

    Examples:
        >>> bare("acc,none"), bare("pass_at_k(k=5)"), bare("match[mean]")
        ('acc', 'pass_at_k', 'match')
    """
    return metric.partition(",")[0].partition("(")[0].partition("[")[0].strip()


def fits(name: str, patterns: Sequence[str]) -> bool:
    """Whether a metric fits one of some patterns: as a whole, or its name without parameters and filter.

    Examples:
        >>> fits("acc,none", ["acc"]), fits("tool_calls", ["tool*"]), fits("acc_norm", ["acc"])
        (True, True, False)
    """
    return any(fnmatchcase(one, pattern) for pattern in patterns for one in (name, bare(name)))
