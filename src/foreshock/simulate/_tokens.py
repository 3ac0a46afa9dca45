"""Answers made of tokens that must all be right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from foreshock.simulate._world import Floats, World, ladder, model_noise, truth_of


def token_world(  # noqa: PLR0913 - nature has many knobs, each with a default
    rng: np.random.Generator,
    *,
    points: int = 8,
    items: int = 1000,
    lengths: ArrayLike = 10,
    shape: str = "linear",
    rise: float = 2.6,
    start: float = 1.2,
    share: float = 0.0,
    at: float = 0.5,
    noise: float = 0.1,
    tails: str = "normal",
    chain: float = 0.0,
    seeds: int = 1,
    difficulty: float = 0.5,
    surprise: float = 0.3,
    dependence: float = 0.0,
    uneven: bool = False,
    linked: str = "loss",
    deviations: Floats | None = None,
    positions: bool = True,
) -> World:
    """All-of-N world: the loss per token falls along the axis and an answer is right when all its tokens are.

    Ability a of a model on item j gives the loss per token ``start * exp(-(a - b_j + e))`` (``linked="loss"``) or the
    log-odds of a right token ``a - b_j + e - log(e^start - 1)`` (``linked="logit"``), with item difficulty b and an
    interaction e of model and item. Each token is right with probability exp(-loss).

    Args:
        rng: Source of randomness.
        points: Models along the axis.
        items: Items.
        lengths: Tokens per answer; several values are dealt out evenly over the items.
        shape: Name of the curve, see :data:`CURVES`.
        rise: Whole change of ability on the link.
        start: Loss per token at the first point.
        share: Share of ``rise`` carried by a step; 0 for a smooth world.
        at: Place of the step along the axis (0 to 1).
        noise: Standard deviation of models about the curve.
        tails: See :func:`model_noise`.
        chain: Autocorrelation along the axis.
        seeds: Models per point.
        difficulty: Standard deviation of item difficulty.
        surprise: Standard deviation of the interaction.
        dependence: Chance that a whole answer is decided by one draw instead of one per token.
        uneven: Uneven gaps on the axis.
        linked: ``loss`` or ``logit``: the scale on which ``shape`` holds.
        deviations: Deviation of each model from the curve, shape (seeds, points), instead of drawing it from ``noise``,
            ``tails`` and ``chain``; models of a suite share theirs.
        positions: Whether every token is drawn. Without, one draw decides an answer, with the same probability: that
            is 10 times as fast for 10 tokens, and ``World.positions`` is None.

    Examples:
        >>> world = token_world(np.random.default_rng(0), points=5, items=50, lengths=[2, 3])
        >>> world.hard.shape, world.positions.shape, world.tokens
        ((5, 50), (5, 50, 3), 2.5)
    """
    x = ladder(points, uneven=uneven)
    truth = truth_of(shape, x, rise, share, at)
    off = deviations if deviations is not None else model_noise(rng, points, seeds, noise, tails, chain)
    size = np.resize(np.atleast_1d(np.asarray(lengths, int)), items)
    hard_of: Floats = difficulty * rng.standard_normal(items)
    ability = (truth.ability + off)[:, :, None] - hard_of + surprise * rng.standard_normal((seeds, points, items))
    logit = linked == "logit"
    loss = np.logaddexp(0.0, np.log(np.expm1(start)) - ability) if logit else start * np.exp(-ability)
    logprob, seen = -loss * size, None
    if positions:
        right = _answers(rng, loss, int(size.max()), dependence)
        there = np.arange(size.max()) < size[:, None]
        exact = np.where(there, right, True).all(axis=-1).astype(float)
        seen = np.where(there, right[0], np.nan)
    else:
        whole = np.exp(logprob)
        chance = (1 - dependence) * whole + dependence * np.exp(-loss) if dependence else whole
        exact = (rng.random(loss.shape) < chance).astype(float)
    return World(
        x=x,
        hard=exact.mean(axis=0),
        twins={"gold_logprob": logprob.mean(axis=0)},
        replicates={
            "hard": list(exact.mean(axis=2).T),
            "gold_logprob": list(logprob.mean(axis=2).T),
        },
        positions=seen,
        tokens=float(size.mean()),
        chance=0.0,
        truth=truth,
    )


def _answers(rng: np.random.Generator, loss: Floats, width: int, dependence: float) -> Floats:
    """Whether each token is right, shape (..., items, width); dependent items share one uniform over all tokens."""
    own = rng.random((*loss.shape, width), dtype=np.float32)
    if dependence > 0:
        shared = rng.random(loss.shape) < dependence
        own = np.where(shared[..., None], own[..., :1], own)
    return np.asarray(own < np.exp(-loss)[..., None])
