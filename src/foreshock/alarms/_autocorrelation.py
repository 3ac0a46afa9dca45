"""Does the noise of a series look independent? If not, the guarantee of its alarm is withdrawn.

Noise that drifts makes runs of residuals on one side, which is what a break looks like: of lines with autocorrelation
.5 the detector fires on two thirds. Two questions are asked of all points so far.

While nothing fired: is the likelihood of an autocorrelation of one half, over that of none, among the highest tenth
of what independent noise gives? Once it fired, a break has autocorrelation of its own, so the question is which story
is more
likely: a line with drifting noise and no break, or a break with independent noise (:func:`odds`).
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RHO = 0.5
"""Autocorrelation of neighbours that is held against independence."""

WITHDRAWN = 0.1
"""Share of independent series of which the first question withdraws the guarantee."""

_DRAWS, _SEED = 1999, 20260


def likelihood(z: Floats, design: Floats, rho: float) -> Floats:
    """Restricted log-likelihood of a regression whose noise is an autoregression of order 1, scale profiled out.

    Args:
        z: Scores, shape (..., points), in the order in which they follow each other.
        design: Regressors, shape (points, columns).
        rho: Correlation of neighbours.

    Returns:
        Shape (...); constants that do not depend on ``rho`` are left out (Patterson and Thompson 1971).
    """
    y, x = whitened(z, rho), whitened(design.T, rho).T
    q, r = np.linalg.qr(x)
    left = y - (y @ q) @ q.T
    squares = np.maximum((left**2).sum(axis=-1), 1e-300)
    size = float(np.log(np.maximum(np.abs(np.diag(r)), 1e-300)).sum())
    # the first point keeps the variance of the others divided by 1 - rho^2
    return np.asarray(0.5 * np.log(1 - rho**2) - size - 0.5 * (z.shape[-1] - x.shape[1]) * np.log(squares))


def whitened(z: Floats, rho: float) -> Floats:
    """Scores less what the neighbour before foretells of the noise; independent with equal variance under ``rho``."""
    found = np.array(z, float)
    found[..., 0] *= np.sqrt(1 - rho**2)
    found[..., 1:] -= rho * np.asarray(z)[..., :-1]
    return found


def drifts(z: Floats, design: Floats) -> Floats:
    """Log-likelihood ratio of autocorrelation :data:`RHO` over none, shape (...)."""
    return np.asarray(likelihood(z, design, RHO) - likelihood(z, design, 0.0))


def independence_p(z: Floats, design: Floats) -> float:
    """p-value of independent normal noise against neighbours that move together, exact up to simulation.

    Examples:
        >>> design = np.vander(np.linspace(-1, 1, 40), 2)
        >>> rng = np.random.default_rng(1)
        >>> white = rng.standard_normal(40)
        >>> independence_p(white, design) > 0.1 > independence_p(np.cumsum(white), design)
        True
    """
    design = np.ascontiguousarray(design, float)
    null = _null(design.tobytes(), design.shape)
    reached = int((null >= float(drifts(z, design)) - 1e-12).sum())
    return (1 + reached) / (1 + null.size)


@functools.lru_cache(maxsize=64)
def _null(text: bytes, shape: tuple[int, int]) -> Floats:
    """The statistic on independent noise: it does not depend on the line nor on the size of the noise."""
    design = np.frombuffer(text).reshape(shape)
    return drifts(np.random.default_rng(_SEED).standard_normal((_DRAWS, shape[0])), design)


def odds(z: Floats, design: Floats, change: Floats) -> float:
    """Log of how much likelier drifting noise without a break is than a break with independent noise.

    The first part is the ratio of maximised likelihoods of the two stories; the second adds what is left of drift when
    the change has been taken out (restricted, so that a short series does not hide it).

    Args:
        z: Scores, shape (points,).
        design: Regressors of the line, shape (points, columns).
        change: Shape of the change, shape (points,).
    """
    points = z.size
    drifting = 0.5 * np.log(1 - RHO**2) - 0.5 * points * np.log(_left(whitened(z, RHO), whitened(design.T, RHO).T))
    with_change = np.column_stack([design, change])
    broken = -0.5 * points * np.log(_left(z, with_change))
    return float(drifting - broken + drifts(z, with_change))


def _left(z: Floats, design: Floats) -> float:
    q = np.linalg.qr(design)[0]
    left = z - q @ (q.T @ z)
    return max(float(left @ left), 1e-300)
