"""Many looks over time are one decision: LORD++ on p-values, e-LOND on e-values, and e-values made of p-values.

Looks come one after another and each is decided before the next is known, so a correction that sees all of them at
once (Benjamini-Hochberg) is not to be had. Both rules here hand out a level for the next look that depends on the
decisions so far, and keep the false discovery rate over the whole stream:

* LORD++ (Ramdas, Yang, Wainwright and Jordan 2017, arXiv:1710.00499, section 3.2): needs p-values that are valid given
  the looks before, as independent ones are. A discovery earns new budget.
* e-LOND (Xu and Ramdas 2024, arXiv:2311.06412): needs e-values, and then nothing: any dependence is allowed. Its power
  is lower. Here it is applied to batches: all alarms of one look are one step up as in e-BH (Wang and Ramdas 2022), and
  with one e-value to a look it is e-LOND itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

Share = Callable[[int], float]
"""Share of the budget for the j-th look, j from 1; together at most 1."""

_ZETA = 2.2857657
"""Not below the sum of j^-1.6 over all j >= 1, so that the shares add up to no more than 1."""


class Online(NamedTuple):
    """What an online rule decided.

    Attributes:
        levels: Level of each look, fixed before its value was seen, shape (looks,).
        rejected: Whether it is a discovery, shape (looks,).
    """

    levels: Floats
    rejected: Bools


@cache
def early(j: int) -> float:
    """Share of the budget for the j-th look, j from 1: proportional to j^-1.6.

    Any sequence with a sum of at most 1 is valid. The usual one of LORD (log j / (j exp(sqrt(log j))), Javanmard and
    Montanari 2018) is made for millions of tests and gives the first 100,000 less than half of the budget; a suite is
    looked at tens of times. Up to the fiftieth look these shares are the larger ones. Chosen by that alone.

    Examples:
        >>> round(early(1), 4), round(early(10), 4)
        (0.4375, 0.011)
    """
    return float(j**-1.6 / _ZETA)


def lord_level(level: float, rejected: Sequence[bool], share: Share = early) -> float:
    """LORD++'s level for the next look.

    ``alpha_t = g_t w + (alpha - w) g_(t - r1) + alpha * sum over further discoveries g_(t - r)``, with the initial
    wealth w half of alpha.

    Args:
        level: alpha, the false discovery rate to keep, between 0 and 1.
        rejected: Whether each earlier look was a discovery, oldest first.
        share: Shares of the budget.

    Examples:
        >>> round(lord_level(0.05, []), 4), round(lord_level(0.05, [True]), 4)
        (0.0109, 0.0145)
    """
    wealth = level / 2
    t = len(rejected) + 1
    found = [place for place, decided in enumerate(rejected, start=1) if decided]
    granted = wealth * share(t)
    if found:
        granted += (level - wealth) * share(t - found[0])
        granted += level * sum(share(t - place) for place in found[1:])
    return float(granted)


def lord_plus_plus(p: ArrayLike, level: float, share: Share = early) -> Online:
    """Decide a stream of p-values, each before the next.

    The false discovery rate is at most ``level`` at every moment if the p-values of true nulls are valid given the
    looks before them (independent looks are). Initial wealth is ``level / 2``.

    Args:
        p: p-values in the order of the looks, shape (looks,), in [0, 1].
        level: False discovery rate, between 0 and 1.
        share: Shares of the budget.

    Examples:
        >>> lord_plus_plus([0.0001, 0.5, 0.001], 0.05).rejected
        array([ True, False,  True])
    """
    levels: list[float] = []
    rejected: list[bool] = []
    for value in np.asarray(p, float):
        levels.append(lord_level(level, rejected, share))
        rejected.append(bool(value <= levels[-1]))
    return Online(np.array(levels, float), np.array(rejected, bool))


def e_lond(e: ArrayLike, level: float, share: Share = early) -> Online:
    """Decide a stream of e-values, each before the next; under any dependence.

    The t-th is a discovery when ``e >= 1 / (level * share_t * (discoveries before + 1))``.

    Args:
        e: e-values in the order of the looks, shape (looks,), >= 0.
        level: False discovery rate, between 0 and 1.
        share: Shares of the budget.

    Examples:
        >>> e_lond([50.0, 50.0, 50.0], 0.05).rejected
        array([ True, False, False])
    """
    levels: list[float] = []
    rejected: list[bool] = []
    for t, value in enumerate(np.asarray(e, float), start=1):
        granted = level * share(t) * (sum(rejected) + 1)
        levels.append(granted)
        rejected.append(bool(value * granted >= 1))
    return Online(np.array(levels, float), np.array(rejected, bool))


def e_lond_batch(e: ArrayLike, level: float, share: float, found: int) -> Bools:
    """Decide the e-values of one look together, after ``found`` discoveries at earlier looks.

    The largest k such that k of the m values are at least ``m / (level * share * (found + k))`` are discoveries. As an
    e-value at least ``m / (level * share * R)`` contributes at most ``level * share / m`` to the expected share of
    false ones among all R (``1{e >= c} <= e / c``), a stream whose shares sum to at most 1 keeps the false discovery
    rate under any dependence, within a look and between looks. For m = 1 this is :func:`e_lond`.

    Args:
        e: e-values, shape (m,), >= 0.
        level: False discovery rate of the stream.
        share: Share of it for this look.
        found: Discoveries so far.

    Examples:
        >>> e_lond_batch([400.0, 1.0, 390.0], 0.05, 0.4375, 0)
        array([ True, False,  True])
    """
    values = np.asarray(e, float)
    if not values.size:
        return np.zeros(0, bool)
    order = np.sort(values)[::-1]
    need = values.size / (level * share * (found + np.arange(1, values.size + 1)))
    enough = np.flatnonzero(order >= need)
    if not enough.size:
        return np.zeros(values.size, bool)
    return np.asarray(values >= need[enough[-1]])


def e_of_p(p: ArrayLike) -> Floats:
    """An e-value of each p-value: ``(1 - p + p log p) / (p (log p)^2)``.

    The average of the calibrators ``k p^(k-1)`` over all k in (0, 1), each of which has expectation 1 under a uniform p
    (Vovk and Wang 2021, Annals of Statistics 49, 1736-1754, equation 2). A p of 0 gives infinity.

    Args:
        p: p-values, in [0, 1].

    Examples:
        >>> e_of_p([1.0, 0.05, 0.0001]).round(2)
        array([  0.5 ,   1.78, 117.76])
    """
    values = np.asarray(p, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(values)
        found = (1 - values + values * log) / (values * log**2)
    found = np.where(values == 0, np.inf, found)
    # close to 1 the quotient is 0/0; its limit is 1/2, and it falls in p
    return np.asarray(np.where(values > 1 - 1e-4, 0.5, found))


def for_heavy_tails(p: ArrayLike) -> Floats:
    """Two-sided p-values of normal scores, made valid for noise with tails as heavy as Student's with 3 degrees.

    A score of 5 comes once in two million points of normal noise, and in one of 400 points of noise with 3 degrees of
    freedom whose size was learned from the points before. Rules over many looks live on such scores: with the p-values
    of normal noise, LORD++ over ten series and 60 looks found something where nothing was in .92 of the suites with
    such noise, in .55 with 5 degrees, and in none with these. They are those of Student's tail with 3 degrees and the
    same variance; of Student noise with 3 and 5 degrees, Laplace noise, and normal noise of which one point in twenty
    is four times as wide, no score from 3 to 6 was more frequent by more than a seventh.

    Args:
        p: p-values that hold for normal noise, in [0, 1].

    Examples:
        >>> for_heavy_tails([0.5, 0.0027, 5.7e-7]).round(4)
        array([0.5   , 0.0138, 0.0032])
    """
    from scipy.special import ndtri, stdtr

    values = np.asarray(p, float)
    scores = -ndtri(np.clip(values, 1e-300, 1.0) / 2)
    return np.asarray(np.maximum(values, 2 * stdtr(3.0, -np.sqrt(3.0) * scores)))
