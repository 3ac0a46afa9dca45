"""The emergence score of Srivastava et al. (2022) and Schaeffer et al. (2023, eq. 1), with its null.

The score has no scale of its own: a noise-free straight line over n models scores n - 1, and a model family that stays
at 1% on 20 items scores infinity more often than not. It is therefore never shown without the probability that a steady
rise between the same ends, seen through the same number of items, would score as much; and no verdict rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from foreshock.mirage._design import Floats
from foreshock.stats import permutation_p

# steps below this part of the largest score are the rounding of means, not steps
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Emergence:
    """An emergence score beside what it would be without any emergence.

    Attributes:
        score: The score, maybe infinite; positive where the best model comes after the worst one.
        p: One-sided probability that a steady rise between the same ends scores as much in the same direction.
        straight: Score of a noise-free straight line over as many models: n - 1.
        typical, high: Median and 95% quantile of the score under the steady rise, maybe infinite.
        infinite: Share of draws of the steady rise whose score is plus or minus infinite.
        floor: Models at exactly 0, or at exactly the lowest possible value.
        zero_steps: Steps between neighbours that are exactly zero; with more than half of them the score is infinite.
    """

    score: float
    p: float
    straight: int
    typical: float
    high: float
    infinite: float
    floor: int
    zero_steps: int


def emergence_scores(y: ArrayLike, *, higher_is_better: bool = True) -> Floats:
    """Sign of the direction times range over the root median squared step.

    Args:
        y: Scores in the order of the axis, shape (..., points) with at least two points.
        higher_is_better: False turns the scores around first (a loss, an edit distance).

    Returns:
        Shape (...); 0 for a constant series; inf or -inf where more than half of the steps are zero. Of several best or
        worst models the first counts for the sign.

    Examples:
        >>> emergence_scores([0.0, 1.0, 2.0, 3.0])
        array(3.)
        >>> emergence_scores([[0.0, 0.0, 0.0, 0.5], [0.5, 0.0, 0.0, 0.0]])
        array([ inf, -inf])
    """
    v = np.asarray(y, float) * (1.0 if higher_is_better else -1.0)
    if v.shape[-1] < 2:
        raise ValueError("an emergence score needs at least two points")
    if np.isnan(v).any():
        raise ValueError("an emergence score needs a value at every point")
    span = v.max(axis=-1) - v.min(axis=-1)
    sign = np.sign(v.argmax(axis=-1) - v.argmin(axis=-1))
    step = np.sqrt(np.median(_steps(v) ** 2, axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(span > 0, sign * span / step, 0.0)
    return np.asarray(score)


def _steps(v: Floats) -> Floats:
    """Steps between neighbours; means of the same items that differ by rounding only do not differ."""
    step = np.diff(v, axis=-1)
    return np.where(np.abs(step) <= _ROUNDING * np.abs(v).max(axis=-1, keepdims=True), 0.0, step)


def emergence(
    y: ArrayLike,
    items: ArrayLike,
    rng: np.random.Generator,
    *,
    spread: ArrayLike | None = None,
    higher_is_better: bool = True,
    draws: int = 2000,
) -> Emergence:
    """Emergence score with what a steady rise over as many models and items would give.

    Null: the expected score moves in equal steps along the order of the models (the least-squares line through the
    scores, held within [0, 1]); models and items are otherwise exchangeable and each model's score is seen through its
    own number of items.

    Args:
        y: Scores in [0, 1] in the order of the axis, shape (points,).
        items: Items behind each score.
        rng: Source of randomness.
        spread: Standard error of each score, for graded scores; None for counts of 0/1 items.
        higher_is_better: False for a rate that falls when models get better.
        draws: Monte-Carlo draws.

    Examples:
        >>> told = emergence([0.1, 0.2, 0.3, 0.4, 0.5], 10000, np.random.default_rng(1))
        >>> round(told.score, 6), told.straight, round(told.typical), told.p > 0.2
        (4.0, 4, 4, True)
    """
    v = np.asarray(y, float)
    score = float(emergence_scores(v, higher_is_better=higher_is_better))
    null = emergence_scores(_steady(v, items, spread, rng, draws), higher_is_better=higher_is_better)
    # an interpolated quantile between a number and infinity is not a number
    typical, high = np.quantile(null, [0.5, 0.95], method="higher")
    worst = 0.0 if higher_is_better else 1.0
    return Emergence(
        score=score,
        p=permutation_p(score, null),
        straight=v.size - 1,
        typical=float(typical),
        high=float(high),
        infinite=float(np.isinf(null).mean()),
        floor=int(np.count_nonzero(v == worst)),
        zero_steps=int(np.count_nonzero(_steps(v) == 0)),
    )


def emergence_p(
    y: ArrayLike, items: ArrayLike, rng: np.random.Generator, *, spread: ArrayLike | None = None, draws: int = 2000
) -> tuple[float, float]:
    """Score and p-value of :func:`emergence`, for scores of which higher is better.

    Examples:
        >>> score, p = emergence_p([0.1, 0.2, 0.3, 0.4, 0.5], 10000, np.random.default_rng(1))
        >>> round(score, 6), p > 0.2
        (4.0, True)
    """
    told = emergence(y, items, rng, spread=spread, draws=draws)
    return told.score, told.p


def _steady(v: Floats, items: ArrayLike, spread: ArrayLike | None, rng: np.random.Generator, draws: int) -> Floats:
    """Draws of a steady rise, shape (draws, points)."""
    order = np.arange(v.size) - (v.size - 1) / 2
    line = np.clip(v.mean() + order * (order @ v) / (order @ order), 0.0, 1.0)
    if spread is None:
        n = np.broadcast_to(np.asarray(items), v.shape)
        # one model at a time: the generator prepares for (n, p) once instead of for every draw
        return np.stack([rng.binomial(k, p, draws) / k for k, p in zip(n, line, strict=True)], axis=1)
    noise = np.asarray(spread, float) * rng.standard_normal((draws, v.size))
    return np.asarray(np.clip(line + noise, 0.0, 1.0))
