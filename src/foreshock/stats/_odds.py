"""Odds ratio of 2x2 tables with Fisher's exact test, one table or several strata with a common ratio.

All margins are held fixed, so the interval and the p-value are exact whatever the table's size: nothing is assumed of
large counts (Fisher 1935; Gart 1970, Biometrika 57, 471-475, for strata).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_WIDEST = 700.0  # log odds ratio beyond which exp() overflows
_HALVINGS = 200
_TIE = 1e-9  # relative: tables as probable as the observed one, up to rounding of the log-gamma function


class Odds(NamedTuple):
    """Result of :func:`exact_odds`.

    Attributes:
        ratio: ad / bc; with strata the estimate of Mantel and Haenszel. NaN for 0/0, may be infinite.
        conditional: The odds ratio under which the observed count is what is expected, given all margins.
        low, high: Exact interval; 0 and infinity are possible ends.
        p: Fisher's exact two-sided p-value: all tables at most as probable as the observed one.
    """

    ratio: float
    conditional: float
    low: float
    high: float
    p: float


def exact_odds(tables: ArrayLike, level: float = 0.95) -> Odds:
    """Odds ratio of one 2x2 table, or of several strata that share it.

    The interval holds the ratios at which neither tail of the exact distribution is below (1 - level)/2. The p-value
    adds probabilities instead of doubling a tail, so near the level the two may disagree on whether 1 is possible.

    Args:
        tables: Counts, shape (2, 2) or (strata, 2, 2): ``[[a, b], [c, d]]``.
        level: Least coverage.

    Raises:
        ValueError: Another shape, or counts that are negative or no whole numbers.

    Examples:
        >>> told = exact_odds([[9, 1], [3, 7]])
        >>> told.ratio, round(told.conditional, 2), round(told.low, 2), round(told.high), round(told.p, 4)
        (21.0, 17.27, 1.39, 1048, 0.0198)
    """
    t = _counts(tables)
    weights, least, observed = _distribution(t)
    most = least + weights.size - 1
    null = np.exp(weights - _log_sum(weights))
    here = null[observed - least]
    p = float(min(1.0, null[null <= here * (1 + _TIE)].sum()))
    if least == most:
        return Odds(_mantel_haenszel(t), math.nan, 0.0, math.inf, p)
    k, tail = np.arange(least, most + 1), (1 - level) / 2

    def above(log_ratio: float) -> float:
        w = weights + k * log_ratio
        return math.exp(_log_sum(w[k >= observed]) - _log_sum(w))

    def below(log_ratio: float) -> float:
        w = weights + k * log_ratio
        return math.exp(_log_sum(w[k <= observed]) - _log_sum(w))

    def expected(log_ratio: float) -> float:
        w = weights + k * log_ratio
        return float((np.exp(w - _log_sum(w)) * k).sum())

    low = 0.0 if observed == least else math.exp(_rising(lambda x: above(x) - tail))
    high = math.inf if observed == most else math.exp(_rising(lambda x: tail - below(x)))
    ends = {least: 0.0, most: math.inf}
    middle = ends[observed] if observed in ends else math.exp(_rising(lambda x: expected(x) - observed))
    return Odds(_mantel_haenszel(t), middle, low, high, p)


def _counts(tables: ArrayLike) -> NDArray[np.int64]:
    given = np.asarray(tables)
    whole = given.astype(np.int64)
    if given.shape[-2:] != (2, 2) or given.ndim not in (2, 3) or given.size == 0:
        raise ValueError(f"tables of shape {given.shape}, expected (2, 2) or (strata, 2, 2)")
    if (whole != given).any() or (whole < 0).any():
        raise ValueError("counts must be whole numbers, 0 or more")
    return whole.reshape(-1, 2, 2)


def _mantel_haenszel(t: NDArray[np.int64]) -> float:
    n = np.maximum(t.sum(axis=(1, 2)), 1)
    up, down = (t[:, 0, 0] * t[:, 1, 1] / n).sum(), (t[:, 0, 1] * t[:, 1, 0] / n).sum()
    if down > 0:
        return float(up / down)
    return math.inf if up > 0 else math.nan


def _distribution(t: NDArray[np.int64]) -> tuple[Floats, int, int]:
    """Log-weights of the sum of the first cells at odds ratio 1, its least value and the observed one."""
    weights, least = np.zeros(1), 0
    for stratum in t:
        (a, b), (c, d) = ((int(x) for x in row) for row in stratum)
        first, second, column = a + b, c + d, a + c
        low, high = max(0, column - second), min(first, column)
        own = np.array([_log_choose(first, k) + _log_choose(second, column - k) for k in range(low, high + 1)])
        weights, least = _convolved(weights, own - own.max()), least + low
    return weights, least, int(t[:, 0, 0].sum())


def _convolved(first: Floats, second: Floats) -> Floats:
    """Convolution of two series of log-weights."""
    long, short = (first, second) if first.size >= second.size else (second, first)
    out = np.full(long.size + short.size - 1, -np.inf)
    for place, weight in enumerate(short):
        out[place : place + long.size] = np.logaddexp(out[place : place + long.size], long + weight)
    return out


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _log_sum(w: Floats) -> float:
    top = float(w.max())
    return top + math.log(float(np.exp(w - top).sum()))


def _rising(function: Callable[[float], float]) -> float:
    """Root of a function that rises in the log odds ratio."""
    low, high = -_WIDEST, _WIDEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
        if high - low < 1e-13 * max(1.0, abs(middle)):
            break
    return (low + high) / 2
