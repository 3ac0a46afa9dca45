"""Mean and clustered standard error as a mergeable summary: exact sums, no cancellation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Moments(NamedTuple):
    """Summary of scores that come in clusters (the epochs of an item); merge as many as there are.

    With n_c scores of sum S_c in cluster c, and m their overall mean:

    Attributes:
        n: Number of scores.
        total: Sum of all scores as an exact expansion (its parts add up to it without rounding).
        clusters: Number of clusters.
        squares: Sum of n_c squared.
        lean: Sum of n_c (S_c - m n_c).
        spread: Sum of (S_c - m n_c) squared; with one score per cluster the sum of squared deviations (M2).
    """

    n: int = 0
    total: tuple[float, ...] = ()
    clusters: int = 0
    squares: float = 0.0
    lean: float = 0.0
    spread: float = 0.0

    @classmethod
    def of(cls, values: NDArray[np.float64], cluster: NDArray[Any]) -> Moments:
        """Summarise values, shape (n,), whose clusters are told apart by the labels ``cluster``, shape (n,).

        All scores of a cluster must be in one summary.

        Examples:
            >>> m = Moments.of(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 2]))
            >>> m.mean, m.clusters
            (0.75, 3)
        """
        if not len(values):
            return cls()
        total = expansion(values.tolist())
        mean = math.fsum(total) / len(values)
        _, place = np.unique(cluster, return_inverse=True)
        sizes = np.bincount(place).astype(np.float64)
        offsets = np.bincount(place, weights=values - mean)
        return cls(
            n=len(values),
            total=total,
            clusters=len(sizes),
            squares=math.fsum(sizes * sizes),
            lean=math.fsum(sizes * offsets),
            spread=math.fsum(offsets * offsets),
        )

    @property
    def sum(self) -> float:
        """Correctly rounded sum of all scores."""
        return math.fsum(self.total)

    @property
    def mean(self) -> float | None:
        """Mean over scores; None without any."""
        return self.sum / self.n if self.n else None

    @property
    def stderr(self) -> float | None:
        """Standard error of the mean, clustered; None with fewer than two clusters.

        ``sqrt(spread * G / (G - 1)) / n`` for G clusters; with one score per cluster s / sqrt(n).
        """
        if self.clusters < 2:
            return None
        return math.sqrt(self.spread * self.clusters / (self.clusters - 1)) / self.n

    def merge(self, other: Moments) -> Moments:
        """Summary of both; the sum is exact, whatever the order in which summaries are merged."""
        if not self.n or not other.n:
            return other if other.n else self
        total = expansion(chain(self.total, other.total))
        mean = math.fsum(total) / (self.n + other.n)
        mine, theirs = self._about(mean), other._about(mean)
        return Moments(
            n=self.n + other.n,
            total=total,
            clusters=self.clusters + other.clusters,
            squares=self.squares + other.squares,
            lean=mine[0] + theirs[0],
            spread=mine[1] + theirs[1],
        )

    def _about(self, mean: float) -> tuple[float, float]:
        """``lean`` and ``spread`` about another mean."""
        shift = self.sum / self.n - mean
        return self.lean + shift * self.squares, self.spread + 2 * shift * self.lean + shift * shift * self.squares


def expansion(values: Iterable[float]) -> tuple[float, ...]:
    """Numbers that add up to the exact sum of ``values``, largest first: usually one or two.

    Examples:
        >>> expansion([1e16, 1.0, 1.0]), expansion([0.1] * 10)
        ((1.0000000000000002e+16,), (1.0, 5.551115123125783e-17))
    """
    left: Sequence[float] = list(values)
    parts: list[float] = []
    while rest := math.fsum(chain(left, (-part for part in parts))):
        parts.append(rest)
    return tuple(parts)
