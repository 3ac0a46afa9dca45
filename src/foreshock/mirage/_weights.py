"""Item weights of the joint bootstrap, shared by all tasks with the same number of items.

To draw weights costs more than to use them. Those of one task depend on the seed and the number of its items and not on
the other tasks, so a verdict is the same whether a task is judged alone or among two hundred.
"""

from __future__ import annotations

import numpy as np

from foreshock.mirage._design import Floats
from foreshock.stats import item_weights, joint_means, weighted_means

# weights kept at once over all numbers of items, in bytes; the draws of a larger task are made in parts and not kept
_KEPT = 64_000_000


class Weights:
    """Bootstrap weights by number of items.

    Args:
        seed: Seed; each number of items has a stream of its own.
        draws: Number of resamples.
    """

    def __init__(self, seed: int, draws: int) -> None:
        self._seed, self._draws = seed, draws
        self._kept: dict[int, Floats] = {}

    def means(self, values: Floats) -> Floats:
        """Bootstrap means of rows of scores, as :func:`foreshock.stats.joint_means` gives them.

        Args:
            values: Shape (..., items), NaN where there is no score.

        Returns:
            Shape (draws, ...).
        """
        items = values.shape[-1]
        rng = np.random.default_rng([self._seed, items])
        size = 8 * self._draws * items
        if size > _KEPT:
            return joint_means(values, rng, self._draws)
        if items not in self._kept:
            if sum(w.nbytes for w in self._kept.values()) + size > _KEPT:
                self._kept.clear()
            self._kept[items] = item_weights(rng, self._draws, items)
        return weighted_means(values, self._kept[items])
