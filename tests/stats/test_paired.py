"""Paired comparisons against statsmodels, enumeration and worlds whose truth is known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy import stats as oracle
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from foreshock.stats import (
    cluster_sums,
    discordance,
    letters,
    mcnemar,
    paired_detectable,
    paired_interval,
    paired_items,
    sign_flip,
    t_quantile,
    tango_interval,
    tie_groups,
)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 3000), st.integers(0, 3000))
def test_mcnemar_equals_statsmodels(gained: int, lost: int) -> None:
    told = statsmodels_mcnemar([[7, lost], [gained, 5]], exact=True).pvalue
    found = mcnemar(gained, lost)
    assert found.p == pytest.approx(min(1.0, told), abs=1e-12)
    assert found.p == pytest.approx(min(1.0, told), rel=1e-9)
    assert found.mid == pytest.approx(
        2 * oracle.binom.cdf(min(gained, lost), gained + lost, 0.5)
        - oracle.binom.pmf(min(gained, lost), gained + lost, 0.5)
        if gained + lost
        else 1.0,
        rel=1e-9,
    )


def test_mcnemar_keeps_its_tail_beyond_what_floats_hold() -> None:
    assert 0 < mcnemar(20_000, 100).p < 1e-300
    assert mcnemar(70_000, 71_000).p == pytest.approx(oracle.binomtest(70_000, 141_000).pvalue, rel=1e-7)


def test_tango_interval_inverts_the_score_test() -> None:
    for gained, lost, n in ((1, 7, 21), (0, 0, 40), (12, 3, 60), (5, 0, 9), (40, 41, 100)):
        low, high = tango_interval(gained, lost, n)
        for end in (low, high):
            if abs(end) < 1 - 1e-9:
                assert abs(_score_by_search(gained, lost, n, end)) == pytest.approx(1.959964, abs=2e-3)
        assert -1 <= low <= (gained - lost) / n <= high <= 1


def _score_by_search(gained: int, lost: int, n: int, delta: float) -> float:
    """The score statistic with the nuisance share found by a search for the largest likelihood."""

    def loss(share: float) -> float:
        cells = (share + delta, share, 1 - 2 * share - delta)
        counts = (gained, lost, n - gained - lost)
        return -sum(c * np.log(max(p, 1e-300)) for c, p in zip(counts, cells, strict=True) if c)

    bounds = (max(0.0, -delta) + 1e-12, (1 - delta) / 2 - 1e-12)
    share = optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    return (gained - lost - n * delta) / np.sqrt(n * (2 * share + delta - delta**2))


def test_the_published_example_of_tango_and_newcombe() -> None:
    # Fagerland, Lydersen & Laake 2014: airway reactivity before and after transplantation, 1 and 7 of 21 changed
    assert tango_interval(1, 7, 21) == pytest.approx((-0.517, -0.026), abs=5e-4)


@pytest.mark.parametrize(("n", "gain", "loss"), [(30, 0.1, 0.1), (100, 0.05, 0.02), (400, 0.15, 0.1), (60, 0.01, 0.01)])
def test_tango_interval_covers(n: int, gain: float, loss: float) -> None:
    rng = np.random.default_rng(n)
    hits = 0
    for g, lost, _ in rng.multinomial(n, [gain, loss, 1 - gain - loss], size=1500):
        low, high = tango_interval(int(g), int(lost), n)
        hits += low <= gain - loss <= high
    assert hits / 1500 >= 0.93
    assert hits / 1500 <= 0.995


@pytest.mark.parametrize("values", [[1, 1, -1, 2, 3, -2] * 3, [0.2, 0.4, -0.6, 1.0] * 4, [0.5, 1 / 3, -0.25] * 5])
def test_sign_flip_on_a_grid_equals_all_patterns(values: list[float]) -> None:
    d = np.asarray(values[:15])
    sums = np.array([abs(np.dot(signs, d)) for signs in product((-1, 1), repeat=d.size)])
    found = sign_flip(d, np.random.default_rng(0))
    assert found.replicates is None
    assert found.p == pytest.approx(np.mean(sums >= abs(d.sum()) - 1e-9), rel=1e-9)


def test_sign_flip_of_single_answers_is_mcnemar() -> None:
    d = np.r_[np.ones(131), -np.ones(97), np.zeros(400)]
    assert sign_flip(d, np.random.default_rng(0)).p == pytest.approx(mcnemar(131, 97).p, rel=1e-12)


def test_sign_flip_far_out_keeps_its_precision() -> None:
    d = np.r_[np.full(900, 1.0), np.full(100, 2.0), np.full(20, -1.0)]
    assert 0 < sign_flip(d, np.random.default_rng(0)).p < 1e-150


@pytest.mark.parametrize(("size", "units"), [(2.0**60, 16), (2.0**58, 64), (2.0**63, 16), (1e290, 20)])
def test_sizes_that_no_integer_holds_are_no_grid(size: float, units: int) -> None:
    found = sign_flip([size] * units, np.random.default_rng(0))
    assert 2.0 ** (1 - units) <= found.p < 1e-3  # never below the exact value


def test_sampled_signs_agree_with_the_normal_law_for_many_and_for_few_sizes() -> None:
    rng = np.random.default_rng(5)
    for d in (rng.normal(0.12, 1, 600), rng.choice([0.1234567, -0.7654321, 0.7071], 600)):
        found = sign_flip(d, np.random.default_rng(1), draws=20_000)
        z = abs(d.sum()) / np.sqrt(np.sum(d**2))
        assert found.replicates == 20_000
        assert found.p == pytest.approx(2 * oracle.norm.sf(z), abs=0.01)


@given(st.lists(st.floats(1e-3, 1e3), min_size=14, max_size=16), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_the_bound_is_never_below_the_exact_p_value(sizes: list[float], down: int) -> None:
    d = np.array(sizes) * np.where(np.arange(len(sizes)) < down, -1, 1)
    found = sign_flip(d, np.random.default_rng(0), draws=2)  # a bound of 1/3 will do
    signs = 1 - 2.0 * ((np.arange(2**d.size)[:, None] >> np.arange(d.size)) & 1)
    exact = np.mean(np.abs(signs @ np.abs(d)) >= abs(d.sum()) * (1 - 1e-9))
    if found.replicates == 0:
        assert exact <= found.p <= 1 / 3


def test_many_comparisons_are_not_stopped_by_the_number_of_random_patterns() -> None:
    d = np.random.default_rng(12).normal(0.5, 1, 300)
    found = sign_flip(d, np.random.default_rng(1))
    assert found.replicates == 0
    assert oracle.norm.sf(d.sum() / np.sqrt(np.sum(d**2))) * 2 < found.p < 1e-9
    near = sign_flip(d - d.mean() + 0.2, np.random.default_rng(1))  # 3.5 standard errors: random patterns can tell
    assert near.replicates == 9999
    assert near.p >= 1e-4


def _clustered(rng: np.random.Generator, clusters: int, size: int, shift: float = 0.0) -> tuple[np.ndarray, ...]:
    """Two equally good models whose answers to the questions of one passage hang together, each in its own way."""
    labels = np.repeat(np.arange(clusters), size)
    means = 0.5 + 0.35 * np.sign(rng.standard_normal((2, clusters)))
    means[1] += shift
    scores = (rng.random((2, labels.size)) < np.clip(means, 0, 1)[:, labels]).astype(float)
    return scores[0], scores[1], labels


def test_null_with_clusters_and_the_mutation_that_forgets_them() -> None:
    rng = np.random.default_rng(6)
    kept, forgotten = 0, 0
    for _ in range(200):
        a, b, labels = _clustered(rng, 40, 6)
        kept += sign_flip(cluster_sums(b - a, labels)[0], rng).p <= 0.05
        forgotten += mcnemar(int(np.sum(b > a)), int(np.sum(b < a))).p <= 0.05
    assert kept / 200 <= 0.085  # 0.05 and two standard errors
    assert forgotten / 200 > 0.15


@pytest.mark.parametrize(("clusters", "size", "shift"), [(200, 1, 0.05), (40, 6, 0.0), (40, 6, 0.1), (12, 4, 0.0)])
def test_clustered_interval_covers(clusters: int, size: int, shift: float) -> None:
    rng = np.random.default_rng(clusters)
    hits = 0
    for _ in range(600):
        a, b, labels = _clustered(rng, clusters, size, shift)
        _, low, high = paired_interval(b - a, labels, bound=1.0)
        hits += low <= shift <= high
    assert 0.93 <= hits / 600 <= 0.995


def test_a_cluster_with_half_of_the_items_does_not_look_certain() -> None:
    rng = np.random.default_rng(13)
    labels = np.repeat(np.arange(40), [390, *[10] * 39])
    sums, sizes = cluster_sums(np.zeros(780), labels)
    hits, forgotten = 0, 0
    for _ in range(600):
        d = rng.normal(0.1, 0.05, 40)[labels] + rng.normal(0, 0.05, 780)
        _, low, high = paired_interval(d, labels, bound=1.0)
        hits += low <= 0.1 <= high
        sums = cluster_sums(d - d.mean(), labels)[0]
        naive = 2.02 * np.sqrt(40 / 39 * np.sum(sums**2)) / sizes.sum()
        forgotten += abs(d.mean() - 0.1) <= naive
    assert hits / 600 >= 0.93
    assert forgotten / 600 < 0.88


def test_the_interval_forgets_neither_clusters_nor_that_few_items_say_little() -> None:
    d = np.repeat([1.0, -1.0, 1.0, 1.0], 25)
    plain, robust = (paired_interval(d, labels, bound=1.0) for labels in (None, np.repeat(np.arange(4), 25)))
    assert robust[2] - robust[1] > 2 * (plain[2] - plain[1])
    _, low, high = paired_interval(np.zeros(20), bound=1.0)
    assert low < -0.1 < 0.1 < high
    assert np.isnan(paired_interval(np.zeros(20))[1:]).all()
    assert np.isnan(paired_interval([1.0], bound=1.0)[1:]).all()


def test_graded_scores_far_from_skewed_have_students_interval() -> None:
    d = np.random.default_rng(8).normal(0.1, 0.2, 400)
    told = oracle.t.interval(0.95, 399, d.mean(), oracle.sem(d))
    assert paired_interval(d)[1:] == pytest.approx(told, abs=4e-3)


@pytest.mark.parametrize("q", [0.6, 0.95, 0.975, 0.9999])
@pytest.mark.parametrize("df", [3, 199, 200, 5000])
def test_t_quantile_equals_scipy(q: float, df: int) -> None:
    assert t_quantile(q, df) == pytest.approx(oracle.t.ppf(q, df), rel=1e-8)


def test_planted_difference_is_found_as_often_as_predicted() -> None:
    rng = np.random.default_rng(9)
    gain, loss = 0.18, 0.12
    n = paired_items(gain + loss, gain - loss)
    assert n is not None
    draws = rng.multinomial(n, [gain, loss, 1 - gain - loss], size=1200)
    found = np.mean([mcnemar(int(g), int(lost)).p <= 0.05 for g, lost, _ in draws])
    assert found == pytest.approx(0.8, abs=0.04)
    assert paired_detectable(gain + loss, n) == pytest.approx(gain - loss, abs=1e-4)


def test_power_is_none_where_nothing_is_known() -> None:
    assert paired_items(0.0, 0.01) is None
    assert paired_items(0.3, 0.0) is None
    assert paired_detectable(0.0, 100) is None
    assert discordance(np.zeros(8), bound=1.0) == pytest.approx(0.2)


def test_tie_groups_are_the_largest_cliques() -> None:
    rng = np.random.default_rng(10)
    for _ in range(40):
        n = 7
        apart = np.triu(rng.random((n, n)) < 0.4, 1)
        apart |= apart.T
        cliques = [
            {i for i in range(n) if code >> i & 1}
            for code in range(1, 2**n)
            if not any(apart[i, j] for i in range(n) for j in range(n) if code >> i & 1 and code >> j & 1)
        ]
        largest = [c for c in cliques if not any(c < other for other in cliques)]
        groups = tie_groups(apart)
        assert sorted(map(sorted, largest)) == sorted(groups)
        names = letters(groups, n)
        for i in range(n):
            for j in range(i + 1, n):
                assert bool(set(names[i]) & set(names[j])) == (not apart[i, j])
