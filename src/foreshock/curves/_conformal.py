"""Conformal intervals across curves.

The unit is the curve. Every calibration curve gives one or more scores, the signed distance of what came from what
was forecast, in units of a scale that was known beforehand. The scores of one curve are dependent and share its
weight; a new curve takes a weight of its own, which stands at infinity because nothing is known of it (Lee, Barber &
Willett 2023, "Distribution-free inference with hierarchical data"). If curve and calibration curves are exchangeable
and one target is drawn from the new curve, the interval covers it with at least the level asked for: a statement about
*one* target of *one* curve like the calibration ones, on average over curves. Nothing is promised given the history,
for all targets at once, or for a curve of another kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

MOST_WIDENED = 4.0


@dataclass(frozen=True, slots=True)
class Scores:
    """Signed scores of calibration curves, ready to be read at any level.

    Attributes:
        score: Ascending signed scores, shape (scores,); infinite where a curve left no finite one.
        weight: Weight of each score; all together ``curves / (curves + 1)``.
        curves: Exchangeable units.
    """

    score: Floats
    weight: Floats
    curves: int


def pooled(scores: list[Floats]) -> Scores:
    """Pool the scores of calibration curves, every curve with the same weight.

    Args:
        scores: One array of signed scores for each curve, none of them empty; NaN counts as infinitely far.

    Raises:
        ValueError: A curve has no score.

    Examples:
        >>> pooled([np.array([0.5]), np.array([-1.0, 2.0])]).weight.round(3).tolist()
        [0.167, 0.333, 0.167]
    """
    if any(one.size == 0 for one in scores):
        raise ValueError("a calibration curve has no score")
    if not scores:
        return Scores(np.zeros(0), np.zeros(0), 0)
    score = np.concatenate(scores)
    score = np.where(np.isnan(score), np.inf, score)
    weight = np.concatenate([np.full(one.size, 1.0 / one.size) for one in scores]) / (len(scores) + 1)
    order = np.argsort(score, kind="stable")
    return Scores(score[order], weight[order], len(scores))


def curves_needed(level: float) -> int:
    """Calibration curves below which no finite interval has the level.

    Examples:
        >>> curves_needed(0.9), curves_needed(0.95)
        (9, 19)
    """
    return math.ceil(level / (1 - level) - 1e-9)


def conformal_quantile(scores: Scores, level: float) -> float:
    """Smallest distance that holds at least ``level`` of all weight; infinite with too few curves.

    Examples:
        >>> conformal_quantile(pooled([np.array([float(k)]) for k in range(1, 20)]), 0.9)
        18.0
    """
    distance = np.abs(scores.score)
    order = np.argsort(distance, kind="stable")
    reached = np.cumsum(scores.weight[order])
    # sums of 1/(m (K + 1)) are not exact: a level that is met but for rounding is met
    place = int(np.searchsorted(reached, level - 1e-9))
    return float(distance[order][place]) if place < distance.size else math.inf


def group_factor(scores: Sequence[Floats], groups: Sequence[str], level: float) -> float:
    """By how much intervals are widened because groups differ, 1 or more.

    Scores of curves are not exchangeable across groups where one group is harder than another, and a new curve is of
    a new group. Intervals are widened until the mean coverage of the groups, less its standard error over groups, keeps
    the level: a heuristic that makes coverage on the next group likelier, and no guarantee of it.

    Args:
        scores: Signed scores of each curve.
        groups: Group of each curve.
        level: Coverage asked for.

    Returns:
        The smallest factor between 1 and :data:`MOST_WIDENED` that does; 1 with fewer than three groups.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> easy, hard = [[k * rng.normal(size=1) for _ in range(60)] for k in (1.0, 2.0)]
        >>> round(group_factor([*easy, *hard, *easy], [*"a" * 60, *"b" * 60, *"c" * 60], 0.9), 2)
        1.21
    """
    names = sorted(set(groups))
    reach = conformal_quantile(pooled(list(scores)), level)
    if len(names) < 3 or not math.isfinite(reach):
        return 1.0
    factors = np.arange(1.0, MOST_WIDENED + 0.005, 0.01)
    inside = np.array([(np.abs(s)[:, None] <= reach * factors).mean(axis=0) for s in scores])
    label = np.array(groups)
    share = np.array([inside[label == name].mean(axis=0) for name in names])
    sure = share.mean(axis=0) - share.std(axis=0, ddof=1) / math.sqrt(len(names)) >= level
    return float(factors[int(np.argmax(sure))]) if sure.any() else MOST_WIDENED


def interval(centre: Floats, down: Floats, up: Floats, scores: Scores, level: float) -> tuple[Floats, Floats]:
    """Interval about forecasts on the link.

    Args:
        centre: Forecasts, shape (targets,).
        down, up: Scale below and above each of them, 0 or more, shape (targets,).
        scores: Pooled calibration scores in these units.
        level: Coverage asked for, in (0, 1).

    Returns:
        Lower and upper ends; infinite with too few curves.
    """
    reach = conformal_quantile(scores, level)
    if not math.isfinite(reach):
        return np.full(centre.shape, -np.inf), np.full(centre.shape, np.inf)
    return centre - reach * down, centre + reach * up


def signed_scores(observed: Floats, centre: Floats, down: Floats, up: Floats) -> Floats:
    """Signed distance of what came in units of the scale on its side, shape (targets,).

    What was forecast exactly has score 0, whatever the scale; where the scale is 0 anything else is infinitely far.

    Examples:
        >>> one = np.ones(1)
        >>> signed_scores(np.array([3.0]), one, one, 4 * one).tolist()
        [0.5]
    """
    error = observed - centre
    scale = np.where(error >= 0, up, down)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error == 0, 0.0, error / scale)


def exceedance(line: ArrayLike, centre: Floats, down: Floats, up: Floats, scores: Scores) -> Floats:
    """Probability that the target lies above a line on the link, from the conformal predictive distribution.

    The weight at infinity, of which nothing is known, counts half on either side (the mid-point of the conformal
    transducer, Vovk, Shen, Manokhin & Xie 2019): with K curves no probability is below 1 / (2 (K + 1)).

    Args:
        line: The line, on the link; a number or shape (targets,).
        centre, down, up: As in :func:`interval`.
        scores: Pooled calibration scores.

    Examples:
        >>> scores = pooled([np.array([-1.0]), np.array([0.0]), np.array([1.0])])
        >>> exceedance(0.5, np.zeros(1), np.ones(1), np.ones(1), scores).tolist()
        [0.375]
    """
    needed = signed_scores(np.broadcast_to(np.asarray(line, float), centre.shape), centre, down, up)
    before = np.concatenate([[0.0], np.cumsum(scores.weight)])
    below = before[np.searchsorted(scores.score, needed, side="left")]
    upto = before[np.searchsorted(scores.score, needed, side="right")]
    # a score on the line itself counts half as well
    return np.asarray(1.0 - 0.5 / (scores.curves + 1) - 0.5 * (below + upto))


def interval_score(observed: Floats, low: Floats, high: Floats, level: float) -> Floats:
    """Width plus what is missed, 2 / (1 - level) times (Gneiting & Raftery 2007, equation 43); lower is better.

    Examples:
        >>> interval_score(np.array([1.0]), np.array([2.0]), np.array([3.0]), 0.9).round(6).tolist()
        [21.0]
    """
    missed = np.maximum(low - observed, 0.0) + np.maximum(observed - high, 0.0)
    return np.asarray(high - low + 2 / (1 - level) * missed)
