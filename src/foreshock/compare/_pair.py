"""Two rows of scores on the same items: the test, the interval, the power and the verdict; arrays in, numbers out."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreshock.compare._means import mean_p, repeats_p, unequal_repeats
from foreshock.stats import (
    McNemar,
    cluster_sums,
    discordance,
    mcnemar,
    paired_interval,
    sign_flip,
    tango_interval,
)

Floats = NDArray[np.float64]
Repeats = tuple[NDArray[np.int64], NDArray[np.int64]]


class PairResult(NamedTuple):
    """What two runs on the same items say.

    Attributes:
        items: Items that both have a score for.
        clusters: Independent units among them.
        first, second: Means over these items.
        difference: Second minus first.
        low, high: Interval of the difference; NaN where there is none.
        p: p-value of ``test``; of a sign-flip test the larger of its own and those that allow for unlike distributions.
        test: ``mcnemar`` (right or wrong, independent items) or ``sign-flip``.
        replicates: Random patterns of signs behind ``p``; None where it is exact, 0 where it is an upper bound.
        mcnemar, mid_p: McNemar's exact and mid p-value, for right-or-wrong scores; with clusters only a reference.
        up, down: Items on which the second scored more, and less.
        discordant: See :func:`foreshock.stats.discordance`.
        decided: Whose p-value ``p`` is: that of ``test``, of the ``skewed-t`` test, or of the ``repeats`` dealt anew.
    """

    items: int
    clusters: int
    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    test: str
    replicates: int | None
    mcnemar: float | None
    mid_p: float | None
    up: int
    down: int
    discordant: float
    decided: str = "mcnemar"


class Tested(NamedTuple):
    """The test of paired differences: its p-value, and McNemar's beside it where answers are right or wrong."""

    p: float
    test: str
    replicates: int | None
    units: int
    up: int
    down: int
    reference: McNemar | None
    decided: str


def right_or_wrong(scores: Floats) -> bool:
    """Whether all scores are 0 or 1."""
    return bool(np.all((scores == 0) | (scores == 1)))


def differences_tested(
    first: Floats,
    second: Floats,
    labels: NDArray[np.int64] | None,
    rng: np.random.Generator,
    *,
    binary: bool,
    repeats: Repeats | None = None,
    bound: float | None = None,
) -> Tested:
    """McNemar's test of independent right-or-wrong items, else a sign-flip test over clusters and its conditions.

    The p-value beside sign flips is the largest of theirs, of a t test that allows for skewness, and, where the sides
    answered an item unequally often, of a test that deals the responses to the sides anew.

    Args:
        first, second: Scores of the items, without NaN.
        labels: Cluster of each, or None.
        rng: Source of randomness.
        binary: Whether they come from right-or-wrong answers.
        repeats: Responses behind the scores of either side.
        bound: Largest possible difference.
    """
    d = second - first
    up, down = int(np.sum(d > 0)), int(np.sum(d < 0))
    reference = mcnemar(up, down) if binary else None
    if reference is not None and labels is None:
        return Tested(reference.p, "mcnemar", None, d.size, up, down, reference, "mcnemar")
    sums, sizes = cluster_sums(d, labels)
    flipped = sign_flip(sums, rng)
    p = {"sign-flip": flipped.p, "skewed-t": mean_p(sums, sizes, bound)}
    if repeats is not None and unequal_repeats(*repeats):
        dealt = repeats_p((first, second), repeats, rng)
        if dealt is not None:
            p["repeats"] = dealt
    decided = max(p, key=lambda name: p[name])
    return Tested(p[decided], "sign-flip", flipped.replicates, sums.size, up, down, reference, decided)


def judge_pair(  # noqa: PLR0913 - what is known of the scores
    first: ArrayLike,
    second: ArrayLike,
    rng: np.random.Generator,
    *,
    clusters: ArrayLike | None = None,
    repeated: bool = False,
    repeats: ArrayLike | None = None,
    alpha: float = 0.05,
    bound: float | None = 1.0,
) -> PairResult:
    """Compare two rows of scores item by item.

    Args:
        first, second: Scores of the same items, shape (items,); items where either is NaN are left out.
        rng: Source of randomness, used only where no exact distribution is within reach.
        clusters: One label per item: items of one label are not independent. None means that all are.
        repeated: Whether some score is a mean over repeats; then it is no right-or-wrong answer even if it is 0 or 1.
        repeats: Responses behind each score, shape (2, items); None where unknown or one.
        alpha: The interval is at 1 - alpha.
        bound: Largest possible difference; None where the metric has no range.

    Examples:
        >>> result = judge_pair([1, 0, 0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1, 1, 1], np.random.default_rng(0))
        >>> result.p, result.up, result.down, round(result.difference, 3)
        (0.03125, 6, 0, 0.75)
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    keep = ~(np.isnan(a) | np.isnan(b))
    a, b = a[keep], b[keep]
    labels = None if clusters is None else np.unique(np.asarray(clusters)[keep], return_inverse=True)[1]
    if labels is not None and (labels.size == 0 or labels.max() + 1 == labels.size):
        labels = None
    d = b - a
    counts = None if repeats is None else np.asarray(repeats, np.int64)[:, keep]
    binary = not repeated and right_or_wrong(a) and right_or_wrong(b)
    behind = None if counts is None else (counts[0], counts[1])
    tested = differences_tested(a, b, labels, rng, binary=binary, repeats=behind, bound=bound)
    if d.size == 0:
        low = high = math.nan
    elif tested.test == "mcnemar":
        low, high = tango_interval(tested.up, tested.down, d.size, 1 - alpha)
    else:
        _, low, high = paired_interval(d, labels, 1 - alpha, bound)
    return PairResult(
        items=d.size,
        clusters=tested.units,
        first=float(a.mean()) if a.size else math.nan,
        second=float(b.mean()) if b.size else math.nan,
        difference=float(d.mean()) if d.size else math.nan,
        low=low,
        high=high,
        p=tested.p,
        test=tested.test,
        replicates=tested.replicates,
        mcnemar=tested.reference.p if tested.reference else None,
        mid_p=tested.reference.mid if tested.reference else None,
        up=tested.up,
        down=tested.down,
        discordant=discordance(d, labels, bound),
        decided=tested.decided,
    )


def verdict_of(result: PairResult, adjusted: float, *, alpha: float, margin: float | None, rising: bool = True) -> str:
    """The word for a comparison.

    ``no-difference`` only when the whole interval lies within the margin, whatever the p-value; ``regression`` or
    ``improvement`` when the adjusted p-value is at most ``alpha``; else ``undecided``.

    Args:
        result: The comparison; its second side is the new one.
        adjusted: p-value after the correction for many looks.
        alpha: Level.
        margin: Difference that does not matter; None means that every one does.
        rising: Whether larger scores are better.
    """
    if margin is not None and -margin <= result.low and result.high <= margin:
        return "no-difference"
    if result.items == 0 or adjusted > alpha or result.difference == 0:
        return "undecided"
    return "improvement" if (result.difference > 0) == rising else "regression"
