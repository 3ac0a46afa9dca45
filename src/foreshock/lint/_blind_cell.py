"""Whether a scorer notices damage of known size: arrays of scores in, counts and a word out.

An answer's damage is noticed when its score falls

1. by more than noise: by more than it does between two scorings of the same answer, but for the share :data:`ALPHA` of
   them. The bound is an order statistic of such falls, so a new scoring of the same answer exceeds it with at most that
   probability, whatever the noise looks like (split conformal prediction: Papadopoulos et al. 2002); and
2. in some proportion: nearer to what the damage is worth than to nothing. Damage to a third of an answer is worth a
   third of what its score has to lose, which is its distance from the scorer's lowest value.

Neither is fitted to anything: the first is the scorer's own noise, the second its own range.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreshock.stats import clopper_pearson, mean_interval

Floats = NDArray[np.float64]

ALPHA = 0.05
"""Share of second scorings of an undamaged answer that may count as noticed."""
BLIND, SEES = 0.25, 0.75
"""Noticed shares below and above which a scorer is blind to a kind of damage, or sees it."""
_MOST = 100_000
_FUZZ = 1e-9  # of the room: equal values that were reached on two ways of rounding


class Cell(NamedTuple):
    """What one scorer makes of one kind of damage.

    Attributes:
        said: ``sees``, ``partly``, ``blind`` or ``cannot tell``.
        n: Damaged answers looked at.
        seen: How many of them were noticed.
        share, low, high: Noticed share with its exact 95% interval; NaN without answers.
        effect, effect_low, effect_high: Mean fall as a share of what the score had to lose, with its t interval.
        size: Mean size of the damage.
        enough: Answers that would do at this share; None when a word was said or the share lies on a border.
        why: Why no word was said.
    """

    said: str
    n: int
    seen: int
    share: float
    low: float
    high: float
    effect: float
    effect_low: float
    effect_high: float
    size: float
    enough: int | None
    why: str


def noise_bound(first: Floats, again: Floats) -> float:
    """Largest fall between two scorings of the same answer, but for the share :data:`ALPHA`; infinite with too few.

    Args:
        first, again: Scores of the same answers, shape (answers,); NaN where there is none.

    Examples:
        >>> noise_bound(np.ones(19), np.ones(19)), noise_bound(np.ones(18), np.ones(18))
        (0.0, inf)
    """
    falls = np.sort((first - again)[~np.isnan(first - again)])
    rank = int(np.ceil((falls.size + 1) * (1 - ALPHA) - 1e-9))
    return float(max(0.0, falls[rank - 1])) if 0 < rank <= falls.size else float("inf")


def least_answers() -> int:
    """Fewest answers for which :func:`noise_bound` is finite.

    Examples:
        >>> least_answers()
        19
    """
    return int(np.ceil(1 / ALPHA - 1e-9)) - 1


def noticed(first: Floats, damaged: Floats, size: Floats, low: float, bound: float) -> NDArray[np.bool_]:
    """Which damaged answers the scorer notices, see the head of this file.

    Args:
        first, damaged: Scores before and after the damage, shape (answers,).
        size: Size of each damage, in [0, 1].
        low: Lowest value of the scorer.
        bound: Largest fall by noise, from :func:`noise_bound`.

    Examples:
        >>> noticed(np.ones(3), np.array([0.98, 0.6, 0.7]), np.full(3, 2 / 3), 0.0, 0.0).tolist()
        [False, True, False]
    """
    fall, room = first - damaged, first - low
    fuzz = _FUZZ * np.abs(room)
    return np.asarray((fall > bound + fuzz) & (fall >= 0.5 * size * room - fuzz))


def cell(first: Floats, damaged: Floats, size: Floats, low: float, bound: float) -> Cell:
    """Judge one kind of damage; arguments as in :func:`noticed`, answers without room to fall left out before."""
    n = int(first.size)
    if n == 0:
        nan = float("nan")
        return Cell("cannot tell", 0, 0, nan, nan, nan, nan, nan, nan, nan, least_answers(), "no answers")
    effect = mean_interval((first - damaged) / (first - low))
    mean_size = float(size.mean())
    if not np.isfinite(bound):
        why = f"its noise is not known from fewer than {least_answers()} answers"
        nan = float("nan")
        return Cell("cannot tell", n, 0, nan, nan, nan, *effect, mean_size, least_answers(), why)
    seen = int(noticed(first, damaged, size, low, bound).sum())
    share, low_end, high_end = seen / n, *(float(e) for e in clopper_pearson(seen, n))
    said = word(low_end, high_end)
    enough, why = None, ""
    if said == "cannot tell":
        enough = answers_needed(share)
        why = f"between {_region(low_end)} and {_region(high_end)}"
    return Cell(said, n, seen, share, low_end, high_end, *effect, mean_size, enough, why)


def word(low: float, high: float) -> str:
    """What an interval of the noticed share says: it must lie within one region.

    Examples:
        >>> word(0.0, 0.1), word(0.3, 0.6), word(0.9, 1.0), word(0.2, 0.9)
        ('blind', 'partly', 'sees', 'cannot tell')
    """
    return _region(low) if _region(low) == _region(high) else "cannot tell"


def _region(share: float) -> str:
    return "blind" if share < BLIND else "sees" if share > SEES else "partly"


def answers_needed(share: float) -> int | None:
    """Answers at which this noticed share would say a word, to a tenth; None above 100,000: it lies on a border.

    Examples:
        >>> answers_needed(0.0), answers_needed(0.8) > 200, answers_needed(0.75)
        (19, True, None)
    """
    n = least_answers()
    while n <= _MOST:
        low, high = clopper_pearson(round(share * n), n)
        if word(float(low), float(high)) != "cannot tell":
            return n
        n = max(n + 1, int(n * 1.1))
    return None
