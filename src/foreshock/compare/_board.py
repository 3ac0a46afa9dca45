"""More than two runs on the same items: who can be told apart, and is the first really the first?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreshock.compare._pair import differences_tested, right_or_wrong
from foreshock.stats import holm, letters, tie_groups

SPLITS = 1000
"""Random half splits of the items."""

_CELLS = 4_000_000


class Board(NamedTuple):
    """A ranking with what is certain about it.

    Attributes:
        order: Rows of the scores, best first.
        means: Mean of each place.
        adjusted: p-value of each pair of places, after Holm's correction over all pairs; 1 on the diagonal.
        groups: Tie groups of places; two places share one exactly when they cannot be told apart.
        letters: Letters of each place; two share one exactly when they cannot be told apart.
        best, worst: The ranks that each place may have: one more than how many are certainly better, and so on.
        first_stays: Share of random halves of the items in which the first is still first; ties are shared.
        items, clusters: Items that all have a score for, and independent units among them.
    """

    order: list[int]
    means: list[float]
    adjusted: NDArray[np.float64]
    groups: list[list[int]]
    letters: list[str]
    best: list[int]
    worst: list[int]
    first_stays: float
    items: int
    clusters: int


def rank_board(  # noqa: PLR0913 - what is known of the scores
    scores: ArrayLike,
    rng: np.random.Generator,
    *,
    clusters: ArrayLike | None = None,
    repeated: bool = False,
    repeats: ArrayLike | None = None,
    bound: float | None = None,
    alpha: float = 0.05,
    rising: bool = True,
    splits: int = SPLITS,
) -> Board:
    """Rank runs by their mean over the items that all have, and say which ranks are certain.

    The chance that any two equally good runs are told apart is at most ``alpha``, whatever the others are.

    Args:
        scores: Shape (runs, items); items that any run lacks (NaN) are left out.
        rng: Source of randomness.
        clusters: One label per item.
        repeated: Whether some score is a mean over repeats.
        repeats: Responses behind each score, shape of ``scores``; None where unknown or one.
        bound: Largest possible difference; None where the metric has no range.
        alpha: Familywise level.
        rising: Whether larger scores are better.
        splits: Random half splits.

    Raises:
        ValueError: There are fewer than two runs, or no item that all have.
    """
    rows = np.asarray(scores, float)
    keep = ~np.isnan(rows).any(axis=0)
    if rows.shape[0] < 2 or not keep.any():
        raise ValueError(f"{rows.shape[0]} runs with {int(keep.sum())} items in common")
    rows = rows[:, keep]
    labels = (
        np.arange(rows.shape[1]) if clusters is None else np.unique(np.asarray(clusters)[keep], return_inverse=True)[1]
    )
    better = rows.mean(axis=1) * (1 if rising else -1)
    order = sorted(range(rows.shape[0]), key=lambda row: (-better[row], row))
    ranked = rows[order]
    count = len(order)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    binary = not repeated and right_or_wrong(ranked)
    units = None if labels.max() + 1 == labels.size else labels
    counts = None if repeats is None else np.asarray(repeats, np.int64)[:, keep][order]
    told = [
        differences_tested(
            ranked[i],
            ranked[j],
            units,
            rng,
            binary=binary,
            repeats=None if counts is None else (counts[i], counts[j]),
            bound=bound,
        )
        for i, j in pairs
    ]
    adjusted = np.ones((count, count))
    for (i, j), p in zip(pairs, holm([tested.p for tested in told]), strict=True):
        adjusted[i, j] = adjusted[j, i] = p
    apart = adjusted <= alpha
    groups = tie_groups(apart)
    above = np.tril(apart, -1).sum(axis=1)
    below = np.triu(apart, 1).sum(axis=1)
    return Board(
        order=order,
        means=ranked.mean(axis=1).tolist(),
        adjusted=adjusted,
        groups=groups,
        letters=letters(groups, count),
        best=(above + 1).tolist(),
        worst=(count - below).tolist(),
        first_stays=_first_stays(ranked * (1 if rising else -1), labels, rng, splits),
        items=rows.shape[1],
        clusters=int(labels.max()) + 1,
    )


def _first_stays(
    ranked: NDArray[np.float64], labels: NDArray[np.int64], rng: np.random.Generator, splits: int
) -> float:
    """Share of random halves of the clusters in which the first row has the largest mean."""
    groups = int(labels.max()) + 1
    if groups < 2:
        return float("nan")
    sums = np.stack([np.bincount(labels, weights=row) for row in ranked])
    sizes = np.bincount(labels).astype(float)
    step = max(1, _CELLS // groups)
    stays = 0.0
    for done in range(0, splits, step):
        keys = rng.random((min(step, splits - done), groups))
        half = (keys <= np.median(keys, axis=1, keepdims=True)).astype(float)
        means = half @ sums.T / (half @ sizes)[:, None]
        best = means >= means.max(axis=1, keepdims=True) - 1e-12
        stays += float((best[:, 0] / best.sum(axis=1)).sum())
    return stays / splits
