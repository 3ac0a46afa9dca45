"""What a test of so many items can show at all: floors, scores that may be there unseen, jumps that counting makes.

A test of n items shows multiples of 1/n. A model that scores 0 on it may be right once in a few hundred times, and a
family that climbs steadily from 1 in 5,000 to 1 in 100 shows zero, zero, zero and then something. Everything here is
exact binomial: no normal approximation holds where it matters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from foreshock.mirage._design import Floats
from foreshock.mirage._judgement import Judgement
from foreshock.mirage._measures import Hard
from foreshock.mirage._share import MAY
from foreshock.stats import clopper_pearson, normal_quantile

LEVEL = 0.95
POWER = 0.8
# beyond so many items the exact power of a test differs from the normal one by less than .005
_EXACT = 4000


def resolution(
    values: ArrayLike,
    items: ArrayLike,
    *,
    labels: Sequence[str] | None = None,
    chance: float = 0.0,
    expected: ArrayLike | None = None,
) -> list[dict[str, Any]]:
    """What each model could have scored unseen, and how many items would show it.

    Args:
        values: Shares of right answers in [0, 1], shape (points,); NaN where there is none.
        items: Items behind each, shape (points,) or one number; 0 where it is not known.
        labels: Names of the points.
        chance: Score of guessing.
        expected: What the true scores are thought to be (through the twin's link), shape (points,); the observed
            scores where not given, or NaN.

    Returns:
        One row per point: ``label``, ``value``, ``n``, ``floor`` (1/n, the least above 0 that can be seen),
        ``at_floor`` (not above guessing, one-sided exact 95%), ``high`` (exact one-sided 95% upper bound of the true
        score; 1 - .05^(1/n), about 3/n, where nothing was right), ``expected``, ``p_zero`` (probability that n items
        show exactly 0 at ``expected``) and ``items_needed`` (items that show at least one right answer with
        probability 95% at ``expected``; with ``chance``, items that tell it from guessing with 80% power). None where
        it cannot be told.

    Examples:
        >>> row = resolution([0.0], 128, expected=[0.001])[0]
        >>> round(row["high"], 4), round(row["p_zero"], 2), row["items_needed"]
        (0.0231, 0.88, 2995)
    """
    v = np.atleast_1d(np.asarray(values, float))
    n = np.broadcast_to(np.asarray(items, float), v.shape)
    told = v if expected is None else np.where(np.isnan(np.asarray(expected, float)), v, np.asarray(expected, float))
    names = [str(i) for i in range(v.size)] if labels is None else list(labels)
    high, low = _bounds(v, n)
    rows = []
    for i in range(v.size):
        known = bool(n[i] > 0 and 0 <= v[i] <= 1)
        p = float(np.clip(told[i], 0.0, 1.0)) if np.isfinite(told[i]) else None
        rows.append(
            {
                "label": names[i],
                "value": float(v[i]) if np.isfinite(v[i]) else None,
                "n": int(n[i]) if n[i] > 0 else None,
                "floor": 1 / float(n[i]) if n[i] > 0 else None,
                "at_floor": bool(low[i] <= chance) if known else None,
                "high": float(high[i]) if known else None,
                "expected": p,
                "p_zero": zero_chance(p, float(n[i])) if known and p is not None else None,
                "items_needed": None if p is None else items_needed(p, chance),
            }
        )
    return rows


def _bounds(values: Floats, n: Floats) -> tuple[Floats, Floats]:
    """One-sided exact bounds at 95% each: upper and lower."""
    hits = np.clip(np.nan_to_num(values), 0, 1) * n
    low, high = clopper_pearson(hits, np.maximum(n, 0), level=2 * LEVEL - 1)
    return high, low


def zero_chance(p: float, n: float) -> float:
    """Probability that ``n`` items show exactly 0 when each is right with probability ``p``.

    Examples:
        >>> round(zero_chance(2.2e-4, 128), 2), zero_chance(1.0, 5)
        (0.97, 0.0)
    """
    return 0.0 if p >= 1 else math.exp(n * math.log1p(-p))


def items_needed(p: float, chance: float = 0.0) -> int | None:
    """Items that show the score ``p``: one right answer with 95%, or, above a chance level, 80% power against it.

    Power is that of the exact one-sided test at 5%; it goes up and down from one number of items to the next, and is
    reached by all up to a tenth more. Beyond 4,000 items the normal approximation serves.

    Examples:
        >>> items_needed(0.001), items_needed(0.3, chance=0.25), items_needed(0.2, chance=0.25)
        (2995, 522, None)
    """
    if p <= chance or p <= 0:
        return None
    if p >= 1 and chance <= 0:
        return 1
    if chance <= 0:
        return math.ceil(math.log(1 - LEVEL) / math.log1p(-p))
    reach = normal_quantile(LEVEL) * math.sqrt(chance * (1 - chance)) + normal_quantile(POWER) * math.sqrt(p * (1 - p))
    near = math.ceil((reach / (p - chance)) ** 2)
    return near if near > _EXACT else _exact(p, chance, near)


def _exact(p: float, chance: float, near: int) -> int:
    """Least number of items from which on the power is reached, also by a few more."""
    from scipy.special import bdtrik, betainc

    n = np.arange(1, 2 * near + 60, dtype=float)
    # fewest right answers that guessing reaches in at most one of twenty tests; the quantile may be off by one
    least = np.ceil(bdtrik(LEVEL, n, chance)) + 1
    least -= betainc(np.maximum(least - 1, 1), n - least + 2, chance) <= 1 - LEVEL
    inside = np.minimum(least, n)
    power = np.where(least <= n, betainc(inside, n - inside + 1, min(p, 1 - 1e-12)), 0.0)
    good = power >= POWER
    return int(next(k for i, k in enumerate(n) if good[i : i + 1 + int(k) // 10].all()))


@dataclass(frozen=True, slots=True)
class Jump:
    """Whether a jump between two models can be a matter of too few items.

    Attributes:
        answer: ``ruled out`` when at least half of the jump is left even at the highest score that the lower model may
            have and the lowest that the upper one may have (95% together); ``possible`` otherwise; ``cannot tell``
            where the numbers of items are not known.
        least_rise: Least rise that both exact bounds allow; None where not known.
        why: One sentence.
    """

    answer: Literal["ruled out", "possible", "cannot tell"]
    least_rise: float | None
    why: str


def jump_resolution(
    low_value: float, low_n: int | None, high_value: float, high_n: int | None, *, looks: int = 1
) -> Jump:
    """Compare two shares exactly: is the jump between them more than the items can make?

    Args:
        low_value, low_n: Share and items before the jump.
        high_value, high_n: Share and items after it.
        looks: Places at which the jump might have been found; the bounds allow for them.

    Examples:
        >>> jump_resolution(0.03, 2000, 0.6, 2000).answer
        'ruled out'
        >>> jump_resolution(0.0, 128, 0.008, 128).answer
        'possible'
    """
    if not low_n or not high_n or not (0 <= low_value <= 1 and 0 <= high_value <= 1):
        return Jump("cannot tell", None, "the numbers of items behind the two scores are not known")
    hits, n = np.array([low_value * low_n, high_value * high_n]), np.array([low_n, high_n], float)
    bottom, top = clopper_pearson(hits, n, level=1 - (1 - LEVEL) / looks)
    least, rise = float(bottom[1] - top[0]), high_value - low_value
    answer: Literal["ruled out", "possible"] = "ruled out" if rise > 0 and least >= MAY * rise else "possible"
    bounds = f"at most {top[0]:.3g} before and at least {bottom[1]:.3g} after (exact, 95%)"
    if answer == "ruled out":
        return Jump(answer, least, f"not a matter of resolution: {bounds}, on {low_n:,} and {high_n:,} items")
    return Jump(answer, least, f"may be a matter of resolution: {bounds}, on {low_n:,} and {high_n:,} items")


def resolution_rows(judgement: Judgement, hard: Hard) -> list[dict[str, Any]]:
    """Rows of the table ``resolution`` for one judged line.

    Expected scores are those that a smooth twin would have given through the link (the counterfactual curve) where
    there is one; models that it does not reach are read at their own score. At the model that ends the largest jump,
    ``jump`` and ``jump_why`` say whether it can be a matter of resolution.

    Args:
        judgement: The verdict.
        hard: The metric that was judged.
    """
    lines = {line.role: line for line in judgement.lines}
    shown = lines.get("hard")
    if shown is None or hard.link == "identity":
        return []
    subject = judgement.finding.subject
    place = {
        "finding_id": judgement.finding.id,
        "task": subject.task,
        "family": subject.model_family,
        "axis": subject.axis,
        "metric": hard.name,
    }
    other = lines.get("counterfactual")
    expected = None if other is None else other.value / hard.ceiling
    rows = resolution(
        shown.value / hard.ceiling,
        shown.n,
        labels=shown.labels,
        chance=hard.chance / hard.ceiling,
        expected=expected,
    )
    at, jump = _largest(shown.value / hard.ceiling, shown.n)
    for i, row in enumerate(rows):
        row |= {"jump": jump.answer if i == at else None, "jump_why": jump.why if i == at else None}
    return [place | row for row in rows]


def _largest(values: Floats, n: int) -> tuple[int, Jump]:
    """The point that ends the largest jump, and whether counting may have made it."""
    if values.size < 2:
        return -1, Jump("cannot tell", None, "there is one model")
    i = int(np.argmax(np.nan_to_num(np.diff(values), nan=-np.inf)))
    return i + 1, jump_resolution(float(values[i]), n, float(values[i + 1]), n, looks=values.size - 1)
