"""Graded answers: a score between 0 and 1, and a threshold on it; or parts, each passed or not."""

from __future__ import annotations

import numpy as np

from foreshock.simulate._world import Floats, World, ladder, model_noise, truth_of


def graded_world(  # noqa: PLR0913 - nature has many knobs, each with a default
    rng: np.random.Generator,
    *,
    points: int = 8,
    items: int = 1000,
    parts: int | None = None,
    threshold: float = 0.8,
    shape: str = "linear",
    rise: float = 3.2,
    start: float = 0.3,
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
    """Threshold world: the log-odds of an answer's score rise along the axis, and it passes from a threshold on.

    With ``parts`` the score is the share of an item's tests, steps or subgoals that pass, each with the chance that the
    log-odds give; at a threshold of 1 all of them must (``all-of-N``).

    Args:
        rng: Source of randomness.
        points: Models along the axis.
        items: Items.
        parts: Parts of each item; None for a score without parts.
        threshold: Score from which an answer passes.
        shape: Name of the curve, see :data:`CURVES`.
        rise: Whole change of the log-odds.
        start: Score of an item of mean difficulty at the first point.
        share: Share of ``rise`` carried by a step; 0 for a smooth world.
        at: Place of the step along the axis (0 to 1).
        noise: Standard deviation of models about the curve.
        tails: See :func:`model_noise`.
        chain: Autocorrelation along the axis.
        seeds: Models per point.
        difficulty: Standard deviation of item difficulty.
        surprise: Standard deviation of the interaction of model and item.
        uneven: Uneven gaps on the axis.
        deviations: See :func:`token_world`.

    Examples:
        >>> world = graded_world(np.random.default_rng(0), points=5, items=200)
        >>> bool(((world.twins["graded_score"] >= 0.8) == world.hard).all()), world.link
        (True, 'threshold')
    """
    x = ladder(points, uneven=uneven)
    truth = truth_of(shape, x, rise, share, at)
    off = deviations if deviations is not None else model_noise(rng, points, seeds, noise, tails, chain)
    odds = np.log(start) - np.log1p(-start) + (truth.ability + off)[:, :, None]
    odds = odds - difficulty * rng.standard_normal(items) + surprise * rng.standard_normal((seeds, points, items))
    score = 0.5 * (1 + np.tanh(odds / 2))
    if parts is not None:
        score = rng.binomial(parts, score) / parts
    passed = (score >= threshold).astype(float)
    twin = "graded_score" if parts is None else "sub_scores"
    whole = parts is not None and threshold >= 1
    return World(
        x=x,
        hard=passed.mean(axis=0),
        twins={twin: score.mean(axis=0)},
        replicates={"hard": list(passed.mean(axis=2).T), twin: list(score.mean(axis=2).T)},
        positions=None,
        tokens=1.0,
        chance=0.0,
        truth=truth,
        link="all-of-N" if whole else "threshold",
        parts=parts if whole else None,
        threshold=None if whole else threshold,
        trials=parts or 1,
    )
