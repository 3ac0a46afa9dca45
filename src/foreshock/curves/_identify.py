"""Can the data tell where a break or an end lies? The objective's profile says.

A break is fitted wherever the residuals happen to bend, and its place then looks like a result. Its profile shows what
the data really say: held at other places, with everything else fitted again, does the fit become worse? Places at which
it does not, by an F test at 5%, are as good as the best. Where they cover more than half of the axis (or, for a floor
or a ceiling, more than half of the observed rise), the form is refused: its curve may be drawn, its parameters are not
told.
"""

from __future__ import annotations

import numpy as np

from foreshock.curves._curve import Floats
from foreshock.curves._fit_problem import Problem
from foreshock.curves._forms import Starts
from foreshock.stats import t_quantile

LEVEL = 0.95
HALF = 0.5
_PLACES = 9
_STEPS = 25


def unidentified(problem: Problem, optima: Floats) -> str | None:
    """Which of a form's breaks or ends the data cannot place.

    Args:
        problem: Form and frame with their noise.
        optima: Optima, best first, shape (optima, parameters + 1).

    Returns:
        One clause, or None where all are placed.
    """
    for number, column in enumerate(problem.form.profiled, 1):
        values, unit = _grid(problem, column)
        low, high = accepted(problem, optima, column, values)
        if high - low > HALF * unit:
            return _told(problem, number, column, (low, high))
    return None


def _grid(problem: Problem, column: int) -> tuple[Floats, float]:
    """Values at which a parameter is held, and the length that counts as one."""
    form, y = problem.form, problem.frame.y
    if form.places:
        return np.linspace(-1.0, 0.0, _PLACES), 1.0
    low, high = float(problem.grid.low[0, column]), float(problem.grid.high[0, column])
    # beyond the scores, up to twice their rise away: further is all the same
    rise, bottom, top = float(np.ptp(y)), float(y.min()), float(y.max())
    if form.parameters[column] == "floor":
        return np.linspace(max(low, bottom - 2 * rise), bottom, _PLACES), rise
    return np.linspace(top, min(high, top + 2 * rise), _PLACES), rise


def accepted(problem: Problem, optima: Floats, column: int, values: Floats) -> tuple[float, float]:
    """Lowest and highest value of a parameter at which the fit is as good as the best, by an F test at 5%."""
    cost = profile(problem, optima, column, values)
    least = max(min(float(problem.cost(optima[:1])[0]), float(cost.min())), 1e-300)
    r = problem.residuals(optima[:1])[0]
    left = max(r.size - problem.form.size, 1)
    worse = (cost / least - 1) * left * independent(r) / r.size
    good = worse <= t_quantile((1 + LEVEL) / 2, left) ** 2
    among = [float(optima[0, column]), *values[good].tolist()]
    return min(among), max(among)


def profile(problem: Problem, optima: Floats, column: int, values: Floats) -> Floats:
    """Least objective with one parameter held at each of some values, shape (values,)."""
    grid, sign = problem.grid, optima[0, -1]
    best = optima[optima[:, -1] == sign][:2]
    mine = np.flatnonzero(grid.theta[:, -1] == sign)
    cost = problem.cost(grid.theta[mine])
    rows = []
    for value in values:
        # the best of the grid near this value, where it was solved with everything else free
        far = np.abs(grid.theta[mine, column] - value)
        there = np.flatnonzero(far <= far.min() + 1e-9)
        rows += [*best, grid.theta[mine[there[np.argmin(cost[there])]]]]
    begun = problem.box(np.array(rows))
    held = np.repeat(values, len(best) + 1)
    for part in (begun.theta, begun.low, begun.high):
        part[:, column] = held
    found = problem.descend(Starts(begun.theta, begun.low, begun.high), _STEPS)[1]
    return np.asarray(found.reshape(values.size, -1).min(axis=1))


def independent(residuals: Floats) -> float:
    """Residuals that count as independent: n (1 - r) / (1 + r) with their lag-1 autocorrelation r, at least 3.

    Examples:
        >>> independent(np.array([1.0, -1.0, 1.0, -1.0]))
        4.0
    """
    n, total = residuals.size, float(residuals @ residuals)
    chain = float(residuals[1:] @ residuals[:-1]) / total if total > 0 and n > 2 else 0.0
    chain = min(max(chain, 0.0), 0.95)
    return max(n * (1 - chain) / (1 + chain), min(float(n), 3.0))


def _told(problem: Problem, number: int, column: int, between: tuple[float, float]) -> str:
    frame = problem.frame
    if not problem.form.places:
        low, high = (frame.shift + frame.unit * end for end in between)
        return f"the {problem.form.parameters[column]} may be anything from {low:.3g} to {high:.3g}"
    low, high = (frame.last + frame.span * end for end in between)
    where = f"{np.exp(low):.3g} to {np.exp(high):.3g}" if frame.log_x else f"{low:.6g} to {high:.6g}"
    return f"break {number} may lie anywhere from {where}: no place of it is told apart from the others"
