"""Curves of scores over an axis: forms, fits, and forecasts that know what they do not know."""

from foreshock.curves._curve import Curve
from foreshock.curves._series import curve_of

__all__ = [
    "Curve",
    "curve_of",
]
