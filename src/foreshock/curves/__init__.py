"""Curves of scores over an axis: forms, fits, and forecasts that know what they do not know."""

from foreshock.curves._crossing import Side, Standing, exact_bounds, first_crossing, side_of, standing
from foreshock.curves._curve import Curve
from foreshock.curves._series import curve_of

__all__ = [
    "Curve",
    "Side",
    "Standing",
    "curve_of",
    "exact_bounds",
    "first_crossing",
    "side_of",
    "standing",
]
