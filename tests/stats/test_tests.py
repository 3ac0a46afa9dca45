"""Permutation, many looks and links against brute force and scipy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as oracle

from foreshock.stats import benjamini_hochberg, floored, holm, identity, logit, loglog, permutation_p, sign_flip


def test_permutation_p_is_never_zero_and_counts_infinities() -> None:
    assert permutation_p(9.0, np.arange(9.0)) == pytest.approx(0.1)
    assert permutation_p(float("inf"), [1.0, 2.0, 3.0]) == 0.25
    assert permutation_p(0.0, [np.nan, -1.0, -2.0]) == 0.5


def test_permutation_p_keeps_its_rate() -> None:
    rng = np.random.default_rng(0)
    p = [permutation_p(row[0], row[1:]) for row in rng.standard_normal((4000, 20))]
    assert np.mean(np.asarray(p) <= 0.05) == pytest.approx(0.05, abs=0.012)
    assert min(p) == 0.05


@pytest.mark.parametrize("n", [3, 8, 12])
def test_sign_flip_equals_enumeration(n: int) -> None:
    d = np.random.default_rng(n).normal(0.4, 1, n)
    sums = [abs(sum(s * x for s, x in zip(signs, d, strict=True))) for signs in product((-1, 1), repeat=n)]
    p, least, replicates = sign_flip(d, np.random.default_rng(0))
    assert replicates is None
    assert p == pytest.approx(np.mean(np.asarray(sums) >= abs(d.sum()) - 1e-12))
    assert least == 2 / 2**n


def test_sign_flip_agrees_with_scipy_when_sampled() -> None:
    d = np.random.default_rng(1).normal(0.3, 1, 40)
    told = oracle.permutation_test(
        (d,), np.sum, permutation_type="samples", n_resamples=9999, rng=np.random.default_rng(2)
    )
    assert sign_flip(d, np.random.default_rng(3))[0] == pytest.approx(told.pvalue, abs=0.015)


def test_sign_flip_keeps_its_rate_and_ignores_ties() -> None:
    rng = np.random.default_rng(4)
    p = [sign_flip(rng.standard_normal(10), rng)[0] for _ in range(1500)]
    assert np.mean(np.asarray(p) <= 0.05) == pytest.approx(0.05, abs=0.018)
    assert sign_flip([0.0, np.nan], rng) == (1.0, 1.0, None)
    assert sign_flip([0.0, 1.0, 2.0, 3.0], rng) == (0.25, 0.25, None)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_benjamini_hochberg_equals_scipy(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(oracle.false_discovery_control(p), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_equals_the_step_down_rule(p: list[float]) -> None:
    adjusted = holm(p)
    for alpha in (0.01, 0.05, 0.2, 0.5):
        rejected = set()
        for rank, i in enumerate(np.argsort(p, kind="stable")):
            if p[i] * (len(p) - rank) > alpha:
                break
            rejected.add(int(i))
        assert {int(i) for i in np.flatnonzero(adjusted <= alpha)} == rejected


@pytest.mark.parametrize("link", [loglog, logit, identity])
def test_links_rise_and_invert(link: object) -> None:
    assert link in (loglog, logit, identity)
    p = np.linspace(0.001, 0.999, 101)
    z = link.forward(p)  # type: ignore[attr-defined]
    assert np.all(np.diff(z) > 0)
    assert link.inverse(z) == pytest.approx(p)  # type: ignore[attr-defined]


def test_links_do_not_hide_the_ends() -> None:
    assert loglog.forward(np.array([0.0, 1.0])).tolist() == [-np.inf, np.inf]
    assert logit.forward(np.array([0.0, 1.0])).tolist() == [-np.inf, np.inf]


def test_floors_come_from_n_and_are_told() -> None:
    share, pulled = floored([0.0, 0.001, 0.5, 1.0], [100, 1000, 100, 100])
    assert share.tolist() == [0.005, 0.001, 0.5, 0.995]
    assert pulled.tolist() == [True, False, False, True]
    with pytest.raises(ValueError, match="outside"):
        floored([1.2], 10)
