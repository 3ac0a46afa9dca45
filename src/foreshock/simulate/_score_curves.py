"""Score curves whose truth is known: shares of right answers of a few models, seen up to a size and held out beyond.

The prior is written down here and nowhere else. The score of a model that knows nothing (0, or one in 10, 5, 4, 3 or 2)
and that of one that knows all (1 to .65 of the way up to 1) are drawn, and between them the model answers a share that
follows one of these *kinds* (:data:`SCORE_KINDS`):

- *along sizes*, *along budgets*, *along tokens*: a loss by the law of Hoffmann et al. 2022 with constants scattered
  about the published ones; with as many tokens for every size, with tokens in proportion to size, or of one size along
  its tokens; the log-odds of a right answer are a straight line in that loss;
- *line*: straight in the log-odds; *damped*: slowing down there;
- *flat*: no progress at all;
- *onset*: next to nothing, then a rise that begins within the history or ahead of it;
- *turning*: the trend turns round, within the history or ahead of it.

The history spans .7 to 2.5 decades with 3 to 8 models at uneven distances; what is held out reaches a tenth to the
whole of its length further. Models differ from the curve by normal noise on the log-odds (median .07, nine in ten
between .02 and .26); then 100 to 10,000 items are drawn. In a fifth of the curves with guessing, models that know
little do worse than guessing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class _Axis(NamedTuple):
    """Places in units of the history, and on the axis itself, seen and held out."""

    place: Floats
    x: Floats


Kind = Callable[[np.random.Generator, _Axis], Floats]


@dataclass(frozen=True, slots=True)
class ScoreCurve:
    """One simulated curve.

    Attributes:
        kind: One of :data:`SCORE_KINDS`.
        x: Places seen, ascending, shape (points,).
        y: Share of right answers there.
        items: Items behind each score.
        ahead_x: Held-out places beyond the last seen one, ascending, shape (held out,).
        ahead_y: Shares there.
        truth: Chances of a right answer there, without a model's own noise.
        noise: Standard deviation of a model about the curve, on log-odds.
        guessing: Score of a model that knows nothing.
    """

    kind: str
    x: Floats
    y: Floats
    items: int
    ahead_x: Floats
    ahead_y: Floats
    truth: Floats
    noise: float
    guessing: float


def score_curve(
    rng: np.random.Generator, kind: str | None = None, *, points: int | None = None, noise: float | None = None
) -> ScoreCurve:
    """Draw a curve from the prior.

    Args:
        rng: Source of randomness.
        kind: Kind; drawn with the weights of :data:`SCORE_KINDS` where not given.
        points: Models seen, 2 or more; 3 to 8 where not given.
        noise: Standard deviation of a model on log-odds; drawn where not given.

    Raises:
        ValueError: There is no such kind.

    Examples:
        >>> drawn = score_curve(np.random.default_rng(0), "line", points=5)
        >>> drawn.x.size, bool((drawn.ahead_x > drawn.x[-1]).all()), bool((drawn.y >= 0).all())
        (5, True, True)
    """
    if kind is None:
        weights = np.array(list(SCORE_KINDS.values()))
        kind = str(rng.choice(list(SCORE_KINDS), p=weights / weights.sum()))
    if kind not in _KINDS:
        raise ValueError(f"{kind!r} is no kind of score curve; there are {', '.join(SCORE_KINDS)}")
    place, seen = _places(rng, int(rng.integers(3, 9)) if points is None else points)
    x = 10.0 ** (rng.uniform(7.0, 9.0) + rng.uniform(0.7, 2.5) * place)
    truth, guessing = _scores(rng, _KINDS[kind](rng, _Axis(place, x)))
    size = min(float(np.exp(rng.normal(np.log(0.07), 0.8))), 0.5) if noise is None else noise
    items = int(np.round(10.0 ** rng.uniform(2.0, 4.0)))
    inner = np.clip(truth, 1e-5, 1 - 1e-5)
    chance = _expit(np.log(inner / (1 - inner)) + size * rng.standard_normal(place.size))
    y = rng.binomial(items, chance) / items
    return ScoreCurve(kind, x[:seen], y[:seen], items, x[seen:], y[seen:], truth[seen:], size, guessing)


def _expit(z: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(z / 2)))


def _places(rng: np.random.Generator, points: int) -> tuple[Floats, int]:
    """Places of which the history spans [0, 1], and how many of them are seen."""
    seen = np.concatenate([[0.0], np.cumsum(rng.dirichlet(np.full(points - 1, 4.0)))])
    seen[-1] = 1.0
    reach, ahead = rng.uniform(0.1, 1.0), int(rng.integers(1, 4))
    return np.concatenate([seen, np.sort(1 + reach * np.append(rng.uniform(0.15, 1.0, ahead - 1), 1.0))]), points


def _scores(rng: np.random.Generator, able: Floats) -> tuple[Floats, float]:
    """Scores of models of which a share of the way from guessing to all is known."""
    guessing = float(rng.choice([0.0, 0.1, 0.2, 0.25, 1 / 3, 0.5], p=[0.3, 0.05, 0.1, 0.3, 0.05, 0.2]))
    ceiling = 1 - (1 - guessing) * float(rng.choice([0.0, 0.05, 0.15, 0.35], p=[0.35, 0.3, 0.2, 0.15]))
    score = guessing + (ceiling - guessing) * able
    if guessing > 0 and rng.random() < 0.2:
        score = score - rng.uniform(0.0, 0.25) * guessing * (1 - able)
    return score, guessing


def _loss_law(what: str) -> Kind:
    def able(rng: np.random.Generator, axis: _Axis) -> Floats:
        by_size, by_tokens = rng.uniform(0.25, 0.45, 2)
        size_part, token_part = np.exp(rng.normal(np.log([400.0, 410.0]), 0.5))
        if what == "sizes":
            loss = size_part / axis.x**by_size + token_part / (10.0 ** rng.uniform(10.5, 13.0)) ** by_tokens
        elif what == "budgets":
            loss = size_part / axis.x**by_size + token_part / (10.0 ** rng.uniform(1.0, 2.5) * axis.x) ** by_tokens
        else:
            loss = size_part / (10.0 ** rng.uniform(7.5, 10.5)) ** by_size + token_part / axis.x**by_tokens
        steep = np.exp(rng.normal(np.log(3.0), 0.6))
        return _expit(steep * (rng.uniform(loss.min() - 0.8, loss.max() + 0.3) - loss))

    return able


def _line(rng: np.random.Generator, axis: _Axis) -> Floats:
    return _expit(rng.normal(-0.7, 1.5) + rng.normal(1.0, 1.0) * (axis.place - 1))


def _damped(rng: np.random.Generator, axis: _Axis) -> Floats:
    bend = rng.uniform(0.3, 4.0)
    return _expit(rng.normal(0.0, 1.2) - rng.normal(1.0, 1.0) * np.expm1(-bend * (axis.place - 1)) / np.expm1(bend))


def _flat(rng: np.random.Generator, axis: _Axis) -> Floats:
    return _expit(np.full(axis.place.shape, rng.normal(-2.5, 2.0)))


def _onset(rng: np.random.Generator, axis: _Axis) -> Floats:
    rise = rng.uniform(3.0, 10.0) * np.maximum(axis.place - rng.uniform(0.3, 2.2), 0.0)
    return _expit(rng.uniform(-7.0, -3.0) + rise)


def _turning(rng: np.random.Generator, axis: _Axis) -> Floats:
    way = rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 2.0)
    return _expit(rng.normal(-0.2, 1.0) + way * np.abs(axis.place - rng.uniform(0.2, 1.5)))


_KINDS: dict[str, Kind] = {
    "along sizes": _loss_law("sizes"),
    "along budgets": _loss_law("budgets"),
    "along tokens": _loss_law("tokens"),
    "line": _line,
    "damped": _damped,
    "flat": _flat,
    "onset": _onset,
    "turning": _turning,
}

SCORE_KINDS: dict[str, float] = {
    "along sizes": 0.3,
    "along budgets": 0.12,
    "along tokens": 0.13,
    "line": 0.12,
    "damped": 0.1,
    "flat": 0.12,
    "onset": 0.07,
    "turning": 0.04,
}
"""Kinds with the weight of each."""
