"""The share of a series' rise that a break may carry, with its bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from foreshock.mirage._calibrate import critical, upper_quantile
from foreshock.mirage._design import Floats, contrasts
from foreshock.mirage._excess import Bools, Curves, allowed_share

# a break is said when it carries more than SHARE of the rise for certain, and denied when it may not carry MAY
SHARE = 0.25
MAY = 0.5
# steepest slope of the smooth class over the mean slope
RATIO = 2.0
ALPHA = 0.05
# no critical value lies below the normal quantile of 95%: below this nothing needs to be simulated
_NEVER = 1.64
_GRID = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True, slots=True)
class Share:
    """What one series on one link says about a break.

    Attributes:
        value: Share of the rise carried by the steepest interval beyond its even part.
        low: Lower bound (one-sided 95%, calibrated over all intervals); 0 where the smooth class is not left.
        high: Upper bound (one-sided 95%); 1 where nothing can be said.
        interval: Index of that interval: it lies between points ``interval`` and ``interval + 1``.
        slope: Slope of that interval over the mean slope.
        bends: Whether some interval leaves the smooth class at all, whatever share it carries.
        noise: Standard deviation of one point about the smooth curve, on the link.
        rise: Whole rise on the link.
        rising: Whether the rise is beyond noise; if not, the bounds say nothing.
        noise_df: Degrees of freedom behind ``noise``; infinite where it is known.
        ratios: Bounds at other steepest slopes of the smooth class: (ratio, low, high).
        p: p-value of "no break": how often the least favourable smooth curve shows as much excess.
    """

    value: float
    low: float
    high: float
    interval: int
    slope: float
    bends: bool
    noise: float
    rise: float
    rising: bool
    noise_df: float = float("nan")
    ratios: tuple[tuple[float, float, float], ...] = ()
    p: float = 1.0


def judge_share(curves: Curves, ratio: float = RATIO) -> Share:
    """Bound the share of the rise that a break may carry.

    Args:
        curves: One series (``z`` of shape (1, points)) whose design leaves at least one degree of freedom for noise.
        ratio: Steepest slope of the smooth class over the mean slope.

    Examples:
        >>> from foreshock.mirage._design import Design
        >>> t = np.linspace(0, 1, 8)
        >>> z = 0.2 * t + 0.8 * (t > 0.5) + 0.01 * np.cos(9 * t)
        >>> s = judge_share(Curves(z[None], Design.of(t), np.zeros((8, 8))))
        >>> s.interval, s.low > 0.6
        (3, True)
    """
    design, z = curves.design, curves.z[0]
    w, steps, rise = design.widths, np.diff(z), float(z[-1] - z[0])
    plain = curves.variance(contrasts(design.points, np.zeros(w.size)))[0] / 2
    rising = bool(curves.rising().any())
    carried = (steps / rise - w) / (1 - w) if rising else steps / w
    top = int(np.argmax(carried))
    return Share(
        value=float(np.clip(carried[top], 0.0, 1.0)) if rising else float("nan"),
        low=_low(curves, ratio) if rising else 0.0,
        high=_high(curves, ratio) if rising else 1.0,
        interval=top,
        slope=float(steps[top] / rise / w[top]) if rising else float("nan"),
        bends=rising and _bends(curves, ratio),
        noise=float(np.sqrt(plain[top])),
        rise=rise,
        rising=rising,
    )


def _bends(curves: Curves, ratio: float) -> bool:
    top = float(curves.excess(0.0, ratio).max())
    return top > _NEVER and top > critical(curves.design, 0.0, ratio, ALPHA)


def _low(curves: Curves, ratio: float) -> float:
    """Largest share that the data reject, and every smaller one with it."""
    design = curves.design
    allowed = np.stack([allowed_share(design, float(s), ratio) for s in _GRID[:-1]])
    t = curves.excess_over(allowed)
    if t[0].max() <= _NEVER:
        return 0.0
    kept = t.max(axis=1) > critical(design, SHARE, ratio, ALPHA)
    return float(_GRID[int(np.argmin(kept)) - 1]) if kept[0] and not kept.all() else float(kept[0])


def _high(curves: Curves, ratio: float) -> float:
    """Smallest share such that it and every larger one is denied at every interval."""
    curves = replace(curves, design=curves.design.bent())
    if not curves.rising().all():
        return 1.0
    even = _even(curves, ratio)
    allowed = even + _GRID[:, None] * (1 - even)
    t = (np.diff(curves.z) - allowed * curves.rise) / np.sqrt(curves.variance(contrasts(curves.design.points, allowed)))
    possible = np.flatnonzero((t > -upper_quantile(curves.design, ALPHA)).any(axis=1))
    return float(_GRID[possible[-1]]) if possible.size else 0.0


def denied(curves: Curves, share: float, ratio: float = RATIO) -> Bools:
    """Whether a break that carries ``share`` is denied at every interval, for each draw: the rule behind ``high``."""
    curves = replace(curves, design=curves.design.bent())
    even = _even(curves, ratio)
    c = contrasts(curves.design.points, even + share * (1 - even))
    t = (curves.z @ c.T) / np.sqrt(curves.variance(c))
    return np.asarray(((t <= -upper_quantile(curves.design, ALPHA)) & curves.rising()).all(axis=1))


def _even(curves: Curves, ratio: float) -> Floats:
    """Rise credited to each interval without a break.

    An interval that spans so much of the axis that the class cannot be left in it may hide a break that carries all of
    its rise: nothing is credited there.
    """
    w = curves.design.widths
    return np.where(w * ratio < 1.0, w, 0.0)
