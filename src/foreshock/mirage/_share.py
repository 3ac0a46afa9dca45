"""The share of a series' rise that a break may carry, with its bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from foreshock.mirage._calibrate import DRAWS, FEW, Null, lower_tail, null_of, upper_stretch
from foreshock.mirage._design import Floats, contrasts
from foreshock.mirage._excess import Bools, Curves, allowed_share

# a break is said when it carries more than SHARE of the rise for certain, and denied when it may not carry MAY
SHARE = 0.25
MAY = 0.5
# steepest slope of the smooth class over the mean slope; the bounds are told for the others as well
RATIO = 2.0
RATIOS = (1.5, 2.0, 3.0)
ALPHA = 0.05
# level on a link that is not the primary one. A break must be seen there as well, and all links show the same noise: of
# 500 curves at the border of a break on either link 1 to 5 of a hundred pass at these levels, 1 to 2 with .05 on both
OTHER = 0.1
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
        interval: Index of that interval: it lies between points ``interval`` and ``interval + 1`` of the window.
        slope: Slope of that interval over the mean slope.
        bends: Whether some interval leaves the smooth class at all, whatever share it carries.
        noise: Standard deviation of one point about the smooth curve, on the link.
        rise: Whole rise on the link.
        rising: Whether the rise is beyond noise; if not, the bounds say nothing.
        noise_df: Degrees of freedom behind ``noise``; infinite where it is known.
        ratios: Bounds for several steepest slopes of the smooth class: (ratio, low, high).
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


@dataclass(frozen=True, slots=True)
class Windowed:
    """One series seen in every window that the joint draws of items give.

    Attributes:
        parts: The series in each window, with the share of draws that give it, most frequent first. Shares may sum to
            less than 1: in the other draws the window is too short to judge.
    """

    parts: tuple[tuple[float, Curves], ...]

    @classmethod
    def one(cls, curves: Curves) -> Windowed:
        """A series whose window is not in question."""
        return cls(((1.0, curves),))

    @property
    def main(self) -> Curves:
        """The series in the most frequent window."""
        return self.parts[0][1]


def judge_share(series: Windowed, ratio: float = RATIO, alpha: float = ALPHA) -> Share:
    """Bound the share of the rise that a break may carry.

    Args:
        series: One series (``z`` of shape (1, points)) whose designs leave at least one degree of freedom for noise.
        ratio: Steepest slope of the smooth class over the mean slope.
        alpha: Level of the lower bound.

    Examples:
        >>> from foreshock.mirage._design import Design
        >>> t = np.linspace(0, 1, 8)
        >>> z = 0.2 * t + 0.8 * (t > 0.5) + 0.01 * np.cos(9 * t)
        >>> s = judge_share(Windowed.one(Curves(z[None], Design.of(t), np.zeros((8, 8)))))
        >>> s.interval, s.low > 0.6, s.p < 0.01
        (3, True, True)
    """
    curves = series.main
    design, z = curves.design, curves.z[0]
    w, steps, rise = design.widths, np.diff(z), float(z[-1] - z[0])
    plain = curves.variance(contrasts(design.points, np.zeros(w.size)))[0] / 2
    rising = bool(curves.rising().any())
    carried = (steps / rise - w) / (1 - w) if rising else steps / w
    top = int(np.argmax(carried))
    bounds = {
        r: (_low(series, r, alpha, DRAWS if r == ratio else FEW), _high(series, r)) if rising else ((0.0, 1.0), 1.0)
        for r in {ratio, *RATIOS}
    }
    (low, p), high = bounds[ratio]
    return Share(
        value=float(np.clip(carried[top], 0.0, 1.0)) if rising else float("nan"),
        low=low,
        high=high,
        interval=top,
        slope=float(steps[top] / rise / w[top]) if rising else float("nan"),
        bends=rising and _bends(curves, ratio),
        noise=float(np.sqrt(plain[top])),
        rise=rise,
        rising=rising,
        noise_df=float(curves.df),
        ratios=tuple((r, *_ends(bounds[r])) for r in sorted({ratio, *RATIOS})),
        p=p,
    )


def _ends(bounds: tuple[tuple[float, float], float]) -> tuple[float, float]:
    return bounds[0][0], bounds[1]


def _bends(curves: Curves, ratio: float) -> bool:
    top = float(curves.excess(0.0, ratio).max())
    return top > _NEVER and float(_null(curves, ratio, FEW, share=0.0).p(np.array(top))) <= ALPHA


def _null(curves: Curves, ratio: float, draws: int, share: float = SHARE) -> Null:
    df = curves.prior.df if curves.prior else 0.0
    return null_of(curves.design, share, ratio, df, draws)


def _low(series: Windowed, ratio: float, alpha: float, draws: int) -> tuple[float, float]:
    """Largest share that the data reject, and every smaller one with it; and the p-value at the border of a break.

    A share is rejected when its p-value, averaged over the windows, is at most ``alpha``: a window that only some draws
    give counts by its share of them, and draws that leave too few points count against a break.
    """
    p = np.full(_GRID.size - 1, 1.0 - sum(weight for weight, _ in series.parts))
    for weight, curves in series.parts:
        top = curves.excess_over(allowed_share(curves.design, _GRID[:-1], ratio)).max(axis=1)
        p += weight * (_null(curves, ratio, draws).p(top) if top[0] > _NEVER else np.ones(top.size))
    kept = p <= alpha
    low = float(_GRID[int(np.argmin(kept)) - 1]) if kept[0] and not kept.all() else float(kept[0])
    return low, float(np.clip(p[int(np.searchsorted(_GRID, SHARE))], 0.0, 1.0))


def _high(series: Windowed, ratio: float) -> float:
    """Smallest share such that it and every larger one is denied at every interval, averaged over the windows."""
    p = np.full(_GRID.size, 1.0 - sum(weight for weight, _ in series.parts))
    for weight, curves in series.parts:
        bent = _bent(curves)
        even = _even(bent, ratio)
        p += weight * _possible(bent, even + _GRID[:, None] * (1 - even))
    possible = np.flatnonzero(p > ALPHA)
    return float(_GRID[possible[-1]]) if possible.size else 0.0


def _bent(curves: Curves) -> Curves:
    design = curves.design.bent()
    return replace(curves, design=design, base=curves.base and replace(curves.base, design=design))


def _possible(curves: Curves, allowed: Floats) -> Floats:
    """p-value of a break somewhere that takes ``allowed`` of the rise, the largest over intervals.

    Args:
        curves: Series; a single one when ``allowed`` has a grid.
        allowed: Shape (points - 1,) or (grid, points - 1).

    Returns:
        Shape (draws,) or (grid,).
    """
    scatter = curves.scatter()
    error = np.sqrt(curves.variance(contrasts(curves.design.points, allowed), scatter))
    t = (np.diff(curves.z, axis=1) - allowed * curves.rise) / error / upper_stretch(curves.design, ALPHA)
    return np.where(curves.rising(scatter).all(axis=1), lower_tail(t.max(axis=1), curves.df), 1.0)


def denied(curves: Curves, share: float, ratio: float = RATIO) -> Bools:
    """Whether a break that carries ``share`` is denied at every interval, for each draw: the rule behind ``high``."""
    bent = _bent(curves)
    even = _even(bent, ratio)
    return np.asarray(_possible(bent, even + share * (1 - even)) <= ALPHA)


def _even(curves: Curves, ratio: float) -> Floats:
    """Rise credited to each interval without a break.

    An interval that spans so much of the axis that the class cannot be left in it may hide a break that carries all of
    its rise: nothing is credited there.
    """
    w = curves.design.widths
    return np.where(w * ratio < 1.0, w, 0.0)
