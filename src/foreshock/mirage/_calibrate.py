"""Critical values by Monte Carlo under the least favourable members of the null, noise re-estimated in every draw."""

from __future__ import annotations

import functools

import numpy as np

from foreshock.mirage._design import Design, Floats, contrasts
from foreshock.mirage._excess import Curves, allowed_share

DRAWS = 4000
# rise of the series in units of the noise of one point; beyond the last, the limit is reached
RISES = (3.0, 6.0, 12.0, 25.0, 50.0)
# autocorrelation of neighbouring checkpoints; the worst of these counts, because a series is too short to estimate it
CHAINS = (0.0, 0.3, 0.6, 0.9)
_SEED = 20230428


def null_members(design: Design, share: float, ratio: float) -> list[Floats]:
    """Curves from 0 to 1 on the border of "smooth, or a break of at most ``share``", as many as matter.

    A straight line; one interval at the border with the rest spread evenly (its excess is exactly zero, and it fits the
    noise model, so the estimate of noise is not inflated); and blocks of neighbouring intervals at ``ratio`` times the
    mean slope with nothing outside (most intervals at the border at once).
    """
    w = design.widths
    allowed = allowed_share(design, share, ratio)
    rises = [w.copy()]
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
    return [np.concatenate([[0.0], np.cumsum(d)]) for d in rises]


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


@functools.lru_cache(maxsize=512)
def critical(design: Design, share: float, ratio: float, alpha: float = 0.05) -> float:
    """Value that the largest excess exceeds with probability ``alpha`` under the least favourable null.

    Examples:
        >>> 1.5 < critical(Design.of(range(12)), 0.25, 2.0) < 2.5
        True
    """
    none = np.zeros((design.points, design.points))
    worst = 0.0
    for chain in _chains(design):
        noise, within = _noise(design, chain)
        for curve in null_members(design, share, ratio):
            for rise in RISES:
                top = Curves(rise * curve + noise, design, none, within).excess(share, ratio).max(axis=1)
                worst = max(worst, float(np.quantile(np.maximum(top, -99.0), 1 - alpha)))
    return worst


@functools.lru_cache(maxsize=512)
def upper_quantile(design: Design, alpha: float = 0.05) -> float:
    """Quantile for the upper bound of the share that a break may carry.

    The true place of a break is fixed, so the largest of pointwise bounds covers it: no correction for having looked at
    all intervals. With independent points this is Student's t; for chained points the worst chain is simulated.
    """
    if not (design.chained and not design.by_replicates):
        from foreshock.stats import t_quantile

        return t_quantile(1 - alpha, design.df)
    none = np.zeros((design.points, design.points))
    allowed = allowed_share(design, 0.5, 0.0)
    c = contrasts(design.points, allowed)
    worst = 0.0
    for chain in _chains(design):
        noise, within = _noise(design, chain)
        # a line plus the step under test leaves the noise estimate free of both, so noise alone is simulated
        t = -(noise @ c.T) / np.sqrt(Curves(noise, design, none, within).variance(c))
        worst = max(worst, float(np.quantile(t, 1 - alpha, axis=0).max()))
    return worst
