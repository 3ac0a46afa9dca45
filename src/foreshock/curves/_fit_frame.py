"""The frame in which a form is fitted: axis and scores without units, and what a residual is.

Places run from -1 at the first point to 0 at the last, so that no start and no bound knows the unit of the axis, and a
curve times a constant has the same fit. Scores are fitted in one of three frames: ``log`` (above an open end: the
residual is a ratio), ``line`` (an open scale, or a bounded one on its link: the residual is a difference) and ``share``
(between two ends: the residual is on the log-odds or, where a score stands at an end, on the share itself).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foreshock.curves._curve import Curve, Floats

Kind = Literal["log", "line", "share"]
Bools = NDArray[np.bool_]

MOST_BINS = 160
"""A longer curve is averaged within bins of its axis for fitting; the form of 400 points needs no more places."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Unit-free data of one curve for one kind of form.

    Attributes:
        kind: What a residual is.
        tau: Places, 0 at the last and -1 at the first point, shape (points,).
        y: Scores: over the last ones (``log``), shifted and scaled to about 1 (``line``), or as shares (``share``).
        target: What the residual is taken from, shape (points,).
        variance: Sampling variance of ``target``, 0 where not known, shape (points,).
        count: Points averaged in each, shape (points,).
        on_share: Whether residuals of the frame ``share`` are on the share itself.
        last, span: Last place and length of the axis as it is read.
        shift, unit: Score = shift + unit * y of the frame (of the link where ``on_link``).
        on_link: Whether y is the curve's link.
        floor, ceiling: Score of guessing and best possible score in the frame ``share``; None where not known.
        wiggle: Smallest gap between neighbouring places, at least a thousandth: no form can tell what is narrower.
        log_x: Whether the axis is read on a log scale.
    """

    kind: Kind
    tau: Floats
    y: Floats
    target: Floats
    variance: Floats
    count: Floats
    on_share: bool
    last: float
    span: float
    shift: float
    unit: float
    on_link: bool
    floor: float | None
    ceiling: float | None
    wiggle: float
    log_x: bool

    @property
    def points(self) -> int:
        """Number of points after averaging."""
        return int(self.tau.size)

    @property
    def rises(self) -> bool:
        """Whether a straight line through the scores rises."""
        return bool(np.cov(self.tau, self.target, fweights=self.count.astype(int))[0, 1] > 0)

    def place(self, t: Floats) -> Floats:
        """Places of the frame for places as the axis is read."""
        return (t - self.last) / self.span

    def output(self, value: Floats) -> Floats:
        """What is compared with ``target`` for values of a form; not finite where the form leaves the scale."""
        if self.kind == "line" or self.on_share:
            return value
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(value) if self.kind == "log" else np.log(value / (1 - value))

    def factor(self, value: Floats) -> Floats | float:
        """Derivative of :meth:`output` by the value."""
        if self.kind == "line" or self.on_share:
            return 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 / value if self.kind == "log" else 1 / (value * (1 - value))

    def score(self, value: Floats, curve: Curve) -> Floats:
        """Values of a form as scores of the curve; NaN where a form leaves an open scale, the end of a closed one."""
        with np.errstate(invalid="ignore", over="ignore"):
            y = self.shift + self.unit * value
            if self.on_link:
                return curve.link.inverse(y)
            if self.kind == "log":
                return np.where(value > 0, y, np.nan)
            return y


def kind_of(curve: Curve) -> str:
    """Which link a curve has: ``log`` (one open end), ``identity`` (two) or ``logit`` (none)."""
    ends = (curve.low is not None) + (curve.high is not None)
    return ("identity", "log", "logit")[ends]


def frame_of(curve: Curve, kind: Kind) -> Frame:
    """The frame of a curve with at least two different places.

    Args:
        curve: The curve.
        kind: Kind of the frame; ``log`` needs one open end, ``share`` none.
    """
    t = curve.t
    last, span = float(t[-1]), float(t[-1] - t[0])
    y, target, variance, shift, unit = _scores(curve, kind)
    on_share = kind == "share" and not np.isfinite(curve.z).all()
    if on_share:
        target, variance = y, _known(curve.sampling / unit) ** 2
    tau, count, (y, target, variance) = _binned((t - last) / span, y, target, variance)
    gaps = np.diff(np.unique(tau))
    low, width = curve.low or 0.0, unit
    return Frame(
        kind=kind,
        tau=tau,
        y=y,
        target=target,
        variance=variance,
        count=count,
        on_share=on_share,
        last=last,
        span=span,
        shift=shift,
        unit=unit,
        on_link=kind == "line" and kind_of(curve) == "logit",
        floor=None if kind != "share" or curve.chance is None else (curve.chance - low) / width,
        ceiling=1.0 if kind == "share" else None,
        wiggle=float(max(gaps.min(), 1e-3)),
        log_x=curve.log_x,
    )


def _known(stderr: Floats) -> Floats:
    return np.nan_to_num(stderr, nan=0.0, posinf=0.0, neginf=0.0)


def _scores(curve: Curve, kind: Kind) -> tuple[Floats, Floats, Floats, float, float]:
    """Scores and targets of a frame, sampling variance of the targets, shift and unit."""
    if kind == "share":
        low, width = float(curve.low or 0.0), float((curve.high or 1.0) - (curve.low or 0.0))
        share, z = (curve.y - low) / width, curve.z
        inner = np.clip(0.5 * (1 + np.tanh(z / 2)), 1e-300, 1 - 1e-16)
        return share, z, _known(curve.sampling / width / (inner * (1 - inner))) ** 2, low, width
    if kind == "log":
        sign = 1.0 if curve.high is None else -1.0
        end = float(curve.low or 0.0) if curve.high is None else float(curve.high)
        above = sign * (curve.y - end)
        unit = float(np.median(above[-3:]))
        with np.errstate(divide="ignore"):
            target = np.log(above / unit)
        return above / unit, target, _known(curve.sampling / above) ** 2, end, sign * unit
    y = curve.z if kind_of(curve) == "logit" else curve.y
    unit = float(np.ptp(y)) or 1.0
    shift = float(np.median(y[-3:]))
    sampling = curve.sampling
    if kind_of(curve) == "logit":
        share = 0.5 * (1 + np.tanh(y / 2))
        sampling = sampling / (float(curve.high or 1.0) - float(curve.low or 0.0)) / (share * (1 - share))
    scaled = (y - shift) / unit
    return scaled, scaled, _known(sampling / unit) ** 2, shift, unit


def _binned(tau: Floats, *columns: Floats) -> tuple[Floats, Floats, list[Floats]]:
    """Means within bins of the axis where there are more points than :data:`MOST_BINS`."""
    if tau.size <= MOST_BINS:
        return tau, np.ones(tau.size), list(columns)
    place = np.minimum(((tau + 1) * MOST_BINS).astype(int), MOST_BINS - 1)
    _, bins = np.unique(place, return_inverse=True)
    count = np.bincount(bins).astype(float)
    means = [np.bincount(bins, c) / count for c in (tau, *columns)]
    return means[0], count, means[1:]
