"""Intervals against scipy.stats and their own coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as oracle

from foreshock.stats import clopper_pearson, clustered_stderr, mean_interval, normal_quantile, t_quantile, wilson

CASES = [(0, 10), (1, 10), (5, 10), (10, 10), (3, 1000), (997, 1000)]


@pytest.mark.parametrize(("k", "n"), CASES)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_binomial_intervals_equal_scipy(k: int, n: int, level: float) -> None:
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "exact")):
        low, high = ours(k, n, level)
        told = oracle.binomtest(k, n).proportion_ci(level, method=method)
        assert low == pytest.approx(told.low, abs=1e-12)
        assert high == pytest.approx(told.high, abs=1e-12)


def test_intervals_are_vectorised_and_say_nothing_without_items() -> None:
    low, high = wilson([0, 5], [0, 10])
    assert (low[0], high[0]) == (0.0, 1.0)
    assert low[1] < 0.5 < high[1]
    low, high = clopper_pearson([0, 3], [0, 3])
    assert (low[0], high[0], high[1]) == (0.0, 1.0, 1.0)


def test_clopper_pearson_covers_at_least_its_level_exactly() -> None:
    for n in (5, 20):
        low, high = clopper_pearson(np.arange(n + 1), n)
        for p in np.linspace(0.01, 0.99, 33):
            inside = (low <= p) & (p <= high)
            assert oracle.binom.pmf(np.arange(n + 1), n, p)[inside].sum() >= 0.95


def test_quantiles_equal_scipy() -> None:
    assert normal_quantile(0.975) == pytest.approx(oracle.norm.ppf(0.975))
    for df in (1, 2, 7, 100):
        assert t_quantile(0.95, df) == pytest.approx(oracle.t.ppf(0.95, df))


def test_mean_interval_equals_the_t_interval_and_leaves_nan_out() -> None:
    v = np.array([0.2, 0.4, np.nan, 0.9, 0.1])
    mean, low, high = mean_interval(v)
    seen = v[~np.isnan(v)]
    told = oracle.t.interval(0.95, seen.size - 1, seen.mean(), oracle.sem(seen))
    assert (mean, low, high) == pytest.approx((seen.mean(), *told))
    assert np.isnan(mean_interval([1.0])[1])
    assert np.isnan(mean_interval([])[0])


def test_clusters_of_equal_items_count_once() -> None:
    rng = np.random.default_rng(1)
    own = rng.random(30)
    tripled, labels = np.repeat(own, 3), np.repeat(np.arange(30), 3)
    # three copies of every item carry the information of one: the clustered error must not shrink
    assert clustered_stderr(tripled, labels) == pytest.approx(oracle.sem(own))
    assert clustered_stderr(tripled) < 0.6 * clustered_stderr(tripled, labels)
    assert clustered_stderr(own) == pytest.approx(oracle.sem(own))
    assert np.isnan(clustered_stderr(own, np.zeros(30)))


def test_labels_must_fit() -> None:
    with pytest.raises(ValueError, match="2 cluster labels for 3 items"):
        clustered_stderr([1, 2, 3], [1, 2])
