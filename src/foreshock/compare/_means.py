"""What a sign-flip test does not see: that two means may be equal while the differences are not symmetric about 0.

Signs may be swapped when the two sides have one distribution. A constant score of .1 and one that is 1 in a tenth of
the items have one mean and two distributions, and so have one response and the mean of sixteen. The p-values of this
file hold for such pairs; a comparison takes the larger of them and of the sign-flip test's.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_DRAWS = 99_999  # only where items differ in their numbers of repeats: one draw costs a look-up per kind of item
_ROUNDING = 1e-14  # of Fourier transforms; probabilities below are noise


def mean_p(sums: Floats, sizes: Floats, bound: float | None = None) -> float:
    """Two-sided p-value that the mean of independent units is 0, whatever the shape of their distribution.

    Student's t with Hall's correction for skewness (1992, Journal of the Royal Statistical Society B 54, 221-228) and
    units - 1 degrees of freedom. Units that all show one difference c say nothing about their spread. Then, within the
    bound, an average of 0 leaves to any side of c at most the share bound/(bound + abs(c)) (Markov's inequality), and p
    is twice the chance that no unit lies on the other.

    Args:
        sums: Sum of the differences of each unit.
        sizes: Items of each unit.
        bound: Largest possible difference of an item; None where there is none.

    Examples:
        >>> round(mean_p(np.array([1.0, -1.0, 2.0, 0.5, 1.5, -0.5]), np.ones(6)), 3)
        0.293
        >>> mean_p(np.ones(6), np.ones(6), bound=1.0)
        0.03125
    """
    n = sums.size
    if n < 2 or not sums.any():
        return 1.0
    each = sums / sizes
    if float(np.ptp(each)) <= 1e-9 * float(np.abs(each).max()):
        return 0.0 if bound is None else min(1.0, 2 * (1 + abs(float(each.mean())) / bound) ** -n)
    scaled = sums / float(np.abs(sums).max())
    centre = float(scaled.mean())
    away = scaled - centre
    spread = math.sqrt(float(np.mean(away**2)))
    if spread == 0:
        return 0.0
    t = centre / spread * math.sqrt(n - 1)
    lean = float(np.mean((away / spread) ** 3)) / math.sqrt(n)
    t += lean * t**2 / 3 + lean**2 * t**3 / 27 + lean / 6
    from scipy.special import stdtr

    return min(1.0, 2 * float(stdtr(n - 1, -abs(t))))


def unequal_repeats(first: NDArray[np.int64], second: NDArray[np.int64]) -> bool:
    """Whether some item was answered more often by one side than by the other."""
    return bool(np.any(first != second))


def repeats_p(
    means: tuple[Floats, Floats],
    repeats: tuple[NDArray[np.int64], NDArray[np.int64]],
    rng: np.random.Generator,
) -> float | None:
    """Two-sided p-value that the responses to an item might as well have come from the other side.

    The right answers to an item are dealt to the two sides at random, item by item, each side with as many responses as
    it has: exact where all items have the same numbers of repeats, else with random draws.

    Args:
        means: Mean score of each item on either side, shape (items,).
        repeats: Responses behind each mean, from 1.
        rng: Source of randomness.

    Returns:
        None where the responses are not right or wrong.

    Examples:
        >>> zero, some = np.zeros(2), np.array([0.5, 0.5])
        >>> round(repeats_p((zero, some), (np.array([1, 1]), np.array([4, 4])), np.random.default_rng(0)), 2)
        0.52
    """
    right = [np.round(m * n) for m, n in zip(means, repeats, strict=True)]
    for k, m, n in zip(right, means, repeats, strict=True):
        if np.any(np.abs(m * n - k) > 1e-6) or np.any((k < 0) | (k > n)):
            return None
    mine = repeats[0]
    total, all_right = repeats[0] + repeats[1], (right[0] + right[1]).astype(np.int64)
    told = (all_right > 0) & (all_right < total)
    observed = abs(float(np.sum((means[1] - means[0])[told])))
    parts = []
    for kind in np.unique(np.stack([mine, total])[:, told], axis=1).T.tolist():
        here = all_right[told & (mine == kind[0]) & (total == kind[1])]
        law, expected = _dealt(kind[0], kind[1], here)
        parts.append((law, expected, 1 / kind[0] + 1 / (kind[1] - kind[0])))
    if not parts:
        return 1.0
    if len(parts) == 1:
        law, expected, weight = parts[0]
        away = np.abs(np.arange(law.size) - expected) * weight
        return float(min(1.0, max(_ROUNDING, law[away >= observed - 1e-9 * (1 + observed)].sum())))
    drawn = np.zeros(_DRAWS)
    for law, expected, weight in parts:
        places = np.searchsorted(np.cumsum(law), rng.random(_DRAWS), side="right")
        drawn += (np.minimum(places, law.size - 1) - expected) * weight
    return float((1 + np.sum(np.abs(drawn) >= observed - 1e-9 * (1 + observed))) / (_DRAWS + 1))


def _dealt(draws: int, total: int, right: NDArray[np.int64]) -> tuple[Floats, float]:
    """Distribution of the right answers among ``draws`` of ``total`` responses, summed over items; and its mean."""
    length = draws * right.size + 1
    size = 1 << (length - 1).bit_length()
    product = np.ones(size // 2 + 1, complex)
    for k, count in zip(*(found.tolist() for found in np.unique(right, return_counts=True)), strict=True):
        whole = math.comb(total, draws)
        law = np.array([math.comb(k, x) * math.comb(total - k, draws - x) / whole for x in range(draws + 1)])
        product *= np.fft.rfft(law, size) ** count
    law = np.maximum(np.fft.irfft(product, size)[:length], 0.0)
    return law / law.sum(), draws * float(right.sum()) / total
