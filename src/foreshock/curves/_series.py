"""From a series of the store to a curve."""

from __future__ import annotations

import math

import numpy as np

from foreshock.curves._curve import Curve
from foreshock.series import Series


def curve_of(
    series: Series,
    *,
    low: float | None = None,
    high: float | None = None,
    chance: float | None = None,
    counted: bool | None = None,
    group: str | None = None,
) -> Curve:
    """The curve of a series.

    Points without a finite score or place are left out, and so is one at 0 or below of a log axis (the untrained model
    at step 0): it has no place there. Points along an axis of training steps are checkpoints of one run.

    Args:
        series: One metric of one task along one axis.
        low, high, chance: Facts of the metric where the series does not declare them; the declared ones come first.
        counted: Whether each score is a mean of 0/1 over its items, so that its sampling noise is binomial; as
            declared (``hard``) where not given.
        group: Block in calibration; the model family where not given.

    Raises:
        MetricError: A score is outside the declared scale.

    Examples:
        >>> from foreshock.series import Point
        >>> points = tuple(Point(f"m{n}", 10.0**n, 0.1 * n, None, 100, f"m{n}") for n in (6, 7, 8))
        >>> curve = curve_of(Series("t", "f", "acc", "parameters", True, True, points, "foreshock"), low=0, high=1)
        >>> curve.points, curve.link.name, curve.name
        (3, 'logit y', 't, f: acc')
    """
    said = series.declared
    points = [p for p in series.points if p.value is not None and math.isfinite(p.value) and math.isfinite(p.x)]
    points = sorted((p for p in points if p.x > 0 or not series.log_axis), key=lambda p: p.x)
    binary = said.kind == "hard" if counted is None else counted
    return Curve(
        x=np.array([p.x for p in points], float),
        y=np.array([p.value for p in points], float),
        items=np.array([p.n or np.nan for p in points], float) if binary else None,
        stderr=np.array([np.nan if p.stderr is None else p.stderr for p in points], float),
        low=said.low if said.low is not None else low,
        high=said.high if said.high is not None else high,
        chance=said.chance if said.chance is not None else chance,
        log_x=series.log_axis,
        trajectory=series.axis == "step",
        name=f"{series.task}, {series.family}: {series.metric}",
        group=series.family if group is None else group,
    )
