"""Time horizons: the regression against its definition, rates of intervals, and agents that do all or nothing."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock._base import ConfigError, MetricError
from foreshock.curves import Attempts, horizon_trend, horizons
from foreshock.curves._horizon import firth


def agent(seed: int, horizon: float = 30.0, tasks: int = 60, size: int = 3, apart: float = 0.5) -> Attempts:
    """Tasks in families that are harder or easier as a whole; half are done at ``horizon`` minutes."""
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(tasks // size), size)
    time = 2.0 ** rng.uniform(0, 10, tasks)
    odds = 0.8 * (np.log2(horizon) - np.log2(time)) + apart * rng.standard_normal(tasks // size)[family]
    done = (rng.random(tasks) < 1 / (1 + np.exp(-odds))).astype(float)
    return Attempts(time, done, [f"family {k}" for k in family])


def test_the_fit_is_the_largest_of_the_penalised_likelihood() -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    x, y, w = rng.normal(4, 2, 15), rng.random(15).round(1), rng.uniform(0.5, 2, 15)
    design = np.column_stack([np.ones(15), x])

    def loss(at: np.ndarray) -> float:
        z = design @ at
        chance = 1 / (1 + np.exp(-z))
        information = design.T @ (design * (w * chance * (1 - chance))[:, None])
        return float(-(w * (y * z - np.logaddexp(0, z))).sum() - 0.5 * np.linalg.slogdet(information).logabsdet)

    best = minimize(loss, np.zeros(2), tol=1e-12, options={"gtol": 1e-9}).x
    assert firth(x, y, w[None])[0] == pytest.approx(best, abs=1e-4)


def test_many_tasks_give_the_likelihood_alone() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 8, 20_000)
    y = (rng.random(x.size) < 1 / (1 + np.exp(-(3 - 0.7 * x)))).astype(float)
    assert firth(x, y, np.ones((1, x.size)))[0] == pytest.approx([3, -0.7], abs=0.1)


def test_the_horizon_that_was_planted_is_found() -> None:
    half, most = horizons(agent(2, tasks=600), resamples=60)
    assert half.minutes == pytest.approx(30, rel=0.35)
    assert most.minutes == pytest.approx(30 * 2 ** (-np.log(4) / 0.8), rel=0.5)
    assert half.low < half.minutes < half.high
    assert not half.beyond


def test_intervals_keep_their_rate_when_families_are_alike() -> None:
    held = 0
    for seed in range(60):
        told = horizons(agent(100 + seed, apart=1.0), rates=(0.5,), level=0.9, resamples=200)[0]
        held += told.low <= 30 <= told.high
    # 54 expected; of 60 at a rate of .85, fewer than 44 in 1 of 200 such tests
    assert held >= 44


def test_same_input_same_result_and_scale_of_weights_does_not_matter() -> None:
    tried = agent(3)
    first, again = horizons(tried, resamples=50), horizons(tried, resamples=50)
    assert first == again
    heavy = Attempts(tried.minutes, tried.success, tried.families, np.full(60, 7.0))
    light = Attempts(tried.minutes, tried.success, tried.families, np.full(60, 0.1))
    assert horizons(heavy, resamples=5)[0].minutes == pytest.approx(horizons(light, resamples=5)[0].minutes)


def test_an_agent_that_does_everything_has_a_horizon_beyond_the_tasks() -> None:
    told = horizons(Attempts(2.0 ** np.arange(20), np.ones(20)), resamples=50)[0]
    assert told.refused is not None or (told.beyond and told.minutes > 2.0**19)
    nothing = horizons(Attempts(2.0 ** np.arange(20), np.zeros(20)), resamples=50)[0]
    assert nothing.refused is not None or nothing.beyond


def test_short_tasks_done_and_long_ones_not_is_no_infinite_slope() -> None:
    told = horizons(Attempts(2.0 ** np.arange(12), (np.arange(12) < 6).astype(float)), resamples=100)[0]
    assert 2.0**5 <= told.minutes <= 2.0**6
    assert -10 < told.slope < 0
    assert told.low <= told.minutes <= told.high


def test_success_that_rises_with_length_has_no_horizon() -> None:
    told = horizons(Attempts(2.0 ** np.arange(12), (np.arange(12) > 5).astype(float)), resamples=20)[0]
    assert told.refused == "success does not fall with the length of the task"
    assert np.isnan(told.minutes)


def test_few_tasks_and_impossible_ones_are_refused() -> None:
    told = horizons(Attempts(np.array([1.0, 2.0]), np.array([1.0, 0.0])))[0]
    assert told.refused == "2 tasks of 2 lengths; 5 tasks of two lengths would do"
    with pytest.raises(MetricError, match="above 0"):
        Attempts(np.array([0.0, 1.0]), np.zeros(2))
    with pytest.raises(MetricError, match="no share"):
        Attempts(np.ones(2), np.array([0.5, np.nan]))
    with pytest.raises(ConfigError, match="differ in length"):
        Attempts(np.ones(2), np.zeros(3))
    with pytest.raises(ConfigError, match="weight"):
        Attempts(np.ones(2), np.zeros(2), weights=np.array([-1.0, 1.0]))
    with pytest.raises(ConfigError, match="rate"):
        horizons(agent(0), rates=(1.0,))
    with pytest.raises(ConfigError, match="resamples"):
        horizons(agent(0), resamples=10**9)


def test_a_trend_is_least_squares_with_students_interval() -> None:
    from scipy.stats import linregress, t

    rng = np.random.default_rng(4)
    days = np.sort(rng.uniform(0, 1500, 11))
    minutes = 2.0 ** (days / 200 + 0.5 * rng.standard_normal(11))
    told = horizon_trend(days, minutes)
    line = linregress(days / 365.25, np.log2(minutes))
    assert told.slope == pytest.approx(line.slope)
    assert told.high - told.slope == pytest.approx(t.ppf(0.975, 9) * line.stderr, rel=1e-3)
    assert told.doubling == pytest.approx(365.25 / line.slope)
    assert told.doubling_low is not None
    assert told.doubling_low < told.doubling < told.doubling_high  # type: ignore[operator]


def test_a_slope_that_may_be_none_is_not_turned_into_a_doubling_time() -> None:
    told = horizon_trend([0, 300, 600, 900], [4.0, 9.0, 3.0, 8.0])
    assert told.low < 0 < told.high
    assert told.doubling is None
    assert told.said.startswith("no growth is not excluded: ")
    falls = horizon_trend([0, 300, 600, 900], [8.0, 4.1, 2.0, 1.0])
    assert falls.said.startswith("growth is excluded: ")


def test_slopes_keep_their_rate_without_growth() -> None:
    rng = np.random.default_rng(5)
    days = np.arange(8) * 100.0
    wrong = sum(horizon_trend(days, 2.0 ** rng.standard_normal(8)).low > 0 for _ in range(400))
    assert wrong <= 20  # 10 expected; more than 20 in 1 of 500 such tests


def test_trends_of_few_agents_and_of_no_horizons() -> None:
    assert horizon_trend([0, 10], [1.0, 2.0]).refused == "2 agents; 3 at two dates would do"
    assert horizon_trend([5, 5, 5], [1.0, 2.0, 3.0]).refused is not None
    with pytest.raises(MetricError, match="above 0"):
        horizon_trend([0, 1, 2], [1.0, np.inf, 2.0])
    with pytest.raises(ConfigError, match="differ in length"):
        horizon_trend([0, 1], [1.0, 2.0, 3.0])
