"""Shapes that a score may take along an axis, with what is believed of each before a score is seen.

A shape is a floor, a ceiling, a damping and a size of noise. Level and rise are left open and are found for each shape:

    score = floor + (ceiling - floor) * expit(level + rise * progress(place))

``progress`` runs from -1 at the first place of the history to 0 at the last. With damping 0 it is a straight line; with
a positive one it slows down, so that the rise still to come is ``1 / (exp(damping) - 1)`` of the rise seen (58% with
1, 16% with 2); with a negative one it gains speed.

The weights below are beliefs in round numbers, held against simulated worlds and against the model families of public
tables of eight benchmarks (Pythia left out) and found not to matter much: the mean error there stayed within
.0275-.0286 with any of a dozen other sets of weights. A declared score of guessing is not used as a floor: on worlds in
which it is the floor knowing it gained nothing (.0404 against .0402), and real tasks with few options are often
answered worse.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FLOORS = {0.0: 0.4, 0.1: 0.1, 0.2: 0.1, 0.25: 0.15, 1 / 3: 0.1, 0.5: 0.15}
"""Score of a model that knows nothing, as a share of the scale: nothing, or guessing among 10, 5, 4, 3 or 2 options."""

CEILINGS = {1.0: 0.5, 0.9: 0.3, 0.7: 0.2}
"""Score of a model that knows all: less than 1 where labels are wrong or answers are not parsed."""

DAMPINGS = {-1.0: 0.05, 0.0: 0.25, 0.5: 0.2, 1.0: 0.2, 2.0: 0.2, 4.0: 0.1}
"""How fast progress slows down, over the span of the history."""

FLAT = 0.05
"""Weight of no progress at all. It is small because the last value takes part in the combination as well."""

NOISES = {0.02: 0.2, 0.05: 0.3, 0.1: 0.3, 0.2: 0.13, 0.4: 0.07}
"""Standard deviation of a model about the curve on log-odds, without the sampling of items."""

FAMILY_NOISES = {0.1: 0.1, 0.2: 0.15, 0.4: 0.3, 0.8: 0.3, 1.6: 0.15}
"""The same where models of many families, with other data and recipes, share one curve."""

LEVEL_SD = 3.0
RISE_SD = 2.5
"""Standard deviations of level and rise, normal about 0, on log-odds between floor and ceiling."""


class Shapes(NamedTuple):
    """All shapes as columns.

    Attributes:
        floor, ceiling, damping, noise: Shape (shapes,).
        flat: Whether the shape makes no progress, shape (shapes,).
        belief: Log of the prior weight, shape (shapes,).
    """

    floor: Floats
    ceiling: Floats
    damping: Floats
    noise: Floats
    flat: NDArray[np.bool_]
    belief: Floats

    def take(self, kept: NDArray[np.intp]) -> Shapes:
        """Some of the shapes."""
        s = self
        return Shapes(s.floor[kept], s.ceiling[kept], s.damping[kept], s.noise[kept], s.flat[kept], s.belief[kept])


@functools.cache
def shapes() -> Shapes:
    """Every combination of floor, ceiling, damping and noise, for a score along an axis.

    Examples:
        >>> round(float(np.exp(shapes().belief).sum()), 6)
        1.0
    """
    ways = [(damping, False, (1 - FLAT) * weight) for damping, weight in DAMPINGS.items()] + [(0.0, True, FLAT)]
    return _combined(ways, NOISES)


def _combined(ways: Sequence[tuple[float, bool, float]], noises: Mapping[float, float]) -> Shapes:
    rows = [
        (floor, ceiling, damping, noise, flat, np.log(a * b * c * d))
        for (floor, a), (ceiling, b), (damping, flat, c), (noise, d) in itertools.product(
            FLOORS.items(), CEILINGS.items(), ways, noises.items()
        )
    ]
    floor, ceiling, damping, noise, flat, belief = (np.array(column) for column in zip(*rows, strict=True))
    found = Shapes(floor, ceiling, damping, noise, flat.astype(bool), belief)
    for column in found:
        column.flags.writeable = False
    return found


@functools.cache
def straight_shapes() -> Shapes:
    """Every combination of floor, ceiling and noise, straight in abilities, for models of many families."""
    return _combined([(0.0, False, 1.0)], FAMILY_NOISES)


def design_along(place: Floats, shapes: Shapes) -> Floats:
    """Level and progress at places of which the history spans [0, 1], shape (shapes, places, 2)."""
    along = progress(place, shapes.damping)
    along[shapes.flat] = 0.0
    return np.stack([np.ones_like(along), along], axis=2)


def progress(place: Floats, damping: Floats) -> Floats:
    """Progress at places of which the history spans [0, 1]: -1 at 0, 0 at 1.

    Args:
        place: Shape (places,).
        damping: Shape (shapes,).

    Returns:
        Shape (shapes, places).

    Examples:
        >>> progress(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0])).round(3).tolist()
        [[-1.0, 0.0, 1.0], [-1.0, 0.0, 0.368]]
    """
    ahead, bend = place[None, :] - 1.0, damping[:, None]
    straight = bend == 0
    safe = np.where(straight, 1.0, bend)
    with np.errstate(over="ignore"):
        bent = -np.expm1(np.minimum(-safe * ahead, 50.0)) / np.expm1(safe)
    return np.asarray(np.where(straight, ahead, bent))
