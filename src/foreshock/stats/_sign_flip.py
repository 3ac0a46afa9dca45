"""The sign-flip test of paired differences: exact where they lie on a grid, sampled where they do not.

If two runs are equally good, which of them is called the first does not matter: every unit's difference might as well
have had the other sign. A unit is whatever is drawn independently: an item, or all items of a passage together.
Counts of right answers, and means over a few repeats, lie on a grid of whole multiples; there the whole distribution is
a product of binomials, costs milliseconds and needs no random number. With differences of -1, 0 and 1 the test is
McNemar's.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreshock.stats._mcnemar import half_binomial
from foreshock.stats._permutation import permutation_p

Floats = NDArray[np.float64]

_ENUMERATED = 13  # units up to which all patterns of signs are tried
_PARTS = 60  # a grid of 1/60 holds means over 1, 2, 3, 4, 5 and 6 repeats together
_WORK = 200_000_000  # multiplications of the exact distribution: about 0.1 s
_CELLS = 4_000_000
_DISTINCT = 200
_TAIL = 1 / (2 * math.erfc(1.0))
"""By how much, at most, a tail of a sum under random signs exceeds the normal one, whatever the sizes: 3.18 (Bentkus
and Dzindzalieta 2015, Bernoulli 21, 1231-1237)."""


class SignFlip(NamedTuple):
    """Result of :func:`sign_flip`.

    Attributes:
        p: Two-sided p-value.
        least: The smallest p-value that differences of these sizes could have given.
        replicates: Random patterns behind ``p``; None where it is exact, 0 where ``p`` is an upper bound that lies
            below what random patterns can show.
    """

    p: float
    least: float
    replicates: int | None


def sign_flip(differences: ArrayLike, rng: np.random.Generator, draws: int = 9999) -> SignFlip:
    """Two-sided sign-flip test that paired differences are symmetric about zero.

    Random patterns give no p-value below 1 / (draws + 1), too coarse for many comparisons at once. Where the bound of
    Bentkus and Dzindzalieta on the exact p-value is smaller than that, it is the result and nothing is drawn.

    Args:
        differences: One value per exchangeable unit, shape (units,); NaN is left out. Of clusters give the sums.
        rng: Source of randomness, used only where the exact distribution is out of reach.
        draws: Number of random patterns in that case.

    Examples:
        >>> sign_flip([1.0, 2.0, 3.0], np.random.default_rng(0))
        SignFlip(p=0.25, least=0.25, replicates=None)
        >>> sign_flip([1.0] * 9 + [-1.0] * 2, np.random.default_rng(0)).p
        0.0654296875
    """
    d = np.asarray(differences, float)
    d = d[~np.isnan(d) & (d != 0)]
    if d.size == 0:
        return SignFlip(1.0, 1.0, None)
    sizes = np.abs(d)
    observed = abs(float(d.sum()))
    least = max(sys.float_info.min, 2.0 ** (1 - d.size))
    if d.size <= _ENUMERATED:
        return SignFlip(_enumerated(sizes, observed), least, None)
    exact = _on_grid(sizes, observed)
    if exact is not None:
        return SignFlip(exact, least, None)
    slack = 1e-12 * float(sizes.sum())
    finest = 1.0 / (draws + 1)
    least = max(least, min(finest, _bounded(sizes, float(sizes.sum()))))
    bounded = _bounded(sizes, observed - slack)
    if bounded <= finest:
        return SignFlip(max(least, bounded), least, 0)
    p = permutation_p(observed - slack, np.abs(_sampled(sizes, rng, draws)))
    return SignFlip(p, least, draws)


def _bounded(sizes: Floats, observed: float) -> float:
    """What the two-sided p-value cannot exceed."""
    largest = float(sizes.max())  # squares of tiny sizes would be 0, of huge ones infinite
    length = largest * math.sqrt(float(np.sum((sizes / largest) ** 2)))
    return max(sys.float_info.min, _TAIL * math.erfc(observed / (length * math.sqrt(2))))


def _enumerated(sizes: Floats, observed: float) -> float:
    bits = (np.arange(2**sizes.size)[:, None] >> np.arange(sizes.size)) & 1
    sums = np.abs((2 * bits - 1) @ sizes)
    return float(np.mean(sums >= observed - 1e-12 * sizes.sum()))


def _on_grid(sizes: Floats, observed: float) -> float | None:
    """Exact p-value when all sizes are whole multiples of some 1/k and the work is bounded; else None."""
    values, counts = np.unique(np.round(sizes, 12), return_counts=True)
    if values.size > _DISTINCT or sizes.max() > _WORK:
        return None
    parts = next((k for k in range(1, _PARTS + 1) if np.all(np.abs(values * k - np.round(values * k)) < 1e-9 * k)), 0)
    if not parts:
        return None
    whole = np.round(values * parts)
    # as floats: sizes beyond a 64-bit integer would wrap around to something affordable
    if whole.min() < 1 or not _affordable(whole * counts):
        return None
    steps = whole.astype(int)
    chances = np.ones(1)
    for step, count in zip(steps.tolist(), counts.tolist(), strict=True):
        spread = np.zeros(step * count + 1)
        spread[::step] = _fair_coins(count)
        chances = np.convolve(chances, spread)
    # units that point up add 2 * step to the lowest possible sum; the distribution is symmetric
    total, seen = chances.size - 1, round(observed * parts)
    tail = float(chances[: (total - seen) // 2 + 1].sum())
    return max(sys.float_info.min, min(1.0, 2 * tail))


def _affordable(lengths: Floats) -> bool:
    before = np.cumsum(lengths) - lengths + 1
    return float(np.sum(before * (lengths + 1))) <= _WORK


def _fair_coins(n: int) -> Floats:
    """Probabilities of 0 to n heads in n throws, from the middle outwards, so that the tails keep their precision."""
    middle = n // 2
    up = np.arange(middle + 1, n + 1, dtype=float)
    right = np.cumprod((n - up + 1) / up) if up.size else up
    down = np.arange(middle, 0, -1, dtype=float)
    left = np.cumprod(down / (n + 1 - down)) if down.size else down
    return half_binomial(n, middle) * np.concatenate([left[::-1], [1.0], right])


def _sampled(sizes: Floats, rng: np.random.Generator, draws: int) -> Floats:
    """Sums under random signs, in bounded memory; units of one size are one binomial number."""
    values, counts = np.unique(sizes, return_counts=True)
    total = float(sizes.sum())
    if values.size <= min(_DISTINCT, sizes.size // 4):
        up = np.stack([rng.binomial(count, 0.5, draws) for count in counts.tolist()])
        return 2 * (values @ up) - total
    step = max(1, _CELLS // sizes.size)
    return np.concatenate([_flips(sizes, rng, min(step, draws - done)) for done in range(0, draws, step)])


def _flips(sizes: Floats, rng: np.random.Generator, draws: int) -> Floats:
    width = (sizes.size + 7) // 8
    bits = np.unpackbits(rng.integers(0, 256, (draws, width), dtype=np.uint8), axis=1, count=sizes.size)
    sums: Floats = 2 * (bits.astype(float) @ sizes) - sizes.sum()
    return sums
