"""Which points are judged: those between which there is something to explain.

A share of the change within the 10-90% of the hard metric's rise alone says nothing where the hard metric jumps: one
interval is then all of the window and carries all of its change, whatever the twin does. What is judged is therefore
every point that the twin resolves, up to the first at which the hard metric has arrived: past it the link only
magnifies how sure a model is of what it can do already. Where these ends lie is itself read from items, so it is read
again in every joint draw of them, and each window counts by its share of the draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage._design import Floats

# the hard metric has begun to rise / has gone far / has arrived at this share of the way from chance to ceiling
BEGUN, OPEN, ARRIVED = 0.1, 0.8, 0.95
# a window that fewer draws give is not worth a calibration of its own
_RARE = 0.02
_MOST = 6


@dataclass(frozen=True, slots=True)
class Window:
    """One window and the share of joint draws of items that give it.

    Attributes:
        weight: Share of draws; all windows of a line sum to 1.
        kept: Indices of its points, without a gap.
    """

    weight: float
    kept: NDArray[np.intp]


def windows(done: Floats, floor: NDArray[np.bool_]) -> list[Window]:
    """Windows of all draws, the most frequent first; of equally frequent ones the longer.

    Args:
        done: Share of the way from chance to ceiling that the hard metric has gone, shape (draws, points).
        floor: Points at which the twin resolves nothing, the same shape.

    Examples:
        >>> told = windows(np.array([[0.1, 0.4, 0.97, 0.99], [0.1, 0.4, 0.94, 0.99]]), np.zeros((2, 4), bool))
        >>> [(w.weight, w.kept.tolist()) for w in told]
        [(0.5, [0, 1, 2, 3]), (0.5, [0, 1, 2])]
    """
    points = done.shape[1]
    arrived = done >= ARRIVED
    last = np.where(arrived.any(axis=1), arrived.argmax(axis=1), points - 1)
    first = np.where((~floor).any(axis=1), (~floor).argmax(axis=1), points)
    ends, count = np.unique(np.stack([first, last], axis=1), axis=0, return_counts=True)
    order = np.lexsort((ends[:, 0] - ends[:, 1], -count))
    kept = [i for i in order if count[i] >= _RARE * done.shape[0]][:_MOST] or [order[0]]
    total = count[kept].sum()
    return [Window(float(count[i] / total), np.arange(ends[i, 0], ends[i, 1] + 1)) for i in kept]


def onset(done: Floats) -> tuple[int, int]:
    """First point past 10% and first past 90% of the observed rise, shape of ``done`` (points,).

    Examples:
        >>> onset(np.array([0.0, 0.05, 0.5, 0.8, 0.81]))
        (2, 3)
    """
    low = float(done[0])
    gone = (done - low) / max(float(done.max()) - low, 1e-12)
    return int(np.argmax(gone >= 0.1)), int(np.argmax(gone >= 0.9))
