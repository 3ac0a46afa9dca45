"""Forecast a curve: many forms as one, drawn to persistence, with a conformal interval, or no forecast."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreshock._base import ConfigError
from foreshock.curves._calibration import TURNED, UNCOUNTED, Calibration, shipped
from foreshock.curves._combine import candidates
from foreshock.curves._conformal import curves_needed, exceedance, interval
from foreshock.curves._curve import Curve, Floats
from foreshock.curves._fit_all import FormFits, fit_all
from foreshock.curves._learn import Rule
from foreshock.curves._scores import counted, score_prediction, share_ends
from foreshock.curves._support import (
    distance_of,
    enough_of,
    kind_of_scale,
    lacking_of,
    reach_text,
    refusal_of,
    supported,
    turning,
)
from foreshock.records import Fit

Bools = NDArray[np.bool_]

MOST_TARGETS = 10_000

_USUAL = 0.9
"""Level whose bins and widening stand behind every probability."""


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """A forecast with its interval beside persistence with its own.

    Attributes:
        curve: The history.
        at: Places, shape (targets,).
        value: Forecasts, on the scale of the score; NaN where there is none.
        low, high: Ends of the interval.
        level: Coverage that was asked for.
        refused: Why there is no forecast at all; None where there is one.
        enough: What would be enough where there is none, in words.
        lacking: Why there is no forecast at a place, by place; None where there is one.
        weights: Weight of each form that took part.
        forms: The fitted laws, with what the data rule out; None where none was fitted.
        persistence, persistence_low, persistence_high: The last value, and the interval about it, at each place; NaN
            further out than a history of its length could support a forecast.
        basis: Which calibration the interval rests on, how many curves and groups, its measured coverage on groups left
            out.
        record: Data hash and seed.
        calibration: What the intervals rest on, those about persistence as well.
    """

    curve: Curve
    at: Floats
    value: Floats
    low: Floats
    high: Floats
    level: float
    refused: str | None
    enough: str | None
    lacking: tuple[str | None, ...]
    persistence: Floats
    persistence_low: Floats
    persistence_high: Floats
    basis: str
    record: Fit
    weights: dict[str, float] = field(default_factory=dict)
    forms: FormFits | None = None
    calibration: Calibration | None = None
    _predicted: Predicted | None = None

    def probability_above(self, threshold: float) -> Floats:
        """Probability that a score lies above a line, shape (targets,); NaN where there is no forecast.

        From the conformal distribution of the forecast's error, so it is marginal as the interval is. With K
        calibration curves nothing is less probable than 1 in 2 (K + 1). It is the same whatever the interval's level:
        bins of distance and their widening are those of 90%.
        """
        if self.calibration is None or self._predicted is None:
            return np.full(self.at.shape, np.nan)
        made, low, high = self._predicted, self.curve.low, self.curve.high
        if high is not None and threshold >= high:
            return np.where(np.isnan(self.value), np.nan, 0.0)
        if low is not None and threshold < low:
            return np.where(np.isnan(self.value), np.nan, 1.0)
        line = self.curve.link.forward(np.array([float(threshold)]))
        found = np.full(self.at.shape, np.nan)
        for inside, scores, wider in self.calibration.band(distance_of(self.curve, self.at), _USUAL):
            scales = (wider * made.down[inside], wider * made.up[inside])
            found[inside] = exceedance(line, made.centre[inside], *scales, scores)
        return np.where(np.isnan(self.value), np.nan, found)

    def rows(self) -> list[dict[str, Any]]:
        """One row a place for tables of a report; null where there is no number."""
        names = ("value", "low", "high", "persistence", "persistence_low", "persistence_high")
        return [
            {
                "curve": self.curve.name,
                "group": self.curve.group,
                "x": float(self.at[i]),
                **{name: _number(getattr(self, name)[i]) for name in names},
                "level": self.level,
                "refused": self.refused or self.lacking[i],
                "enough": self.enough,
                "basis": self.basis,
            }
            for i in range(self.at.size)
        ]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def forecast(
    curve: Curve,
    at: ArrayLike,
    *,
    calibration: Calibration | None = None,
    level: float = 0.9,
    seed: int = 0,
    identify: bool = True,
) -> Forecast:
    """Forecast a curve beyond its last point.

    The forecast is the mean of many forms on the link of the score, drawn to persistence. The interval is conformal: it
    covers *one* place drawn from *one* curve like those of the calibration with at least ``level``, on average over
    such curves. For a curve of another kind nothing is promised; ``basis`` says what was measured on groups left out.

    Args:
        curve: The history.
        at: Places, any order, up to :data:`MOST_TARGETS`.
        calibration: What weights, scales and scores were learned on; None is what the package learned on simulated
            curves.
        level: Coverage, in (0, 1).
        seed: Seed of the fits.
        identify: Whether the fitted laws say which of their parameters mean something; half of the time.

    Raises:
        ConfigError: A place is not on the axis, the level is not between 0 and 1, or the calibration is one for scores
            of the other kind.

    Examples:
        >>> x = np.geomspace(1e6, 1e9, 12)
        >>> found = forecast(Curve(x, 1.5 + 400 * x**-0.4, low=0.0), [2e9])
        >>> bool(found.low[0] < 1.5 + 400 * 2e9**-0.4 < found.high[0]), bool(found.value[0] < found.persistence[0])
        (True, True)
    """
    places = _asked(curve, at, level)
    used = shipped(shipped_name(curve)) if calibration is None else calibration
    if used.kind != kind_of_scale(curve):
        raise ConfigError(
            f"the calibration is for scales of kind {used.kind}, the curve has one of kind {kind_of_scale(curve)}",
            expected="curves of the same kind of scale",
        )
    if turning(curve):  # only persistence gets an interval, whatever the calibration given
        used = shipped(TURNED)
    refused, enough = _refusal(curve, places, used, level)
    possible = refusal_of(curve) is None and bool((curve.place(places) > curve.t[-1]).any())
    predicted = predict(curve, places, used.rule, seed=seed, identify=identify) if possible else None
    nothing = np.full(places.shape, np.nan)
    told = Forecast(
        curve=curve,
        at=places,
        value=nothing,
        low=nothing,
        high=nothing,
        level=level,
        refused=refused,
        enough=enough,
        lacking=lacking_of(curve, places),
        persistence=np.full(places.shape, _last(curve)),
        persistence_low=nothing,
        persistence_high=nothing,
        basis=used.basis(level),
        record=Fit(data_hash=curve.data_hash, seed=seed),
        calibration=used,
    )
    return told if predicted is None else _with_intervals(told, predicted, used)


def shipped_name(curve: Curve) -> str:
    """Which of the shipped calibrations is of histories like this one.

    Examples:
        >>> x = np.geomspace(1e8, 1e10, 5)
        >>> shipped_name(Curve(x, np.linspace(0.2, 0.6, 5), low=0.0, high=1.0))
        'share, items unknown'
        >>> shipped_name(Curve(x, np.linspace(0.2, 0.6, 5), np.full(5, 100.0), low=0.0, high=1.0))
        'share'
    """
    if turning(curve):
        return TURNED
    kind = kind_of_scale(curve)
    return UNCOUNTED if kind == "share" and curve.points and not counted(curve) else kind


def _last(curve: Curve) -> float:
    return float(np.mean(curve.y[curve.x == curve.x[-1]])) if curve.points else float("nan")


def _with_intervals(told: Forecast, predicted: Predicted, used: Calibration) -> Forecast:
    """The forecast with its intervals; its own only where nothing refuses it."""
    curve, ahead = told.curve, supported(told.curve, told.at, still=True)
    low, high = _ends(told, (predicted.last, predicted.still_down, predicted.still_up), used, ahead, still=True)
    told = replace(told, persistence_low=low, persistence_high=high, forms=predicted.fits)
    if told.refused is not None:
        return told
    near = supported(curve, told.at)
    low, high = _ends(told, (predicted.centre, predicted.down, predicted.up), used, near)
    value = _on_scale(curve, predicted.centre, near)
    return replace(told, value=value, low=low, high=high, weights=predicted.weights, _predicted=predicted)


def _ends(
    told: Forecast, band: tuple[Floats, Floats, Floats], used: Calibration, there: Bools, *, still: bool = False
) -> tuple[Floats, Floats]:
    """Ends of the intervals on the scale of the score, NaN where ``there`` is false."""
    centre, down, up = band
    ends = np.full((2, centre.size), np.nan)
    for inside, scores, wider in used.band(distance_of(told.curve, told.at), told.level, still=still):
        ends[:, inside] = interval(centre[inside], wider * down[inside], wider * up[inside], scores, told.level)
    low, high = (_on_scale(told.curve, end, there) for end in ends)
    return share_ends(told.curve, low, high) if kind_of_scale(told.curve) == "share" else (low, high)


def _on_scale(curve: Curve, z: Floats, there: Bools) -> Floats:
    y = curve.link.inverse(z)
    return np.where(there & ~np.isnan(y), y, np.nan)


def _asked(curve: Curve, at: ArrayLike, level: float) -> Floats:
    places = np.atleast_1d(np.asarray(at, np.float64))
    if places.ndim != 1 or places.size > MOST_TARGETS:
        raise ConfigError(f"places of shape {places.shape}", expected=f"up to {MOST_TARGETS:,} places in a row")
    curve.place(places)
    if not 0 < level < 1:
        raise ConfigError(f"a level of {level}", expected="a level between 0 and 1")
    return places


def _refusal(curve: Curve, places: Floats, used: Calibration, level: float) -> tuple[str | None, str | None]:
    """Why there is no forecast at any place, and what would be enough."""
    why = refusal_of(curve)
    if why is not None:
        return why, enough_of(curve)
    if used.curves < curves_needed(level):
        return f"{used.curves} calibration curves", f"{curves_needed(level)} for an interval of {level:.4g}"
    if not supported(curve, places).any():
        return next((why for why in lacking_of(curve, places) if why), "no place to forecast"), reach_text(curve)
    return None, None


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """What is forecast on the link, before a conformal quantile is applied.

    Attributes:
        centre: Forecasts, shape (targets,).
        down, up: Scale of the error below and above them.
        last: The last value, shape (targets,).
        still_down, still_up: Scale of its error.
        weights: Weights of the forms.
        fits: The fitted laws.
    """

    centre: Floats
    down: Floats
    up: Floats
    last: Floats
    still_down: Floats
    still_up: Floats
    weights: dict[str, float]
    fits: FormFits | None = None


def predict(curve: Curve, at: Floats, rule: Rule | None, *, seed: int = 0, identify: bool = False) -> Predicted:
    """Forecasts and the scales of their errors, of a history that :func:`refusal_of` lets pass.

    Args:
        curve: The history.
        at: Places.
        rule: Weights and scales; None for scores between two ends.
        seed: Seed of the fits.
        identify: Whether the fits tell which parameters mean something.
    """
    if rule is None:
        told = score_prediction(curve, at, seed=seed)
        return Predicted(**told._asdict(), fits=fit_all(curve, seed=seed, identify=identify))
    found = candidates(curve, at, seed=seed, identify=identify)
    centre, scale, weights = rule.centre(found)
    last, still = rule.persistence(found)
    return Predicted(centre, scale, scale, last, still, still, weights, found.fits)
