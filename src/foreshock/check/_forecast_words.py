"""Places and scores in sentences."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from math import floor, log10

from foreshock.check._forecast_lines import ForecastLine
from foreshock.check._forecast_targets import Target
from foreshock.series import LOG_AXES, size_text

_UNITS = {1e3: "thousands", 1e6: "millions", 1e9: "billions", 1e12: "trillions"}
_DIGITS = range(3, 13)
_MOST_OF_THE_WAY = 0.9
_ERROR = 5e-10
_FAR = 2_900_000  # days: the year 9999 is the last that a date can have


def place_text(line: ForecastLine, x: float) -> str:
    """A place on the axis of a line: ``70B``, ``step 2,000``, ``2027-03-01``."""
    if line.scale is not None:
        return f"{line.axis} {line.told(x):,.4g}"
    if line.dates and 0 <= x < _FAR:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=x)).date().isoformat()
    if line.axis == "step":
        return f"step {x:,.0f}"
    if line.axis in LOG_AXES and x >= 1:
        return size_text(x) if x < 1e15 else f"{x:.2g}"
    if not line.axis_known:
        return f"run {x + 1:,.0f} in order of creation"
    return f"{line.axis} {x:,.4g}" if abs(x) < 1e6 else f"{line.axis} {size_text(x)}"


def limit_text(line: ForecastLine, until: float) -> str:
    """The furthest place with a forecast, never told further than it is, in as few digits as keep most of the way."""
    if line.scale is not None:
        return f"{line.axis} {line.scale.short_of(until):,.4g}"
    if line.dates or not line.axis_known:
        return place_text(line, until)
    last, shown = float(line.curve.x[-1]), until
    for digits in _DIGITS:
        shown = _rounded_down(until, digits)
        if shown > last and shown - last >= _MOST_OF_THE_WAY * (until - last):
            break
    if line.axis == "step" or digits == _DIGITS[0]:
        return place_text(line, shown)
    text = f"{shown:,.12g}"
    return text if line.axis in LOG_AXES else f"{line.axis} {text}"


def _rounded_down(value: float, digits: int) -> float:
    if value == 0:
        return 0.0
    exponent = floor(log10(abs(value))) - digits + 1
    # what is a rounding error below a round number is that number
    exact = Decimal(value + _ERROR * abs(value)).scaleb(-exponent)
    return float(exact.to_integral_value(ROUND_FLOOR).scaleb(exponent))


def read_so(line: ForecastLine, target: Target, why: str | None) -> str | None:
    """Why there is no forecast at a place, with how places are read where they were told without their unit."""
    if why is None or target.why != "at" or line.axis_unit == 1:
        return why
    unit = _UNITS.get(line.axis_unit, f"{line.axis_unit:.4g}")
    return f"{why} (places without a unit are read in {unit}, as the column is)"


def what_text(line: ForecastLine) -> str:
    """What stands at a place of the axis: a checkpoint of one run, a model, or a point of who knows what.

    Examples:
        >>> from foreshock.curves import Curve
        >>> import numpy as np
        >>> curve = Curve(np.array([1.0]), np.array([0.5]))
        >>> [what_text(ForecastLine(curve, "g", None, None, "acc", axis, True)) for axis in ("step", "flops", "width")]
        ['checkpoint', 'model', 'point']
    """
    if line.curve.trajectory or line.axis == "step":
        return "checkpoint"
    if line.axis == "tokens" and not line.labels:
        return "checkpoint or model"
    return "model" if line.labels or line.dates or line.axis in LOG_AXES else "point"


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
