"""Many looks are one decision."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Adjusted p-values that control the false discovery rate (independent or positively dependent tests).

    Examples:
        >>> benjamini_hochberg([0.01, 0.02, 0.5])
        array([0.03, 0.03, 0.5 ])
    """
    values = np.asarray(p, float)
    n = values.size
    order = np.argsort(values, kind="stable")[::-1]
    ranks = np.arange(n, 0, -1)
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(np.minimum.accumulate(values[order] * n / ranks), 1.0)
    return adjusted


def holm(p: ArrayLike) -> Floats:
    """Adjusted p-values that control the chance of any false rejection, under any dependence.

    Examples:
        >>> holm([0.01, 0.02, 0.5])
        array([0.03, 0.04, 0.5 ])
    """
    values = np.asarray(p, float)
    n = values.size
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(n, 0, -1)), 1.0)
    return adjusted
