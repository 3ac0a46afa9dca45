"""Many forms' forecasts of one curve as one: their weighted mean on the link, and what is known of its error.

Forms differ more in where they fail than in how well they fit, so a mean of many is better than the best of them, and
picking by fit is worse than either (Bates & Granger 1969; for scaling curves ``docs/forecasting.md`` has the figures).
Persistence is one of them: the mean is drawn to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreshock.curves._curve import Curve, Floats
from foreshock.curves._fit import fit
from foreshock.curves._fit_all import FormFits, fit_all
from foreshock.curves._local import DAMPING, last_value, local_trends
from foreshock.stats import normal_quantile, t_quantile

Bools = NDArray[np.bool_]

PERSISTENCE = "last value"
STRAIGHT = "straight trend"
GLOBAL_FORMS = ("m2", "m3", "m4", "bnsl1", "bnsl2")
"""Laws of the whole history. One power law without a floor is none of them: it misses the end of most curves."""
LATE_FORMS = {"m2, last half": 1 / 2, "m2, last 30%": 0.3}
"""A power law onto a floor through the last share of the points."""
ALL_FORMS = (*GLOBAL_FORMS, *LATE_FORMS, *DAMPING, PERSISTENCE)
FEATURES = ("trend", "spread", "move", "turn")
"""Lengths on the link that an error may be proportional to; see :func:`features_of`."""
MOST_PLACES = 400
"""A longer history is averaged within even bins of its axis."""
_LATE_LEAST = 5
_TAIL = 0.95
_CLIP = 10.0
"""A form counts as no further from the median of all than ten times their median distance from it."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What each form forecasts.

    Attributes:
        names: Forms.
        z: Forecasts on the link, shape (forms, targets); NaN where a form has none.
        last: The last value, on the link.
        trend: Standard deviation that the local trends give themselves, times what Student's t of so few places has
            over the normal law at a 95% quantile, shape (targets,).
        slope: Mean absolute slope of the history times the distance of the target, shape (targets,).
        fits: The fitted laws; None where they were not asked for.
    """

    names: tuple[str, ...]
    z: Floats
    last: float
    trend: Floats
    slope: Floats
    fits: FormFits | None = None


def candidates(curve: Curve, at: Floats, *, seed: int = 0, identify: bool = False) -> Candidates:
    """Forecasts of all forms.

    Args:
        curve: The history, with finite scores on its link and at least three different places.
        at: Places beyond the last, shape (targets,).
        seed: Seed of the fits' starts.
        identify: Whether fits also tell which of their parameters mean something; it takes twice as long.
    """
    short = thinned(curve)
    fits = fit_all(short, GLOBAL_FORMS, seed=seed, identify=identify)
    t, z, ahead = short.t, short.z, curve.place(at)
    found = {one.form.name: _on_link(curve, one.predict(at)) for one in fits.fits if one.solved}
    for name, share in LATE_FORMS.items():
        late = fit(short.take(end_of(t, share)), "m2", seed=seed, identify=False)
        if late.solved:
            found[name] = _on_link(curve, late.predict(at))
    unit = 1.0 if curve.log_x else float(np.ptp(t)) / 6
    trends = local_trends(t, z, ahead, unit=unit)
    found |= {name: trend.z for name, trend in trends.items()}
    last = last_value(curve.t, curve.z)
    found[PERSISTENCE] = np.full(at.shape, last)
    names = tuple(name for name in ALL_FORMS if name in found)
    sd = np.sqrt(np.mean([trend.sd**2 for trend in trends.values()], axis=0))
    # their noise is estimated from two places fewer than there are: of few places an error may be larger
    sd = sd * t_quantile(_TAIL, max(np.unique(t).size - 2, 1)) / normal_quantile(_TAIL)
    slope = float(np.ptp(z)) / float(np.ptp(t)) * (ahead - t[-1])
    return Candidates(names, np.array([found[name] for name in names]), last, sd, slope, fits)


def _on_link(curve: Curve, y: Floats) -> Floats:
    with np.errstate(all="ignore"):
        z = curve.link.forward(y)
    return np.where(np.isfinite(z), z, np.nan)


def end_of(t: Floats, share: float) -> slice:
    """The last share of the points, at least five, or all where there are fewer."""
    return slice(max(0, t.size - max(_LATE_LEAST, math.ceil(share * t.size))), t.size)


def thinned(curve: Curve) -> Curve:
    """The curve itself, or its means (on the link) within :data:`MOST_PLACES` even bins of a longer one."""
    if curve.points <= MOST_PLACES:
        return curve
    t, z = curve.t, curve.z
    edges = np.linspace(t[0], t[-1], MOST_PLACES + 1)[1:-1]
    bins = np.searchsorted(edges, t, side="right")
    used, inverse = np.unique(bins, return_inverse=True)
    count = np.bincount(inverse)
    place, mean = np.bincount(inverse, t) / count, np.bincount(inverse, z) / count
    x = np.exp(place) if curve.log_x else place
    # rounding must not put a mean beyond the places it is the mean of
    x = np.clip(x, curve.x[0], curve.x[-1])
    y = np.clip(curve.link.inverse(mean), curve.y.min(), curve.y.max())
    return Curve(x[: used.size], y, low=curve.low, high=curve.high, log_x=curve.log_x, trajectory=curve.trajectory)


def combine(found: Candidates, weights: dict[str, float]) -> tuple[Floats, Floats, dict[str, float]]:
    """Weighted mean of the forms and their weighted standard deviation about it.

    Forms without a forecast somewhere give their weight to the others in proportion; a form that is far from all others
    counts as no further than :data:`_CLIP` times their usual distance, so that one runaway fit moves little.

    Returns:
        Centre and spread, each of shape (targets,), and the weights used, which sum to 1.

    Raises:
        ValueError: No form that has a weight has a forecast.
    """
    weight = np.array([weights.get(name, 0.0) for name in found.names])
    weight = np.where(np.isfinite(found.z).all(axis=1), weight, 0.0)
    used = weight > 0
    if not used.any():
        raise ValueError("no form with a weight has a forecast")
    weight = weight[used] / weight[used].sum()
    z = found.z[used]
    middle = np.median(z, axis=0)
    reach = _CLIP * np.median(np.abs(z - middle), axis=0)
    near = middle + np.clip(z - middle, -reach, reach)
    centre = weight @ near
    spread = np.sqrt(weight @ (near - centre) ** 2)
    names = [name for name, use in zip(found.names, used, strict=True) if use]
    return centre, spread, dict(zip(names, weight.tolist(), strict=True))


def features_of(found: Candidates, centre: Floats, spread: Floats) -> Floats:
    """What the error of a forecast may be proportional to, shape (:data:`FEATURES`, targets), in units of the link.

    ``trend``: what the local trends think of their own error, which knows the noise and the distance; ``spread``: how
    far the forms disagree; ``move``: how far the forecast is from the last value; ``turn``: how much further the slope
    at the end would carry than the history's mean slope, 0 where it is no steeper: curves that speed up are the ones
    that surprise. Each doubles where the curve's deviations on the link double.
    """
    rows = dict(zip(found.names, found.z, strict=True))
    carried = np.abs(rows.get(STRAIGHT, np.full(centre.shape, found.last)) - found.last)
    turn = np.maximum(carried - found.slope, 0.0)
    return np.array([found.trend, spread, np.abs(centre - found.last), turn])


def scale_of(features: Floats, parts: Floats) -> Floats:
    """Scale of the error: the root of the sum of squares of the features, each times its part, shape (targets,)."""
    return np.asarray(np.sqrt((np.asarray(parts)[:, None] ** 2 * features**2).sum(axis=0)))
