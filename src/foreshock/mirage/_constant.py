"""One constant of a link, the same for all models, estimated where the hard metric does not jump.

Taken from the jump itself a constant could explain any jump. Outside the onset window the hard metric has still to fit
the twin, and it has items enough there to say how; only where it does not say (the curve inside the window would stay
uncertain by more than a twentieth of the scale) all models count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage._design import Floats

# the onset window: between these shares of the hard metric's rise
FROM, TO = 0.1, 0.9
# what a constant may leave open of the curve inside the window, in units of the scale
KNOWN = 0.05


@dataclass(frozen=True, slots=True)
class Constant:
    """An estimate.

    Attributes:
        value: The constant.
        outside: Whether models outside the onset window were enough to know it.
    """

    value: float
    outside: bool


def outside_window(hard: Floats) -> NDArray[np.bool_]:
    """Models below a tenth or above nine tenths of the rise of the hard metric, shape (points,).

    Examples:
        >>> outside_window(np.array([0.0, 0.02, 0.4, 0.8])).tolist()
        [True, True, False, True]
    """
    rise = hard[-1] - hard[0]
    done = (hard - hard[0]) / rise if rise > 0 else np.zeros_like(hard)
    return np.asarray((done < FROM) | (done > TO))


def errors_of(hard: Floats) -> Floats:
    """Standard error of the hard metric at each point from joint draws, row 0 as observed, shape (points,).

    A share of 0 or 1 has no spread among draws and is no certainty: half the smallest spread that there is stands for
    it.
    """
    spread = hard[1:].std(axis=0)
    some = spread[spread > 0]
    return np.maximum(spread, 0.5 * some.min()) if some.size else np.ones_like(spread)


def fit_constant(
    curve: Callable[[float], Floats], grid: Floats, hard: Floats, transform: Callable[[float], float] = float
) -> Constant:
    """Weighted least squares over a grid, then over a finer one about its best value.

    Args:
        curve: Hard metric that a constant gives at the observed twin, shape (points,).
        grid: Values of the parameter, ascending and evenly spaced.
        hard: Hard metric, row 0 as observed, further rows joint draws, shape (1 + draws, points).
        transform: Parameter to constant.
    """
    seen, weight, outside = hard[0], 1.0 / errors_of(hard) ** 2, outside_window(hard[0])
    if outside.any() and not outside.all():
        best = _search(curve, grid, seen, weight * outside, transform)
        if _uncertain(curve, grid, best, weight, outside, transform) <= KNOWN:
            return Constant(transform(best), True)
    return Constant(transform(_search(curve, grid, seen, weight, transform)), False)


def _uncertain(
    curve: Callable[[float], Floats],
    grid: Floats,
    best: float,
    weight: Floats,
    outside: NDArray[np.bool_],
    transform: Callable[[float], float],
) -> float:
    """Standard error that the constant leaves to the curve inside the window, at its largest."""
    step = (grid[1] - grid[0]) / 8
    low, high = max(best - step, grid[0]), min(best + step, grid[-1])
    slope = np.abs(curve(transform(high)) - curve(transform(low))) / (high - low)
    information = float((weight * slope**2)[outside].sum())
    return float(slope[~outside].max() / np.sqrt(max(information, 1e-300)))


def _search(
    curve: Callable[[float], Floats], grid: Floats, seen: Floats, weight: Floats, transform: Callable[[float], float]
) -> float:
    def misfit(values: Floats) -> Floats:
        return np.array([float((weight * (curve(transform(float(v))) - seen) ** 2).sum()) for v in values])

    best = int(misfit(grid).argmin())
    fine = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)], 21)
    return float(fine[int(misfit(fine).argmin())])
