"""Multiple choice: the option with the largest log-likelihood is chosen."""

from __future__ import annotations

import numpy as np

from foreshock.simulate._world import Floats, World, ladder, model_noise, truth_of


def choice_world(  # noqa: PLR0913 - nature has many knobs, each with a default
    rng: np.random.Generator,
    *,
    points: int = 8,
    items: int = 1000,
    choices: int = 4,
    shape: str = "linear",
    rise: float = 2.6,
    start: float = 0.2,
    share: float = 0.0,
    at: float = 0.5,
    noise: float = 0.1,
    tails: str = "normal",
    chain: float = 0.0,
    seeds: int = 1,
    difficulty: float = 1.0,
    surprise: float = 0.7,
    uneven: bool = False,
    deviations: Floats | None = None,
) -> World:
    """Argmax world: the lead of the right option over the others rises along the axis.

    Args:
        rng: Source of randomness.
        points: Models along the axis.
        items: Items.
        choices: Options per item.
        shape: Name of the curve, see :data:`CURVES`.
        rise: Whole change of the lead, in nats.
        start: Lead at the first point.
        share: Share of ``rise`` carried by a step; 0 for a smooth world.
        at: Place of the step along the axis (0 to 1).
        noise: Standard deviation of models about the curve.
        tails: See :func:`model_noise`.
        chain: Autocorrelation along the axis.
        seeds: Models per point.
        difficulty: Standard deviation of item difficulty.
        surprise: Standard deviation of the log-likelihoods of options given model and item.
        uneven: Uneven gaps on the axis.
        deviations: See :func:`token_world`.

    Examples:
        >>> world = choice_world(np.random.default_rng(0), points=5, items=200, rise=6.0)
        >>> bool(world.hard[0].mean() < world.hard[-1].mean()), world.chance
        (True, 0.25)
    """
    x = ladder(points, uneven=uneven)
    truth = truth_of(shape, x, rise, share, at)
    off = deviations if deviations is not None else model_noise(rng, points, seeds, noise, tails, chain)
    lead = start + (truth.ability + off)[:, :, None] - difficulty * rng.standard_normal(items)
    scores: Floats = surprise * rng.standard_normal((seeds, points, items, choices))
    scores[..., 0] += lead
    top = scores.max(axis=-1, keepdims=True)
    share_of = np.exp(scores - top)
    share_of /= share_of.sum(axis=-1, keepdims=True)
    exact = (scores.argmax(axis=-1) == 0).astype(float)
    target = np.zeros(choices)
    target[0] = 1.0
    each = {
        "choice_probability": share_of[..., 0],
        "brier": ((share_of - target) ** 2).sum(axis=-1),
        "choice_margin": scores[..., 0] - scores[..., 1:].max(axis=-1),
    }
    return World(
        x=x,
        hard=exact.mean(axis=0),
        twins={name: v.mean(axis=0) for name, v in each.items()},
        replicates={
            "hard": list(exact.mean(axis=2).T),
            **{name: list(v.mean(axis=2).T) for name, v in each.items()},
        },
        positions=None,
        tokens=1.0,
        chance=1.0 / choices,
        truth=truth,
        link="argmax",
    )
