"""Does the product of per-position accuracies give the exact match?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage._design import Floats
from foreshock.stats import item_weights, percentile_interval

# a length with fewer items shares the per-position accuracies of all items
_GROUP = 30
_CELLS = 2_000_000


@dataclass(frozen=True, slots=True)
class LinkCheck:
    """Exact match against the product of per-position accuracies.

    Attributes:
        exact: Share of items with every position right, shape (points,).
        product: Product of per-position accuracies, averaged over the lengths of the items.
        gap: ``exact - product``; positive when errors cluster in the same items.
        low, high: 95% interval of the gap by joint item bootstrap.
    """

    exact: Floats
    product: Floats
    gap: Floats
    low: Floats
    high: Floats

    @property
    def largest(self) -> float:
        """The gap that is largest in size."""
        return float(self.gap[int(np.argmax(np.abs(self.gap)))])


def check_positions(positions: Floats, rng: np.random.Generator, draws: int = 300) -> LinkCheck:
    """Compare exact match with what independent positions would give.

    Args:
        positions: Correctness per position, shape (points, items, positions), NaN past the end of an item. Items have
            the same length at every point (it is the length of the target).
        rng: Source of randomness.
        draws: Bootstrap draws.

    Examples:
        >>> ok = np.ones((1, 40, 2))
        >>> ok[0, :20, 0] = 0.0
        >>> ok[0, 10:30, 1] = 0.0
        >>> float(check_positions(ok, np.random.default_rng(0)).gap[0])
        0.0
    """
    groups = _groups(positions)
    whole = np.nan_to_num(positions, nan=1.0)
    exact = whole.min(axis=2)
    ones = np.ones((1, positions.shape[1]))
    seen, product = _both(positions, exact, groups, ones)
    step = max(1, _CELLS // max(positions[0].size, 1))
    parts = []
    for start in range(0, draws, step):
        weights = item_weights(rng, min(step, draws - start), positions.shape[1])
        a, b = _both(positions, exact, groups, weights)
        parts.append(a - b)
    low, high = percentile_interval(np.concatenate(parts))
    return LinkCheck(seen[0], product[0], seen[0] - product[0], low, high)


def _groups(positions: Floats) -> list[NDArray[np.intp]]:
    """Items by length of their target."""
    lengths = (~np.isnan(positions[0])).sum(axis=1)
    return [np.flatnonzero(lengths == n) for n in np.unique(lengths[lengths > 0])]


def _both(positions: Floats, exact: Floats, groups: list[NDArray[np.intp]], weights: Floats) -> tuple[Floats, Floats]:
    """Exact match and product for each set of weights, shapes (draws, points)."""
    total = weights.sum(axis=1, keepdims=True)
    filled, there = np.nan_to_num(positions), (~np.isnan(positions)).astype(float)
    points, items, width = positions.shape
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = weights @ filled.transpose(1, 0, 2).reshape(items, -1)
        seen = weights @ there.transpose(1, 0, 2).reshape(items, -1)
        pooled = (hits / seen).reshape(-1, points, width)
    product = np.zeros((weights.shape[0], points))
    for group in groups:
        w = weights[:, group]
        size = w.sum(axis=1, keepdims=True)
        n = int(there[0, group[0]].sum())
        slots = np.flatnonzero(there[0, group[0]])
        if group.size >= _GROUP:
            rows = filled[:, group][:, :, slots].transpose(1, 0, 2).reshape(group.size, -1)
            share = (w @ rows / np.maximum(size, 1e-300)).reshape(-1, points, n)
        else:
            share = pooled[:, :, slots]
        product += size * np.where(np.isnan(share), 0.0, share).prod(axis=2)
    return weights @ exact.T / total, product / total
