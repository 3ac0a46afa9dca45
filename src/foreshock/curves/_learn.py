"""Learning weights and scales from curves whose continuation is known: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from foreshock.curves._combine import ALL_FORMS, FEATURES, Candidates, combine, features_of, scale_of
from foreshock.curves._conformal import signed_scores
from foreshock.curves._curve import Floats

STRENGTHS = (np.inf, 1.0, 0.1)
"""How strongly weights are drawn to equal ones; the strongest that is as good as the best is taken."""
RARE = 200
"""Curves from which on the part of ``turn`` is learned: most curves do not speed up at their end, and from a few dozen
the part of a length that is 0 on most of them is chance. With fewer it is 0."""
_TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A curve with what was forecast and what came.

    Attributes:
        found: Forecasts of every form.
        came: What came, on the link, shape (targets,).
        distance: Distance of the targets over the history's length, shape (targets,).
        group: Group of the curve.
    """

    found: Candidates
    came: Floats
    distance: Floats
    group: str


def error_products(known: Sequence[Known]) -> Floats:
    """Mean products of the forms' errors over the targets of each curve, shape (curves, forms, forms).

    A form without a forecast stands where the mean of the others does: it neither helps nor harms.
    """
    products = []
    for one in known:
        rows = dict(zip(one.found.names, one.found.z, strict=True))
        z = np.array([rows.get(name, np.full(one.came.shape, np.nan)) for name in ALL_FORMS])
        z[~np.isfinite(z).all(axis=1)] = np.nan
        z = np.where(np.isnan(z), np.nanmean(z, axis=0), z)
        error = np.clip(z - one.came, -5.0 * one.found.trend - 10.0, 5.0 * one.found.trend + 10.0)
        products.append(error @ error.T / error.shape[1])
    return np.array(products)


def curve_errors(weights: Floats, products: Floats) -> Floats:
    """Root mean square error of the weighted mean on each curve, shape (curves,)."""
    return np.asarray(np.sqrt(np.maximum(np.einsum("i,kij,j->k", weights, products, weights), 0.0)))


def learned_weights(products: Floats, strength: float) -> Floats:
    """Weights with the least mean error over curves, drawn to equal weights.

    The penalty is ``strength`` times the error of equal weights times the forms' summed squared distance from equal
    weights, in units of theirs; infinite strength gives equal weights.
    """
    forms = products.shape[1]
    equal = np.full(forms, 1.0 / forms)
    if not np.isfinite(strength) or forms < 2:
        return equal
    from scipy.optimize import minimize

    base = max(float(curve_errors(equal, products).mean()), _TINY)

    def loss(free: Floats) -> tuple[float, Floats]:
        weight = np.exp(free - free.max())
        weight /= weight.sum()
        error = np.maximum(curve_errors(weight, products), 1e-6 * base)
        away = weight - equal
        value = error.mean() / base + strength * forms * float(away @ away)
        slope = (np.einsum("kij,j->ki", products, weight) / error[:, None]).mean(axis=0) / base
        slope = slope + 2 * strength * forms * away
        return float(value), weight * (slope - weight @ slope)

    free = minimize(loss, np.zeros(forms), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    weight = np.exp(free - free.max())
    return np.asarray(weight / weight.sum())


def chosen_weights(products: Floats, groups: Sequence[str], *, equal: bool = False) -> tuple[Floats, float]:
    """Weights at the strength that does best on groups left out, equal ones unless others are clearly better.

    Each group is forecast with weights learned without it. A weaker pull is taken only where its mean error over groups
    is below that of every stronger one by more than twice the standard error of the difference over groups.

    Returns:
        Weights and the strength.
    """
    names = sorted(set(groups))
    label = np.array(groups)
    if equal or len(names) < 3:
        return learned_weights(products, np.inf), np.inf
    out = {
        strength: np.array(
            [curve_errors(learned_weights(products[label != g], strength), products[label == g]).mean() for g in names]
        )
        for strength in STRENGTHS
    }
    best = STRENGTHS[0]
    for strength in STRENGTHS[1:]:
        gain = out[best] - out[strength]
        if gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(len(names)):
            best = strength
    return learned_weights(products, best), best


def learned_scale(features: Sequence[Floats], errors: Sequence[Floats]) -> Floats:
    """Parts of the features in the scale, by likelihood.

    Errors count as double exponential with that scale, every curve alike whatever its number of targets. The double
    exponential is what the absolute error asks for, and a single wild curve moves it little.

    Args:
        features: For each curve, shape (features, targets).
        errors: For each curve, shape (targets,).

    Returns:
        Parts of 0 or more, shape (features,); that of ``turn`` is 0 with fewer than :data:`RARE` curves.
    """
    from scipy.optimize import minimize

    squares = np.concatenate([f.T**2 for f in features])
    if len(features) < RARE:
        squares[:, FEATURES.index("turn")] = 0.0
    error = np.abs(np.concatenate(list(errors)))
    weight = np.concatenate([np.full(e.size, 1.0 / e.size) for e in errors]) / len(errors)
    floor = (1e-6 * max(float(np.median(np.sqrt(squares.sum(axis=1)))), _TINY)) ** 2

    def loss(free: Floats) -> tuple[float, Floats]:
        part = np.exp(2 * free)
        variance = squares @ part + floor
        scale = np.sqrt(variance)
        value = float(weight @ (np.log(scale) + error / scale))
        slope = weight * (0.5 / variance - 0.5 * error / (scale * variance))
        return value, 2 * part * (slope @ squares)

    start = np.full(squares.shape[1], -1.0)
    bounds = [(-7.0, 3.0)] * start.size
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 300}).x
    return np.asarray(np.where((found <= -6.999) | ~squares.any(axis=0), 0.0, np.exp(found)))


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """How a centre and its scale come from candidates.

    Attributes:
        weights: Weight of each form.
        parts: Parts of the features in the scale of the combination.
        still: Parts of the features in the scale of persistence.
    """

    weights: dict[str, float]
    parts: Floats
    still: Floats

    def centre(self, found: Candidates) -> tuple[Floats, Floats, dict[str, float]]:
        """Combined forecast, its scale, and the weights used."""
        middle, spread, used = combine(found, self.weights)
        return middle, scale_of(features_of(found, middle, spread), self.parts), used

    def persistence(self, found: Candidates) -> tuple[Floats, Floats]:
        """The last value, and the scale of its error: how far the combination is from it is one of the features."""
        middle, spread, _ = combine(found, self.weights)
        last = np.full(middle.shape, found.last)
        return last, scale_of(features_of(found, middle, spread), self.still)


def learned_rule(known: Sequence[Known], weights: Floats) -> Rule:
    """The rule of some curves, with weights already chosen."""
    named = dict(zip(ALL_FORMS, np.asarray(weights).tolist(), strict=True))
    features, errors, still = [], [], []
    for one in known:
        centre, spread, _ = combine(one.found, named)
        features.append(features_of(one.found, centre, spread))
        errors.append(one.came - centre)
        still.append(one.came - one.found.last)
    return Rule(named, learned_scale(features, errors), learned_scale(features, still))


def scored(one: Known, rule: Rule) -> tuple[Floats, Floats]:
    """Signed scores of the combination and of persistence, each of shape (targets,)."""
    centre, scale, _ = rule.centre(one.found)
    last, still = rule.persistence(one.found)
    return signed_scores(one.came, centre, scale, scale), signed_scores(one.came, last, still, still)
