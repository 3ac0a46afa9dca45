"""Intervals calibrated on the user's own curves: each group by the others, never by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foreshock._base import NotEnoughDataError, Progress
from foreshock.check._forecast_judge import ForecastOptions
from foreshock.check._forecast_lines import ForecastLine
from foreshock.curves import Curve

if TYPE_CHECKING:
    from foreshock.curves import Calibration

Calibrations = Callable[[ForecastLine], "Calibration | None"]
KEPT = 1 / 3
"""Share of a curve's places that is kept from it, where nothing beyond it is known."""
_LEAST = 4


class _History(NamedTuple):
    group: str
    curve: Curve
    held_x: np.ndarray
    held_y: np.ndarray


def calibrations(found: Sequence[ForecastLine], options: ForecastOptions, progress: Progress) -> Calibrations:
    """For each curve, a calibration learned on the curves of all other groups.

    Args:
        found: The curves.
        options: Level and seed.
        progress: Told about groups.

    Raises:
        NotEnoughDataError: Some group has too few curves beside it for an interval of that level.
    """
    from foreshock.curves import calibrate, curves_needed

    histories = [history for line in found if (history := _history(line)) is not None]
    need = curves_needed(options.level)
    made: dict[str, Calibration] = {}
    groups = sorted({line.curve.group for line in found})
    for done, group in enumerate(groups):
        progress("calibrate", done, len(groups))
        others = [h for h in histories if h.group != group]
        if len(others) < need:
            raise NotEnoughDataError(
                f"{len(others)} curves beside the group {group[:100]!r}",
                expected=f"at least {need} curves of other groups for intervals of {options.level:.4g}",
                do="leave --calibrate-on out, or add curves",
            )
        told = [(h.curve, h.held_x, h.held_y) for h in others]
        made[group] = calibrate(told, seed=options.seed)
    progress("calibrate", len(groups), len(groups))
    return lambda line: made[line.curve.group]


def _history(line: ForecastLine) -> _History | None:
    """A curve with what came after it; None where it is too short."""
    known = np.isfinite(line.held_y) & (line.held_x > (line.curve.x[-1] if line.curve.points else np.inf))
    if known.any():
        return _History(line.curve.group, line.curve, line.held_x[known], line.held_y[known])
    places = np.unique(line.curve.x)
    kept = int(np.ceil(places.size * KEPT))
    if places.size - kept < _LEAST:
        return None
    first = line.curve.x < places[-kept]
    history = line.curve.take(first)
    return _History(line.curve.group, history, line.curve.x[~first], line.curve.y[~first])
