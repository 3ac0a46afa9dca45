"""Places that are told in another unit than the axis is read in: losses, and scores of another task."""

from __future__ import annotations

from math import floor, log10
from typing import NamedTuple

import numpy as np

from foreshock._base import ConfigError
from foreshock.curves import benchmark_axis, loss_axis
from foreshock.metrics import harness_metric
from foreshock.stats import logit

_DIGITS = 12
"""Digits of a place that survive there and back: more are rounding."""
_SHOWN = 4


class PlaceScale(NamedTuple):
    """How places are told.

    Attributes:
        low, high: Ends of the scores that are told; the axis is their log-odds where there are two, else one over them,
            or they themselves where ``linear``.
        linear: Whether scores with an open end are read as they are, and not as one over them on a log scale.
        falls: Whether better ones are lower, so that they are turned round.
    """

    low: float | None = None
    high: float | None = None
    linear: bool = False
    falls: bool = True

    @property
    def log(self) -> bool:
        """Whether the axis is read on a log scale."""
        return not self.linear and not self.shares

    @property
    def shares(self) -> bool:
        """Whether what is told lies between two ends."""
        return self.low is not None and self.high is not None

    @property
    def how(self) -> str:
        """How the axis is made of what is told, in words."""
        if self.linear:
            return "its score, turned round, so that better is further" if self.falls else "its score"
        axis = benchmark_axis(np.empty(0)) if self.shares else loss_axis(np.empty(0))
        return axis.how

    def on_axis(self, told: np.ndarray) -> np.ndarray:
        """Places of the axis, ascending as models get better, of the shape of ``told``; NaN stays.

        Raises:
            MetricError: A loss is 0 or below on a log scale, or a score lies outside its scale.
        """
        if self.linear:
            return np.asarray(told, float) * (-1 if self.falls else 1)
        if self.low is not None and self.high is not None:
            return benchmark_axis(told, self.low, self.high).x
        return loss_axis(told).x

    def told(self, x: float) -> float:
        """A place of the axis as it is told.

        Examples:
            >>> PlaceScale().told(0.25), round(PlaceScale(0.0, 1.0).told(0.0), 3), PlaceScale(linear=True).told(-3.0)
            (4.0, 0.5, 3.0)
        """
        if self.linear:
            return -x if self.falls else x
        if self.low is not None and self.high is not None:
            value = self.low + (self.high - self.low) * float(logit.inverse(np.array([x]))[0])
        else:
            value = 1 / x
        return float(f"{value:.{_DIGITS}g}")

    def short_of(self, x: float) -> float:
        """A place as it is told in few digits, no further along the axis than it is."""
        value = self.told(x)
        if value == 0:
            return value
        step = 10.0 ** (floor(log10(abs(value))) - _SHOWN + 1)
        near = [float(f"{(floor(value / step) + k) * step:.{_SHOWN}g}") for k in (0, 1)]
        short = [one for one in near if self._inside(one) and float(self.on_axis(np.array([one]))[0]) <= x]
        return min(short, key=lambda one: abs(one - value)) if short else value

    def _inside(self, value: float) -> bool:
        if self.low is not None and self.high is not None:
            return self.low <= value <= self.high
        return self.linear or value > 0


def loss_places(name: str, x: np.ndarray, log_x: bool | None) -> tuple[PlaceScale, str] | None:
    """How a column of places is read that is a loss by its name, with what is said of it; None where it is none.

    Args:
        name: Name of the column.
        x: Places, shape (rows,).
        log_x: Whether the axis is read on a log scale, where the user says so.

    Raises:
        ConfigError: The lowest loss is 0, and no scale was asked for: the step after it would be no loss.
    """
    known = harness_metric(name)
    if known is None or known.higher_is_better is not False:
        return None
    known_x = x[~np.isnan(x)]
    turned = f"{name} is read as a loss: a lower one is further along the axis"
    lowest = float(known_x.min()) if known_x.size else 1.0
    if log_x is None and lowest == 0:
        expected = "losses above 0: after one of 0 comes none"
        raise ConfigError(f"a place of {name} is 0", expected=expected, do="leave such rows out, or use --linear-x")
    if log_x is False or lowest <= 0:
        return PlaceScale(linear=True), f"{turned}, on a linear scale"
    return PlaceScale(), f"{turned}, on a log scale (--linear-x otherwise)"
