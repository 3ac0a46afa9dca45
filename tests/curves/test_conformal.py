"""Conformal intervals across curves: against brute force, and at their rate."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foreshock.curves._conformal import (
    conformal_quantile,
    curves_needed,
    exceedance,
    group_factor,
    interval,
    interval_score,
    pooled,
    signed_scores,
)


def brute_quantile(scores: list[np.ndarray], level: float) -> float:
    """The smallest distance among the scores whose curves' mean share within it, the new curve counted as outside."""
    for distance in sorted(abs(v) for one in scores for v in one):
        share = sum(float(np.mean(np.abs(one) <= distance)) for one in scores) / (len(scores) + 1)
        if share >= level - 1e-9:
            return distance
    return math.inf


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
def test_the_quantile_is_the_brute_force_one(level: float) -> None:
    rng = np.random.default_rng(4)
    for curves in (3, 9, 19, 40):
        scores = [rng.normal(size=rng.integers(1, 6)) for _ in range(curves)]
        assert conformal_quantile(pooled(scores), level) == brute_quantile(scores, level)


def test_with_one_target_each_it_is_the_textbook_order_statistic() -> None:
    values = np.random.default_rng(1).normal(size=57)
    k = math.ceil(58 * 0.9)
    assert conformal_quantile(pooled([np.array([v]) for v in values]), 0.9) == np.sort(np.abs(values))[k - 1]


def test_too_few_curves_have_no_finite_interval() -> None:
    for level in (0.8, 0.9, 0.95):
        need = curves_needed(level)
        assert math.isinf(conformal_quantile(pooled([np.ones(3)] * (need - 1)), level))
        assert conformal_quantile(pooled([np.ones(3)] * need), level) == 1.0
    low, high = interval(np.zeros(2), np.ones(2), np.ones(2), pooled([]), 0.9)
    assert np.isinf(low).all()
    assert np.isinf(high).all()


def test_exchangeable_curves_are_covered_at_the_level() -> None:
    """Curves differ in size and share it between their targets: counting targets as independent would not notice."""
    rng = np.random.default_rng(8)
    inside = []
    for _ in range(800):
        size = np.exp(rng.normal(size=31))
        scores = [s * rng.standard_t(3, rng.integers(1, 5)) for s in size]
        new = rng.choice(scores.pop())
        inside.append(abs(new) <= conformal_quantile(pooled(scores), 0.9))
    share = np.mean(inside)
    assert 0.9 - 3 * math.sqrt(0.09 / 800) <= share <= 0.9 + 1 / 31 + 3 * math.sqrt(0.09 / 800)


def test_curves_count_alike_whatever_their_targets() -> None:
    wild = np.full(1000, 9.0)
    assert conformal_quantile(pooled([np.array([0.1])] * 98 + [wild]), 0.9) == 0.1


def test_probabilities_are_calibrated_and_monotone() -> None:
    rng = np.random.default_rng(3)
    scores = pooled([rng.normal(size=1) for _ in range(400)])
    lines = np.linspace(-3, 3, 13)
    found = np.array([exceedance(line, np.zeros(1), np.ones(1), np.ones(1), scores)[0] for line in lines])
    assert (np.diff(found) <= 0).all()
    exact = 0.5 * np.array([math.erfc(v / math.sqrt(2)) for v in lines])
    assert np.abs(found - exact).max() < 0.07
    assert found.min() >= 1 / 802 - 1e-12
    assert found.max() <= 1 - 1 / 802 + 1e-12


def test_probability_and_interval_agree() -> None:
    rng = np.random.default_rng(6)
    scores = pooled([np.abs(rng.normal(size=1)) * rng.choice([-1, 1]) for _ in range(199)])
    one, two = np.ones(1), 2 * np.ones(1)
    low, high = interval(np.zeros(1), one, two, scores, 0.9)
    above = exceedance(high, np.zeros(1), one, two, scores) + 1 - exceedance(low, np.zeros(1), one, two, scores)
    assert above[0] == pytest.approx(0.1, abs=0.012)


def test_scores_are_signed_by_side() -> None:
    came = np.array([3.0, -3.0, 0.0, 1.0])
    found = signed_scores(came, np.zeros(4), np.array([1.0, 1.0, 0.0, 0.0]), np.array([2.0, 2.0, 0.0, 0.0]))
    assert found.tolist() == [1.5, -3.0, 0.0, math.inf]
    assert math.isinf(conformal_quantile(pooled([np.array([np.nan])] * 20), 0.9))
    with pytest.raises(ValueError, match="no score"):
        pooled([np.empty(0)])


def test_unlike_groups_widen_and_like_ones_do_not() -> None:
    rng = np.random.default_rng(2)

    def world(sizes: tuple[float, ...]) -> float:
        scores = [size * rng.normal(size=2) for size in sizes for _ in range(40)]
        return group_factor(scores, [str(i) for i in range(len(sizes)) for _ in range(40)], 0.9)

    alike = [world((1.0,) * 6) for _ in range(10)]
    unlike = [world((0.5, 0.7, 1.0, 1.4, 2.0, 3.0)) for _ in range(10)]
    assert np.median(alike) < 1.15
    assert np.median(unlike) > 1.2
    assert group_factor([np.ones(1)] * 20, ["a"] * 10 + ["b"] * 10, 0.9) == 1.0


def test_widening_helps_a_group_that_was_left_out() -> None:
    rng = np.random.default_rng(9)
    plain, wide = [], []
    for _ in range(60):
        size = np.exp(0.5 * rng.normal(size=7))
        scores = [[s * rng.normal(size=1) for _ in range(25)] for s in size]
        known, groups = [s for group in scores[:-1] for s in group], [str(i) for i in range(6) for _ in range(25)]
        reach = conformal_quantile(pooled(known), 0.9)
        new = np.abs(np.concatenate(scores[-1]))
        plain.append(np.mean(new <= reach))
        wide.append(np.mean(new <= reach * group_factor(known, groups, 0.9)))
    assert np.mean(wide) >= np.mean(plain) + 0.01
    assert np.mean(wide) >= 0.88


def test_the_interval_score_is_least_at_the_true_quantiles() -> None:
    came = np.random.default_rng(0).normal(size=20000)
    scores = [interval_score(came, np.full(20000, -w), np.full(20000, w), 0.9).mean() for w in (1.2, 1.645, 2.2)]
    assert scores[1] < scores[0]
    assert scores[1] < scores[2]
