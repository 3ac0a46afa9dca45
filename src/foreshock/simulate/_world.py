"""What a simulated world consists of, and the noise of its models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreshock.simulate._curves import curve

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of a world.

    Attributes:
        shape: Name of the curve.
        share: Share of the whole change that one interval carries as a step; 0 in smooth worlds.
        interval: The step lies between points ``interval`` and ``interval + 1``; None in smooth worlds.
        ability: Noise-free ability at each point on the link, shape (points,).
        steepest: Steepest interval of ``ability`` over its mean slope.
    """

    shape: str
    share: float
    interval: int | None
    ability: Floats
    steepest: float


@dataclass(frozen=True, slots=True)
class World:
    """Scores of one model family on one task.

    Attributes:
        x: Axis value of each point (think of parameters), ascending, shape (points,).
        hard: 0/1 scores of the first seed, or mean over seeds when there are several, shape (points, items).
        twins: Twin name to values, shape (points, items): ``gold_logprob`` (per answer, natural log), or for choices
            ``choice_probability``, ``brier``, ``choice_margin``; for attempts ``pass_rate``; for graded answers
            ``graded_score`` or ``sub_scores``.
        replicates: Metric name (``hard`` or a twin's) to the means of each seed at each point.
        positions: 0/1 per position, shape (points, items, positions), NaN past the end; None for choices.
        tokens: Mean length of the answers; 1 for choices.
        chance: Value of guessing on the hard metric.
        truth: What is true.
        link: How the hard metric hangs on what lies beneath: ``all-of-N``, ``any-of-T``, ``argmax``, ``threshold``.
        parts: Attempts of ``any-of-T``, or parts of which each item has the same number; None for tokens.
        threshold: Score from which a graded answer passes.
        trials: Trials behind the twin of one item.
    """

    x: Floats
    hard: Floats
    twins: dict[str, Floats]
    replicates: dict[str, list[Floats]]
    positions: Floats | None
    tokens: float
    chance: float
    truth: Truth
    link: str = "all-of-N"
    parts: int | None = None
    threshold: float | None = None
    trials: int = 1


def ladder(points: int, *, uneven: bool = False) -> Floats:
    """Axis values of a model family over three decades: evenly spaced in the logarithm, or with gaps of 1 to 3.

    Examples:
        >>> ladder(4).round(3).tolist()
        [1.0, 10.0, 100.0, 1000.0]
    """
    gaps = np.where(np.arange(points - 1) % 3 == 1, 3.0, 1.0) if uneven else np.ones(points - 1)
    place = np.concatenate([[0.0], np.cumsum(gaps)])
    return np.asarray(10 ** (3 * place / place[-1]))


def truth_of(shape: str, x: Floats, rise: float, share: float, at: float) -> Truth:
    """Ability along the axis: ``rise`` times a curve from 0 to 1, ``share`` of it as a step at ``at`` (0 to 1)."""
    t = np.log(x / x[0]) / np.log(x[-1] / x[0])
    smooth = curve(shape, t)
    interval = None
    ability = smooth
    if share > 0:
        interval = int(np.clip(np.searchsorted(t, at, side="right") - 1, 0, t.size - 2))
        ability = (1 - share) * smooth + share * (np.arange(t.size) > interval)
    slopes = np.diff(ability) / np.diff(t)
    return Truth(shape, share, interval, rise * ability, float(slopes.max() / (ability[-1] - ability[0])))


def model_noise(rng: np.random.Generator, points: int, seeds: int, scale: float, tails: str, chain: float) -> Floats:
    """Deviation of each model from the curve, shape (seeds, points).

    Args:
        rng: Source of randomness.
        points: Number of points.
        seeds: Models per point.
        scale: Standard deviation on the link.
        tails: ``normal``, ``t3`` (Student's t with 3 degrees of freedom, scaled), or ``outlier`` (normal, with one
            model of the family off by 4 standard deviations).
        chain: Autocorrelation of neighbouring points (checkpoints of one run).
    """
    shape = (seeds, points)
    e = rng.standard_t(3, shape) / np.sqrt(3) if tails == "t3" else rng.standard_normal(shape)
    if tails == "outlier":
        e[:, rng.integers(points)] += rng.choice([-4.0, 4.0])
    for i in range(1, points):
        e[:, i] = chain * e[:, i - 1] + np.sqrt(1 - chain**2) * e[:, i]
    return np.asarray(scale * e)
