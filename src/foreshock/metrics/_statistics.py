"""Statistics of rows, of which the value of a run is made."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def summed(stats: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over rows, shape (1, k), that do not depend on the order of the rows."""
    import numpy as np

    if len(stats) == 1:
        return stats
    sums: NDArray[np.float64] = stats.sum(axis=0, keepdims=True)
    if (stats == np.floor(stats)).all() and np.abs(stats).sum() < 2**53:
        return sums  # whole numbers are added without rounding
    return np.array([[math.fsum(column) for column in stats.T.tolist()]])
