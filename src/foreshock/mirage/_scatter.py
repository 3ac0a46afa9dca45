"""What one short series says about the noise of its models: a likelihood, not a number.

Whether the curve beneath is a line, bends once or twice, and whether it has a step and where, is not known. Each of
these shapes leaves its own residuals. Taking the smallest would make noise look small by choice, taking those of the
line would call every bend noise. So the shapes are weighed by how likely they make the series, with the ordinary price
for each term that is free. Item sampling is known for every point and kept apart: residuals are weighed by the
covariance that models and items have together, which is the restricted likelihood of a random-effects model.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from foreshock.mirage._design import Design, Floats, basis
from foreshock.mirage._excess import Curves

# most terms of the smooth part, and the least degrees of freedom that a shape must leave
_TERMS = (2, 3, 4)
_LEFT = 2


@dataclass(frozen=True, slots=True)
class Shapes:
    """Shapes with the same number of free terms.

    Attributes:
        beyond: Orthonormal directions that a shape leaves free of itself, shape (shapes, points, degrees of freedom).
        free: Terms beyond the line.
        prior: Prior weight of each shape, shape (shapes,).
    """

    beyond: Floats
    free: int
    prior: Floats


@dataclass(frozen=True, slots=True)
class Scatter:
    """Scatter of one task.

    Attributes:
        log: Log-likelihood of the series at each variance of ``grid``, shape of the grid.
        variance: Variance of one point by the likeliest shape, item sampling included.
        items: The part of item sampling.
        df: Degrees of freedom behind ``variance``.
        residual: Residuals of that shape, shape (points,).
        maker: Projection that made them, shape (points, points).
    """

    log: Floats
    variance: float
    items: float
    df: int
    residual: Floats
    maker: Floats

    @classmethod
    def of(cls, curves: Curves, grid: Floats) -> Scatter:
        """Scatter of the one series in ``curves``.

        Args:
            curves: The series with the covariance of its item sampling.
            grid: Variances of one model about its curve, ascending.
        """
        z, best = curves.z[0], -np.inf
        logs, maker = [], np.zeros((z.size, z.size))
        slab = max(0.5 * float(np.ptp(z)), 1e-300)
        for group in shapes(curves.design):
            told = _log_likelihood(group, z, curves.sampling, grid) - group.free * np.log(slab)
            told += np.log(group.prior)[:, None]
            logs.append(told)
            likeliest = told.max(axis=1)
            i = int(np.argmax(likeliest))
            if likeliest[i] > best:
                best, beyond = float(likeliest[i]), group.beyond[i]
                maker = beyond @ beyond.T
        every = np.concatenate(logs)
        top = every.max(axis=0)
        log = top + np.log(np.exp(every - top).sum(axis=0))
        df = round(float(np.trace(maker)))
        left = maker @ z
        return cls(
            log=log,
            variance=float(left @ left) / df,
            items=float((maker * curves.sampling).sum()) / df,
            df=df,
            residual=left,
            maker=maker,
        )


@functools.lru_cache(maxsize=256)
def shapes(design: Design) -> tuple[Shapes, ...]:
    """All shapes that a series of this design can tell, by their number of free terms.

    Examples:
        >>> [(s.free, s.beyond.shape) for s in shapes(Design.of(range(5)))]
        [(0, (1, 5, 3)), (1, (5, 5, 2))]
    """
    points = design.points
    found: dict[int, list[tuple[Floats, float]]] = {}
    for terms in _TERMS:
        smooth, steps = basis(Design(design.position, design.seeds, terms=terms))
        for step in (None, *steps):
            if step is not None and not step.any():
                continue
            columns = smooth if step is None else np.column_stack([smooth, step])
            left = points - columns.shape[1]
            if left < (_LEFT if columns.shape[1] > 3 or points > 4 else 1):
                continue
            # a step is as likely as none, and its place is any; so is a bend, once or twice
            weight = 0.5 if step is None else 0.5 / (points - 1)
            full, _ = np.linalg.qr(np.column_stack([columns, np.eye(points)]))
            found.setdefault(columns.shape[1], []).append((full[:, columns.shape[1] : points], weight))
    return tuple(
        Shapes(np.stack([b for b, _ in members]), count - 2, np.array([w for _, w in members]))
        for count, members in sorted(found.items())
    )


def _log_likelihood(group: Shapes, z: Floats, sampling: Floats, grid: Floats) -> Floats:
    """Restricted log-likelihood of each shape at each variance, shape (shapes, grid)."""
    across = group.beyond.transpose(0, 2, 1)
    values, vectors = np.linalg.eigh(across @ sampling @ group.beyond)
    y = (vectors.transpose(0, 2, 1) @ (across @ z)[:, :, None])[:, :, 0]
    # rounding may leave an eigenvalue of a singular covariance just below zero
    total = np.maximum(values, 0.0)[:, :, None] + grid
    # each free term beyond the line integrates over a flat slab: the constants must match between shapes
    constant = -0.5 * (y.shape[1] + group.free) * np.log(2 * np.pi)
    return np.asarray(constant - 0.5 * (np.log(total) + y[:, :, None] ** 2 / total).sum(axis=1))
