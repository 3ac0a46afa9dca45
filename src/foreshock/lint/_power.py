"""How many models, items, repeats and labels would do: arithmetic of the design alone, before any score is seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from foreshock.stats import paired_items, t_quantile

Floats = NDArray[np.float64]

RATIO = 2.0
"""Steepest slope of a smooth curve over its mean slope, as in verdicts on jumps (FS301)."""
SHARE = 0.25
"""Share of the rise that an interval must carry for certain, beyond an even rise, before it is called a break."""
STEP = 0.8
"""Share of the rise that the step carries which a design should be able to show."""
POINTS = 4
"""Models that a verdict needs at least."""
MEASURED_DF = 3
"""Degrees of freedom below which noise is not well measured, be it among seeds or about a trend."""
POWER = 0.8
ALPHA = 0.05
_MOST = 24  # models that are tried


def hidden_share(gap: float, ratio: float = RATIO) -> float:
    """Largest share of the rise that a step may carry in a gap and still pass for a slope, without any noise.

    A gap spans the share w of the axis. A step that carries the share s there, with the rest rising evenly, rises by
    w + s (1 - w); a smooth curve may rise by ``ratio`` times w. So s is hidden up to (ratio - 1) w / (1 - w).

    Examples:
        >>> round(hidden_share(0.25), 3), hidden_share(0.5)
        (0.333, 1.0)
    """
    return 1.0 if gap >= 1 else min(1.0, (ratio - 1) * gap / (1 - gap))


def widest_visible(step: float = STEP, ratio: float = RATIO) -> float:
    """The gap, as a share of the axis, in which a step that carries ``step`` is just hidden.

    Examples:
        >>> round(widest_visible(0.8), 3)
        0.444
    """
    return step / (step + ratio - 1)


def between(low: float, high: float, span: float, step: float, *, log: bool) -> tuple[float, ...]:
    """Places that would split a gap into parts in which the step can be seen, evenly spread.

    Args:
        low, high: Ends of the gap, in units of the axis.
        span: The gap as a share of the axis.
        step: Share of the rise that the step carries.
        log: Whether the axis is read on a log scale.

    Examples:
        >>> [round(x) for x in between(100, 10_000, 0.5, 0.8, log=True)]
        [1000]
    """
    parts = max(2, math.floor(span / widest_visible(step)) + 1)
    ends = (math.log(max(low, 1.0)), math.log(high)) if log else (low, high)  # step 0 stands where step 1 does
    places = np.linspace(*ends, parts + 1)[1:-1]
    return tuple(float(x) for x in (np.exp(places) if log else places))


def step_power(position: Sequence[float], seeds: Sequence[int], scatter: float, step: float = STEP) -> float:
    """Chance that a step at a random place along the axis is found on one series, by its own noise.

    The test is one-sided on the rise of each interval beyond what the smooth class and :data:`SHARE` allow, by
    Student's t with the noise estimated about a straight line with a step there, and by Bonferroni over the intervals.
    It leaves out the further conditions of a verdict (that the step lasts, two links, twins), which cost power, and its
    calibration, which gains some; the two come out within a tenth of each other.

    Args:
        position: Places from 0 to 1, ascending.
        seeds: Replicates at each place.
        scatter: Standard deviation of one model about the trend, as a share of the whole rise.
        step: Share of the rise that the step carries; the rest rises evenly.

    Returns:
        The chance, 0 when there is no degree of freedom for the noise.

    Examples:
        >>> step_power([0, 0.5, 1], [1, 1, 1], 0.01)
        0.0
        >>> step_power(list(np.linspace(0, 1, 8)), [1] * 8, 0.04) > 0.9
        True
    """
    t, per = np.asarray(position, float), np.asarray(seeds, float)
    free = max(t.size - 3, int(per.sum() - per.size) if per.sum() - per.size >= MEASURED_DF else 0)
    if t.size < POINTS or free < 1:
        return 0.0
    w = np.diff(t)
    allowed = np.maximum(RATIO * w, w + SHARE * (1 - w))
    excess = w + step * (1 - w) - allowed
    limit = t_quantile(1 - ALPHA / w.size, free)
    error = scatter * np.sqrt((_contrasts(allowed) ** 2 / per).sum(axis=1))
    return float(sum(_found(*each, free, limit) for each in zip(w, excess, error, strict=True)))


def _found(width: float, excess: float, error: float, free: int, limit: float) -> float:
    from scipy.special import nctdtr

    if excess <= 0:
        return 0.0
    return float(width * (1 - nctdtr(free, excess / error, limit))) if error > 0 else float(width)


def _contrasts(allowed: Floats) -> Floats:
    """Rise of each interval less its allowed share of the whole rise, as weights on the points."""
    rows = np.arange(allowed.size)
    c = np.zeros((allowed.size, allowed.size + 1))
    c[rows, rows + 1] += 1.0
    c[rows, rows] -= 1.0
    c[:, -1] -= allowed
    c[:, 0] += allowed
    return c


def models_enough(scatter: float, step: float = STEP, seeds: int = 1) -> int | None:
    """Fewest evenly spread models at which :func:`step_power` reaches 80%; None when 24 do not.

    Examples:
        >>> models_enough(0.02) <= models_enough(0.05)
        True
        >>> models_enough(0.5) is None
        True
    """
    return _first(
        range(POINTS, _MOST + 1), lambda n: step_power(list(np.linspace(0, 1, n)), [seeds] * n, scatter, step)
    )


def seeds_enough(position: Sequence[float], scatter: float, step: float = STEP) -> int | None:
    """Fewest seeds at every place at which :func:`step_power` reaches 80%; None when 16 do not."""
    return _first(range(2, 17), lambda r: step_power(position, [r] * len(position), scatter, step))


def _first(candidates: range, reached: Callable[[int], float]) -> int | None:
    return next((n for n in candidates if reached(n) >= POWER), None)


def items_between(difference: float) -> tuple[int, int]:
    """Items that show a difference with 80% power if nothing is known about how two models' answers go together.

    The least is needed when every item on which they differ favours the better one; the most when their answers are
    independent and each is right half of the time.

    Examples:
        >>> items_between(0.05)
        (155, 1568)
    """
    low, high = paired_items(difference, difference), paired_items(max(0.5, difference), difference)
    assert low is not None
    assert high is not None
    return low, high


def labels_enough(headroom: float, level: float = 1 - ALPHA) -> int | None:
    """Labels to check so that, if all are right, the share of wrong ones is below ``headroom`` at this level.

    The exact binomial bound: (1 - headroom)^m <= 1 - level.

    Examples:
        >>> labels_enough(0.05), labels_enough(0.0) is None
        (59, True)
    """
    if not 0 < headroom < 1:
        return None
    return math.ceil(math.log(1 - level) / math.log1p(-headroom))


def repeats_enough(between_items: float, within: float) -> int | None:
    """Repeats at which chance in the replies adds no more variance than the choice of items; None without the latter.

    Examples:
        >>> repeats_enough(0.1, 0.25), repeats_enough(0.1, 0.0)
        (3, 1)
    """
    if not between_items > 0:
        return None
    return max(1, math.ceil(within / between_items - 1e-9))
