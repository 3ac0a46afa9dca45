"""Curves of scores over an axis: forms, fits, and forecasts that know what they do not know."""

from foreshock.curves._crossing import Side, Standing, exact_bounds, first_crossing, side_of, standing
from foreshock.curves._curve import Curve
from foreshock.curves._fit import FormFit, Optimum, fit
from foreshock.curves._fit_all import Alike, FormFits, RuledOut, fit_all
from foreshock.curves._forms import Form, forms
from foreshock.curves._series import curve_of

__all__ = [
    "Alike",
    "Curve",
    "Form",
    "FormFit",
    "FormFits",
    "Optimum",
    "RuledOut",
    "Side",
    "Standing",
    "curve_of",
    "exact_bounds",
    "first_crossing",
    "fit",
    "fit_all",
    "forms",
    "side_of",
    "standing",
]
