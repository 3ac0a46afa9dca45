"""Floors, what may be there unseen, and jumps that counting makes: exact binomial throughout."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from foreshock.mirage import jump_resolution, resolution, sampled
from foreshock.mirage._repeats import at_least_one
from foreshock.mirage._resolution import items_needed, zero_chance


def test_one_sample_of_128_problems_shows_exactly_zero_as_often_as_published_figures_say() -> None:
    # pass@1 on GSM8K of nine sizes of one family, measured with up to millions of samples per problem
    rates = [2.2e-4, 6.7e-4, 7.9e-4, 8.2e-3, 1.0e-2, 1.2e-2, 1.3e-2, 1.3e-2, 1.1e-2]
    told = [0.97, 0.92, 0.90, 0.35, 0.27, 0.21, 0.18, 0.19, 0.24]
    rows = resolution(np.zeros(9), 128, expected=rates)
    assert [row["p_zero"] for row in rows] == pytest.approx(told, abs=0.011)


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (0, 128), (3, 50), (49, 50), (17, 5000)])
def test_the_bound_is_the_rate_at_which_so_few_hits_have_one_chance_in_twenty(hits: int, n: int) -> None:
    row = resolution([hits / n], n)[0]
    assert binom.cdf(hits, n, row["high"]) == pytest.approx(0.05, abs=1e-6)
    if hits == 0:
        assert row["high"] == pytest.approx(1 - 0.05 ** (1 / n))
        assert row["at_floor"] is True


def test_a_model_at_chance_is_at_floor_and_one_above_is_not() -> None:
    rows = resolution([0.25, 0.27, 0.40, 1.0], 200, chance=0.25)
    assert [row["at_floor"] for row in rows] == [True, True, False, False]
    # the same rule, from the other side: how likely is a model of pure guessing to do as well
    assert [binom.sf(r["value"] * 200 - 0.5, 200, 0.25) > 0.05 for r in rows] == [row["at_floor"] for row in rows]


@pytest.mark.parametrize("p", [0.9, 0.01, 1e-5])
def test_items_needed_is_the_least_number_that_shows_a_hit(p: float) -> None:
    n = items_needed(p)
    assert n is not None
    assert zero_chance(p, n) <= 0.05 < zero_chance(p, n - 1)


@pytest.mark.parametrize(("p", "chance"), [(0.3, 0.25), (0.5, 0.25), (0.55, 0.5)])
def test_items_needed_above_chance_have_the_power_that_is_said(p: float, chance: float) -> None:
    n = items_needed(p, chance)
    assert n is not None
    least = binom.ppf(0.95, n, chance) + 1  # fewest hits that guessing reaches in less than one of twenty tests
    assert 0.8 <= binom.sf(least - 1, n, p) < 0.86
    few = n // 2
    assert binom.sf(binom.ppf(0.95, few, chance), few, p) < 0.7


def test_unknown_numbers_of_items_give_no_bounds() -> None:
    row = resolution([0.3, math.nan], [0, 100])
    assert row[0]["high"] is None
    assert row[0]["n"] is None
    assert row[1]["value"] is None
    assert row[1]["items_needed"] is None


def test_a_large_jump_on_many_items_is_no_matter_of_resolution() -> None:
    jump = jump_resolution(0.0222, 5000, 0.717, 5000, looks=6)
    assert jump.answer == "ruled out"
    assert jump.least_rise is not None
    assert jump.least_rise > 0.65
    assert jump_resolution(0.0, 128, 1 / 128, 128).answer == "possible"
    assert jump_resolution(0.0, None, 0.7, 100).answer == "cannot tell"


def test_equal_models_are_told_apart_no_more_often_than_stated() -> None:
    rng = np.random.default_rng(5)
    for p, n in ((0.02, 100), (0.3, 30)):
        hits = rng.binomial(n, p, (400, 2)) / n
        said = [jump_resolution(low, n, high, n).answer == "ruled out" for low, high in hits]
        assert np.mean(said) <= 0.05
    # and a jump of half of the scale is found on as few items as these
    found = [jump_resolution(*ends).answer == "ruled out" for ends in [(0.1, 100, 0.6, 100), (0.02, 40, 0.9, 40)]]
    assert found == [True, True]


@pytest.mark.parametrize(
    ("c", "n", "k"), [(3, 10, 5), (1, 4000, 100), (7, 9, 2), (0, 5, 5), (5, 5, 1), (2, 3000, 2999)]
)
def test_pass_at_k_is_exact(c: int, n: int, k: int) -> None:
    exact = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
    assert at_least_one([c], [n], k)[0] == pytest.approx(float(exact), rel=1e-12, abs=0)


def test_repeats_resolve_rates_that_one_answer_does_not() -> None:
    rng = np.random.default_rng(2)
    attempts = np.full(128, 100_000)
    true = rng.gamma(0.3, 3e-5, 128)
    rows = sampled(rng.binomial(attempts, true) / attempts, attempts, ks=(1, 100))
    assert rows[0]["floor"] == pytest.approx(1 / 128 / 1e5)
    assert rows[0]["low"] < true.mean() < rows[0]["high"] < 3e-5
    assert rows[0]["p_zero_once"] > 0.99
    assert rows[1]["low"] < (1 - (1 - true) ** 100).mean() < rows[1]["high"]


def test_intervals_of_repeats_cover_the_rate() -> None:
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(150):
        true = rng.beta(0.5, 20, 60)
        attempts = rng.integers(20, 200, 60)
        row = sampled(rng.binomial(attempts, true) / attempts, attempts, ks=(1,), draws=300)[0]
        covered.append(row["low"] <= 0.5 / 20.5 <= row["high"])
    assert np.mean(covered) > 0.88  # the percentile interval of 60 skewed values is known to fall a little short


def test_no_success_at_all_is_bounded_by_the_least_sampled_item() -> None:
    attempts = np.array([50] * 10 + [10_000] * 10)
    row = sampled(np.zeros(20), attempts, ks=(1,))[0]
    assert row["at_floor"] is True
    assert row["value"] == row["low"] == 0
    assert row["high"] == pytest.approx(1 - 0.025 ** (1 / (20 * 50)))
    # no rates under which nothing at all would be seen in one of forty tests have a larger mean
    rng = np.random.default_rng(4)
    for _ in range(200):
        share = rng.dirichlet(np.ones(20) * rng.choice([0.05, 1.0, 20.0]))
        rates = -np.expm1(np.log(0.025) * share / attempts)
        assert rates.mean() <= row["high"] * (1 + 1e-9)


def test_items_without_attempts_are_left_out() -> None:
    assert sampled([np.nan, np.nan], [5, 5]) == []
    row = sampled([np.nan, 0.5, 0.0], [5, 4, 0], ks=(1, 2, 8))
    assert [(r["k"], r["problems"]) for r in row] == [(1, 1), (2, 1)]
