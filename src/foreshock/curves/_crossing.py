"""How far a curve is from a line: where its newest score stands, and where a forecast first reaches it."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from foreshock.curves._curve import Curve
from foreshock.stats import clopper_pearson, normal_quantile

Side = Literal["above", "below"]
"""Side of a line on which a score is looked for."""
BOUND = 0.95
"""Level of each of the two one-sided bounds of the newest score."""
MOST_ITEMS = 10_000_000


class Standing(NamedTuple):
    """The newest score beside a line.

    Attributes:
        x: Its place.
        value: The score.
        low, high: Exact one-sided 95% bounds where items are known (of 0 in n: 0 and 1 - 0.05^(1/n)), normal ones where
            only a standard error is; NaN where nothing is known of its sampling noise.
        items: Items behind it; None where they are not known.
        answer: ``crossed``: beyond the line, and so is the bound nearer to it; ``at the line``: the line lies within
            the bounds; ``clear``: not beyond it.
        needed: Items with which the same share would be clear of the line; None where it is clear, or none would do.
    """

    x: float
    value: float
    low: float
    high: float
    items: int | None
    answer: Literal["crossed", "at the line", "clear"]
    needed: int | None


def side_of(curve: Curve, threshold: float) -> Side:
    """The side of a line on which the newest score is not."""
    return "above" if _newest(curve)[0] <= threshold else "below"


def standing(curve: Curve, threshold: float, side: Side) -> Standing:
    """Where the newest score of a curve stands to a line.

    Scores at one place are repeats; they count together.

    Args:
        curve: A curve of at least one point.
        threshold: The line, on the scale of the scores.
        side: The side that counts as crossed.

    Examples:
        >>> curve = Curve(np.array([1.0, 2.0]), np.zeros(2), items=np.full(2, 10.0), low=0.0, high=1.0, log_x=False)
        >>> found = standing(curve, 0.2, "above")
        >>> round(found.high, 3), found.answer, found.needed
        (0.259, 'at the line', 14)
    """
    value, items, error = _newest(curve)
    low, high = _bounds(curve, value, items, error)
    sign = 1.0 if side == "above" else -1.0
    near, far = (low, high) if side == "above" else (high, low)
    beyond = sign * (value - threshold) > 0
    crossed = beyond and not sign * (near - threshold) <= 0
    touching = sign * (value - threshold) >= 0 or sign * (far - threshold) >= 0
    needed = None if crossed or not touching else _needed(curve, value, threshold, items)
    answer: Literal["crossed", "at the line", "clear"] = (
        "crossed" if crossed else "at the line" if touching else "clear"
    )
    return Standing(float(curve.x[-1]), value, low, high, items, answer, needed)


def _newest(curve: Curve) -> tuple[float, int | None, float]:
    """Score, items and standard error at the last place, repeats together."""
    last = curve.x == curve.x[-1]
    y = curve.y[last]
    if curve.items is not None and not np.isnan(curve.items[last]).any():
        n = curve.items[last]
        return float((y * n).sum() / n.sum()), int(n.sum()), math.nan
    errors = curve.sampling[last]
    return float(y.mean()), None, float(np.sqrt((errors**2).sum()) / errors.size)


def _bounds(curve: Curve, value: float, items: int | None, error: float) -> tuple[float, float]:
    if items is not None and curve.low is not None and curve.high is not None:
        width = curve.high - curve.low
        low, high = exact_bounds((value - curve.low) / width, items)
        return curve.low + width * low, curve.low + width * high
    if math.isnan(error):
        return math.nan, math.nan
    reach = normal_quantile(BOUND) * error
    low, high = value - reach, value + reach
    return max(low, -math.inf if curve.low is None else curve.low), min(
        high, math.inf if curve.high is None else curve.high
    )


def exact_bounds(share: float, items: int, level: float = BOUND) -> tuple[float, float]:
    """Exact one-sided bounds of a share, each at ``level``; a part of an item counts against both.

    Examples:
        >>> low, high = exact_bounds(0.0, 59)
        >>> low, round(high, 3)
        (0.0, 0.05)
    """
    hits = share * items
    low = clopper_pearson(math.floor(hits + 1e-9), items, 2 * level - 1)[0]
    high = clopper_pearson(math.ceil(hits - 1e-9), items, 2 * level - 1)[1]
    return float(low), float(high)


def _needed(curve: Curve, value: float, threshold: float, items: int | None) -> int | None:
    """Items with which the same share would have its bounds on one side of the line."""
    if items is None or curve.low is None or curve.high is None:
        return None
    width = curve.high - curve.low
    share, line = (value - curve.low) / width, (threshold - curve.low) / width
    if share == line:
        return None

    def clear(n: int) -> bool:
        low, high = exact_bounds(round(share * n) / n, n)
        return high < line if share < line else low > line

    n = 1
    while n < MOST_ITEMS and not clear(n):
        n *= 2
    if n >= MOST_ITEMS:
        return None
    # beyond the power of two that does, the least one: the share is rounded to items, so this is not quite monotone
    low = n // 2
    while n - low > 1:
        middle = (n + low) // 2
        low, n = (low, middle) if clear(middle) else (middle, n)
    return n


def first_crossing(
    start: tuple[float, float], x: ArrayLike, end: ArrayLike, threshold: float, side: Side, *, log_x: bool = True
) -> float | None:
    """First place at which one end of a band reaches a line, by straight lines between places.

    Args:
        start: The last known place and the end of the band there.
        x: Places beyond it, ascending, shape (places,).
        end: The end of the band on the side of the line; NaN where there is no forecast, shape (places,).
        threshold: The line.
        side: From which side it is reached: ``above`` looks for an upper end at or over it.
        log_x: Whether places are joined on a log scale.

    Returns:
        The place; None where the band does not reach the line.

    Examples:
        >>> first_crossing((1.0, 0.0), [2.0, 3.0], [0.1, 0.3], 0.2, "above", log_x=False)
        2.5
    """
    places = np.concatenate([[start[0]], np.asarray(x, float)])
    values = np.concatenate([[start[1]], np.asarray(end, float)])
    there = ~np.isnan(values)
    places, values = places[there], values[there]
    sign = 1.0 if side == "above" else -1.0
    reached = np.flatnonzero(sign * (values - threshold) >= 0)
    if not reached.size:
        return None
    k = int(reached[0])
    if k == 0 or values[k] == values[k - 1]:
        return float(places[k])
    part = (threshold - values[k - 1]) / (values[k] - values[k - 1])
    t = np.log(places[k - 1 : k + 1]) if log_x else places[k - 1 : k + 1]
    at = float(t[0] + part * (t[1] - t[0]))
    return math.exp(at) if log_x else at
