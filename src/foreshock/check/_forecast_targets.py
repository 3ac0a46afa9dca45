"""Where a curve is to be forecast: places that were asked for, the next one, points that were kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import numpy as np

from foreshock.check._forecast_lines import ForecastLine
from foreshock.curves import furthest

LAST_STEPS = 3
"""Steps along the axis whose median is taken as the next one: training logs change their stride, models their sizes."""
WITHIN = "the place lies within the history: a forecast is of what comes after it"
"""Why there is no forecast at a place that is known."""
GRID = 36
"""Places at which a band is drawn and a line is looked for."""


class Target(NamedTuple):
    """One place.

    Attributes:
        x: Where.
        why: ``at``, ``next``, ``date`` or ``held-out``.
        observed: What came; NaN where nobody knows.
        lacking: Why it cannot be forecast; None where it may be.
    """

    x: float
    why: str
    observed: float = float("nan")
    lacking: str | None = None


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Places that the user asked for.

    Attributes:
        at: In the axis' own unit; losses, or scores of another task, where it is made of them.
        bare: Numbers without a unit, read as those in a table's column of places are.
        dates: In days since 1970-01-01.
        next: Whether the next place is wanted.
    """

    at: list[float] = []
    bare: list[float] = []
    dates: list[float] = []
    next: bool = False


def targets(line: ForecastLine, wanted: Wanted) -> list[Target]:
    """All places at which a curve is to be forecast, in the order of the axis, none twice."""
    found = [Target(float(x), "held-out", float(y)) for x, y in zip(line.held_x, line.held_y, strict=True)]
    found += [Target(line.place_of(x), "at") for x in [*wanted.at, *map(line.bare_place, wanted.bare)]]
    found += [Target(x, "date", lacking=_no_date(line)) for x in wanted.dates]
    if wanted.next and (step := next_place(line)) is not None:
        found.append(Target(step, "next"))
    once = {(target.x, target.why != "held-out"): target for target in reversed(found)}
    return sorted((_checked(line, target) for target in once.values()), key=lambda t: t.x)


def _no_date(line: ForecastLine) -> str | None:
    return None if line.dates else f"the axis is {line.axis}, not a date"


def _checked(line: ForecastLine, target: Target) -> Target:
    if target.lacking is not None or not line.curve.points:
        return target
    last = float(line.curve.x[-1])
    if target.x <= last:
        return target._replace(lacking=WITHIN)
    return target


def next_place(line: ForecastLine) -> float | None:
    """The next place of a curve: one usual step beyond the last one; None with fewer than two places.

    The usual step is the median of the last three: a factor on a log axis, a difference on a linear one.
    """
    places = np.unique(line.curve.t)
    if places.size < 2:
        return None
    step = float(np.median(np.diff(places)[-LAST_STEPS:]))
    after = float(places[-1]) + step
    return float(np.exp(after)) if line.curve.log_x else after


def horizon(line: ForecastLine) -> float | None:
    """How far the axis is searched for a crossing, which is where forecasts end; None where the curve has no length."""
    if not line.curve.points or np.ptp(line.curve.t) == 0:
        return None
    return furthest(line.curve)


def grid(line: ForecastLine, until: float, places: int = GRID) -> np.ndarray:
    """Places from just beyond the history to ``until``, even on the scale of the axis, shape (places,)."""
    last = float(line.curve.x[-1])
    if line.curve.log_x:
        return np.exp(np.linspace(np.log(last), np.log(until), places + 1)[1:])
    return np.linspace(last, until, places + 1)[1:]


def as_row(target: Target) -> dict[str, Any]:
    """The fields of a row that a target fills."""
    observed = None if np.isnan(target.observed) else target.observed
    return {"x": target.x, "why": target.why, "observed": observed}
