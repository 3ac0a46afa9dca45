"""Forecasts of scores between two ends, from few models: what `forecast` uses on the log-odds link.

Half of the forecast is the median of a belief over many shapes (:mod:`foreshock.curves._score_shapes`), the other half
is shared by a straight line on the link, a damped slope of the later half, and the last value. The shares were chosen
on simulated worlds, where the belief alone is best, and on public tables of model families (Pythia left out), where
from a quarter to a half for the belief, and any split of the rest, the mean error differed by less than .001.

The scale of the error is that of the belief's own 90% interval, seen from the forecast. It is not the interval: that is
conformal (:mod:`foreshock.curves._conformal`), in units of this scale.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from foreshock.curves._curve import Curve, Floats
from foreshock.curves._local import last_value
from foreshock.curves._score_posterior import Observed, Posterior, draws, posterior, quantiles
from foreshock.curves._score_shapes import LEVEL_SD, RISE_SD, design_along, shapes
from foreshock.stats import logit, normal_quantile

SHARES = {"belief over shapes": 1 / 2, "line": 1 / 6, "damped slope": 1 / 6, "last value": 1 / 6}
"""Part of each in the forecast."""

MOST_POINTS = 48
"""Of a longer history so many points are used, spread evenly over the axis, the last among them."""

_TAIL = 0.05
_DRAWS = 16
_LEAST_SCALE = 0.02
_LINE_NOISE = 0.1
"""Noise of a model in the weights of a line, on log-odds; the sampling of items is added to it."""


class ScorePrediction(NamedTuple):
    """Forecasts on the link with the scales of their errors, each of shape (targets,).

    Attributes:
        centre: Forecasts.
        down, up: Scale of the error below and above.
        last: The last value.
        still_down, still_up: Scale of the last value's error.
        weights: Part of each form in the forecast.
    """

    centre: Floats
    down: Floats
    up: Floats
    last: Floats
    still_down: Floats
    still_up: Floats
    weights: dict[str, float]


def score_prediction(curve: Curve, at: Floats, *, seed: int = 0) -> ScorePrediction:
    """Forecast a score between two ends.

    Args:
        curve: A history of at least two different places on a scale with two ends; three make a forecast useful.
        at: Places.
        seed: Seed of the draws.

    Raises:
        ValueError: Fewer than two different places, or a scale with an open end.

    Examples:
        >>> history = Curve(np.array([1e8, 1e9, 1e10]), np.array([0.3, 0.5, 0.7]), np.full(3, 1e3), low=0.0, high=1.0)
        >>> found = score_prediction(history, np.array([3e10]))
        >>> bool(found.last[0] < found.centre[0] < logit.forward(np.array([0.9]))[0])
        True
    """
    if curve.low is None or curve.high is None:
        raise ValueError("the scale of the score has an open end")
    if np.unique(curve.t).size < 2:
        raise ValueError("the history has fewer than two different places")
    t, share, items = _history(curve)
    place, ahead = (t - t[0]) / np.ptp(t), (curve.place(at) - t[0]) / np.ptp(t)
    new = float(np.nanmedian(items)) if not np.isnan(items).all() else float("nan")
    spread = np.array([LEVEL_SD, RISE_SD])
    found = posterior(Observed(design_along(place, shapes()), share, items, spread, np.ones(place.size)), shapes())
    low, middle, high = _quantiles(found, ahead, new, seed)
    forms = _cheap(place, share, items, ahead) | {"belief over shapes": middle}
    floor, ceiling = _ends(new)
    centre = np.clip(sum(part * forms[name] for name, part in SHARES.items()), floor, ceiling)
    last = np.clip(forms["last value"], floor, ceiling)
    scales = [_scale(distance) for distance in (centre - low, high - centre, last - low, high - last)]
    return ScorePrediction(centre, scales[0], scales[1], last, scales[2], scales[3], dict(SHARES))


def counted(curve: Curve) -> bool:
    """Whether the sampling noise of any score is known, from its items or its standard error."""
    return not np.isnan(_history(curve)[2]).all()


def came_on_link(curve: Curve, y: Floats) -> Floats:
    """Scores that came on the link of a history, 0 and 1 at half an item of it, shape (targets,)."""
    _, _, items = _history(curve)
    known = items[~np.isnan(items)]
    floor, ceiling = _ends(float(np.median(known)) if known.size else float("nan"))
    with np.errstate(divide="ignore"):
        return np.clip(logit.forward(_share(curve, np.asarray(y, float))), floor, ceiling)


def share_ends(curve: Curve, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Ends of intervals on the scale of the score: what is within half an item of an end of the scale is that end.

    On a link no interval would ever hold a score of 0 of n.
    """
    _, _, items = _history(curve)
    known = items[~np.isnan(items)]
    if not known.size or curve.low is None or curve.high is None:
        return low, high
    half = 0.5 / float(np.median(known)) * (1 + 1e-9)
    at_low, at_high = _share(curve, low) <= half, _share(curve, high) >= 1 - half
    return np.where(at_low, curve.low, low), np.where(at_high, curve.high, high)


def _share(curve: Curve, y: Floats) -> Floats:
    low, high = float(curve.low or 0.0), float(curve.high if curve.high is not None else 1.0)
    return np.clip((y - low) / (high - low), 0.0, 1.0)


def _history(curve: Curve) -> tuple[Floats, Floats, Floats]:
    """Places on the reading scale, shares, and items that would give the known sampling error, each (points,)."""
    width = float(curve.high or 0.0) - float(curve.low or 0.0)
    share, error = _share(curve, curve.y), curve.sampling / width
    items = np.full(curve.points, np.nan) if curve.items is None else curve.items.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        told = share * (1 - share) / error**2
    # a stated error may come from repeated or clustered items; at 0 and 1 it says nothing and the items do
    stated = np.isfinite(told) & (told >= 1)
    items = np.where(stated, told, items)
    chosen = _spread_evenly(curve.t)
    return curve.t[chosen], share[chosen], items[chosen]


def _spread_evenly(t: Floats) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    if t.size <= MOST_POINTS:
        return np.arange(t.size)
    wanted = np.linspace(t[0], t[-1], MOST_POINTS)
    return np.unique(np.append(np.searchsorted(t, wanted).clip(0, t.size - 1), t.size - 1))


def _ends(items: float) -> tuple[float, float]:
    """Link of half an item and of all but half an item; without known items of one in ten thousand."""
    half = 0.5 / items if np.isfinite(items) else 1e-4
    ends = logit.forward(np.array([half, 1 - half]))
    return float(ends[0]), float(ends[1])


def _quantiles(found: Posterior, ahead: Floats, items: float, seed: int) -> tuple[Floats, Floats, Floats]:
    """5%, 50% and 95% of what is believed of a new model's score, on the link, each of shape (targets,)."""
    half = np.random.default_rng(seed).standard_normal((_DRAWS, 4))
    share, weight = draws(found, design_along(ahead, found.shapes), items, np.concatenate([half, -half]))
    floor, ceiling = _ends(items)
    levels = np.array([_TAIL, 0.5, 1 - _TAIL])
    with np.errstate(divide="ignore"):
        low, middle, high = np.clip(logit.forward(quantiles(share, weight, levels)), floor, ceiling).T
    return low, middle, high


def _cheap(place: Floats, share: Floats, items: Floats, ahead: Floats) -> dict[str, Floats]:
    """Line through all points, damped slope of the later half, and the last value, on the link."""
    half = np.where(np.isnan(items), 1e-4, 0.5 / items)
    inner = np.clip(share, half, 1 - half)
    z = logit.forward(inner)
    sampling = np.where(np.isnan(items), 0.0, 1 / (items * inner * (1 - inner)))
    weight = 1 / (sampling + _LINE_NOISE**2)
    level, slope = _line(place, z, weight)
    later = place >= place[-max(2, (place.size + 1) // 2)]
    if np.unique(place[later]).size < 2:
        later = place >= np.unique(place)[-2]
    _, end_slope = _line(place[later], z[later], weight[later])
    last = last_value(place, z)
    return {
        "line": level + slope * ahead,
        "damped slope": last - end_slope * np.expm1(-(ahead - 1)),
        "last value": np.full(ahead.shape, last),
    }


def _line(place: Floats, z: Floats, weight: Floats) -> tuple[float, float]:
    share = weight / weight.sum()
    centre = place - share @ place
    slope = float(share @ (centre * z) / (share @ centre**2))
    return float(share @ z - slope * (share @ place)), slope


def _scale(distance: Floats) -> Floats:
    """One standard deviation from the distance to a 5% quantile; never nothing, as a score may always move a little."""
    return np.maximum(distance / normal_quantile(1 - _TAIL), _LEAST_SCALE)
