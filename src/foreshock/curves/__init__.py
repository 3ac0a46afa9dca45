"""Curves of scores over an axis: forms, fits, and forecasts that know what they do not know."""

from foreshock.curves._axes import Axis, ability_axis, benchmark_axis, card_axis, loss_axis
from foreshock.curves._calibrate import calibrate
from foreshock.curves._calibration import Calibration
from foreshock.curves._conformal import curves_needed, interval_score
from foreshock.curves._crossing import Side, Standing, exact_bounds, first_crossing, side_of, standing
from foreshock.curves._curve import Curve
from foreshock.curves._fit import FormFit, Optimum, fit
from foreshock.curves._fit_all import Alike, FormFits, RuledOut, fit_all
from foreshock.curves._forecast import Forecast, forecast
from foreshock.curves._forms import Form, forms
from foreshock.curves._horizon import Attempts, Horizon, HorizonTrend, horizon_trend, horizons
from foreshock.curves._observational import KnownModels, ObservedForecast, observe
from foreshock.curves._series import curve_of
from foreshock.curves._support import furthest
from foreshock.curves._two_stage import TwoStage, two_stage

__all__ = [
    "Alike",
    "Attempts",
    "Axis",
    "Calibration",
    "Curve",
    "Forecast",
    "Form",
    "FormFit",
    "FormFits",
    "Horizon",
    "HorizonTrend",
    "KnownModels",
    "ObservedForecast",
    "Optimum",
    "RuledOut",
    "Side",
    "Standing",
    "TwoStage",
    "ability_axis",
    "benchmark_axis",
    "calibrate",
    "card_axis",
    "curve_of",
    "curves_needed",
    "exact_bounds",
    "first_crossing",
    "fit",
    "fit_all",
    "forecast",
    "forms",
    "furthest",
    "horizon_trend",
    "horizons",
    "interval_score",
    "loss_axis",
    "observe",
    "side_of",
    "standing",
    "two_stage",
]
