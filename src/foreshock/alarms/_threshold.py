"""Thresholds of the detector for "at most this share of false alarms in the next looks", simulated.

The bound of an e-detector (looks over threshold) holds for every member of its class and is loose: it gives .02 where
.05 was asked for. The distribution itself can be simulated, because under no change the scores are independent
standard normal whatever the data are. `tools/alarm_thresholds.py` does so once, and for four more shapes of noise
whose scores are not quite normal, and takes the largest threshold of all: a table of simulated numbers that ships
with the package.
"""

from __future__ import annotations

import functools
import math
from importlib.resources import files
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from foreshock._base import ConfigError

Floats = NDArray[np.float64]

KEPT_BACK = 0.12
"""Share of the level that is not spent: a simulated table is uncertain, and lies between its own points.

On fresh normal noise a tabled level of .05 came out at .044 to .052 (4,000 series, baselines 4 to 20)."""


class Table(msgspec.Struct, frozen=True):
    """What the tool writes.

    Attributes:
        made_by: Command that wrote it.
        seed: Seed of the thresholds; the rates are measured with the next one.
        series: Series of every shape of noise.
        shapes: Shapes of noise, normal first.
        detector: Clip and changes of the detector that was simulated.
        baselines, looks, levels: The grid.
        thresholds: Largest threshold over shapes, (baselines, looks, levels).
        normal: The same for normal noise alone.
        measured_looks: Looks over which rates were measured.
        measured_series: Series of every shape behind a measured rate.
        measured: Worst rate over shapes on fresh series, (baselines, levels).
        training: Correlation of neighbours to the rate of the rule for checkpoints, looked at after every second one.
        training_series: Series of every correlation; baseline 8, level 5%, as many looks as for ``measured``.
    """

    made_by: str
    seed: int
    series: dict[str, int]
    shapes: list[str]
    detector: dict[str, Any]
    baselines: list[int]
    looks: list[int]
    levels: list[float]
    thresholds: list[list[list[float]]]
    normal: list[list[list[float]]]
    measured_looks: int
    measured_series: int
    measured: list[list[float]]
    training: dict[str, float] = {}
    training_series: int = 0


@functools.lru_cache(maxsize=1)
def table() -> Table:
    """The shipped table."""
    text = files("foreshock.alarms").joinpath("_thresholds.json").read_bytes()
    return msgspec.json.decode(text, type=Table)


def check_asked(baseline: int, looks: int, level: float) -> None:
    """Refuse what was never simulated.

    Raises:
        ConfigError: Baseline, looks or level lie outside the table.
    """
    known = table()
    for what, value, grid in (
        ("points of the baseline", baseline, known.baselines),
        ("looks", looks, known.looks),
        ("level", level, [known.levels[0] / (1 - KEPT_BACK), known.levels[-1]]),
    ):
        if not grid[0] <= value <= grid[-1]:
            raise ConfigError(
                f"{what}: {value:g}",
                expected=f"{grid[0]:g} to {grid[-1]:g}, where thresholds were simulated",
                do="choose a value in between",
            )


def threshold(baseline: int, looks: int, level: float) -> float:
    """Value that the detector reaches within so many looks in at most a share ``level`` of unchanged series.

    Args:
        baseline: Points before the first look.
        looks: Looks over which the rate is promised.
        level: Share of false alarms.

    Raises:
        ConfigError: Outside what was simulated.

    Examples:
        >>> threshold(8, 60, 0.05) < threshold(8, 60, 0.01) < threshold(8, 120, 0.01)
        True
    """
    check_asked(baseline, looks, level)
    spent = math.log(level * (1 - KEPT_BACK))
    return float(np.exp(np.interp(-spent, -np.log(table().levels)[::-1], _row(baseline, looks)[::-1])))


def false_alarm(statistic: float, baseline: int, looks: int) -> float:
    """Share of unchanged series in which the detector reaches a value within so many looks.

    Beyond the smallest simulated level the tail is continued as that of an e-detector, inversely to the value. Above
    the largest one the answer is 1.

    Examples:
        >>> round(false_alarm(threshold(8, 60, 0.05), 8, 60), 6)
        0.05
    """
    check_asked(baseline, looks, table().levels[-1])
    row, levels = _row(baseline, looks), np.log(table().levels)
    value = math.log(max(statistic, 1e-300))
    if value < row[-1]:
        return 1.0
    tabled = levels[0] + row[0] - value if value > row[0] else np.interp(value, row[::-1], levels[::-1])
    return float(min(np.exp(tabled) / (1 - KEPT_BACK), 1.0))


@functools.lru_cache(maxsize=512)
def _row(baseline: int, looks: int) -> Floats:
    """Logs of the thresholds for every level of the table, falling; linear in the logs of baseline and looks."""
    known = table()
    logs = np.log(np.array(known.thresholds))
    over_looks = np.stack(
        [_between(np.log(known.looks), logs[i], math.log(looks)) for i in range(len(known.baselines))]
    )
    return _between(np.log(known.baselines), over_looks, math.log(baseline))


def _between(grid: Floats, values: Floats, at: float) -> Floats:
    """Linear interpolation of rows, shape (grid, levels) to (levels,)."""
    right = int(np.clip(np.searchsorted(grid, at), 1, grid.size - 1))
    share = (at - grid[right - 1]) / (grid[right] - grid[right - 1])
    return np.asarray((1 - share) * values[right - 1] + share * values[right])


def measured_rate(baseline: int, level: float) -> tuple[float, int]:
    """Worst rate over shapes of noise on fresh series, and how many series of each shape.

    Of the nearest baseline in the table, linear between its levels.
    """
    known = table()
    nearest = int(np.argmin(np.abs(np.log(known.baselines) - math.log(baseline))))
    return float(np.interp(level * (1 - KEPT_BACK), known.levels, known.measured[nearest])), known.measured_series
