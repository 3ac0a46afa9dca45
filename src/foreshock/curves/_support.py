"""Which forecasts a history supports, and what would be enough where it supports none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foreshock.curves._curve import Curve, Floats
from foreshock.curves._path import UNLIKELY, off_path

Bools = NDArray[np.bool_]

LEAST = {"open": 4, "share": 3}
"""Different places that a history must have, by kind of scale: with three a law onto a floor fits anything, while
between two ends the belief over shapes holds even three."""
REACH = 1.0
"""A forecast reaches this share of the history's length beyond its end, and no further."""
FACTOR = 20.0
"""Nor beyond this multiple of the last place of a log axis: the curves of the shipped calibration end there."""
FLOOR = 0.1
"""A score that never was further than this share of the room from its floor is one at its floor, ..."""
FLAT = 0.02
"""... where its later half is also no further than this share from its earlier half, above or below. Both bounds are
beliefs in round numbers, whatever the items: a score that crept up by less than that may be at its floor or not."""
NEAR = 0.25
"""So far, as a share of the history's length, is forecast even then; and the history's own longest step."""

TURNING = (
    "the last scores left the path of those before (a turn under way, or a wild score): where it ends is not known"
)
"""Why there is no forecast of a history that :func:`turning` finds off its path."""


def kind_of_scale(curve: Curve) -> str:
    """``share`` where a score has two ends, ``open`` otherwise."""
    return "share" if curve.low is not None and curve.high is not None else "open"


def distance_of(curve: Curve, x: Floats) -> Floats:
    """Distance of places from the end of a history over the history's length, as the axis is read, shape (places,)."""
    return np.asarray((curve.place(x) - curve.t[-1]) / np.ptp(curve.t))


def refusal_of(curve: Curve) -> str | None:
    """Why a history supports no forecast at all; None where it does."""
    places = int(np.unique(curve.x).size)
    if places < LEAST[kind_of_scale(curve)]:
        return f"{places} different places on the axis"
    if not np.isfinite(curve.z).all():
        return "a score stands at the end of its scale, and nothing says how far it is from there"
    if kind_of_scale(curve) == "open" and np.ptp(curve.z) == 0:
        return "all scores are equal: nothing says how far they move"
    return None


def enough_of(curve: Curve) -> str | None:
    """What would be enough where :func:`refusal_of` refuses."""
    least = LEAST[kind_of_scale(curve)]
    if int(np.unique(curve.x).size) < least:
        return f"{least} different places"
    if not np.isfinite(curve.z).all():
        return "the number of items behind each score, or a metric that is off the end"
    return "scores that differ, told with more digits" if np.ptp(curve.z) == 0 else None


def at_floor(curve: Curve) -> bool:
    """Whether a score between two ends has not left its floor: the score of guessing where it is told, else the end.

    Models before an onset look alike whether it comes with the next one or never (in simulated worlds the 90% interval
    of such a history held 1% of what came beyond the onset), so nothing but the nearest places can be forecast.

    Examples:
        >>> x = np.geomspace(1e8, 1e10, 6)
        >>> flat = Curve(x, np.array([0.01, 0.0, 0.01, 0.02, 0.01, 0.02]), np.full(6, 300.0), low=0.0, high=1.0)
        >>> rising = Curve(x, np.array([0.01, 0.01, 0.02, 0.03, 0.05, 0.08]), np.full(6, 300.0), low=0.0, high=1.0)
        >>> falling = Curve(x, rising.y[::-1], np.full(6, 300.0), low=0.0, high=1.0)
        >>> at_floor(flat), at_floor(rising), at_floor(falling)
        (True, False, False)
    """
    if curve.low is None or curve.high is None or not curve.points:
        return False
    floor = curve.low if curve.chance is None else curve.chance
    above = (curve.y - floor) / (curve.high - floor)
    half = (curve.points + 1) // 2
    near = above.max() <= FLOOR and above.min() >= -FLOOR
    return bool(near and abs(above[-half:].mean() - above[:half].mean()) <= FLAT)


def turning(curve: Curve) -> bool:
    """Whether the end of a history on an open scale has left the path of what came before it.

    Where a turn ends is not in the history that shows its beginning: a law through it is as good as a guess. Between
    two ends the turn ends at them at the latest, and intervals hold what comes (measured after jumps of 2 log-odds).
    """
    return kind_of_scale(curve) == "open" and off_path(curve) <= UNLIKELY


def furthest(curve: Curve) -> float:
    """Furthest place at which a history supports a forecast, in the axis' own unit.

    Examples:
        >>> x = np.array([1.0, 2.0, 4.0, 8.0])
        >>> round(furthest(Curve(x, np.array([4.0, 3.0, 2.5, 2.2]), low=0.0)), 6)
        64.0
    """
    end = _furthest(curve)
    return float(np.exp(end)) if curve.log_x else end


def _furthest(curve: Curve, *, still: bool = False) -> float:
    """Furthest place on the scale on which the axis is read."""
    t = curve.t
    reach = REACH * float(np.ptp(t))
    if not still and at_floor(curve):
        reach = max(NEAR * float(np.ptp(t)), float(np.diff(t).max(initial=0.0)))
    return float(t[-1]) + (min(reach, float(np.log(FACTOR))) if curve.log_x else reach)


def supported(curve: Curve, places: Floats, *, still: bool = False) -> Bools:
    """Which places lie beyond the history and within its reach, shape (targets,).

    ``still`` asks for persistence, which has an interval also where a history turns or has not left its floor.
    """
    t = curve.place(places)
    if not curve.points or (not still and turning(curve)):
        return np.zeros(t.shape, bool)
    # a place given as exactly as far may come out of the logarithm a rounding error further
    end = _furthest(curve, still=still) + 1e-9 * max(1.0, abs(float(curve.t[-1])))
    return np.asarray((t > curve.t[-1]) & (t <= end))


def reach_text(curve: Curve) -> str:
    """What would be enough where a history gets no forecast at the places asked for, in words."""
    if turning(curve):
        return "a longer history whose last places follow one path again"
    return f"places up to {furthest(curve):.6g}, or a longer history"


def lacking_of(curve: Curve, places: Floats) -> tuple[str | None, ...]:
    """Why there is no forecast at a place; None where there is one."""
    if not curve.points:
        return ("there is no history",) * places.size
    t, near = curve.place(places), supported(curve, places)
    beyond = "further beyond the history than it supports"
    if turning(curve):
        beyond = TURNING
    elif at_floor(curve):
        beyond = "the score has not left its floor, and nothing in it says when it would"
    return tuple(
        None if ok else beyond if one > curve.t[-1] else "not beyond the history"
        for one, ok in zip(t, near, strict=True)
    )
