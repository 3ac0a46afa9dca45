"""Do several tasks fall to chance together? One fault of a harness does that; models do it rarely (pure arrays)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreshock.stats import partial_conjunction

Floats = NDArray[np.float64]

FEWEST = 3
"""Tasks that must fall before "several" is the word."""

ABOVE = 3.0
"""Standard errors above chance from which a task has something to lose."""

AT = 2.0
"""Standard errors from chance within which a score is at chance."""


class Together(NamedTuple):
    """How much of several tasks was lost at once.

    Attributes:
        able: Which tasks could tell: above chance before, with known errors; shape (tasks,).
        fallen: Which of them are at chance now and have lost more than half of what they had; shape (tasks,).
        at_least: How many tasks must have fallen for the claim: more than half of those able, and :data:`FEWEST`.
        p: p-value of "fewer than ``at_least`` tasks have lost half of what they had above chance"; None when too few
            tasks are able to tell.
    """

    able: NDArray[np.bool_]
    fallen: NDArray[np.bool_]
    at_least: int
    p: float | None


def dropped_together(before: ArrayLike, before_error: ArrayLike, after: ArrayLike, after_error: ArrayLike) -> Together:
    """Test whether most tasks scored less from one run set to the next, whatever their score of guessing.

    A task's own null is that it did not fall: z = (b - a) / sqrt(b's variance + a's variance). The p-values are joined
    as in :func:`fell_together`, under any dependence; the exchangeable unit is the task.

    Args:
        before, after: Scores, shape (tasks,), higher is better.
        before_error, after_error: Their standard errors, shape (tasks,); NaN or 0 where unknown.

    Examples:
        >>> told = dropped_together([0.6, 0.7, 0.5], [0.02] * 3, [0.3, 0.3, 0.3], [0.02] * 3)
        >>> told.fallen.tolist(), told.p < 1e-6
        ([True, True, True], True)
    """
    from scipy.special import ndtr

    b, sb, a, sa = (np.asarray(v, float) for v in (before, before_error, after, after_error))
    with np.errstate(invalid="ignore", divide="ignore"):
        able = np.isfinite(b + sb + a + sa) & (sb > 0) & (sa > 0)
        z = (b - a) / np.hypot(sa, sb)
    p = ndtr(-z)[able]
    at_least = max(FEWEST, int(able.sum()) // 2 + 1)
    return Together(able, able & (z >= AT), at_least, partial_conjunction(p, at_least) if p.size >= at_least else None)


def fell_together(
    before: ArrayLike, before_error: ArrayLike, after: ArrayLike, after_error: ArrayLike, chance: ArrayLike
) -> Together:
    """Test whether most tasks lost what they had above chance from one run set to the next.

    A task's own null is that at least half of its height above chance is still there: with b and a the scores before
    and after, z = ((b - c) / 2 - (a - c)) / sqrt(a's variance + b's variance / 4) is standard normal on the boundary.
    Tasks of one model move together, so the p-values are joined by the partial conjunction of
    :func:`foreshock.stats.partial_conjunction`, which holds under any dependence; the exchangeable unit is the task.

    Args:
        before, after: Scores, shape (tasks,), higher is better.
        before_error, after_error: Their standard errors, shape (tasks,); NaN or 0 where unknown.
        chance: Score of guessing, shape (tasks,); NaN where unknown.
    """
    from scipy.special import ndtr

    b, sb, a, sa, c = (np.asarray(v, float) for v in (before, before_error, after, after_error, chance))
    with np.errstate(invalid="ignore", divide="ignore"):
        able = np.isfinite(b + sb + a + sa + c) & (sb > 0) & (sa > 0) & (b - c >= ABOVE * sb)
        z = ((b - c) / 2 - (a - c)) / np.sqrt(sa**2 + sb**2 / 4)
        at_chance = a - c <= AT * sa
    fallen = able & at_chance & (z > 0)
    p = np.where(at_chance, ndtr(-z), 1.0)[able]
    at_least = max(FEWEST, int(able.sum()) // 2 + 1)
    enough = p.size >= at_least
    return Together(able, fallen, at_least, partial_conjunction(p, at_least) if enough else None)
