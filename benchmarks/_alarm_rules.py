"""Noise of known shapes, the detector over many series at once, and the rules that anybody would try beside it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from foreshock.alarms._detector import evidence
from foreshock.alarms._residuals import design_of, recursion
from foreshock.alarms._threshold import threshold

Floats = NDArray[np.float64]

BASELINE, LOOKS, LEVEL = 8, 60, 0.05
SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "t3": lambda rng, size: rng.standard_t(3, size),
    "t5": lambda rng, size: rng.standard_t(5, size),
    "Laplace": lambda rng, size: rng.laplace(size=size),
    "uniform": lambda rng, size: rng.uniform(-1, 1, size),
    "exponential": lambda rng, size: rng.exponential(size=size),
    "log-normal": lambda rng, size: np.exp(0.8 * rng.standard_normal(size)),
}


def drifting(rng: np.random.Generator, size: tuple[int, int], rho: float) -> Floats:
    """Noise of variance 1 whose neighbours are correlated."""
    z = rng.standard_normal(size)
    for i in range(1, size[1]):
        z[:, i] = rho * z[:, i - 1] + np.sqrt(1 - rho**2) * z[:, i]
    return z


def scores(z: Floats, x: Floats | None = None, baseline: int = BASELINE) -> Floats:
    """Normal scores at the looks."""
    places = np.arange(float(z.shape[1])) if x is None else x
    return recursion(z, design_of(places)).scores()[:, baseline:]


def first_crossing(u: Floats, baseline: int = BASELINE, looks: int = LOOKS, level: float = LEVEL) -> NDArray[np.intp]:
    """Look (from 0) at which the detector crosses; -1 never. In parts, to bound memory."""
    limit, found = threshold(baseline, looks, level), []
    for start in range(0, u.shape[0], 500):
        over = evidence(u[start : start + 500, :looks], baseline) >= limit
        found.append(np.where(over.any(axis=1), over.argmax(axis=1), -1))
    return np.concatenate(found)


def others(z: Floats) -> dict[str, Floats]:
    """For each rule that anybody would try: whether it fires at each look, shape (series, looks)."""
    from scipy.special import ndtri

    told = recursion(z, design_of(np.arange(float(z.shape[1]))))
    u = told.scores()[:, BASELINE:]
    x = np.arange(float(z.shape[1]))
    lever = np.ones(x.size)
    for t in range(2, x.size):
        past = x[:t] - x[:t].mean()
        lever[t] = np.sqrt(1 + 1 / t + (x[t] - x[:t].mean()) ** 2 / (past @ past))
    plain = (told.t() * lever)[:, BASELINE:]
    steps = np.diff(z, axis=1)
    spread = np.sqrt(np.cumsum(steps**2, axis=1)[:, BASELINE - 2 : -1] / np.arange(BASELINE - 1, x.size - 1))
    return {
        "beyond 3 standard deviations": np.abs(plain) > 3,
        "95% interval at every look": np.abs(u) > float(ndtri(0.975)),
        "the same, Bonferroni": np.abs(u) > float(ndtri(1 - LEVEL / LOOKS / 2)),
        "CUSUM k = .5, h = 5": _cusum(u, 0.5, 5.0),
        "persistence: a step beyond 3": np.abs(steps[:, BASELINE - 1 :]) > 3 * spread,
        "always": np.ones_like(u, bool),
    }


def _cusum(u: Floats, k: float, h: float) -> Floats:
    up, down, found = np.zeros(len(u)), np.zeros(len(u)), np.zeros(u.shape, bool)
    for j in range(u.shape[1]):
        up, down = np.maximum(0, up + u[:, j] - k), np.maximum(0, down - u[:, j] - k)
        found[:, j] = (up > h) | (down > h)
    return found


def frozen(z: Floats) -> Floats:
    """The detector with a baseline that is frozen once its evidence begins to rise (value 1)."""
    free = evidence(scores(z), BASELINE)
    found, points = free.copy(), z.shape[1]
    x = np.arange(float(points))
    for i in range(len(z)):
        begun = np.flatnonzero(free[i] >= 1)
        if begun.size:
            m = BASELINE + int(begun[0])  # the line of the points before the first evidence, from then on
            slope, at0 = np.polyfit(x[:m], z[i, :m], 1)
            left = z[i] - at0 - slope * x
            noise = np.sqrt(left[:m] @ left[:m] / (m - 2))
            past = x[:m] - x[:m].mean()
            error = noise * np.sqrt(1 + 1 / m + (x - x[:m].mean()) ** 2 / (past @ past))
            u = scores(z[i : i + 1])[0]
            u[m - BASELINE :] = (left / error)[m:]
            found[i] = evidence(u, BASELINE)
    return found
