"""A curve beside a line: has it crossed, is it near, when may it, or can that not be told?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from foreshock._base import ConfigError
from foreshock.check._forecast_judge import ForecastOptions, Foretold, number, probability, side
from foreshock.check._forecast_lines import ForecastLine
from foreshock.check._forecast_words import place_text, score_text
from foreshock.curves import Curve, Side, Standing, first_crossing, standing
from foreshock.records import State

STATES = {
    "crossed": State.FIRING,
    "at the line": State.PENDING,
    "near": State.PENDING,
    "later": State.OK,
    "not in sight": State.OK,
    "cannot tell": State.NO_DATA,
}
"""What each answer is as a state; only ``crossed`` fires."""


class Crossing(NamedTuple):
    """Where one curve stands to a line.

    Attributes:
        told: The curve with its forecast.
        threshold: The line.
        side: The side that counts as crossed.
        answer: One of :data:`STATES`.
        now: The newest score beside the line; None without a point.
        first: First place at which the interval reaches the line, or since which the scores lie beyond it.
        until: Place up to which there is a forecast.
        by: Place that was asked for, or the next one.
        probability: Probability of lying beyond the line there.
        why: The answer in a sentence.
        enough: What would be enough, where it cannot be told.
    """

    told: Foretold
    threshold: float
    side: Side
    answer: str
    now: Standing | None
    first: float | None
    until: float | None
    by: float | None
    probability: float | None
    why: str
    enough: str | None

    @property
    def _places(self) -> dict[str, float | None]:
        return {"first": self.first, "until": self.until, "by": self.by}

    def row(self, finding_id: str, level: float) -> dict[str, Any]:
        """Row of the table ``crossings``."""
        now, line = self.now, self.told.line
        return {
            **line.placed,
            "finding_id": finding_id,
            "threshold": self.threshold,
            "side": self.side,
            "answer": self.answer,
            "now": now.value if now else None,
            "now_low": number(now.low) if now else None,
            "now_high": number(now.high) if now else None,
            "now_n": now.items if now else None,
            "now_x": line.told(now.x) if now else None,
            **{k: None if x is None else line.told(x) for k, x in self._places.items()},
            "probability": self.probability,
            "level": level,
            "why": self.why,
            "enough": self.enough,
        }


def crossing(told: Foretold, options: ForecastOptions) -> Crossing:
    """Where a curve stands to the line of the options, and when its forecast reaches it.

    Raises:
        ConfigError: The line lies outside the scale of the scores: nothing could ever cross it.
    """
    line, threshold = told.line, options.threshold
    assert threshold is not None
    _refuse_outside(line, threshold)
    way = side(line, options)
    by = _by(told)
    chance = None if by is None else probability(told, by, options)
    now = standing(line.curve, threshold, way) if line.curve.points else None
    until = _until(told)
    first = _first(told, now, threshold, way)
    answer = _answer(now, first, until, by)
    made = Crossing(told, threshold, way, answer, now, first, until, by, chance, "", _enough(told, now, answer))
    return made._replace(why=_why(made, options.level))


def _by(told: Foretold) -> float | None:
    asked = [t.x for t in told.found if t.lacking is None and t.why != "held-out"]
    return max(asked, default=None)


def _until(told: Foretold) -> float | None:
    """The last place with a forecast."""
    made = told.made
    if made is None or made.refused is not None:
        return None
    there = np.flatnonzero(np.isfinite(made.low) & np.isfinite(made.high))
    return float(told.places[there[-1]]) if there.size else None


def _refuse_outside(line: ForecastLine, threshold: float) -> None:
    """A line at 5 where 5% was meant would be out of sight for ever, and look safe."""
    low, high = line.curve.low, line.curve.high
    if (low is None or threshold >= low) and (high is None or threshold <= high):
        return
    ends = [*([] if low is None else [f"from {low:g}"]), *([] if high is None else [f"to {high:g}"])]
    raise ConfigError(
        f"the line at {threshold:g} lies outside the scores of {line.metric}",
        expected=f"a line {' '.join(ends)}",
        do="give a share as .05 or 5%; where scores are percentages say --scale 100",
        where=line.group or None,
    )


def _first(told: Foretold, now: Standing | None, threshold: float, way: Side) -> float | None:
    made, curve = told.made, told.line.curve
    if now is None:
        return None
    if now.answer == "crossed":
        return _since(curve, threshold, way)
    if now.answer == "at the line":
        return now.x
    if made is None or made.refused is not None:
        return None
    far = now.high if way == "above" else now.low
    start = (now.x, now.value if np.isnan(far) else far)
    end = made.high if way == "above" else made.low
    return first_crossing(start, told.places, np.asarray(end), threshold, way, log_x=curve.log_x)


def _since(curve: Curve, threshold: float, way: Side) -> float:
    """The first place from which on every score lies beyond the line; repeats at one place count together, by items."""
    places, inverse = np.unique(curve.x, return_inverse=True)
    weight = np.ones(curve.points)
    if curve.items is not None and not np.isnan(curve.items).any():
        weight = curve.items
    mean = np.bincount(inverse, weight * curve.y) / np.bincount(inverse, weight)
    short = np.flatnonzero((1 if way == "above" else -1) * (mean - threshold) <= 0)
    # the last place is beyond it, or nothing is crossed
    return float(places[min(short[-1] + 1, places.size - 1) if short.size else 0])


def _answer(now: Standing | None, first: float | None, until: float | None, by: float | None) -> str:
    if now is None:
        return "cannot tell"
    if now.answer != "clear":
        return now.answer
    if until is None or (by is not None and by > until and first is None):
        return "cannot tell"
    if first is None:
        return "not in sight"
    return "near" if by is not None and first <= by else "later"


def _enough(told: Foretold, now: Standing | None, answer: str) -> str | None:
    if answer == "at the line" and now is not None and now.needed is not None:
        return f"{now.needed:,} items at the newest model, if its share stays the same"
    return told.enough if answer == "cannot tell" else None


def _why(made: Crossing, level: float) -> str:
    """The answer in a sentence."""
    line, way = made.told.line, made.side
    limit = score_text(line, made.threshold)
    if made.now is None:
        return "no point is known"
    here = _here(made)
    if made.answer == "crossed":
        return f"{here}: {way} {limit}, and so since {place_text(line, _place(made))}"
    if made.answer == "at the line":
        return f"{here}: whether that is {way} {limit} cannot be told"
    if made.answer == "cannot tell":
        return f"{here}: not {way} {limit}; what comes cannot be told: {made.told.refused or 'no forecast so far out'}"
    end = "upper" if way == "above" else "lower"
    if made.first is None:
        reach = f"does not reach {limit} up to {place_text(line, made.now.x if made.until is None else made.until)}"
    else:
        reach = f"first reaches {limit} at {place_text(line, made.first)}"
    said = f"{here}; the {end} end of the {100 * level:.4g}% interval {reach}"
    if made.by is None or made.probability is None:
        return said
    return f"{said}; at {place_text(line, made.by)} the probability of lying {way} it is {made.probability:.2g}"


def _place(made: Crossing) -> float:
    """The first place beyond the line; a place may be 0."""
    assert made.now is not None
    return made.now.x if made.first is None else made.first


def _here(made: Crossing) -> str:
    """The newest score with the bound that decides: of 0 in n, what may be unseen; beyond the line, the nearer one."""
    now, line = made.now, made.told.line
    assert now is not None
    at = f"{score_text(line, now.value)} at {place_text(line, now.x)}"
    crossed, above = made.answer == "crossed", made.side == "above"
    bound = now.low if crossed == above else now.high
    if np.isnan(bound):
        return f"{at} (its sampling error is not known)"
    exact = f"exact, {now.items:,} items" if now.items is not None else "by its standard error"
    if crossed:
        return f"{at}, {'at least' if above else 'at most'} {score_text(line, bound)} ({exact})"
    return f"{at}, {'up to' if above else 'down to'} {score_text(line, bound)} not excluded ({exact})"
