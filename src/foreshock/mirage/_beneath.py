"""Item scores beneath a hard metric, and what a shift of all items of a model makes of it.

A smooth twin is a smooth shift: every item of a model moves by the same amount on its own scale. How items differ may
drift along the axis, so the shape that is shifted to a place is that of the models near it, not of one model (whose own
shape would give its own hard metric back, whatever happened to it) and not of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage._design import Design, Floats
from foreshock.mirage._measures import Twin
from foreshock.series import Panel

# standard deviation, in shares of the axis, of the weights by which models near a place give their shape to it
NEAR = 0.25
NODES = 41

# the hard metric as a function of the twin on its primary link: (rows, points) to (rows, points)
Response = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Beneath:
    """Scores of the items that have all of them, at the points judged.

    Attributes:
        hard: Hard metric, shape (points, items).
        twin: Primary twin, shape (points, items).
        margin: Log-likelihood of the right choice less the largest other, shape (points, items); None where not there.
    """

    hard: Floats
    twin: Floats
    margin: Floats | None

    @classmethod
    def of(cls, panel: Panel, kept: NDArray[np.intp], hard: str, twins: Sequence[Twin]) -> Beneath:
        """From a panel; ``twins`` are those with values, the primary one first."""
        margins = next((t.name for t in twins if t.kind == "choice_margin"), None)
        names = [hard, twins[0].name, *([margins] if margins else [])]
        stack = np.stack([panel.values[name][kept] for name in names])
        found = stack[:, :, np.isfinite(stack).all(axis=(0, 1))]
        return cls(found[0], found[1], found[2] if margins else None)

    @property
    def items(self) -> int:
        """Number of items."""
        return int(self.hard.shape[1])

    @property
    def binary(self) -> bool:
        """Whether each item is right or wrong, and not a mean over seeds or repeats."""
        return bool(np.isin(self.hard, (0.0, 1.0)).all())


def near(design: Design) -> Floats:
    """Weights of the models whose shape counts at each point, rows sum to 1, shape (points, points)."""
    t = np.asarray(design.position)
    weight = np.exp(-0.5 * ((t[:, None] - t[None, :]) / NEAR) ** 2)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def shifts(z: Floats, times: float = 1.0) -> Floats:
    """Shifts that take every point to every other and beyond, shape (NODES,).

    Args:
        z: Observed twin, shape (points,).
        times: By how much more an item must move than the mean of all.
    """
    reach = times * (float(np.ptp(z)) + 1.0)
    return np.linspace(-reach, reach, NODES)


def response(z: Floats, at: Floats, given: Floats, design: Design) -> Response:
    """Response from what shifts do to each model.

    Args:
        z: Observed twin, shape (points,); sets the range.
        at: Twin of each model after each shift, ascending along the second axis, shape (points, NODES).
        given: Hard metric of each model after each shift, same shape.
        design: Where the points stand.
    """
    grid = np.linspace(z.min() - 1.0, z.max() + 1.0, 4 * NODES)
    curves = near(design) @ np.stack([np.interp(grid, at[k], given[k]) for k in range(z.size)])

    def respond(rows: Floats) -> Floats:
        return np.stack([np.interp(rows[:, i], grid, curves[i]) for i in range(z.size)], axis=1)

    return respond
