"""A curve made ready for the detector: on the link, weighed, and refused where no rule fits it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from foreshock.alarms._residuals import design_of
from foreshock.alarms._running_best import looks_like_running_best, rises
from foreshock.curves import Curve
from foreshock.records import Need

Floats = NDArray[np.float64]

UNEVEN = 1.5
"""Ratio of items between points from which on their sampling noise is not treated as of one size."""

GROWN = 2.0
"""Ratio of a later point's variance over that of the baseline from which on the noise is not of one size, with equal
items: a share that moves towards an end of its scale is noisier on the link.

Of falls from .5 to .05 on 100 items, which are lines on the link, 14% had alarms with a guarantee of 5%; from .2 to .8,
where the variance stays within a ratio of 1.6, 2% had."""

FEW = 5.0
"""Items right (or wrong) below which a share says little of a rate on the link."""

_STEP = 1e-6


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the detector works on.

    Attributes:
        x: Places on the scale on which the axis is read, shape (points,).
        z: Scores on the link, shape (points,).
        root: Square roots of the weights, 1 where noise has one size, shape (points,).
        floor: Variance that one item makes, on the scale of a point of weight 1, shape (points,).
        notes: What was done beyond the ordinary.
        doubts: Why the guarantee does not hold for these scores.
        refused: Why there is no alarm at all.
        needs: What would be enough, where something lacks.
    """

    x: Floats
    z: Floats
    root: Floats
    floor: Floats
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    refused: str | None = None
    needs: list[Need] = field(default_factory=list)

    def design(self, degree: int = 1) -> Floats:
        """Weighted regressors, shape (points, degree + 1)."""
        return np.asarray(design_of(self.x, degree) * self.root[:, None])

    @property
    def weighted(self) -> Floats:
        """Scores times the roots of their weights."""
        return np.asarray(self.z * self.root)


def prepare(curve: Curve, baseline: int, *, running_best: bool = False) -> Prepared:
    """Look at a curve before anything is computed from it.

    Args:
        curve: Points from the start of the baseline on.
        baseline: Points from which the trend is learned before the first look.
        running_best: Whether each score is the best so far.
    """
    x, z = curve.t, curve.z
    ones, none = np.ones(curve.points), np.zeros(curve.points)
    refused, needs = _refused(curve, z, baseline, running_best)
    if refused:
        return Prepared(x, z, ones, none, refused=refused, needs=needs)
    notes, doubts = [], []
    root = ones
    if curve.items is not None and not np.isnan(curve.items).any():
        most, least = float(curve.items.max()), float(curve.items.min())
        if most > UNEVEN * least:
            root, extra = _weights(curve, z, baseline)
            notes.append(
                f"points have {least:g} to {most:g} items; each is weighed by its sampling noise beside a spread of "
                f"models of {extra:.2g} on the link, as the baseline shows it"
            )
            doubts.append("the numbers of items differ from point to point: the noise is not of one size")
        elif curve.low is not None and curve.high is not None:
            grown = float(_weights(curve, z, baseline)[0].min()) ** -2
            if grown > GROWN:
                doubts.append(
                    f"towards an end of the scale the sampling noise on the link has grown to {grown:.1f} times the "
                    "variance of the baseline: the noise is not of one size"
                )
    if rises(curve):
        # of running maxima of white noise, 28 points, a third have so few steps; one in six of all fired
        doubts.append(
            "the scores never turn back and repeat exactly: they may be rounded, or the best so far and not each "
            "model's own"
        )
    at_end = _near_an_end(curve)
    if at_end > 0.5:
        doubts.append(
            f"{at_end:.0%} of the points have fewer than {FEW:g} items right, or wrong: on the link such noise is "
            "neither of one size nor independent of the score"
        )
    return Prepared(x, z, root, _one_item(curve, z) * root**2, notes, doubts)


def _refused(curve: Curve, z: Floats, baseline: int, running_best: bool) -> tuple[str | None, list[Need]]:
    enough = baseline + 1
    if curve.points < enough:
        lack = [Need(what="points since the baseline began", have=curve.points, enough=enough)]
        return f"{curve.points} points, of which {baseline} are the baseline", lack
    if running_best or looks_like_running_best(curve):
        why = "a running best only ever rises, and its steps are neither independent nor of one size"
        return f"{why}; watch the scores themselves", [
            Need(what="scores that are not the best so far", have=0, enough=1)
        ]
    infinite = int((~np.isfinite(z)).sum())
    if infinite:
        lack = [Need(what="number of items of points at an end of the scale", have=0, enough=infinite)]
        return f"{infinite} points stand at an end of the scale, and nothing says of how many items", lack
    if np.unique(curve.x[:baseline]).size < 2:
        return "all points of the baseline have one place on the axis", [Need(what="places", have=1, enough=2)]
    return None, []


def _weights(curve: Curve, z: Floats, baseline: int) -> tuple[Floats, float]:
    """Square roots of weights by sampling noise, and the spread of models beside it that the baseline shows.

    The sampling variance of a point is that of the median score of the five points before it: taken at its own score it
    would depend on its own noise, and a point that fell would get another weight than one that rose.

    No point weighs more than those of the baseline. The spread of models is learned from a handful of points: where it
    was taken too small, later points with many items would surprise by chance (false alarms of .10 and .12 in sixty
    looks where 5% was promised; .03 so).
    """
    before = [float(np.median(z[max(0, i - 5) : i] if i >= baseline else z[:baseline])) for i in range(z.size)]
    slope = _slope(curve, np.array(before))
    low, high = curve.low or 0.0, 1.0 if curve.high is None else curve.high
    share = np.clip((curve.link.inverse(np.array(before)) - low) / (high - low), 1e-9, 1 - 1e-9)
    items = np.ones(z.size) if curve.items is None else curve.items
    sampling = share * (1 - share) / items * (high - low) ** 2 * slope**2
    design = design_of(curve.t[:baseline])
    q = np.linalg.qr(design)[0]
    left = z[:baseline] - q @ (q.T @ z[:baseline])
    spread = float(left @ left) / max(baseline - 2, 1)
    extra = max(spread - float(np.mean(sampling[:baseline])), 0.0)
    variance = extra + sampling
    relative = np.exp(np.mean(np.log(variance[:baseline]))) / variance
    return np.sqrt(np.minimum(relative, 1.0)), extra**0.5


def _slope(curve: Curve, z: Floats) -> Floats:
    """How fast the link rises with the score, at places on the link."""
    y = curve.link.inverse(z)
    above = curve.link.inverse(z + _STEP)
    return np.asarray(_STEP / np.maximum(np.abs(above - y), 1e-300))


def _one_item(curve: Curve, z: Floats) -> Floats:
    """Variance that one item more or less makes on the link; a series that stands still has at least this noise."""
    if curve.items is None or curve.low is None or curve.high is None:
        return np.zeros(z.size)
    step = (curve.high - curve.low) / curve.items * _slope(curve, z)
    return np.asarray(np.nan_to_num(step**2 / 12.0))


def _near_an_end(curve: Curve) -> float:
    """Share of points with few items right, or few wrong."""
    if curve.items is None or curve.low is None or curve.high is None:
        return 0.0
    share = (curve.y - curve.low) / (curve.high - curve.low)
    few = np.minimum(share, 1 - share) * curve.items < FEW
    return float(np.mean(few))
