"""From the scores of single runs to arrays over sizes; needs numpy only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import plan


def sequences(images: int, length: int) -> NDArray[np.int64]:
    """Disjoint groups of held-out images, the same for every model: rows of indices, shape (groups, length).

    Disjoint, so that the groups are independent of each other; what is left over is not asked.

    >>> sequences(10, 3).shape
    (3, 3)
    """
    order = np.random.default_rng(plan.HELD_OUT_SEED).permutation(images)
    return order[: images - images % length].reshape(-1, length)
