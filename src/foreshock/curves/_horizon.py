"""Time horizons: how long a task may take a person for an agent to do it half of the time, and how that grows.

Kwa et al. 2025 ("Measuring AI Ability to Complete Long Tasks", section 3): for each agent the log-odds of success are a
straight line in the log of a person's minutes; the horizon is where it crosses one half (or another rate); over agents
the log of the horizon is a straight line in the date.

Here the line is fitted with Firth's (1993) penalty, half the log of the information's determinant: an agent that does
every short task and no long one has no largest likelihood. Its uncertainty comes from drawing whole families of tasks
again, as tasks of one family are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreshock._base import ConfigError, MetricError
from foreshock.curves._curve import Floats
from foreshock.stats import logit, t_quantile

LEAST = 5
"""Tasks that an agent must have tried at the least."""
MOST = 100_000
AGENTS = 3
"""Agents that a trend over dates needs at the least."""
YEAR = 365.25
_ROUNDS = 60
_FIELD = 10_000_000
_FALL = 1e-9


@dataclass(frozen=True, slots=True)
class Horizon:
    """The horizon of one agent.

    Attributes:
        rate: Success rate at the horizon.
        minutes: The horizon; NaN where refused, infinite or 0 where the line never crosses the rate.
        low, high: Its interval; infinite or 0 where that end is not bounded by these tasks.
        level: Coverage of the interval.
        intercept, slope: Log-odds at one minute, and their change with every doubling.
        beyond: Whether the horizon lies outside the tasks that were tried.
        refused: Why there is none.
    """

    rate: float
    minutes: float
    low: float
    high: float
    level: float
    intercept: float
    slope: float
    beyond: bool
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class HorizonTrend:
    """How horizons grow with the date.

    Attributes:
        slope, low, high: Doublings a year with their interval (Student's t); NaN where refused.
        level: Coverage of the interval.
        doubling: Days to double, at the slope; None where no growth is not excluded.
        doubling_low, doubling_high: Its interval; None likewise. An interval of a slope that holds 0 is never turned
            over into one of doubling times.
        said: One sentence.
        agents: Agents behind it.
        refused: Why there is none.
    """

    slope: float
    low: float
    high: float
    level: float
    doubling: float | None
    doubling_low: float | None
    doubling_high: float | None
    said: str
    agents: int
    refused: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Attempts:
    """What one agent did.

    Attributes:
        minutes: Time that a person needs for each task, above 0, shape (tasks,).
        success: Share of the agent's tries that succeeded, in [0, 1], shape (tasks,).
        families: Family of each task, of which the tasks are alike; None is one family a task.
        weights: Weight of each task; None weighs each as one over the root of its family's size, as Kwa et al. do.

    Raises:
        ConfigError: Lengths differ, or a weight is impossible.
        MetricError: A time is not above 0, or a success outside [0, 1].
    """

    minutes: Floats
    success: Floats
    families: Sequence[str] | None = None
    weights: Floats | None = None

    def __post_init__(self) -> None:
        """Refuse what is no list of attempts."""
        parts = [part for part in (self.success, self.families, self.weights) if part is not None]
        size = len(self.minutes)
        if any(len(part) != size for part in parts) or size > MOST:
            raise ConfigError(
                "times, successes, families or weights differ in length", expected=f"up to {MOST:,} tasks"
            )
        if not (np.isfinite(self.minutes).all() and (self.minutes > 0).all()):
            raise MetricError("a time is no number above 0", expected="minutes", do="leave such tasks out")
        if not ((self.success >= 0) & (self.success <= 1)).all():
            raise MetricError("a success is no share", expected="shares from 0 to 1")
        if self.weights is not None and not (
            np.isfinite(self.weights).all() and (self.weights >= 0).all() and (self.weights > 0).any()
        ):
            raise ConfigError("a weight is below 0, or all are 0", expected="weights of 0 or more")

    @property
    def blocks(self) -> tuple[NDArray[np.intp], Floats]:
        """Number of the family of each task, and weights with a mean of 1, each of shape (tasks,)."""
        names = (
            np.arange(len(self.minutes)).astype(str) if self.families is None else np.array(list(self.families), str)
        )
        _, where, size = np.unique(names, return_inverse=True, return_counts=True)
        weight = 1 / np.sqrt(size[where]) if self.weights is None else self.weights
        return where, weight / weight.mean()


def horizons(
    tried: Attempts,
    *,
    rates: Sequence[float] = (0.5, 0.8),
    level: float = 0.95,
    resamples: int = 500,
    seed: int = 0,
) -> tuple[Horizon, ...]:
    """Horizons of one agent at several success rates.

    Args:
        tried: What it did.
        rates: Success rates, in (0, 1).
        level: Coverage of the intervals.
        resamples: How many times families are drawn again.
        seed: Seed of that.

    Raises:
        ConfigError: An option is out of its range.

    Examples:
        >>> length = 2.0 ** np.repeat(np.arange(8), 10)
        >>> done = np.repeat([1.0, 1.0, 0.9, 0.7, 0.4, 0.1, 0.0, 0.0], 10)
        >>> half, most = horizons(Attempts(length, done), resamples=50)
        >>> bool(8 < half.minutes < 16), bool(most.minutes < half.minutes)
        (True, True)
    """
    time = np.asarray(tried.minutes, float)
    if not 0 < level < 1 or not rates or not all(0 < r < 1 for r in rates):
        raise ConfigError("a level or a rate is not between 0 and 1", expected="numbers between 0 and 1")
    if resamples < 1 or resamples * time.size > _FIELD:
        raise ConfigError(f"{resamples} resamples of {time.size} tasks", expected=f"up to {_FIELD:,} in all")
    if time.size < LEAST or np.unique(time).size < 2:
        why = f"{time.size} tasks of {np.unique(time).size} lengths; {LEAST} tasks of two lengths would do"
        nan = float("nan")
        return tuple(Horizon(r, nan, nan, nan, level, nan, nan, False, why) for r in rates)
    where, weight = tried.blocks
    families = int(where.max()) + 1
    times = np.random.default_rng(seed).multinomial(families, np.full(families, 1 / families), size=resamples)
    every = firth(
        np.log2(time), np.asarray(tried.success, float), np.concatenate([weight[None], weight * times[:, where]])
    )
    return tuple(_horizon(rate, every, level, time) for rate in rates)


def firth(x: Floats, y: Floats, weight: Floats) -> Floats:
    """Weighted logistic regressions with Firth's penalty, all at once.

    Args:
        x: Shape (tasks,).
        y: Shares, shape (tasks,).
        weight: Shape (fits, tasks).

    Returns:
        Intercepts and slopes, shape (fits, 2).

    Examples:
        >>> at = firth(np.array([-1.0, -1.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0, 1.0]), np.ones((1, 4)))
        >>> at.round(3).tolist()
        [[0.0, 1.609]]
    """
    middle, size = x.mean(), x.std()
    design = np.column_stack([np.ones_like(x), (x - middle) / size])
    at, eye = np.zeros((len(weight), 2)), 1e-9 * np.eye(2)
    for _ in range(_ROUNDS):
        chance = logit.inverse(at @ design.T)
        spread = weight * chance * (1 - chance)
        information = np.einsum("bt,ti,tj->bij", spread, design, design) + eye
        inverse = np.linalg.inv(information)
        leverage = spread * np.einsum("ti,bij,tj->bt", design, inverse, design)
        push = (weight * (y - chance) + leverage * (0.5 - chance)) @ design
        step = np.einsum("bij,bj->bi", inverse, push)
        longest = np.max(np.abs(step), axis=1, keepdims=True)
        at = at + step * np.minimum(1.0, 1.0 / np.maximum(longest, 1e-12))
        if longest.max() < 1e-8:
            break
    slope = at[:, 1] / size
    return np.column_stack([at[:, 0] - slope * middle, slope])


def _horizon(rate: float, every: Floats, level: float, time: Floats) -> Horizon:
    """The horizon of the first fit, with the quantiles of all others."""
    odds = float(logit.forward(np.array([rate]))[0])
    doublings = _crossing(every, odds)
    low, high = np.quantile(doublings[1:], [(1 - level) / 2, (1 + level) / 2], method="closest_observation")
    value, slope = float(_minutes(doublings[:1])[0]), float(every[0, 1])
    why = "success does not fall with the length of the task" if slope >= -_FALL else None
    return Horizon(
        rate=rate,
        minutes=float("nan") if why else value,
        low=float(_minutes(np.array([low]))[0]),
        high=float(_minutes(np.array([high]))[0]),
        level=level,
        intercept=float(every[0, 0]),
        slope=slope,
        beyond=not time.min() <= value <= time.max(),
        refused=why,
    )


def _crossing(fits: Floats, odds: float) -> Floats:
    """Log2 of minutes at which falling lines cross; one that does not fall is above the rate everywhere, or below."""
    intercept, slope = fits[:, 0], fits[:, 1]
    falls = slope < -_FALL
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(falls, (odds - intercept) / slope, np.where(intercept > odds, np.inf, -np.inf))


def _minutes(doublings: Floats) -> Floats:
    return np.exp2(np.clip(doublings, -1000.0, 1000.0)) * np.where(np.isinf(doublings) & (doublings > 0), np.inf, 1.0)


def horizon_trend(days: ArrayLike, minutes: ArrayLike, *, level: float = 0.95) -> HorizonTrend:
    """Straight line of the log of horizons in the date, by least squares.

    Args:
        days: Date of each agent in days, shape (agents,).
        minutes: Its horizon, above 0, shape (agents,).
        level: Coverage of the interval of the slope. It is right for agents that differ from the line independently; a
            list of running bests is no such list.

    Raises:
        ConfigError: Lengths differ, or the level is not in (0, 1).
        MetricError: A horizon is not a number above 0.

    Examples:
        >>> told = horizon_trend([0, 200, 400, 600], [1.0, 2.1, 3.9, 8.0])
        >>> told.said
        'horizons double every 202 days (95% interval 184 to 225)'
    """
    x, y = np.asarray(days, float), np.asarray(minutes, float)
    if x.ndim != 1 or x.shape != y.shape or not np.isfinite(x).all() or not 0 < level < 1:
        raise ConfigError("dates and horizons differ in length, or the level is not in (0, 1)", expected="as many")
    if not (np.isfinite(y).all() and (y > 0).all()):
        raise MetricError("a horizon is not a number above 0", do="leave agents without a horizon out")
    if x.size < AGENTS or np.unique(x).size < 2:
        nan, said = float("nan"), f"{x.size} agents; {AGENTS} at two dates would do"
        return HorizonTrend(nan, nan, nan, level, None, None, None, said, int(x.size), said)
    years, doublings = (x - x.mean()) / YEAR, np.log2(y)
    square = float(years @ years)
    slope = float(years @ doublings) / square
    left = doublings - doublings.mean() - slope * years
    half = t_quantile((1 + level) / 2, x.size - 2) * float(np.sqrt(left @ left / (x.size - 2) / square))
    low, high = slope - half, slope + half
    if low > 0:
        least, middle, most = (YEAR / s for s in (high, slope, low))
        said = f"horizons double every {middle:.0f} days ({100 * level:.4g}% interval {least:.0f} to {most:.0f})"
        return HorizonTrend(slope, low, high, level, middle, least, most, said, int(x.size))
    what = "growth is excluded" if high < 0 else "no growth is not excluded"
    said = f"{what}: {slope:.2f} doublings a year ({low:.2f} to {high:.2f})"
    return HorizonTrend(slope, low, high, level, None, None, None, said, int(x.size))
