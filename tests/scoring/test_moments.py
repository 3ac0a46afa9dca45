"""Sums are exact, standard errors are those of the textbook, and merging changes nothing."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreshock.scoring import Moments
from foreshock.scoring._moments import expansion

CALM = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FLOATS = st.floats(-1e12, 1e12, allow_nan=False)
ROWS = st.lists(st.tuples(FLOATS, st.integers(0, 6)), min_size=1, max_size=40)


def clustered(values, cluster):
    """Cluster-robust standard error of a mean, written out (Cameron and Miller 2015, with G/(G-1))."""
    values, cluster = np.asarray(values, float), np.asarray(cluster)
    groups = np.unique(cluster)
    totals = [((values - values.mean())[cluster == g]).sum() for g in groups]
    return math.sqrt(len(groups) / (len(groups) - 1) * float(np.sum(np.square(totals)))) / len(values)


@CALM
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), max_size=60))
def test_an_expansion_is_the_exact_sum(values):
    assert sum(map(Fraction, expansion(values)), Fraction(0)) == sum(map(Fraction, values), Fraction(0))


def test_one_score_per_item_gives_the_usual_standard_error():
    rng = np.random.default_rng(3)
    values = rng.normal(5, 2, 200)
    found = Moments.of(values, np.arange(200))
    assert found.mean == pytest.approx(values.mean(), rel=1e-15)
    assert found.stderr == pytest.approx(values.std(ddof=1) / math.sqrt(200), rel=1e-12)


@CALM
@given(ROWS)
def test_clusters_against_the_formula(rows):
    values, cluster = map(np.array, zip(*rows, strict=True))
    found = Moments.of(values, cluster)
    assert found.clusters == len(set(cluster.tolist()))
    if found.clusters < 2:
        assert found.stderr is None
    else:
        assert found.stderr == pytest.approx(clustered(values, cluster), rel=1e-6, abs=1e-3)


@CALM
@given(ROWS, ROWS, ROWS)
def test_merging_is_summarising_together_in_any_order(a, b, c):
    rows = [(v, (part, k)) for part, some in enumerate((a, b, c)) for v, k in some]
    values = np.array([v for v, _ in rows])
    labels = np.array([part * 100 + k for _, (part, k) in rows])
    whole = Moments.of(values, labels)
    parts = [Moments.of(np.array([v for v, _ in some]), np.array([k for _, k in some])) for some in (a, b, c)]
    one, two = parts[0].merge(parts[1]).merge(parts[2]), parts[2].merge(parts[0].merge(parts[1]))
    assert one.total == two.total == whole.total  # exact, whatever the order
    assert one.mean == whole.mean
    assert (one.n, one.clusters, one.squares) == (whole.n, whole.clusters, whole.squares)
    if whole.stderr is not None:
        assert one.stderr == pytest.approx(whole.stderr, rel=1e-6, abs=1e-3)
        assert two.stderr == pytest.approx(whole.stderr, rel=1e-6, abs=1e-3)


def test_a_large_offset_does_not_eat_the_spread():
    values = 1e9 + np.array([0.0, 1.0] * 500)
    one, two = Moments.of(values[:300], np.arange(300)), Moments.of(values[300:], np.arange(700))
    assert one.merge(two).stderr == pytest.approx(values.std(ddof=1) / math.sqrt(1000), rel=1e-9)


def test_nothing_has_no_mean():
    empty = Moments.of(np.array([]), np.array([]))
    assert (empty.mean, empty.stderr, empty.sum) == (None, None, 0)
    assert empty.merge(Moments.of(np.array([2.0]), np.array([1]))).mean == 2


def test_the_stated_error_covers_the_truth_at_its_rate():
    """Items that share their epochs' luck: clustered intervals cover in 95% of worlds, those of plain rows do not."""
    rng = np.random.default_rng(11)
    items, epochs, worlds = 60, 4, 1_000
    cluster = np.repeat(np.arange(items), epochs)
    hits = plain = 0
    for _ in range(worlds):
        ability = rng.beta(0.5, 0.5, items)  # mean 1/2; items are mostly always right or always wrong
        values = (rng.random((items, epochs)) < ability[:, None]).astype(float).ravel()
        found = Moments.of(values, cluster)
        hits += abs(found.mean - 0.5) < 1.96 * found.stderr
        plain += abs(found.mean - 0.5) < 1.96 * Moments.of(values, np.arange(len(values))).stderr
    assert 0.92 < hits / worlds < 0.97
    assert plain / worlds < 0.85
