"""Intervals for means and shares, plain and clustered."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_NEARLY_NORMAL = 200  # degrees of freedom from which the expansion is right to eight digits, out to p = 1e-6


def normal_quantile(q: float) -> float:
    """Quantile of the standard normal distribution.

    Examples:
        >>> round(normal_quantile(0.975), 3)
        1.96
    """
    return NormalDist().inv_cdf(q)


def t_quantile(q: float, df: float) -> float:
    """Quantile of Student's t with ``df`` degrees of freedom.

    Examples:
        >>> round(t_quantile(0.975, 5), 3)
        2.571
    """
    if df >= _NEARLY_NORMAL:
        return _expanded(normal_quantile(q), df)
    # scipy.stats would cost seconds at import; the special function is what it calls anyway
    from scipy.special import stdtrit

    return float(stdtrit(df, q))


def _expanded(z: float, df: float) -> float:
    """Fisher and Cornish's expansion about the normal quantile; it spares fast commands the import of scipy."""
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + first / df + second / df**2 + third / df**3 + fourth / df**4


def wilson(hits: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Wilson's score interval of a share.

    Keeps its coverage near 0 and 1, where the textbook interval collapses (Wilson 1927; Brown, Cai & DasGupta 2001).

    Args:
        hits: Number of successes; a sum of graded scores in [0, 1] is accepted and gives a conservative interval.
        n: Number of items; 0 gives [0, 1].
        level: Coverage.

    Returns:
        Lower and upper ends, shape of the inputs.

    Examples:
        >>> low, high = wilson(0, 20)
        >>> float(low), round(float(high), 3)
        (0.0, 0.161)
    """
    k, m = np.broadcast_arrays(np.asarray(hits, float), np.asarray(n, float))
    z = normal_quantile(0.5 + level / 2)
    safe = np.maximum(m, 1.0)
    p = k / safe
    centre = (p + z**2 / (2 * safe)) / (1 + z**2 / safe)
    half = z / (1 + z**2 / safe) * np.sqrt(p * (1 - p) / safe + z**2 / (4 * safe**2))
    low = np.where(k <= 0, 0.0, centre - half)
    high = np.where(k >= m, 1.0, centre + half)
    return np.where(m > 0, np.maximum(low, 0.0), 0.0), np.where(m > 0, np.minimum(high, 1.0), 1.0)


def clopper_pearson(hits: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Exact (conservative) interval of a share by inverting the binomial test.

    Args:
        hits: Number of successes, whole numbers.
        n: Number of trials; 0 gives [0, 1].
        level: Least coverage.

    Returns:
        Lower and upper ends, shape of the inputs.

    Examples:
        >>> low, high = clopper_pearson(0, 20)
        >>> float(low), round(float(high), 4)
        (0.0, 0.1684)
    """
    from scipy.special import betaincinv

    k, m = np.broadcast_arrays(np.asarray(hits, float), np.asarray(n, float))
    tail = (1 - level) / 2
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), np.maximum(m - k, 0) + 1, tail), 0.0)
    high = np.where(k < m, betaincinv(k + 1, np.maximum(m - k, 1), 1 - tail), 1.0)
    return low, high


def clustered_stderr(values: ArrayLike, clusters: ArrayLike | None = None) -> float:
    """Standard error of a mean, allowing for items that come in groups (passages, templates, generators).

    Args:
        values: One score per item, shape (items,); NaN where there is none.
        clusters: One label per item; None means that items are independent.

    Returns:
        The standard error; NaN with fewer than two independent units.

    Raises:
        ValueError: ``clusters`` has another length than ``values``.

    Examples:
        >>> clustered_stderr([0, 1, 0, 1]) < clustered_stderr([0, 0, 1, 1], ["a", "a", "b", "b"])
        True
    """
    v = np.asarray(values, float)
    labels = np.arange(v.size) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    if labels.shape != v.shape:
        raise ValueError(f"{labels.size} cluster labels for {v.size} items")
    keep = ~np.isnan(v)
    v, labels = v[keep], labels[keep]
    if v.size == 0:
        return float("nan")
    _, labels = np.unique(labels, return_inverse=True)
    sums = np.bincount(labels, weights=v - v.mean())
    groups = sums.size
    if groups < 2:
        return float("nan")
    # the factor g/(g-1) makes it the sample standard error when every cluster is one item (CR1)
    return float(np.sqrt(groups / (groups - 1) * np.sum(sums**2)) / v.size)


def mean_interval(
    values: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95
) -> tuple[float, float, float]:
    """Mean of a score with its t interval; the degrees of freedom are clusters less one.

    Returns:
        Mean, lower end, upper end; the ends are NaN with fewer than two independent units.

    Examples:
        >>> [round(x, 3) for x in mean_interval([1.0, 2.0, 3.0, 4.0])]
        [2.5, 0.446, 4.554]
    """
    v = np.asarray(values, float)
    keep = ~np.isnan(v)
    labels = None if clusters is None else np.asarray(clusters)[keep]
    v = v[keep]
    if v.size == 0:
        return float("nan"), float("nan"), float("nan")
    units = v.size if labels is None else np.unique(labels).size
    mean, stderr = float(v.mean()), clustered_stderr(v, labels)
    if units < 2:
        return mean, float("nan"), float("nan")
    half = t_quantile(0.5 + level / 2, units - 1) * stderr
    return mean, mean - half, mean + half
