"""The emergence score of Srivastava et al. (2022) and Schaeffer et al. (2023, eq. 1), with its null.

The score has no scale of its own: a noise-free straight line over n models scores n - 1, and a model family that stays
at 1% on 20 items scores infinity more often than not. It is therefore never shown without the probability that a steady
rise between the same ends, seen through the same number of items, would score as much; and no verdict rests on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from foreshock.mirage._design import Floats
from foreshock.stats import permutation_p


def emergence_scores(y: ArrayLike) -> Floats:
    """Sign of the direction times range over the root median squared step.

    Args:
        y: Scores in the order of the axis, higher is better, shape (..., points) with at least two points.

    Returns:
        Shape (...); 0 for a constant series; inf or -inf where more than half of the steps are zero.

    Examples:
        >>> emergence_scores([0.0, 1.0, 2.0, 3.0])
        array(3.)
        >>> emergence_scores([[0.0, 0.0, 0.0, 0.5], [0.5, 0.0, 0.0, 0.0]])
        array([ inf, -inf])
    """
    v = np.asarray(y, float)
    if v.shape[-1] < 2:
        raise ValueError("an emergence score needs at least two points")
    span = v.max(axis=-1) - v.min(axis=-1)
    sign = np.sign(v.argmax(axis=-1) - v.argmin(axis=-1))
    step = np.sqrt(np.median(np.diff(v, axis=-1) ** 2, axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(span > 0, sign * span / step, 0.0)
    return np.asarray(score)


def emergence_p(
    y: ArrayLike, items: ArrayLike, rng: np.random.Generator, *, spread: ArrayLike | None = None, draws: int = 2000
) -> tuple[float, float]:
    """Emergence score with its Monte-Carlo p-value under a steady rise.

    Null: the expected score moves in equal steps along the order of the models (the least-squares line through the
    scores, held within [0, 1]); models and items are otherwise exchangeable and each model's score is seen through its
    own number of items.

    Args:
        y: Scores in [0, 1] in the order of the axis, higher is better, shape (points,).
        items: Items behind each score.
        rng: Source of randomness.
        spread: Standard error of each score, for graded scores; None for counts of 0/1 items.
        draws: Monte-Carlo draws.

    Returns:
        Score (maybe infinite) and one-sided p-value for a score at least as large in the direction of a rise.

    Examples:
        >>> score, p = emergence_p([0.1, 0.2, 0.3, 0.4, 0.5], 10000, np.random.default_rng(1))
        >>> round(score, 6), p > 0.2
        (4.0, True)
    """
    v = np.asarray(y, float)
    n = np.broadcast_to(np.asarray(items), v.shape)
    order = np.arange(v.size) - (v.size - 1) / 2
    line = np.clip(v.mean() + order * (order @ v) / (order @ order), 0.0, 1.0)
    if spread is None:
        null = rng.binomial(n, line, size=(draws, v.size)) / n
    else:
        null = np.clip(line + np.asarray(spread, float) * rng.standard_normal((draws, v.size)), 0.0, 1.0)
    score = float(emergence_scores(v))
    return score, permutation_p(score, emergence_scores(null))
