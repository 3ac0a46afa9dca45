"""Monte-Carlo p-values that are never zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


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
