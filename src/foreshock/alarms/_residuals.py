"""Recursive one-step-ahead residuals of a straight line, and their exact normal scores.

Every point is foretold from the points before it alone. With independent normal noise of one size the standardised
errors are independent Student variables, whatever the places on the axis, so that their normal scores are independent
standard normal: everything that is built on them has a distribution that does not depend on the data (Brown, Durbin and
Evans 1975, JRSS B 37, section 2; independence of successive t statistics: Basu 1955).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# a direction of the design counts as seen when the new point is not further from the span of the earlier ones
_SEEN = 1e-9
# noise below this share of the largest score is rounding
_ROUNDING = 1e-11

NOISELESS = 2.5
"""Score of a point that leaves a series without any noise: as surprising as a single point is ever taken to be."""


@dataclass(frozen=True, slots=True)
class Recursion:
    """One-step-ahead residuals of one or many series over the same places.

    Attributes:
        w: Residuals divided by ``sqrt(1 + leverage)``: independent, of the size of the noise; 0 where a point could not
            be foretold, shape (..., points).
        df: Residuals before each point: degrees of freedom of the noise that each is held against, shape (points,).
        told: Whether the points before foretold this one (enough places were known), shape (points,).
        size: Largest score of each series without sign, by which rounding is judged, shape (...).
    """

    w: Floats
    df: Floats
    told: NDArray[np.bool_]
    size: Floats

    def t(self, floor: Floats | None = None) -> Floats:
        """Student statistics, shape (..., points); 0 where a point was not foretold.

        Where the points before had no noise at all, a residual has nothing to be held against, and its statistic is the
        one of score :data:`NOISELESS`. Under continuous noise that never happens.

        Args:
            floor: Variance that the noise at least has at each point (sampling of items), shape (points,). It can only
                make a statistic smaller.
        """
        squares = np.cumsum(np.asarray(self.w) ** 2, axis=-1)
        before = np.concatenate([np.zeros_like(squares[..., :1]), squares[..., :-1]], axis=-1)
        usable = self.told & (self.df > 0)
        variance = before / np.where(usable, self.df, 1.0)
        if floor is not None:
            variance = np.maximum(variance, floor)
        rounding = _ROUNDING * self.size[..., None]
        noisy = variance > rounding**2
        quotient = self.w / np.sqrt(np.where(noisy, variance, 1.0))
        lone = np.sign(self.w) * (np.abs(self.w) > rounding) * _student(NOISELESS, self.df)
        return np.asarray(np.where(usable, np.where(noisy, quotient, lone), 0.0))

    def scores(self, floor: Floats | None = None) -> Floats:
        """Normal scores of the Student statistics, shape (..., points): standard normal and independent.

        Points that could not be foretold, or had no degree of freedom, have score 0.
        """
        return normal_scores(self.t(floor), self.df)


def design_of(x: Floats, degree: int = 1) -> Floats:
    """Columns 1, x, ... of a polynomial, centred and scaled so that sums of squares stay far from rounding.

    Args:
        x: Places on the scale on which the axis is read, shape (points,).
        degree: 1 is a line, 2 a parabola.

    Returns:
        Shape (points, degree + 1).
    """
    span = float(np.ptp(x)) or 1.0
    centred = (np.asarray(x, float) - float(np.mean(x))) / span
    return np.vander(centred, degree + 1, increasing=True)


def recursion(z: Floats, design: Floats, weights: Floats | None = None) -> Recursion:
    """Foretell every point by least squares from the points before it.

    Args:
        z: Scores on the link, shape (..., points).
        design: Regressors, shape (points, columns).
        weights: Inverse relative variances of the noise, fixed before each point came, shape (points,); None is equal.

    Returns:
        Residuals on the scale of a point of weight 1.

    Examples:
        >>> x = np.arange(5.0)
        >>> told = recursion(2 * x + np.array([0, 0, 0, 0, 3.0]), design_of(x))
        >>> told.told.tolist(), round(float(told.w[4]), 2)
        ([False, False, True, True, True], 1.9)
    """
    root = np.ones(design.shape[0]) if weights is None else np.sqrt(weights)
    weighted = np.ascontiguousarray(design * root[:, None])
    matrix, told = _transform(weighted.tobytes(), weighted.shape)
    scaled = np.asarray(z, float) * root
    df = np.concatenate([[0.0], np.cumsum(told)[:-1]])
    return Recursion(np.asarray(scaled @ matrix.T), df, told, np.abs(scaled).max(axis=-1))


@functools.lru_cache(maxsize=64)
def _transform(text: bytes, shape: tuple[int, int]) -> tuple[Floats, NDArray[np.bool_]]:
    """Matrix that makes recursive residuals of scores, shape (points, points), and which of its rows are not empty."""
    design, points = np.frombuffer(text).reshape(shape), shape[0]
    matrix, told = np.zeros((points, points)), np.zeros(points, bool)
    for t in range(1, points):
        past, new = design[:t], design[t]
        # minimum-norm weights that foretell the new point; they reach it only if its direction was seen before
        weights = np.linalg.lstsq(past.T, new, rcond=1e-12)[0]
        if np.abs(past.T @ weights - new).max() <= _SEEN * max(float(np.abs(new).max()), 1.0):
            size = np.sqrt(1 + weights @ weights)
            matrix[t, :t], matrix[t, t], told[t] = -weights / size, 1 / size, True
    return matrix, told


def _student(score: float, df: Floats) -> Floats:
    """Student statistics of the same tail probability as a normal score."""
    from scipy.special import ndtr, stdtrit

    return np.asarray(stdtrit(np.maximum(df, 1.0), ndtr(score)))


def normal_scores(t: Floats, df: Floats) -> Floats:
    """Student statistics to standard normal ones of the same tail probability.

    Examples:
        >>> np.round(normal_scores(np.array([2.0, -2.0]), np.array([5.0, 1e6])), 2).tolist()
        [1.64, -2.0]
    """
    from scipy.special import ndtri, stdtr

    tail = stdtr(np.maximum(df, 1.0), -np.abs(t))
    return np.asarray(-np.sign(t) * ndtri(np.maximum(tail, np.finfo(float).tiny)))
