"""A hard score foretold through its continuous twin: the twin along the axis, then the hard score from the twin.

The first stage is the twin's own forecast with its conformal distribution of errors. The second is a curve between a
floor and a ceiling, straight in the twin on the log-odds, averaged over shapes by what the models seen say of them
(:mod:`foreshock.curves._score_posterior`; Bhagia et al. 2024, "Establishing Task Scaling Laws", equations 3 and 4, have
one shape). Errors of the two stages are taken as independent and drawn together.

The interval is such a belief. It is not conformal and promises nothing; the direct forecast beside it has one that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from foreshock._base import ConfigError
from foreshock.curves._calibration import Calibration
from foreshock.curves._curve import Curve, Floats
from foreshock.curves._forecast import Forecast, forecast
from foreshock.curves._score_posterior import Observed, Posterior, draws, posterior, quantiles
from foreshock.curves._score_shapes import straight_shapes
from foreshock.curves._scores import share_ends
from foreshock.curves._support import distance_of

LEAST = 4
"""Models with both scores at the least: a line on the link and one to see it by."""
_QUANTILES = 21
_DRAWS = 16
_SPREAD = np.array([4.0, 3.0])
"""Spread of level and slope, on the log-odds, per standard deviation of the twin."""


@dataclass(frozen=True, slots=True, eq=False)
class TwoStage:
    """A hard score foretold in two stages, beside the direct forecast.

    Attributes:
        at: Places, shape (targets,).
        value, low, high: Forecasts with their intervals, on the scale of the hard score; NaN where there is none.
        level: Coverage that was asked for.
        refused: Why there is none at all.
        enough: What would be enough.
        rises: Whether the hard score rises with the twin (``yes`` or ``no``), or ``cannot tell``.
        twin: The twin's forecast.
        direct: The hard score's own.
    """

    at: Floats
    value: Floats
    low: Floats
    high: Floats
    level: float
    refused: str | None
    enough: str | None
    rises: Literal["yes", "no", "cannot tell"]
    twin: Forecast
    direct: Forecast

    @property
    def lacking(self) -> tuple[str | None, ...]:
        """Why there is no forecast at a place, which is why the twin has none there; None where there is one."""
        return self.twin.lacking


def two_stage(
    hard: Curve,
    twin: Curve,
    at: ArrayLike,
    *,
    calibrations: tuple[Calibration | None, Calibration | None] = (None, None),
    level: float = 0.9,
    seed: int = 0,
) -> TwoStage:
    """Foretell a hard score through its twin.

    Args:
        hard: The hard score, on a scale with two ends.
        twin: Its continuous twin at the same places, on any scale; places that only one of them has are left out of the
            second stage.
        at: Places.
        calibrations: Of the hard score's and the twin's own forecasts; None is the shipped one.
        level: Coverage, in (0, 1).
        seed: Seed.

    Raises:
        ConfigError: The hard score has no two ends, the axes are read differently, or as in :func:`forecast`.

    Examples:
        >>> x = np.geomspace(1e8, 1e10, 6)
        >>> loss = 2 + 3 * (x / 1e8) ** -0.2
        >>> hard = Curve(x, 1 / (1 + np.exp(4 * (loss - 3.2))), np.full(6, 1e4), low=0.0, high=1.0)
        >>> told = two_stage(hard, Curve(x, loss, low=0.0), [3e10])
        >>> told.rises, bool(told.low[0] < 1 / (1 + np.exp(4 * (2 + 3 * 300**-0.2 - 3.2))) < told.high[0])
        ('no', True)
    """
    if hard.low is None or hard.high is None:
        raise ConfigError("the hard score has an open end", expected="a scale with two ends", do="declare low and high")
    if hard.log_x != twin.log_x:
        raise ConfigError("hard score and twin read their axes differently", expected="both on a log scale, or neither")
    direct = forecast(hard, at, calibration=calibrations[0], level=level, seed=seed, identify=False)
    first = forecast(twin, at, calibration=calibrations[1], level=level, seed=seed, identify=False)
    z, share, items = _pairs(hard, twin)
    none = np.full(direct.at.shape, np.nan)
    refused, enough = _refusal(first, z)
    if refused is not None:
        return TwoStage(direct.at, none, none, none, level, refused, enough, "cannot tell", first, direct)
    middle, size = float(z.mean()), float(z.std())
    design = np.column_stack([np.ones(z.size), (z - middle) / size])[None]
    found = posterior(Observed(design, share, items, _SPREAD, np.ones(z.size)), straight_shapes())
    told = _through(found, (_twin_quantiles(first) - middle) / size, _new_items(items), level, seed)
    value, low, high = (hard.low + (hard.high - hard.low) * part for part in told)
    return TwoStage(direct.at, value, *share_ends(hard, low, high), level, None, None, _rises(found), first, direct)


def _pairs(hard: Curve, twin: Curve) -> tuple[Floats, Floats, Floats]:
    """Twin on its link, hard score as a share, and its items, at the places that both have; repeats as their mean."""
    places = np.intersect1d(hard.x, twin.x)
    width = float(hard.high or 0.0) - float(hard.low or 0.0)
    share = (hard.y - float(hard.low or 0.0)) / width
    error = hard.sampling / width
    with np.errstate(divide="ignore", invalid="ignore"):
        told = share * (1 - share) / error**2
    items = np.where(np.isfinite(told) & (told >= 1), told, np.nan if hard.items is None else hard.items)

    def at(curve: Curve, values: Floats) -> Floats:
        return np.array([values[curve.x == place].mean() for place in places], float)

    z, share, items = at(twin, twin.z), at(hard, share), at(hard, items)
    there = np.isfinite(z)
    return z[there], share[there], items[there]


def _refusal(first: Forecast, z: Floats) -> tuple[str | None, str | None]:
    if first.refused is not None:
        return f"the twin has no forecast: {first.refused}", first.enough
    if z.size < LEAST:
        return f"{z.size} models have both scores", f"{LEAST} models"
    if z.std() < 1e-9:
        return "the twin is the same for all models", "models that differ"
    return None, None


def _twin_quantiles(first: Forecast) -> Floats:
    """Quantiles of what the twin will be, from its conformal errors, on its link, shape (targets, quantiles)."""
    made, used = first._predicted, first.calibration
    assert made is not None
    assert used is not None
    told = np.full((first.at.size, _QUANTILES), np.nan)
    levels = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    for inside, scores, wider in used.band(distance_of(first.curve, first.at), first.level):
        finite = np.isfinite(scores.score)
        reached = np.cumsum(scores.weight[finite])
        score = wider * scores.score[finite][np.searchsorted(reached, levels * reached[-1]).clip(0, finite.sum() - 1)]
        scale = np.where(score >= 0, made.up[inside, None], made.down[inside, None])
        told[inside] = made.centre[inside, None] + score * scale
    told[np.isnan(first.value)] = np.nan
    return told


def _new_items(items: Floats) -> float:
    return float(np.nanmedian(items)) if not np.isnan(items).all() else float("nan")


def _through(found: Posterior, twin: Floats, items: float, level: float, seed: int) -> tuple[Floats, Floats, Floats]:
    """Median and ends of the hard score when the twin takes each of its quantiles, as shares, shape (targets,)."""
    half = np.random.default_rng(seed).standard_normal((_DRAWS, 4))
    normals = np.concatenate([half, -half])
    levels = np.array([0.5, (1 - level) / 2, (1 + level) / 2])
    told = np.full((3, len(twin)), np.nan)
    for i in np.flatnonzero(~np.isnan(twin).any(axis=1)):
        design = np.column_stack([np.ones(twin.shape[1]), twin[i]])[None]
        share, weight = draws(found, design, items, normals)
        told[:, i] = quantiles(share.reshape(1, -1), np.tile(weight, twin.shape[1]), levels)[0]
    return told[0], told[1], told[2]


def _rises(found: Posterior) -> Literal["yes", "no", "cannot tell"]:
    """Which way the hard score goes with the twin, where nine tenths of the belief agree."""
    slope, spread = found.mode[:, 1], np.sqrt((found.root[:, 1] ** 2).sum(axis=1))
    above = float(found.weight @ (slope > 1.2816 * spread))
    below = float(found.weight @ (slope < -1.2816 * spread))
    return "yes" if above > 0.9 else "no" if below > 0.9 else "cannot tell"
