"""Several attempts at every item, of which one must succeed."""

from __future__ import annotations

import numpy as np

from foreshock.simulate._world import Floats, World, ladder, model_noise, truth_of


def attempt_world(  # noqa: PLR0913 - nature has many knobs, each with a default
    rng: np.random.Generator,
    *,
    points: int = 8,
    items: int = 1000,
    attempts: int = 8,
    of: int | None = None,
    shape: str = "linear",
    rise: float = 3.2,
    start: float = 0.03,
    share: float = 0.0,
    at: float = 0.5,
    noise: float = 0.1,
    tails: str = "normal",
    chain: float = 0.0,
    seeds: int = 1,
    difficulty: float = 0.7,
    surprise: float = 0.3,
    uneven: bool = False,
    linked: str = "complement",
    deviations: Floats | None = None,
) -> World:
    """Any-of-T world: an item counts when one of T attempts succeeds, or when a model ever refuses, or ever forfeits.

    Ability a of a model on item j gives the rate h of an attempt on one of three scales: log(-log(1 - h)) for
    ``linked="complement"``, log-odds for ``logit``, -log(-log h) for ``loss``.

    Args:
        rng: Source of randomness.
        points: Models along the axis.
        items: Items.
        attempts: T: attempts of which one must succeed.
        of: Attempts that are made at each item, at least T; the hard score is then the share of sets of T attempts
            that hold a success (Chen et al. 2021). None makes T of them, and the score is 0 or 1.
        shape: Name of the curve, see :data:`CURVES`.
        rise: Whole change of ability on the scale.
        start: Rate of an attempt at an item of mean difficulty at the first point.
        share: Share of ``rise`` carried by a step; 0 for a smooth world.
        at: Place of the step along the axis (0 to 1).
        noise: Standard deviation of models about the curve.
        tails: See :func:`model_noise`.
        chain: Autocorrelation along the axis.
        seeds: Models per point.
        difficulty: Standard deviation of item difficulty.
        surprise: Standard deviation of the interaction of model and item.
        uneven: Uneven gaps on the axis.
        linked: ``complement``, ``logit`` or ``loss``: the scale on which ``shape`` holds.
        deviations: See :func:`token_world`.

    Examples:
        >>> world = attempt_world(np.random.default_rng(0), points=5, items=200, attempts=4, of=10)
        >>> bool(world.hard.mean() > world.twins["pass_rate"].mean()), world.link, world.parts
        (True, 'any-of-T', 4)
    """
    x = ladder(points, uneven=uneven)
    truth = truth_of(shape, x, rise, share, at)
    off = deviations if deviations is not None else model_noise(rng, points, seeds, noise, tails, chain)
    place = (truth.ability + off)[:, :, None] - difficulty * rng.standard_normal(items)
    place += surprise * rng.standard_normal((seeds, points, items))
    made = attempts if of is None else of
    right = rng.binomial(made, _rate(place, start, linked))
    rate = right / made
    any_right = _any(rate, made, attempts)
    return World(
        x=x,
        hard=any_right.mean(axis=0),
        twins={"pass_rate": rate.mean(axis=0)},
        replicates={"hard": list(any_right.mean(axis=2).T), "pass_rate": list(rate.mean(axis=2).T)},
        positions=None,
        tokens=1.0,
        chance=0.0,
        truth=truth,
        link="any-of-T",
        parts=attempts,
        trials=made,
    )


def _rate(place: Floats, start: float, linked: str) -> Floats:
    if linked == "complement":
        return np.asarray(-np.expm1(np.log1p(-start) * np.exp(place)))
    if linked == "loss":
        return np.asarray(np.exp(np.log(start) * np.exp(-place)))
    return np.asarray(0.5 * (1 + np.tanh((place + np.log(start) - np.log1p(-start)) / 2)))


def _any(rate: Floats, made: int, attempts: int) -> Floats:
    """1 - C(made - right, T) / C(made, T) for the share of right ones."""
    failed = np.round(made * (1 - rate))
    none = np.ones(rate.shape)
    for k in range(attempts):
        none *= np.maximum(failed - k, 0) / (made - k)
    return np.asarray(1.0 - none)
