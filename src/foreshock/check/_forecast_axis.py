"""Whether the axis of a table is read on a log scale: as said, by its name, its span, or how its places are spaced."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from foreshock._base import ConfigError
from foreshock.readers import CurveRows
from foreshock.series import LOG_AXES, WIDE

DOUBLING = 2.0
"""Ratio of the largest to the smallest place below which spacing is not asked: either scale is nearly the other."""
_LEAST = 3


def log_axis(rows: CurveRows, said: bool | None) -> tuple[bool, str]:
    """Whether the axis of a table is read on a log scale, and why; one answer for all of its curves.

    Dates are linear; parameters, tokens, FLOPs and steps are log; so is an axis above 0 that spans a factor of
    :data:`foreshock.series.WIDE`, or that doubles at least and whose places are spaced more evenly in their logarithms
    than in themselves, as :func:`unevenness` has it.

    Args:
        rows: The table.
        said: What the user says; None is nothing.

    Raises:
        ConfigError: A log scale is asked for, and no place is above 0.
    """
    x = np.array(rows.x)
    if said is not None:
        if said and (x <= 0).all():
            raise ConfigError("no place is above 0", expected="places above 0 on a log axis", do="use --linear-x")
        return said, ""
    if rows.dates or rows.kind in LOG_AXES:
        return not rows.dates, ""
    log, why = _by_places(x, rows.group)
    scale, other = ("log", "--linear-x") if log else ("linear", "--log-x")
    return log, f"{rows.kind} is read on a {scale} scale: {why} ({other} otherwise)"


def _by_places(x: np.ndarray, groups: Sequence[str]) -> tuple[bool, str]:
    low, high = float(x.min()), float(x.max())
    if low <= 0:
        return False, "a place is at 0 or below"
    if high >= WIDE * low:
        return True, f"it spans a factor of {high / low:,.0f}"
    if high < DOUBLING * low:
        return False, "it does not double"
    plain, logs = unevenness(x, groups), unevenness(np.log(x), groups)
    if plain is None or logs is None:
        return False, f"it does not span a factor of {WIDE:g}, and fewer than {_LEAST} places say nothing of spacing"
    return logs < plain, "its places are spaced more evenly so"


def unevenness(places: np.ndarray, groups: Sequence[str]) -> float | None:
    """How far the places of curves are from even steps: 0 is even; None where no curve has three different places.

    Of each curve the share of the variance of its different places that a straight line through their ranks leaves
    (one less the squared correlation), averaged over curves, each weighed by its number of places. The whole
    arrangement counts and not each gap, so a place left out or two close together change little: of 10 places over a
    factor of 10 with two left out, a line in logs is read so in all of 300 draws, an even one in none.

    Args:
        places: Places of all curves on one scale, shape (rows,).
        groups: Curve of each row.

    Examples:
        >>> x = np.array([16.0, 32, 64, 128])
        >>> round(unevenness(np.log2(x), "aaaa"), 12), round(unevenness(x, "aaaa"), 3), unevenness(x, "aabb")
        (0.0, 0.08, None)
    """
    mine: dict[str, set[float]] = {}
    for group, place in zip(groups, places.tolist(), strict=True):
        mine.setdefault(group, set()).add(place)
    told = [np.array(sorted(one)) for one in mine.values() if len(one) >= _LEAST]
    if not told:
        return None
    left = [1 - float(np.corrcoef(one, np.arange(one.size))[0, 1]) ** 2 for one in told]
    return float(np.average(left, weights=[one.size for one in told]))
