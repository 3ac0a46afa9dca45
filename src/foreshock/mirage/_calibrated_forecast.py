"""The same onset forecast by the calibrated forecaster, which allows for other shapes than a straight line.

:func:`foreshock.curves.forecast` reads a hard metric from 0 to its ceiling, with its items and its score of guessing,
and a twin as the probability that the report shows: on such scales it was calibrated on short histories of models. As a
loss, a log-probability would rest on long curves of losses. Where the line had answered ``yes`` on straight worlds of
eight models before the onset at noise .2, that interval held what came in 14 of 37, the probability's in 24.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreshock.mirage._design import Floats
from foreshock.mirage._measures import COUNTED, Hard, Twin
from foreshock.mirage._trend import Trend

if TYPE_CHECKING:
    from foreshock.curves import Curve


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What the calibrated forecaster made of one series.

    Attributes:
        value, low, high: Forecast with its 90% interval, on the scale on which the metric is shown; None where refused.
        refused: Why there is no forecast; None where there is one.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    refused: str | None = None

    def holds(self, observed: float) -> bool | None:
        """Whether the interval holds what came, on the same scale; None where there is no interval."""
        return None if self.low is None or self.high is None else self.low <= observed <= self.high


class _Scale(NamedTuple):
    """A series as a curve takes it: scores, how these move with the mean, the ends of the scale, items if counted."""

    y: Floats
    slope: Floats
    ends: dict[str, float]
    items: float = float("nan")


def calibrated(trend: Trend, series: Hard | Twin, onset: tuple[float, float]) -> Calibrated:
    """Forecast a series at the upper end of the onset from all models up to its lower end.

    Args:
        trend: The line of models.
        series: Its hard metric or one of its twins, with scores.
        onset: Places, on the scale on which the axis is read.
    """
    from foreshock.curves import forecast

    at = np.exp(onset[1]) if trend.log_axis else onset[1]
    told = forecast(history_of(trend, series, onset[0]), [at], identify=False)
    refused = told.refused or told.lacking[0]
    if refused is not None:
        return Calibrated(refused=refused)
    return Calibrated(float(told.value[0]), float(told.low[0]), float(told.high[0]))


def history_of(trend: Trend, series: Hard | Twin, upto: float) -> Curve:
    """The models up to a place as a curve, on the scale on which the series is shown.

    Models at floor are in it, unlike in a line's: a count says what it is where a link does not.
    """
    from foreshock.curves import Curve

    kept = trend.x <= upto
    mean, error = trend.means[series.name][kept], np.sqrt(np.diag(trend.sampling[series.name]))[kept]
    scale = _hard(series, mean, trend.items) if isinstance(series, Hard) else _twin(series, mean, trend.items)
    facts: dict[str, Any] = scale.ends
    x = trend.x[kept]
    return Curve(
        x=np.exp(x) if trend.log_axis else x,
        y=scale.y,
        items=None if np.isnan(scale.items) else np.full(mean.size, scale.items),
        stderr=scale.slope * error,
        log_x=trend.log_axis,
        trajectory=trend.trajectory,
        name=series.name,
        **facts,
    )


def _hard(hard: Hard, mean: Floats, items: int) -> _Scale:
    """A metric that may be negative (a difference, read as it is and no count of right answers) has no ends."""
    if hard.link == "identity" and not hard.binary:
        return _Scale(mean, np.ones(mean.size), {})
    ends = {"low": 0.0, "high": hard.ceiling, "chance": hard.chance}
    counted = float(items) if hard.binary and items else float("nan")
    return _Scale(np.clip(mean, 0.0, hard.ceiling), np.ones(mean.size), ends, counted)


def _twin(twin: Twin, mean: Floats, items: int) -> _Scale:
    if twin.kind == "difference":
        return _Scale(mean, np.ones(mean.size), {})
    y = np.clip(twin.shown(mean), 0.0, 1.0)
    if twin.kind == "gold_logprob":
        slope = y / twin.tokens
    else:  # a margin is log-odds, the rest are shares of the highest value
        slope = y * (1 - y) if twin.kind == "choice_margin" else np.full(mean.size, 1 / twin.high)
    counted = float(items * twin.trials) if twin.kind in COUNTED and items else float("nan")
    return _Scale(y, slope, {"low": 0.0, "high": 1.0}, counted)
