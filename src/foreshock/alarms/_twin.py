"""Does the twin of a metric show the change that the metric shows?

The same change is looked for in the twin: at the same place, of the same shape, and as large as the change of the
metric is worth on the twin's scale. What it is worth is learned from the points before the change, where both moved
together; where they did not, a change counts as the same when it is as large in standard deviations of the noise.
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


def look_at_twin(hard: Floats, twin: Floats, x: Floats, shape: Floats) -> TwinView:
    """Hold the twin's change against the metric's, over points that both have.

    Args:
        hard: The metric on its link, shape (points,).
        twin: The twin on its link, shape (points,).
        x: Places on the scale on which the axis is read, shape (points,).
        shape: Shape of the change in the metric, 0 before it, shape (points,).
    """
    ours, theirs = change_of(hard, x, shape), change_of(twin, x, shape)
    if ours is None or theirs is None:
        return TwinView("twin undecided", theirs, None, "too few points that both have", int(x.size))
    least = ours.low if ours.value > 0 else -ours.high  # the least size of the metric's change, in its direction
    sign = 1.0 if ours.value > 0 else -1.0
    if least <= 0:
        return TwinView("twin undecided", theirs, None, "the size of the metric's change is not certain", int(x.size))
    size, way, how = _worth(hard, twin, shape == 0, ours, theirs)
    expected = sign * least * size * (way or 1.0)
    # in the direction in which the twin should have moved; in either where that is not known
    upward, downward = (theirs.low, theirs.high), (-theirs.high, -theirs.low)
    sides = [upward if sign * way > 0 else downward] if way else [upward, downward]
    if all(high < abs(expected) for _, high in sides):
        return TwinView("metric-only", theirs, expected, how, int(x.size))
    verdict = "break" if any(low > 0 for low, _ in sides) else "twin undecided"
    return TwinView(verdict, theirs, expected, how, int(x.size))


def _worth(
    hard: Floats, twin: Floats, before: NDArray[np.bool_], ours: Change, theirs: Change
) -> tuple[float, float, str]:
    """The least that one unit of the metric is worth in the twin, in which direction (0: not known), and how so."""
    from foreshock.stats import t_quantile

    h, t = hard[before] - hard[before].mean(), twin[before] - twin[before].mean()
    if h.size >= _LEAST and h @ h > 0:
        slope = float(h @ t / (h @ h))
        left = t - slope * h
        error = float(np.sqrt(left @ left / (h.size - 2) / (h @ h)))
        half = t_quantile(0.5 + LEVEL / 2, h.size - 2) * error
        if abs(slope) > half:
            return abs(slope) - half, float(np.sign(slope)), "as both moved together before the change"
    same = theirs.noise / ours.noise if ours.noise > 0 else 0.0
    return same, 0.0, "as large in standard deviations of the noise, as they did not move together before"
