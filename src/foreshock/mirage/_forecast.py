"""A straight line through the models before the onset, and how much of the rise came as a surprise to it.

All that is asked is linear in the points: the surprise D (what was observed less what the line gives), the whole rise R
(from where the line starts to the last point), and so "the surprise is s of the rise", D - s R = 0. The scatter of the
models before the onset about their line is independent of each of these, so each is tested by Student's t exactly when
the line is right and models differ by normal noise of one size.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage._calibrate import CHAINS
from foreshock.mirage._design import Floats
from foreshock.mirage._share import ALPHA, MAY, RATIO, SHARE
from foreshock.stats import t_quantile

Bools = NDArray[np.bool_]
Answer = Literal["yes", "no", "cannot tell"]

BEFORE = 3
"""Fewest models before the onset: two leave no scatter about a line, and do where other tasks tell the noise."""
_GRID = np.linspace(-1.0, 2.0, 301)
_MOST = 64
_POWER_Z = 0.8416  # normal quantile of 80%
_DRAWS = 4000
_SEED = 20230428


@dataclass(frozen=True, slots=True)
class Trail:
    """Points of one series on its link, split at the onset.

    Attributes:
        x: Places, on the scale on which the axis is read, ascending, shape (points,).
        z: Values on the link, shape (draws, points).
        sampling: Covariance of the points from item sampling, shape (points, points).
        before: Points up to the onset that are used, shape (points,).
        target: Points at its upper end.
        chained: Whether the points are checkpoints of one run.
        prior: What other tasks of the family say of the noise: variance of a model without item sampling (one number,
            or shape (draws,)), and its degrees of freedom; None where they say nothing.
    """

    x: Floats
    z: Floats
    sampling: Floats
    before: Bools
    target: Bools
    chained: bool = False
    prior: tuple[float | Floats, float] | None = None

    @property
    def models(self) -> int:
        """Models before the onset."""
        return int(self.before.sum())

    @property
    def width(self) -> float:
        """Share of the axis, from the first model used to the last, that the onset spans."""
        start, end = self.x[self.before].max(), self.x[self.target].min()
        return float((end - start) / (self.x[-1] - self.x[self.before].min()))

    def line(self, at: float) -> Floats:
        """Weights on the points that give the line through the models before the onset at ``at``, shape (points,)."""
        x = self.x[self.before]
        centred = x - x.mean()
        weights = np.zeros(self.x.size)
        weights[self.before] = 1 / x.size + (at - x.mean()) * centred / (centred @ centred)
        return weights

    @property
    def surprise(self) -> Floats:
        """Weights of observed less foreseen."""
        there = self.target / self.target.sum()
        return np.asarray(there - self.line(float(self.x[self.target].mean())))

    @property
    def rise(self) -> Floats:
        """Weights of the whole rise, from where the line starts to the last place."""
        last = self.x == self.x[-1]
        return np.asarray(last / last.sum() - self.line(float(self.x[self.before].min())))

    @property
    def slope(self) -> Floats:
        """Weights of the line's rise per unit of the axis."""
        return self.line(1.0) - self.line(0.0)

    @property
    def df(self) -> float:
        """Degrees of freedom of the noise."""
        return self.models - 2 + (self.prior[1] if self.prior else 0.0)

    def left(self) -> Floats:
        """Sum of squares of the models before the onset about their line, shape (draws,)."""
        z = self.z[:, self.before]
        fitted = z @ np.stack([self.line(float(at))[self.before] for at in self.x[self.before]]).T
        return np.asarray(((z - fitted) ** 2).sum(axis=1))

    def scatter(self) -> Floats:
        """Standard deviation of a model about the line, shape (draws,): its own and what other tasks say, pooled."""
        variance, df = self.prior or (0.0, 0.0)
        return np.asarray(np.sqrt((self.left() + df * variance) / self.df))

    def t(self, weights: Floats) -> Floats:
        """Weighted sums over their standard errors; weights (..., points) give (..., draws).

        The error is the larger of what scatter says and what the sampling of items alone would give: scatter contains
        the sampling, so the two are not added. What other tasks say is without sampling, which is added to it.
        """
        items = np.einsum("...p,pq,...q->...", weights, self.sampling, weights)[..., None]
        size = (weights**2).sum(axis=-1)[..., None] * self.scatter() ** 2
        if self.prior:
            size = size + items * self.prior[1] / self.df
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(weights @ self.z.T / np.sqrt(np.maximum(size, items)))

    def quantile(self) -> float:
        """One-sided 95% quantile of :meth:`t` for the surprise."""
        if not self.chained:
            return t_quantile(1 - ALPHA, self.df)
        span = self.x[-1] - self.x[0]
        place = tuple(round(float(v), 3) for v in (self.x - self.x[0]) / span)
        return _chained(place, tuple(map(bool, self.before)), tuple(map(bool, self.target)))


@functools.lru_cache(maxsize=256)
def _chained(place: tuple[float, ...], before: tuple[bool, ...], target: tuple[bool, ...]) -> float:
    """Quantile under the worst autocorrelation of neighbours: a series before an onset is too short to estimate it."""
    rng = np.random.default_rng(_SEED)
    fresh = rng.standard_normal((_DRAWS, len(place)))
    worst = 0.0
    for chain in CHAINS:
        e = fresh.copy()
        for i in range(1, len(place)):
            e[:, i] = chain * e[:, i - 1] + np.sqrt(1 - chain**2) * e[:, i]
        trail = Trail(np.array(place), e, np.zeros((len(place),) * 2), np.array(before), np.array(target))
        worst = max(worst, float(np.quantile(trail.t(trail.surprise), 1 - ALPHA)))
    return worst


@dataclass(frozen=True, slots=True)
class Surprise:
    """What a straight line through the models before the onset made of it.

    Attributes:
        answer: ``no``: certainly more than a quarter of the rise, and more than the smooth class allows, was not
            foreseen; ``yes``: the line certainly rose, and what came is certainly within half of the rise of it.
        foreseen, low, high: Forecast on the link with its two-sided 95% prediction interval.
        share, share_low, share_high: Surprise over the whole rise with one-sided 95% bounds, within -1 and 2.
        enough: Models before the onset that would do; None when more than 64, when the answer is there, or when more
            was foretold than came, which no further model would mend.
        why: One sentence.
    """

    answer: Answer
    foreseen: float
    low: float
    high: float
    share: float
    share_low: float
    share_high: float
    enough: int | None
    why: str


def answers(trail: Trail, quantile: float | None = None) -> tuple[NDArray[np.str_], Floats, Floats]:
    """Answer of each draw with the bounds of the share, shapes (draws,).

    Args:
        trail: Series with at least :data:`BEFORE` models before the onset.
        quantile: One-sided quantile; that of the trail where not given.
    """
    q = trail.quantile() if quantile is None else quantile
    t = trail.t(trail.surprise - _GRID[:, None] * trail.rise)
    more, less = t > q, t < -q
    # the share is more than every value up to the first that is not rejected, less than every one from the last
    low = np.where(more[0], _GRID[np.maximum(np.argmin(more, axis=0) - 1, 0)], _GRID[0])
    high = np.where(less[-1], _GRID[np.minimum(_GRID.size - np.argmin(less[::-1], axis=0), _GRID.size - 1)], _GRID[-1])
    rising = trail.t(trail.rise) > q
    width = trail.width
    no = rising & (low > max(SHARE, RATIO * width))
    # a line that foretold far more than came foresaw nothing either
    yes = rising & (high < MAY) & (low > -MAY) & (trail.t(trail.slope) > q)
    return np.where(no, "no", np.where(yes, "yes", "cannot tell")), low, high


def surprised(trail: Trail) -> Surprise:
    """Forecast one series (``z`` of shape (1, points)) across its onset.

    Examples:
        >>> x = np.arange(8.0)
        >>> z = 0.1 * x + 2.0 * (x > 4) + 0.01 * np.cos(9 * x)
        >>> told = surprised(Trail(x, z[None], np.zeros((8, 8)), x < 5, x == 5))
        >>> told.answer, round(told.share, 1)
        ('no', 0.7)
    """
    word, low, high = answers(trail)
    rise, came = float(trail.z[0] @ trail.rise), float(trail.z[0] @ trail.surprise)
    at = trail.line(float(trail.x[trail.target].mean()))
    foreseen = float(trail.z[0] @ at)
    spread = abs(came / _one(trail.t(trail.surprise))) if came else 0.0
    half = spread * (trail.quantile() if trail.chained else t_quantile(1 - ALPHA / 2, trail.df))
    answer: Answer = "no" if word[0] == "no" else "yes" if word[0] == "yes" else "cannot tell"
    return Surprise(
        answer=answer,
        foreseen=foreseen,
        low=foreseen - half,
        high=foreseen + half,
        share=came / rise if rise > 0 else float("nan"),
        share_low=float(low[0]),
        share_high=float(high[0]),
        enough=_enough(trail, rise) if answer == "cannot tell" and high[0] >= 0 else None,
        why=_why(trail, answer, float(high[0])),
    )


def _one(x: Floats) -> float:
    return float(x[0])


def _why(trail: Trail, answer: Answer, high: float) -> str:
    q, line = trail.quantile(), f"a line through the {trail.models} models before"
    if answer != "cannot tell":
        return f"{line} {'gave' if answer == 'yes' else 'did not give'} it"
    if not _one(trail.t(trail.rise)) > q:
        return f"the whole rise is not beyond the noise of the {trail.models} models before"
    if high < 0:
        return f"{line} foretold more than came"
    if trail.width * RATIO >= 1:
        return "the models on either side of the onset are so far apart that a smooth curve might do all of it"
    if not _one(trail.t(trail.slope)) > q:
        return f"the {trail.models} models before do not rise for certain, and what came is within their noise"
    return f"what the {trail.models} models before foretell is too uncertain"


def _enough(trail: Trail, rise: float) -> int | None:
    """Models before the onset, spread evenly where there are some now, that tell no surprise from half of the rise.

    80% power with the noise as it is; a line that must be seen to rise counts too, where it rises at all.
    """
    if rise <= 0:
        return None
    x, noise, slope = trail.x[trail.before], _one(trail.scatter()), float(trail.z[0] @ trail.slope)
    at = float(trail.x[trail.target].mean())
    for models in range(trail.models + 1, _MOST + 1):
        places = np.linspace(x.min(), x.max(), models)
        square = float(((places - places.mean()) ** 2).sum())
        reach = t_quantile(1 - ALPHA, trail.df + models - trail.models) + _POWER_Z
        told = reach * noise * np.sqrt(1 + 1 / models + (at - places.mean()) ** 2 / square) <= MAY * rise
        if told and (slope <= 0 or reach * noise / np.sqrt(square) <= slope):
            return models
    return None
