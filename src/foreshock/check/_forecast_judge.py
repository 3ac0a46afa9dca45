"""One curve forecast: its rows, and what a reader needs beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from foreshock.check._forecast_lines import ForecastLine
from foreshock.check._forecast_targets import Target, Wanted, as_row, grid, horizon, next_place, targets
from foreshock.check._forecast_words import limit_text, read_so
from foreshock.curves import Side, forecast, side_of, two_stage

if TYPE_CHECKING:
    from foreshock.curves import Calibration, Forecast

Floats = np.ndarray
GUARANTEE = (
    "of many curves like those it was calibrated on, at least {level} have what comes inside it, at one place each. "
    "Nothing is promised for several places of one curve together, for this history in particular, or for a kind of "
    "curve that was not among them: there only the measured coverage stands"
)


class ForecastOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What to forecast and how.

    Attributes:
        metrics: Glob patterns of metrics; empty means the one that speaks for each line.
        over: Another task, or ``ability``, whose scores are the axis.
        wanted: Places.
        threshold: A line, on the scale of the scores.
        side: The side of it that counts as crossed; None is the one on which the newest score is not.
        backtest: Whether to forecast what is known already, from each prefix of the history.
        level: Level of the intervals.
        draw: Whether to add what a plot needs, and to the record the forms that took no part in the forecast.
        own: Whether to calibrate on the user's own curves, each group by the others.
        low, high, link: Ends of the scores and their scale, where the user says otherwise than the metric does.
        seed: Seed of everything that is drawn.
    """

    metrics: list[str] = []
    over: str | None = None
    wanted: Wanted = Wanted()
    threshold: float | None = None
    side: Side | None = None
    backtest: bool = False
    level: float = 0.9
    draw: bool = False
    own: bool = False
    low: float | None = None
    high: float | None = None
    link: str | None = None
    seed: int = 0


class Foretold(NamedTuple):
    """A curve with its forecasts.

    Attributes:
        line: The curve.
        found: Where it was to be forecast.
        rows: A row for each of these places, the two-stage ones behind the direct ones.
        made: The forecast at all places, the grid included; None where there was no place to forecast at.
        places: Those places, ascending, shape (places,).
        drawn: Those of them that a plot needs, ascending: an even grid, and the last place that was asked for.
    """

    line: ForecastLine
    found: list[Target]
    rows: list[dict[str, Any]]
    made: Forecast | None
    places: Floats
    drawn: Floats

    @property
    def refused(self) -> str | None:
        """Why nothing at all is forecast; None where something is."""
        if self.made is not None:
            return self.made.refused
        lacking = [read_so(self.line, target, target.lacking) for target in self.found if target.lacking]
        if not self.line.curve.points:
            return "no point is known"
        return lacking[0] if lacking else "there is no next place: fewer than two places are known"

    @property
    def enough(self) -> str | None:
        """What would be enough for a forecast."""
        until = horizon(self.line)
        if self.made is None or self.made.enough is None or until is None:
            return None if self.made is None else self.made.enough
        # told in the unit of the axis
        return self.made.enough.replace(f"places up to {until:.6g}", f"places up to {limit_text(self.line, until)}")

    @property
    def reach(self) -> str | None:
        """Up to where a forecast is made, with what would move that; None of a curve without a length."""
        until = horizon(self.line)
        return None if until is None else f"places up to {limit_text(self.line, until)}, or a longer history"

    def at(self, x: float) -> int | None:
        """Index of a place; None where it was not forecast."""
        i = int(np.searchsorted(self.places, x))
        return i if i < self.places.size and self.places[i] == x else None


def foretell(line: ForecastLine, options: ForecastOptions, calibration: Calibration | None = None) -> Foretold:
    """Forecast one curve at every place that was asked for.

    Args:
        line: The curve.
        options: What to forecast and how.
        calibration: What the intervals are calibrated on; None is what the package ships.
    """
    found = targets(line, options.wanted)
    possible = [target.x for target in found if target.lacking is None and line.curve.points]
    until = _until(line, options, possible)
    even = grid(line, until) if until is not None else np.empty(0)
    drawn = np.unique(np.append(even, possible[-1:])) if even.size else even
    places = np.unique(np.concatenate([np.array(possible, float), drawn]))
    made = None
    if places.size:
        made = forecast(line.curve, places, calibration=calibration, level=options.level, seed=options.seed)
    if options.draw and made is not None and made.forms is not None:
        made = replace(made, forms=made.forms.with_all(seed=options.seed))  # the record names every form
    told = Foretold(line, found, [], made, places, drawn)
    rows = [_row(told, target, options) for target in found]
    return told._replace(rows=[*rows, *_through_twin(told, options)])


def _until(line: ForecastLine, options: ForecastOptions, possible: Sequence[float]) -> float | None:
    """How far the axis is looked at beyond the places that were asked for."""
    if np.unique(line.curve.x).size < 2 or not (options.draw or options.threshold is not None):
        return None
    if options.threshold is not None:
        return horizon(line)
    return max([*possible, next_place(line) or 0.0])


def _row(told: Foretold, target: Target, options: ForecastOptions) -> dict[str, Any]:
    """One row of the table ``forecast``."""
    line, made, i = told.line, told.made, told.at(target.x)
    row = {**line.placed, **as_row(target), "x": line.told(target.x), "route": "direct", "level": options.level}
    empty = dict.fromkeys(("y_hat", "low", "high", "persistence", "persistence_low", "persistence_high"))
    row |= {**empty, "inside": None, "probability": None}
    if target.lacking is not None or made is None or i is None:
        return {**row, "refused": read_so(line, target, target.lacking or told.refused), "enough": told.enough}
    value, low, high = (number(ends[i]) for ends in (made.value, made.low, made.high))
    observed = row["observed"]
    known = observed is not None and low is not None and high is not None
    return {
        **row,
        "y_hat": value,
        "low": low,
        "high": high,
        "refused": read_so(line, target, made.refused or made.lacking[i]),
        "enough": told.enough if made.lacking[i] is None else told.enough or told.reach,
        "persistence": number(made.persistence[i]),
        "persistence_low": number(made.persistence_low[i]),
        "persistence_high": number(made.persistence_high[i]),
        "inside": bool(low <= observed <= high) if known else None,
        "probability": probability(told, target.x, options),
    }


def _through_twin(told: Foretold, options: ForecastOptions) -> list[dict[str, Any]]:
    """Rows of the two-stage forecast, where the score has a twin and ends: the twin is forecast, and read through."""
    line, places = told.line, [target.x for target in told.found if target.lacking is None]
    curve, twin = line.curve, line.twin
    if told.made is None or twin is None or not places or curve.log_x != twin.log_x:
        return []
    if curve.low is None or curve.high is None:
        return []
    made = two_stage(curve, twin, places, level=options.level, seed=options.seed)
    rows = []
    for i, x in enumerate(places):
        direct = next(_row(told, target, options) for target in told.found if target.x == x)
        value, low, high = (number(ends[i]) for ends in (made.value, made.low, made.high))
        came = direct["observed"]
        known = came is not None and low is not None and high is not None
        refused = made.refused or (None if value is not None else made.lacking[i])
        row = {**direct, "route": "two-stage", "y_hat": value, "low": low, "high": high, "refused": refused}
        inside = bool(low <= came <= high) if known else None
        rows.append({**row, "enough": made.enough, "inside": inside, "probability": None})
    return rows


def probability(told: Foretold, x: float, options: ForecastOptions) -> float | None:
    """Probability of lying beyond the line at a place; None without a line or a forecast."""
    i = told.at(x)
    if options.threshold is None or told.made is None or i is None or told.made.refused is not None:
        return None
    above = number(told.made.probability_above(options.threshold)[i])
    return above if above is None or side(told.line, options) == "above" else 1 - above


def side(line: ForecastLine, options: ForecastOptions) -> Side:
    """The side of the line that counts as crossed."""
    if options.side is not None or options.threshold is None or not line.curve.points:
        return options.side or "above"
    return side_of(line.curve, options.threshold)


def number(value: object) -> float | None:
    """A finite number, or None."""
    found = float(str(value))
    return found if np.isfinite(found) else None
