"""Repeated runs: an exact e-process, against its definition, its null and its power."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binom, fisher_exact

from foreshock.alarms._binomial import change_of_rate, rate_changes, run_p

BASELINE, LOOKS = 4, 20


def test_it_is_what_its_definition_says() -> None:
    k, n = np.array([3.0, 5, 4, 6, 9, 10]), np.full(6, 10.0)
    jeffreys = beta(0.5, 0.5).pdf

    def mixed(runs: slice) -> float:
        return quad(lambda p: float(np.prod(binom.pmf(k[runs], n[runs], p)) * jeffreys(p)), 0, 1, limit=200)[0]

    best = float(np.prod(binom.pmf(k, n, k.sum() / n.sum())))
    expected = sum(mixed(slice(0, c)) * mixed(slice(c, 6)) for c in (4, 5)) / best / LOOKS
    assert rate_changes(k, n, BASELINE, LOOKS)[-1] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("rate", [0.02, 0.5, 0.97])
def test_expectation_is_at_most_one_and_the_rate_is_kept(rate: float) -> None:
    k = np.random.default_rng(1).binomial(40, rate, (4000, BASELINE + LOOKS))
    values = rate_changes(k, np.full(BASELINE + LOOKS, 40.0), BASELINE, LOOKS)
    assert values.mean(axis=0).max() < 1.0
    assert np.mean(values.max(axis=1) >= 20) <= 0.05


def test_runs_on_the_same_items_vary_less_and_fire_less() -> None:
    rng = np.random.default_rng(2)
    sure = 40 + rng.binomial(20, 0.5, (2000, BASELINE + LOOKS))
    assert np.mean(rate_changes(sure, np.full(BASELINE + LOOKS, 100.0), BASELINE, LOOKS).max(axis=1) >= 20) <= 0.01


def test_a_change_is_found_and_placed() -> None:
    rng = np.random.default_rng(3)
    p = np.where(np.arange(24) < 14, 0.4, 0.6)
    k = rng.binomial(200, p, (200, 24))
    values = rate_changes(k, np.full(24, 200.0), BASELINE, LOOKS)
    assert np.mean(values.max(axis=1) >= 20) > 0.95
    at, before, since = change_of_rate(k[0], np.full(24, 200.0), BASELINE)
    assert abs(at - 14) <= 2
    assert (before, since) == (pytest.approx(0.4, abs=0.05), pytest.approx(0.6, abs=0.05))


def test_a_run_is_held_against_those_before_by_fishers_test() -> None:
    k, n = np.array([5.0, 6, 4, 5, 9]), np.full(5, 10.0)
    one_sided = [fisher_exact([[9, 1], [20, 20]], alternative=side).pvalue for side in ("greater", "less")]
    assert run_p(k, n, 4) == pytest.approx((min(1.0, 2 * min(one_sided)),))
    rng = np.random.default_rng(4)
    p = np.array([run_p(row, n, 4)[0] for row in rng.binomial(10, 0.3, (400, 5))])
    assert 0.01 < np.mean(p <= 0.1) <= 0.13
