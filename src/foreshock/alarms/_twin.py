"""Does the twin of a metric show the change that the metric shows?

The same change is looked for in the twin: at the same place, of the same shape, and as large as the change of the
metric is worth on the twin's scale. What it is worth is learned from the points before the change. Where these do not
tell, a change counts as the same when it is as large on the same link; between two links nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreshock.alarms._residuals import design_of

Floats = NDArray[np.float64]

LEVEL = 0.95
"""Level of the intervals."""

_LEAST = 4


@dataclass(frozen=True, slots=True)
class Change:
    """Size of a change of known place and shape beside a straight line, on the link.

    Attributes:
        value, low, high: Estimate and two-sided interval at :data:`LEVEL`.
        noise: Standard deviation of a point about line and change.
    """

    value: float
    low: float
    high: float
    noise: float


@dataclass(frozen=True, slots=True)
class TwinView:
    """What the twin says.

    Attributes:
        verdict: ``metric-only`` (the twin's interval excludes the change), ``break`` (it excludes that nothing changed,
            and not the change), ``twin undecided``.
        change: The change found in the twin; None where it could not be looked for.
        expected: The least that the metric's change is worth in the twin, signed.
        how: How that was learned, in words.
        points: Points that both have.
    """

    verdict: str
    change: Change | None
    expected: float | None
    how: str
    points: int


def change_of(z: Floats, x: Floats, shape: Floats, root: Floats | None = None) -> Change | None:
    """Estimate a change of a given shape by least squares; None without a degree of freedom or where a line holds it.

    Examples:
        >>> x = np.arange(12.0)
        >>> found = change_of(0.5 * x + 2.0 * (x > 7) + 0.01 * np.cos(9 * x), x, (x > 7) * 1.0)
        >>> round(found.value, 1), found.low < 2.0 < found.high
        (2.0, True)
    """
    from foreshock.stats import t_quantile

    weights = np.ones(z.size) if root is None else root
    design = np.column_stack([design_of(x), shape]) * weights[:, None]
    df = z.size - design.shape[1]
    if df < 1 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    q, r = np.linalg.qr(design)
    along = q.T @ (z * weights)
    left = z * weights - q @ along
    noise = float(np.sqrt(left @ left / df))
    value, error = float(along[-1] / r[-1, -1]), noise / abs(float(r[-1, -1]))
    half = t_quantile(0.5 + LEVEL / 2, df) * error
    return Change(value, value - half, value + half, noise)


def look_at_twin(hard: Floats, twin: Floats, x: Floats, shape: Floats, *, same_link: bool = False) -> TwinView:
    """Hold the twin's change against the metric's, over points that both have.

    Args:
        hard: The metric on its link, shape (points,).
        twin: The twin on its link, shape (points,).
        x: Places on the scale on which the axis is read, shape (points,).
        shape: Shape of the change in the metric, 0 before it, shape (points,).
        same_link: Whether both are on one link, so that a change can be as large in both.
    """
    points = int(x.size)
    ours, theirs = change_of(hard, x, shape), change_of(twin, x, shape)
    if ours is None or theirs is None:
        return TwinView("twin undecided", theirs, None, "too few points that both have", points)
    sign = 1.0 if ours.value > 0 else -1.0
    least = ours.low if sign > 0 else -ours.high  # the least size of the metric's change, in its direction
    if least <= 0:
        return TwinView("twin undecided", theirs, None, "the size of the metric's change is not certain", points)
    before = shape == 0
    worth, how = _worth(hard[before], twin[before], x[before])
    if worth == 0 and same_link:
        worth, how = 1.0, "as large on the same link, as they did not move together before"
    expected = sign * least * worth
    low, high = (theirs.low, theirs.high) if expected > 0 else (-theirs.high, -theirs.low)
    if worth == 0:
        return TwinView("twin undecided", theirs, None, how, points)
    if high < abs(expected):
        return TwinView("metric-only", theirs, expected, how, points)
    return TwinView("break" if low > 0 else "twin undecided", theirs, expected, how, points)


def _worth(hard: Floats, twin: Floats, x: Floats) -> tuple[float, str]:
    """The least that one unit of the metric is worth in the twin, signed; 0 where the points before do not tell.

    Learned twice, and the larger bound counts: from how both rise along the axis (noise of the metric does not dilute
    it), and from how both stray together.
    """
    if hard.size < _LEAST:
        return 0.0, "too few points before the change"
    rises = _slope(x, hard), _slope(x, twin)
    (ours, our_half), (theirs, their_half) = rises
    along = together = 0.0
    if abs(ours) > our_half and abs(theirs) > their_half:
        along = (abs(theirs) - their_half) / (abs(ours) + our_half) * float(np.sign(ours * theirs))
    slope, half = _slope(hard, twin)
    if abs(slope) > half:
        together = (abs(slope) - half) * float(np.sign(slope))
    if along == together == 0:
        return 0.0, "the two did not move together before the change, so what it is worth in the twin is not known"
    if abs(along) >= abs(together):
        return along, "as both moved along the axis before the change"
    return together, "as both moved together before the change"


def _slope(x: Floats, z: Floats) -> tuple[float, float]:
    """Slope of a regression and half of its interval; (0, 0) where there is none."""
    from foreshock.stats import t_quantile

    centred, rest = x - x.mean(), z - z.mean()
    square = float(centred @ centred)
    if square <= 0 or z.size < _LEAST:
        return 0.0, 0.0
    slope = float(centred @ rest) / square
    left = rest - slope * centred
    return slope, t_quantile(0.5 + LEVEL / 2, z.size - 2) * float(np.sqrt(left @ left / (z.size - 2) / square))
