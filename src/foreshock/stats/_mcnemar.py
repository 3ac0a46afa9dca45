"""Two runs on the same items, right or wrong: McNemar's exact test and Tango's interval of the difference.

Only the items on which the runs differ say anything about which is better; items that both answer alike say how large a
difference can be.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np

from foreshock.stats._intervals import normal_quantile

_BIG = 100_000  # flips above which the central binomial term is taken from logarithms: whole numbers get slow there


class McNemar(NamedTuple):
    """Result of :func:`mcnemar`.

    Attributes:
        p: Exact two-sided p-value.
        mid: The same with half of the probability of the observed table: its rate is close to the level on average,
            that of the exact one never above it.
    """

    p: float
    mid: float


def mcnemar(gained: int, lost: int) -> McNemar:
    """McNemar's test of paired right-or-wrong answers: a two-sided sign test of the items that flipped.

    The null is that an item which flips does so either way with probability 1/2; items are independent.

    Args:
        gained: Items that only the second run answers right.
        lost: Items that only the first run answers right.

    Raises:
        ValueError: A count is negative.

    Examples:
        >>> mcnemar(9, 2).p
        0.0654296875
        >>> mcnemar(0, 0)
        McNemar(p=1.0, mid=1.0)
    """
    if gained < 0 or lost < 0:
        raise ValueError(f"negative count among {gained} and {lost}")
    n, least = gained + lost, min(gained, lost)
    if n == 0:
        return McNemar(1.0, 1.0)
    here = half_binomial(n, least)
    below = np.arange(least, 0, -1, dtype=float)
    tail = here * (1.0 + float(np.cumprod(below / (n + 1 - below)).sum()))
    tiny = sys.float_info.min  # a p-value is never 0
    return McNemar(max(tiny, min(1.0, 2 * tail)), max(tiny, 2 * tail - here))


def half_binomial(n: int, k: int) -> float:
    """Probability of ``k`` heads in ``n`` throws of a fair coin, to full precision below 100,000 throws."""
    if n <= _BIG:
        return float(math.comb(n, k) / 2**n)
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2)
    return math.exp(log)


def tango_interval(gained: int, lost: int, items: int, level: float = 0.95) -> tuple[float, float]:
    """Score interval of the difference of two paired shares (Tango 1998, Statistics in Medicine 17, 891-908).

    The differences that the score test does not reject. It keeps its coverage where few items flip, or none, and there
    never has width 0.

    Args:
        gained: Items that only the second run answers right.
        lost: Items that only the first run answers right.
        items: All items, those answered alike included.
        level: Coverage.

    Returns:
        Lower and upper end of second minus first, in [-1, 1].

    Raises:
        ValueError: There are no items, or fewer than flipped.

    Examples:
        >>> [round(end, 3) for end in tango_interval(1, 7, 21)]
        [-0.517, -0.026]
    """
    if items < 1 or gained + lost > items or min(gained, lost) < 0:
        raise ValueError(f"{gained} and {lost} flips among {items} items")
    z = normal_quantile(0.5 + level / 2)
    here = (gained - lost) / items
    low = _root(gained, lost, items, z, -1.0, here) if here > -1 else -1.0
    high = _root(gained, lost, items, -z, here, 1.0) if here < 1 else 1.0
    return low, high


def _root(gained: int, lost: int, items: int, goal: float, low: float, high: float) -> float:
    """Where the score statistic, which falls in the difference, is ``goal``."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _score(gained, lost, items, middle) > goal else (low, middle)
    return (low + high) / 2


def _score(gained: int, lost: int, n: int, delta: float) -> float:
    """Score statistic of the hypothesis that the shares differ by ``delta``."""
    # likelihood of the table under the hypothesis is largest where the share of losses solves a quadratic
    b = -gained - lost + (2 * n - gained + lost) * delta
    c = -lost * delta * (1 - delta)
    share = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
    variance = n * (2 * share + delta * (1 - delta))
    away = gained - lost - n * delta
    return away / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, away)
