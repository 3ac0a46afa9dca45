"""Forecasts of what a curve knows already: each prefix of its history forecasts the place that follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreshock.check._forecast_judge import ForecastOptions, number, side
from foreshock.check._forecast_lines import ForecastLine
from foreshock.check._forecast_scored import scored
from foreshock.curves import Curve

if TYPE_CHECKING:
    from foreshock.curves import Calibration

LEAST = 3
"""Places of the shortest prefix."""
MOST_ORIGINS = 40
"""Prefixes that are tried; of a longer history they are spread evenly."""


class _Step(NamedTuple):
    """One prefix with the place that follows it: rows as :func:`scored` takes them, and the scores before and after."""

    row: dict[str, Any]
    before: float
    after: float


def backtest_rows(
    line: ForecastLine, options: ForecastOptions, calibration: Calibration | None
) -> list[dict[str, Any]]:
    """The row of ``backtest`` of one curve; with a reason where its history is too short.

    Args:
        line: The curve.
        options: Level, line and seed.
        calibration: What intervals are calibrated on; None is what the package ships.
    """
    named = {name: line.placed[name] for name in ("group", "task", "family", "metric", "unit")}
    steps = _steps(line, options, calibration)
    if not steps:
        enough = f"at least {LEAST + 1} places on the axis"
        have = int(np.unique(line.curve.x).size)
        return [
            {**named, "source": "rolling origin", "refused": f"{have} places are known; a back-test needs {enough}"}
        ]
    told = {**named, "source": "rolling origin", **scored([step.row for step in steps])}
    return [told if options.threshold is None else {**told, **_crossings(line, options, steps)}]


def _steps(line: ForecastLine, options: ForecastOptions, calibration: Calibration | None) -> list[_Step]:
    from foreshock.curves import forecast

    curve = line.curve
    places = np.unique(curve.x)
    origins = np.arange(LEAST, places.size)
    if origins.size > MOST_ORIGINS:
        origins = np.unique(np.linspace(LEAST, places.size - 1, MOST_ORIGINS).astype(int))
    steps = []
    for k in origins:
        history = curve.take(curve.x < places[k])
        at = places[k : k + 1]
        made = forecast(history, at, calibration=calibration, level=options.level, seed=options.seed, identify=False)
        came = float(curve.y[curve.x == places[k]].mean())
        ends = {name: number(getattr(made, name)[0]) for name in ("low", "high", "persistence")}
        ends |= {name: number(getattr(made, name)[0]) for name in ("persistence_low", "persistence_high")}
        last = _last(history)
        if ends["persistence"] is None:
            ends["persistence"] = last
        row = {"group": line.group, "observed": came, "y_hat": number(made.value[0]), "level": options.level, **ends}
        steps.append(_Step(row, last, came))
    return steps


def _last(history: Curve) -> float:
    return float(history.y[history.x == history.x[-1]].mean())


def _crossings(line: ForecastLine, options: ForecastOptions, steps: list[_Step]) -> dict[str, int]:
    """How often the line was crossed, how often that lay within the interval before, and calls in vain."""
    threshold = options.threshold
    assert threshold is not None
    sign = 1.0 if side(line, options) == "above" else -1.0
    found = {"crossings": 0, "foretold": 0, "false_calls": 0}
    for step in steps:
        end = step.row["high"] if sign > 0 else step.row["low"]
        called = end is not None and sign * (end - threshold) >= 0
        if sign * (step.before - threshold) > 0:
            continue
        crossed = sign * (step.after - threshold) > 0
        found["crossings"] += crossed
        found["foretold"] += crossed and called
        found["false_calls"] += called and not crossed
    return found
