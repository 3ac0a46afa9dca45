"""Places and scores in sentences."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from foreshock.check._forecast_lines import ForecastLine
from foreshock.series import LOG_AXES, size_text

_FAR = 2_900_000  # days: the year 9999 is the last that a date can have


def place_text(line: ForecastLine, x: float) -> str:
    """A place on the axis of a line: ``70B``, ``step 2,000``, ``2027-03-01``."""
    if line.dates and 0 <= x < _FAR:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=x)).date().isoformat()
    if line.axis == "step":
        return f"step {x:,.0f}"
    if line.axis in LOG_AXES and x >= 1:
        return size_text(x) if x < 1e15 else f"{x:.2g}"
    if not line.axis_known:
        return f"run {x + 1:,.0f} in order of creation"
    return f"{line.axis} {x:,.4g}" if abs(x) < 1e6 else f"{line.axis} {size_text(x)}"


def score_text(line: ForecastLine, value: float | None) -> str:
    """A score in its unit.

    Examples:
        >>> from foreshock.curves import Curve
        >>> import numpy as np
        >>> curve = Curve(np.array([1.0]), np.array([0.5]), low=0.0, high=1.0)
        >>> score_text(ForecastLine(curve, "g", None, None, "acc", "x", True, unit="fraction"), 0.12345)
        '12.3%'
    """
    if value is None:
        return "unknown"
    if line.unit == "fraction":
        return f"{100 * value:.3g}%"
    known = line.unit not in ("score", "")
    return f"{value:.4g}{f' {line.unit}' if known else ''}"
