"""A curve: one score along one axis, as arrays, with what is known of its scale and its noise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreshock._base import ConfigError, MetricError, digest
from foreshock.stats import Link, floored, identity, logit

Floats = NDArray[np.float64]

MOST_POINTS = 100_000
"""Points of a curve at the most: a longer one is a file read wrongly, or meant to exhaust memory."""

LARGEST = 1e150
"""Largest size of a place or a score: squares of larger ones overflow."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One score along one axis.

    Attributes:
        x: Places in the axis' own unit, ascending (equal ones are repeats), shape (points,); above 0 if ``log_x``.
        y: Score at each place, within the closed scale, shape (points,).
        items: Items behind each score where it is a mean of 0/1; NaN is not known; None is known nowhere.
        stderr: Sampling standard error of each score; NaN is not known; None is known nowhere.
        low, high: Ends of the scale of the score; None is open. They choose the :attr:`link`.
        chance: Score of guessing.
        log_x: Whether the axis is read on a log scale.
        trajectory: Whether the points are checkpoints of one training run, which are not independent of each other.
        name: What the curve is called in messages.
        group: Block within which curves are alike (a data set, a model family): calibration leaves whole groups out.

    Raises:
        ConfigError: Lengths differ, ``x`` is not ascending, not finite or not above 0 on a log axis, or there are more
            than :data:`MOST_POINTS` points.
        MetricError: A score, its count or its error is not finite or outside the scale, or the scale is none.

    Examples:
        >>> curve = Curve(np.array([1e6, 1e7, 1e8]), np.array([4.0, 3.0, 2.5]), low=0.0)
        >>> curve.points, curve.link.name
        (3, 'log y')
    """

    x: Floats
    y: Floats
    items: Floats | None = None
    stderr: Floats | None = None
    low: float | None = None
    high: float | None = None
    chance: float | None = None
    log_x: bool = True
    trajectory: bool = False
    name: str = ""
    group: str = ""

    def __post_init__(self) -> None:
        """Bring the arrays to float64, make them read-only and refuse what is no curve."""
        for name in ("x", "y", "items", "stderr"):
            value = getattr(self, name)
            if value is not None or name in ("x", "y"):
                object.__setattr__(self, name, self._array(name, value))
        self._check_axis()
        self._check_scale()
        self._check_scores()

    def _array(self, name: str, value: ArrayLike) -> Floats:
        try:
            array = np.array(value, np.float64)
        except (TypeError, ValueError):
            raise MetricError(f"{name} holds what is no number", expected="numbers", where=self._where) from None
        if array.ndim != 1 or array.size > MOST_POINTS:
            raise ConfigError(
                f"{name} has shape {array.shape}", expected=f"up to {MOST_POINTS:,} points in a row", where=self._where
            )
        if name != "x" and array.size != self.x.size:
            raise ConfigError(
                f"{name} has {array.size} values for {self.x.size} places", expected="as many", where=self._where
            )
        array.flags.writeable = False
        return array

    @property
    def _where(self) -> str:
        return self.name[:200] or "curve"

    def _check_axis(self) -> None:
        if not (np.abs(self.x) <= LARGEST).all():
            expected = f"finite x, up to {LARGEST:g}"
            raise ConfigError("a place on the axis is not a number", expected=expected, where=self._where)
        if (np.diff(self.x) < 0).any():
            raise ConfigError("x falls somewhere", expected="ascending x", do="sort the points", where=self._where)
        if self.log_x and (self.x <= 0).any():
            do = "leave such points out, or read the axis on a linear scale"
            raise ConfigError("x is 0 or below on a log axis", expected="x above 0", do=do, where=self._where)

    def _check_scale(self) -> None:
        ends = [end for end in (self.low, self.high, self.chance) if end is not None]
        if not np.isfinite(np.array(ends, float)).all():
            raise MetricError("an end of the scale is not finite", do="leave an open end out", where=self._where)
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise MetricError(
                f"the scale runs from {self.low} to {self.high}", expected="low < high", where=self._where
            )
        if self.chance is not None and not self._inside(np.array([self.chance])).all():
            raise MetricError(f"chance {self.chance} is outside the scale", where=self._where)

    def _check_scores(self) -> None:
        if not (np.abs(self.y) <= LARGEST).all():
            expected, do = f"finite y, up to {LARGEST:g}", "leave points without a score out"
            raise MetricError("a score is not a number", expected=expected, do=do, where=self._where)
        inside = self._inside(self.y)
        if not inside.all():
            wrong, scale = float(self.y[~inside][0]), f"{_end(self.low)} to {_end(self.high)}"
            do = "correct the declared ends of the metric"
            raise MetricError(f"a score is {wrong:g}", expected=f"scores from {scale}", do=do, where=self._where)
        for name, least in (("items", 1.0), ("stderr", 0.0)):
            value = getattr(self, name)
            # NaN is "not known"; infinity and what is below the least possible value are mistakes
            if value is not None and (np.isinf(value) | (value < least)).any():
                raise MetricError(f"{name} holds an impossible value", expected=f">= {least:g}", where=self._where)

    def _inside(self, y: Floats) -> NDArray[np.bool_]:
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        return np.asarray((y >= low) & (y <= high))

    @property
    def points(self) -> int:
        """Number of points."""
        return int(self.x.size)

    @property
    def t(self) -> Floats:
        """Places on the scale on which the axis is read: ``log x`` or ``x``, shape (points,)."""
        return self.place(self.x)

    def place(self, x: ArrayLike) -> Floats:
        """Places of the axis on the scale on which it is read.

        Raises:
            ConfigError: A place is not finite, or not above 0 on a log axis.
        """
        at = np.asarray(x, np.float64)
        if not np.isfinite(at).all() or (self.log_x and (at <= 0).any()):
            expected = "finite places above 0" if self.log_x else "finite places"
            raise ConfigError("a place is not on the axis", expected=expected, where=self._where)
        return np.log(at) if self.log_x else at

    @property
    def link(self) -> Link:
        """The increasing map of the scale onto the line: itself, its log, minus the log of what lacks, or log-odds."""
        return link_of(self.low, self.high)

    @property
    def z(self) -> Floats:
        """Scores on the link, shape (points,).

        A share of exactly or nearly 0 or 1 of known items stands at half an item; an end of the scale that was reached
        without a count is infinite, as nothing says how far it is.
        """
        y = self.y
        if self.items is not None and self.low is not None and self.high is not None:
            counted = ~np.isnan(self.items)
            share = (y[counted] - self.low) / (self.high - self.low)
            y = y.copy()
            y[counted] = self.low + (self.high - self.low) * floored(np.clip(share, 0, 1), self.items[counted])[0]
        return self.link.forward(y)

    @property
    def sampling(self) -> Floats:
        """Standard error of each score from the sampling of items, on the scale of the score, shape (points,).

        The stated one; else the binomial one of the items, with shares of 0 and 1 at half an item; else NaN.
        """
        found = np.full(self.points, np.nan) if self.stderr is None else self.stderr.copy()
        if self.items is not None and self.low is not None and self.high is not None:
            counted = ~np.isnan(self.items)
            width = self.high - self.low
            share = floored(np.clip((self.y[counted] - self.low) / width, 0, 1), self.items[counted])[0]
            binomial = width * np.sqrt(share * (1 - share) / self.items[counted])
            # a stated error of 0 at 0 of n is the harness's formula, not certainty
            found[counted] = np.fmax(found[counted], np.where(found[counted] > 0, 0.0, binomial))
        return found

    @property
    def data_hash(self) -> str:
        """SHA-256 of all that a fit sees: arrays, scale, chance, axis; names are not in it."""
        arrays = [None if a is None else a.tolist() for a in (self.x, self.y, self.items, self.stderr)]
        ends = [None if end is None else float(end) for end in (self.low, self.high, self.chance)]
        return digest([*arrays, *ends, self.log_x, self.trajectory])

    def take(self, which: NDArray[np.bool_] | slice) -> Curve:
        """The curve of some of its points, in the same order; a slice or a mask of shape (points,)."""
        items = None if self.items is None else self.items[which]
        stderr = None if self.stderr is None else self.stderr[which]
        return replace(self, x=self.x[which], y=self.y[which], items=items, stderr=stderr)


def _end(end: float | None) -> str:
    return "open" if end is None else f"{end:g}"


def link_of(low: float | None, high: float | None) -> Link:
    """Increasing map of a scale onto the line.

    ``(None, None)`` is the score itself, ``(low, None)`` the log of ``y - low``, ``(None, high)`` minus the log of
    ``high - y``, and ``(low, high)`` the log-odds of the share. An end itself is infinite.

    Examples:
        >>> float(link_of(0.0, 1.0).forward(np.array([0.5]))[0])
        0.0
        >>> float(link_of(None, 0.0).inverse(np.array([0.0]))[0])
        -1.0
    """
    if low is None and high is None:
        return Link("y", identity.forward, identity.inverse)
    if high is None:
        return _log_above(float(low or 0.0))
    if low is None:
        return _log_below(float(high))
    return _odds(float(low), float(high))


def _log_above(low: float) -> Link:
    def forward(y: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.asarray(y, float) - low))

    def inverse(z: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(low + np.exp(z))

    return Link("log y" if low == 0 else f"log(y - {low:g})", forward, inverse)


def _log_below(high: float) -> Link:
    def forward(y: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(high - np.asarray(y, float)))

    def inverse(z: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(high - np.exp(-np.asarray(z, float)))

    return Link("-log(-y)" if high == 0 else f"-log({high:g} - y)", forward, inverse)


def _odds(low: float, high: float) -> Link:
    width = high - low

    def forward(y: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(logit.forward((np.asarray(y, float) - low) / width))

    def inverse(z: Floats) -> Floats:
        return np.asarray(low + width * logit.inverse(np.asarray(z, float)))

    return Link("logit y" if (low, high) == (0, 1) else f"logit of the share of {low:g} to {high:g}", forward, inverse)
