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


def partial_conjunction(p: ArrayLike, at_least: int) -> float:
    """p-value of "fewer than ``at_least`` of these null hypotheses are false", valid under any dependence.

    Bonferroni's rule on the n - r + 1 largest of n p-values, r = ``at_least``: rejecting says that at least r of the
    effects are there (Benjamini and Heller 2008, Biometrics 64, 1215-1222, equation 4).

    Args:
        p: p-values, shape (n,).
        at_least: r, from 1 to n.

    Examples:
        >>> round(partial_conjunction([0.001, 0.004, 0.5], 2), 4)
        0.008
    """
    values = np.sort(np.asarray(p, float))
    if not 1 <= at_least <= values.size:
        raise ValueError(f"at_least={at_least} of {values.size}")
    return float(min(1.0, (values.size - at_least + 1) * values[at_least - 1]))
