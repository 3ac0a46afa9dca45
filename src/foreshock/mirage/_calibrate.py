"""Critical values by Monte Carlo under the least favourable members of the null, noise re-estimated in every draw."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from foreshock.mirage._design import Design, Floats, basis, contrasts
from foreshock.mirage._excess import Curves, Prior, allowed_share
from foreshock.stats import t_quantile

# draws behind a p-value, and behind bounds that are printed beside it and decide nothing
DRAWS, FEW = 4000, 1000
# checkpoints of one run are many and their chains several: fewer draws of each
_CHAINED = 2000
# rise of the series in units of the noise of one point; beyond the last, the limit is reached
RISES = (3.0, 6.0, 12.0, 50.0)
# autocorrelation of neighbouring checkpoints; the worst of these counts, because a series is too short to estimate it
CHAINS = (0.0, 0.3, 0.6, 0.9)
LEAST = 1e-6
"""Smallest p-value that is told: further out the shape of the tail is assumed, not measured."""
_SEED = 20230428
# grid of excesses on which the tail is kept, and how many draws must lie beyond the point where Student's t takes over
_TOPS = np.linspace(0.0, 20.0, 1001)
_ANCHOR = 20


def null_members(design: Design, share: float, ratio: float) -> list[Floats]:
    """Curves from 0 to 1 on the border of "smooth, or a break of at most ``share``", as many as matter.

    One interval at the border with the rest spread evenly (its excess is exactly zero, and it fits the noise model, so
    the estimate of noise is not inflated); and blocks of neighbouring intervals at ``ratio`` times the mean slope with
    nothing outside (most intervals at the border at once). A straight line lies inside and is never the worst.
    """
    w = design.widths
    allowed = allowed_share(design, share, ratio)
    rises = []
    # first, last, narrowest, widest and middle stand for all places: between them the criticals vary by < .1
    singles = {0, w.size - 1, int(w.argmin()), int(w.argmax()), w.size // 2}
    for i in sorted(singles):
        if allowed[i] < 1:
            d = w * (1 - allowed[i]) / (1 - w[i])
            d[i] = allowed[i]
            rises.append(d)
    for start in (0, w.size // 4, w.size // 2, w.size - 1):
        rises.append(_block(w, start, ratio))
        rises.append(_block(w[::-1], start, ratio)[::-1])
    # on a ladder that is the same from both ends a curve and its mirror image have the same excesses
    mirrored = np.allclose(w, w[::-1])
    alike = {min(tuple(d.round(9)), tuple(d[::-1].round(9))) if mirrored else tuple(d.round(9)): d for d in rises}
    return [np.concatenate([[0.0], np.cumsum(d)]) for d in alike.values()]


def _block(w: Floats, start: int, ratio: float) -> Floats:
    """Rises at ``ratio`` times the mean slope from ``start`` on (wrapping) until the whole rise is used up."""
    d, left = np.zeros(w.size), 1.0
    for k in range(w.size):
        i = (start + k) % w.size
        d[i] = min(ratio * w[i], left)
        left -= d[i]
    return d


@functools.lru_cache(maxsize=64)
def _noise(design: Design, chain: float) -> tuple[Floats, Floats | None]:
    """Noise of the points, and variance among replicates, for a standard deviation of 1 between single models."""
    rng = np.random.default_rng([_SEED, design.points, int(chain * 100)])
    e = rng.standard_normal((DRAWS, design.points))
    for i in range(1, design.points):
        e[:, i] = chain * e[:, i - 1] + np.sqrt(1 - chain**2) * e[:, i]
    if not design.by_replicates:
        return e, None
    seeds = np.asarray(design.seeds, float)
    within = np.zeros((DRAWS, design.points))
    several = seeds > 1
    within[:, several] = rng.chisquare(seeds[several] - 1, (DRAWS, int(several.sum()))) / (seeds[several] - 1)
    return e / np.sqrt(seeds), within


def _chains(design: Design) -> tuple[float, ...]:
    return CHAINS if design.chained and not design.by_replicates else (0.0,)


@functools.lru_cache(maxsize=64)
def _scales(points: int, df: float) -> Floats:
    """Noise of tasks that differ as much as ``df`` degrees of freedom let them, relative to the prior, (DRAWS, 1)."""
    if np.isinf(df):
        return np.ones((DRAWS, 1))
    rng = np.random.default_rng([_SEED, points, int(df)])
    return np.asarray(np.sqrt(df / rng.chisquare(df, (DRAWS, 1))))


@dataclass(frozen=True, slots=True)
class Null:
    """Largest excess under the least favourable member of the null.

    Attributes:
        tail: Chance that the largest excess reaches each value of the grid 0, .02, .04, ..., the worst over members.
        df: Degrees of freedom of the noise estimate; says how the tail goes on where simulation ends.
        draws: Draws behind the tail.
    """

    tail: Floats
    df: float
    draws: int

    def p(self, top: Floats) -> Floats:
        """p-value of a largest excess, the same shape as ``top``; 1 below zero.

        Beyond what was simulated the tail goes on as Student's t, anchored where simulation still counts 20 draws.
        """
        t = np.asarray(top, float)
        told = np.interp(t, _TOPS, self.tail)
        few = self.tail <= _ANCHOR / self.draws
        # with one degree of freedom the tail is so heavy that the grid ends first
        anchor = _TOPS[int(np.argmax(few))] if few.any() else _TOPS[-1]
        beyond = _t_tail(np.maximum(t, anchor), self.df) / _t_tail(anchor, self.df)
        at = float(np.interp(anchor, _TOPS, self.tail))
        return np.where(t < 0, 1.0, np.maximum(np.where(t > anchor, at * beyond, told), LEAST))

    def critical(self, alpha: float) -> float:
        """Smallest value of the grid whose p-value is at most ``alpha``; infinite where the grid ends before."""
        small = self.p(_TOPS) <= alpha
        return float(_TOPS[int(np.argmax(small))]) if small.any() else float("inf")


def _t_tail(t: ArrayLike, df: float) -> Floats:
    # scipy.stats would cost seconds at import; the special functions are what it calls anyway
    from scipy.special import ndtr, stdtr

    x = -np.asarray(t, float)
    return np.asarray(ndtr(x) if np.isinf(df) else stdtr(df, x))


class _Scatter:
    """Residual variance of one set of noise about many curves, in which all products of the noise are made once.

    Args:
        noise: Shape (draws, points).
        design: Where the points stand.
    """

    def __init__(self, noise: Floats, design: Design) -> None:
        self._noise, self._design = noise, design
        self._smooth, self._steps = basis(design)
        self._onto = noise @ self._smooth, noise @ self._steps.T
        self._square = (noise**2).sum(axis=1) - (self._onto[0] ** 2).sum(axis=1)

    def along(self, curve: Floats) -> Callable[[float], Floats]:
        """Residual variance of noise about ``rise`` times a curve, shape (draws, points - 1), for any rise."""
        smooth, steps = curve @ self._smooth, curve @ self._steps.T
        cross = self._noise @ curve - self._onto[0] @ smooth
        square = float(curve @ curve - smooth @ smooth)

        def at(rise: float) -> Floats:
            about = self._square + 2 * rise * cross + rise**2 * square
            left = about[:, None] - (self._onto[1] + rise * steps) ** 2
            return np.asarray(np.maximum(left, 1e-12) / self._design.residual_df)

        return at


@functools.lru_cache(maxsize=1024)
def null_of(design: Design, share: float, ratio: float, df: float = 0.0, draws: int = DRAWS) -> Null:
    """Simulate the largest excess over the border of the null, noise estimated again in every draw.

    Args:
        design: Where the points stand.
        share: Share that a break may carry under the null.
        ratio: Steepest slope of the smooth class over the mean slope.
        df: Degrees of freedom that other tasks add; 0 for none. Noise then differs between simulated tasks as much as
            so many degrees of freedom let it.
        draws: Simulated series for each member of the null.

    Examples:
        >>> 1.5 < null_of(Design.of(range(12)), 0.25, 2.0).critical(0.05) < 2.5
        True
    """
    none = np.zeros((design.points, design.points))
    prior = Prior(1.0, df) if df > 0 else None
    worst = np.zeros(_TOPS.size)
    draws = min(draws, _CHAINED) if len(_chains(design)) > 1 else draws
    for chain in _chains(design):
        noise, within = _noise(design, chain)
        noise, within = noise[:draws], None if within is None else within[:draws]
        if prior is not None:
            noise = noise * _scales(design.points, df)[:draws]
        scatter = None if design.by_replicates else _Scatter(noise, design)
        for curve in null_members(design, share, ratio):
            along = scatter.along(curve) if scatter else None
            for rise in RISES:
                series = Curves(rise * curve + noise, design, none, within, prior, about=along(rise) if along else None)
                at = np.sort(series.excess(share, ratio).max(axis=1))
                worst = np.maximum(worst, 1.0 - np.searchsorted(at, _TOPS) / at.size)
    return Null(worst, design.df + df, draws)


def critical(design: Design, share: float, ratio: float, alpha: float = 0.05, df: float = 0.0) -> float:
    """Value that the largest excess exceeds with probability ``alpha`` under the least favourable null."""
    return null_of(design, share, ratio, df).critical(alpha)


@functools.lru_cache(maxsize=512)
def upper_stretch(design: Design, alpha: float = 0.05) -> float:
    """By how much a t-value is too large for the upper bound of the share, because points hang together.

    The true place of a break is fixed, so the largest of pointwise bounds covers it: no correction for having looked at
    all intervals. With independent points each is Student's t and the factor is 1; for chained points the worst chain
    is simulated.
    """
    if not (design.chained and not design.by_replicates):
        return 1.0
    none = np.zeros((design.points, design.points))
    c = contrasts(design.points, allowed_share(design, 0.5, 0.0))
    worst = 0.0
    for chain in _chains(design):
        noise, within = _noise(design, chain)
        # a line plus the step under test leaves the noise estimate free of both, so noise alone is simulated
        t = -(noise @ c.T) / np.sqrt(Curves(noise, design, none, within).variance(c))
        worst = max(worst, float(np.quantile(t, 1 - alpha, axis=0).max()))
    return max(1.0, worst / t_quantile(1 - alpha, design.df))


def lower_tail(t: Floats, df: float) -> Floats:
    """Chance that Student's t lies below ``t``."""
    return _t_tail(-t, df)
