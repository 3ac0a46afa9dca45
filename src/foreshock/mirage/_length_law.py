"""How the length of an answer acts: geometrically on exact match, about linearly on the number of wrong tokens?

Were tokens right independently and equally often, an answer of L tokens would be right with probability p^L and would
have L(1 - p) wrong tokens. Both are one family with an exponent: exact match exp(-c L^k), wrong tokens c L^k, where the
prediction is k = 1 (Schaeffer et al. 2023, section 3). c belongs to the model, k to all models together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage._design import Floats
from foreshock.stats import item_weights, percentile_interval

_STEPS = 40
# fewer items of a length say nothing about it
_LEAST = 10
_DRAWS = 300


@dataclass(frozen=True, slots=True)
class Exponent:
    """Exponent of the length.

    Attributes:
        value: Estimate; 1 is geometric (exact match) or linear (wrong tokens).
        low, high: 95% interval by joint item bootstrap.
        items, lengths, models: What it rests on.
    """

    value: float
    low: float
    high: float
    items: int
    lengths: int
    models: int


@dataclass(frozen=True, slots=True)
class LengthLaw:
    """Both exponents; None with the reason where one cannot be had.

    Attributes:
        exact: Of exact match.
        wrong: Of the number of wrong tokens.
        why: Why one or both are missing.
    """

    exact: Exponent | None
    wrong: Exponent | None
    why: str = ""


def length_law(positions: Floats, rng: np.random.Generator, draws: int = _DRAWS) -> LengthLaw:
    """Exponents of the length from per-position correctness.

    Args:
        positions: Correctness per position, shape (points, items, positions), NaN past the end of an item.
        rng: Source of randomness.
        draws: Bootstrap draws of the items, the same for all models.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> right = (rng.random((3, 400, 4)) < np.array([0.6, 0.75, 0.9])[:, None, None]).astype(float)
        >>> right[:, :100, 2:] = np.nan
        >>> law = length_law(right, rng)
        >>> law.exact.low < 1 < law.exact.high, law.wrong.low < 1 < law.wrong.high
        (True, True)
    """
    length = (~np.isnan(positions[0])).sum(axis=1)
    sizes, counts = np.unique(length[length > 0], return_counts=True)
    sizes = sizes[counts >= _LEAST]
    if sizes.size < 2:
        told = f"answers of one length ({sizes[0]})" if sizes.size else f"no length with {_LEAST} items or more"
        return LengthLaw(None, None, f"{told}: how length acts cannot be seen")
    keep = np.isin(length, sizes)
    kept, length = positions[:, keep], length[keep]
    exact = np.nanmin(kept, axis=2)
    wrong = np.nansum(1 - kept, axis=2)
    weights = np.vstack([np.ones(length.size), item_weights(rng, draws, length.size)])
    onehot = (length[:, None] == sizes).astype(float)
    trials = (weights @ onehot)[:, None, :]
    place = (np.log(sizes), trials, (length.size, sizes.size))
    return LengthLaw(
        _exponent(_summed(weights, exact, onehot), place, _binomial),
        _exponent(_summed(weights, wrong, onehot), place, _poisson),
        "",
    )


def _summed(weights: Floats, scores: Floats, onehot: Floats) -> Floats:
    """Sums by draw, model and length."""
    return np.stack([weights @ (row[:, None] * onehot) for row in scores], axis=1)


Step = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]


def _binomial(eta: Floats, hits: Floats, trials: Floats) -> tuple[Floats, Floats]:
    """Score and weight of eta where a success has probability exp(-exp(eta))."""
    loss = np.exp(eta)
    p = np.clip(np.exp(-loss), 1e-12, 1 - 1e-12)
    return -(hits - trials * p) * loss / (1 - p), trials * loss**2 * p / (1 - p)


def _poisson(eta: Floats, errors: Floats, trials: Floats) -> tuple[Floats, Floats]:
    """Score and weight of eta where the mean number of errors is exp(eta)."""
    mean = trials * np.exp(eta)
    return errors - mean, mean


def _exponent(sums: Floats, place: tuple[Floats, Floats, tuple[int, int]], step: Step) -> Exponent | None:
    """Fit one exponent for all models; models that are always or never right say nothing about it."""
    log_length, trials, (items, lengths) = place
    informed = _informed(sums[0], trials[0], step)
    if not informed.any():
        return None
    sums = sums[:, informed]
    x = log_length - log_length.mean()
    level = np.zeros((*sums.shape[:2], 1))
    slope = np.ones((sums.shape[0], 1, 1))
    for _ in range(_STEPS):
        score, weight = step(np.clip(level + slope * x, -30.0, 5.0), sums, trials)
        # a tiny ridge: a bootstrap draw may leave a model without a single success
        a, b = weight.sum(axis=2) + 1e-9, (weight * x).sum(axis=2)
        g, along = score.sum(axis=2), (score * x).sum(axis=(1, 2))
        bend = (weight * x**2).sum(axis=(1, 2)) - (b**2 / a).sum(axis=1) + 1e-9
        move = np.clip((along - (b * g / a).sum(axis=1)) / bend, -0.5, 0.5)
        shift = np.clip((g - b * move[:, None]) / a, -1.0, 1.0)
        level, slope = level + shift[:, :, None], slope + move[:, None, None]
    found = slope[:, 0, 0]
    low, high = percentile_interval(found[1:])
    return Exponent(float(found[0]), float(low), float(high), items, lengths, int(informed.sum()))


def _informed(observed: Floats, trials: Floats, step: Step) -> NDArray[np.bool_]:
    total = observed.sum(axis=1)
    if step is _poisson:
        return np.asarray(total > 0)
    # the length acts on a model's exact match only where it is neither always right nor never
    return np.asarray((total > 0) & (total < trials.sum()))
