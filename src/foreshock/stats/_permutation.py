"""Monte-Carlo p-values that are never zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def permutation_p(observed: float, draws: ArrayLike) -> float:
    """One-sided Monte-Carlo p-value (k + 1) / (B + 1), where k draws are at least as large as the observed value.

    Counting the observed value among the draws keeps the test exact for any B (Phipson & Smyth 2010); infinite
    statistics compare as they should, NaN draws count against the finding.

    Examples:
        >>> permutation_p(3.0, [1.0, 2.0, 4.0])
        0.5
        >>> permutation_p(float("inf"), [1.0, float("inf"), 2.0])
        0.5
    """
    d = np.asarray(draws, float)
    return float((np.sum((d >= observed) | np.isnan(d)) + 1) / (d.size + 1))


def sign_flip(differences: ArrayLike, rng: np.random.Generator, draws: int = 9999) -> tuple[float, float]:
    """Two-sided sign-flip test that paired differences are symmetric about zero.

    Args:
        differences: One value per exchangeable unit, shape (units,); NaN is left out.
        rng: Source of randomness, used only when there are more than 2**13 patterns of signs.
        draws: Number of random patterns in that case.

    Returns:
        p-value and the smallest p-value that these data could have given.

    Examples:
        >>> sign_flip([1.0, 2.0, 3.0], np.random.default_rng(0))
        (0.25, 0.25)
    """
    d = np.asarray(differences, float)
    d = d[~np.isnan(d) & (d != 0)]
    if d.size == 0:
        return 1.0, 1.0
    observed = abs(d.sum())
    slack = 1e-12 * np.abs(d).sum()
    if d.size <= 13:
        bits = (np.arange(2**d.size)[:, None] >> np.arange(d.size)) & 1
        sums: NDArray[np.float64] = np.abs((2 * bits - 1) @ d)
        return float(np.mean(sums >= observed - slack)), 2.0 / 2**d.size
    signs = rng.integers(0, 2, size=(draws, d.size), dtype=np.int8) * 2 - 1
    return permutation_p(observed - slack, np.abs(signs @ d)), 1.0 / (draws + 1)
