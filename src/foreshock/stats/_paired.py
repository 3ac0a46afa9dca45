"""Differences between two runs on the same items: interval, and how many items it takes to see one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreshock.stats._intervals import normal_quantile, t_quantile

Floats = NDArray[np.float64]


def cluster_sums(values: ArrayLike, clusters: ArrayLike | None = None) -> tuple[Floats, Floats]:
    """Sum and number of values of every cluster, in the order of the labels.

    Args:
        values: Shape (items,), without NaN.
        clusters: One label per item; None makes every item a cluster of its own.

    Examples:
        >>> cluster_sums([1.0, -1.0, 1.0], ["a", "b", "a"])
        (array([ 2., -1.]), array([2., 1.]))
    """
    v = np.asarray(values, float)
    if clusters is None:
        return v, np.ones(v.size)
    labels = np.unique(np.asarray(clusters), return_inverse=True)[1]
    if labels.size != v.size:
        raise ValueError(f"{labels.size} cluster labels for {v.size} items")
    sums: Floats = np.bincount(labels, weights=v).astype(float)
    return sums, np.bincount(labels).astype(float)


def paired_interval(
    differences: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95, bound: float | None = None
) -> tuple[float, float, float]:
    """Mean of paired differences with a cluster-robust interval that does not collapse.

    Two made-up clusters, one for either side and each as large as the largest difference of a cluster, are added before
    a t interval with clusters less one degrees of freedom is taken, with the jackknife's standard error: a cluster that
    holds much of the data pulls the mean towards itself and hides how far off it may be. For right-or-wrong answers of
    single items that is the adjusted interval of Bonett and Price (2012, Statistics in Medicine 31, 479-488); here it
    is carried over to graded scores and to clusters. Without the made-up ones a handful of items that all agree would
    claim a difference of exactly 0.

    Args:
        differences: Second minus first, shape (items,); NaN is left out.
        clusters: One label per item; items of one label are not independent.
        level: Coverage.
        bound: Largest possible difference; None where the metric has no range.

    Returns:
        Mean, lower end, upper end. The ends are NaN with fewer than two clusters, or where all differences are 0 and
        nothing bounds them.

    Examples:
        >>> [round(x, 3) for x in paired_interval([0, 0, 0, 0, 0, 0, 0, 0], bound=1.0)]
        [0.0, -0.352, 0.352]
        >>> [round(x, 3) for x in paired_interval([0.2, 0.1, 0.3, 0.2, -0.1, 0.2, 0.1, 0.4])]
        [0.175, -0.04, 0.32]
    """
    d = np.asarray(differences, float)
    keep = ~np.isnan(d)
    labels = None if clusters is None else np.asarray(clusters)[keep]
    d = d[keep]
    if d.size == 0:
        return math.nan, math.nan, math.nan
    sums, sizes = cluster_sums(d, labels)
    mean = float(d.mean())
    largest = float(np.abs(sums / sizes).max()) or (bound or 0.0)
    if sums.size < 2 or largest == 0:
        return mean, math.nan, math.nan
    typical = d.size / sums.size
    sums = np.concatenate([sums, [largest * typical, -largest * typical]])
    sizes = np.concatenate([sizes, [typical, typical]])
    total = float(sizes.sum())
    centre = float(sums.sum()) / total
    groups = sums.size
    shifts = (sums - sizes * centre) / (total - sizes)  # of the mean when a cluster is left out
    error = math.sqrt((groups - 1) / groups * float(np.sum(shifts**2)))
    half = t_quantile(0.5 + level / 2, groups - 3) * error
    limit = math.inf if bound is None else bound
    return mean, max(-limit, min(mean, centre - half)), min(limit, max(mean, centre + half))


def discordance(differences: ArrayLike, clusters: ArrayLike | None = None, bound: float | None = None) -> float:
    """Mean square of a paired difference per item, as large as clusters make it: what the power of a test hangs on.

    For right-or-wrong answers of independent items it is the share of items that flip.

    Args:
        differences: Shape (items,), without NaN.
        clusters: One label per item.
        bound: Largest possible difference; used where no item differs, by way of two items that do.

    Examples:
        >>> discordance([1.0, 0.0, -1.0, 0.0])
        0.5
        >>> discordance([1.0, 1.0, 0.0, 0.0], [0, 0, 1, 1])
        1.0
    """
    sums, _ = cluster_sums(differences, clusters)
    n = np.asarray(differences).size
    if n == 0:
        return math.nan
    square = float(np.sum(sums**2))
    if square == 0:
        typical = n / sums.size
        return 2 * ((bound or 0.0) * typical) ** 2 / (n + 2 * typical)
    return square / n


def paired_items(discordant: float, difference: float, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """Items that a paired test needs to find a difference (Connor 1987, Biometrics 43, 207-211).

    Args:
        discordant: See :func:`discordance`; for right-or-wrong answers the share of items that flip.
        difference: Difference to find, in the units of the scores.
        alpha: Two-sided level of the test.
        power: Chance of finding it.

    Returns:
        The number, or None where nothing is known about how items differ.

    Examples:
        >>> paired_items(0.3, 0.01)
        23545
        >>> paired_items(0.3, 0.05)
        940
    """
    size = abs(difference)
    if size == 0 or not discordant > 0:
        return None
    spread = max(discordant, size**2)
    reach = normal_quantile(1 - alpha / 2) * math.sqrt(spread) + normal_quantile(power) * math.sqrt(spread - size**2)
    return math.ceil((reach / size) ** 2)


def paired_detectable(discordant: float, items: int, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The smallest difference that a paired test of ``items`` items finds with chance ``power``.

    Returns:
        The difference in the units of the scores; None where not even the largest possible one would do.

    Examples:
        >>> round(paired_detectable(0.3, 940), 4)
        0.05
        >>> paired_detectable(0.3, 3) is None
        True
    """
    if not discordant > 0 or items < 1:
        return None
    low, high = 0.0, math.sqrt(discordant)
    if (paired_items(discordant, high, alpha, power) or math.inf) > items:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        enough = (paired_items(discordant, middle, alpha, power) or math.inf) <= items
        low, high = (low, middle) if enough else (middle, high)
    return high
