"""Several attempts at each item: pass@k far below one in the number of items.

One answer to each of 128 problems shows nothing between 0 and .0078. Ten thousand answers to each resolve a rate of one
in a million; this is how a step that one answer would have invented is told from one that is there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from foreshock.mirage._design import Floats
from foreshock.stats import clopper_pearson, joint_means, percentile_interval

LEVEL = 0.95
# fewer items with a success than this, and a bootstrap over items knows too few values
_FEW = 5


def sampled(
    rates: ArrayLike, attempts: ArrayLike, *, ks: Sequence[int] | None = None, draws: int = 1000, seed: int = 0
) -> list[dict[str, Any]]:
    """pass@k of one model from the repeats of each item, with floors and intervals.

    pass@k of an item with c right of n attempts is 1 - C(n-c, k) / C(n, k) (Chen et al. 2021), free of bias; items with
    fewer than k attempts are left out of that k, and the row says how many are left. The interval is a bootstrap over
    items, which holds the noise of the attempts as well; its upper end is never below the exact bound of the pooled
    successes where fewer than 5 items have one.

    Args:
        rates: Share of right attempts at each item, shape (items,); NaN where there is none.
        attempts: Attempts at each item, shape (items,).
        ks: The k to report; powers of ten up to what half of the items have where not given.
        draws: Bootstrap draws.
        seed: Seed.

    Returns:
        One row per k: ``k``, ``value``, ``low``, ``high`` (95%), ``problems``, ``attempts`` (their sum), ``floor``
        (least value above 0 that can be seen), ``at_floor`` (no success at all) and ``p_zero_once`` (probability that
        one attempt at each item shows exactly 0).

    Examples:
        >>> row = sampled([0.0] * 127 + [0.001], 10_000)[0]
        >>> row["k"], round(row["value"], 9), round(row["floor"], 9), round(row["p_zero_once"], 3)
        (1, 7.813e-06, 7.81e-07, 0.999)
    """
    p, n = np.broadcast_arrays(np.asarray(rates, float), np.asarray(attempts, float))
    there = ~np.isnan(p) & (n >= 1)
    n = np.round(n[there])
    c = np.round(p[there] * n)
    if not n.size:
        return []
    wanted = _powers(float(np.median(n))) if ks is None else sorted(set(ks))
    return [_row(c[n >= k], n[n >= k], k, draws, seed) for k in wanted if (n >= k).any()]


def _powers(most: float) -> list[int]:
    return [10**i for i in range(int(math.log10(max(most, 1.0))) + 1)]


def _row(c: Floats, n: Floats, k: int, draws: int, seed: int) -> dict[str, Any]:
    each = at_least_one(c, n, k)
    low, high = percentile_interval(joint_means(each, np.random.default_rng(seed), draws), LEVEL)
    floor = float(at_least_one(np.ones(1), n.max(keepdims=True), k)[0]) / n.size
    few = np.count_nonzero(c) < _FEW
    return {
        "k": k,
        "value": float(each.mean()),
        "low": 0.0 if few else float(low),
        "high": max(float(high), _pooled(c, n, k)) if few else float(high),
        "problems": int(n.size),
        "attempts": int(n.sum()),
        "floor": floor,
        "at_floor": not c.any(),
        "p_zero_once": float(np.prod(1 - c / n)),
    }


def _pooled(c: Floats, n: Floats, k: int) -> float:
    """Bound of the mean of k attempts: every attempt as one trial, as many of each item as the least sampled has.

    A mean of k attempts is at most k times that of one. Without successes the bound holds for unequal items too:
    -log(1-p) is convex, so no rates p with prod (1-p)^n >= .025 have a mean above 1 - .025^(1 / (items x least n)).
    """
    least = float(n.min()) * n.size
    return min(1.0, k * float(clopper_pearson(min(float(c.sum()), least), least)[1]))


def at_least_one(c: ArrayLike, n: ArrayLike, k: int) -> Floats:
    """1 - C(n-c, k) / C(n, k) of each item, exact to rounding also for the smallest shares.

    Args:
        c: Successes, shape (items,).
        n: Attempts, at least ``k``.
        k: Attempts of which one must succeed.

    Examples:
        >>> at_least_one([3.0, 0.0, 1.0], [10.0, 10.0, 4_000_000.0], 5).round(9).tolist()
        [0.916666667, 0.0, 1.25e-06]
    """
    # items that succeed equally often are many, and are computed once
    each, place = np.unique(np.stack([np.asarray(c, float), np.asarray(n, float)]), axis=1, return_inverse=True)
    return np.array([_one(hits, tried, k) for hits, tried in each.T])[place.ravel()]


def _one(hits: float, tried: float, k: int) -> float:
    if tried - hits < k:
        return 1.0
    # the quotient has min(c, k) factors, in either of two forms
    if hits < k:
        log = np.log1p(-k / np.arange(tried - hits + 1, tried + 1)).sum()
    else:
        log = np.log1p(-hits / (tried - np.arange(k))).sum()
    return abs(math.expm1(log))
