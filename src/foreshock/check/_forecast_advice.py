"""What to do now with the forecasts of a curve, where no line was asked for."""

from __future__ import annotations

import numpy as np

from foreshock.check._forecast_judge import Foretold
from foreshock.check._forecast_targets import WITHIN
from foreshock.check._forecast_words import place_text, score_text, what_text

_NAMED = 6
"""Places without a forecast that are named."""


def advice(told: Foretold) -> str:
    """What to do now, where no line was asked for."""
    line, made = told.line, told.made
    if told.found and all(t.lacking == WITHIN for t in told.found):
        last = place_text(line, float(line.curve.x[-1]))
        return f"Ask for a place beyond {last}; --backtest forecasts what is known."
    if told.refused is not None or made is None:
        enough = f": {told.enough.rstrip('.')} would do" if told.enough else ""
        return f"Do not extrapolate this curve{enough}."
    asked = [t.x for t in told.found if t.lacking is None]
    if not asked:
        return "Ask for a place: --next, --at X or --date."
    inside = [row["inside"] for row in told.rows if row["inside"] is not None]
    if len(inside) == len(asked):
        return (
            f"What came is known here: {sum(inside)} of {len(inside)} within the interval, one curve's places rise and "
            "fall together. For what is not known yet ask for --at or --next."
        )
    there = [x for x in asked if _has(told, x)]
    return " ".join(part for part in (_plan(told, max(there)) if there else "", _without(told, asked)) if part)


def _has(told: Foretold, x: float) -> bool:
    """Whether there is an interval at a place."""
    i = told.at(x)
    return i is not None and told.made is not None and bool(np.isfinite([told.made.low[i], told.made.high[i]]).all())


def _without(told: Foretold, asked: list[float]) -> str:
    """The places that were asked for and have no forecast, and up to where one is made."""
    none = [place_text(told.line, x) for x in asked if not _has(told, x)]
    if not none:
        return ""
    named = ", ".join(none[:_NAMED]) + (f" and {len(none) - _NAMED:,} more" if len(none) > _NAMED else "")
    return f"There is no forecast at {named}: {told.reach} would do."


def _plan(told: Foretold, x: float) -> str:
    """What to make of the interval at the furthest place that has one."""
    line, made, i = told.line, told.made, told.at(x)
    assert made is not None
    assert i is not None
    low, high, now = float(made.low[i]), float(made.high[i]), float(line.curve.y[-1])
    place, score, what = place_text(line, x), score_text(line, now), what_text(line)
    middle = place_text(line, _between(told, x))
    further = middle != place_text(line, float(line.curve.x[-1]))  # between two neighbours of an order there is nothing
    if low <= now <= high:
        more = f" A {what} at {middle} would say more than another fit." if further else ""
        return f"No change up to {place} is not excluded: plan for {score} as well.{more}"
    check = f"; a {what} at {middle} checks it before {place} is paid for" if further else ""
    way = "rise" if low > now else "fall"
    return f"Plan with the interval, not with the value. A {way} from {score} is forecast with some certainty{check}."


def _between(told: Foretold, x: float) -> float:
    curve = told.line.curve
    last = float(curve.x[-1])
    return float(np.sqrt(last * x)) if curve.log_x else (last + x) / 2
