"""The emergence score and its null."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

import numpy as np
import pytest

from foreshock.mirage import emergence_p, emergence_scores


def by_hand(y: list[float]) -> float:
    top, bottom = y.index(max(y)), y.index(min(y))
    root = median((b - a) ** 2 for a, b in pairwise(y)) ** 0.5
    sign = (top > bottom) - (top < bottom)
    return sign * (max(y) - min(y)) / root


def test_equals_the_formula() -> None:
    rng = np.random.default_rng(0)
    for n in (3, 4, 7, 12):
        y = rng.random((20, n))
        assert emergence_scores(y) == pytest.approx([by_hand(list(row)) for row in y])


@pytest.mark.parametrize("n", [4, 8, 12])
def test_a_straight_line_scores_n_less_one(n: int) -> None:
    assert emergence_scores(np.linspace(0.2, 0.6, n)) == pytest.approx(n - 1)
    assert emergence_scores(np.linspace(0.6, 0.2, n)) == pytest.approx(-(n - 1))


def test_floors_and_infinities_are_explicit() -> None:
    assert emergence_scores([0.1, 0.1, 0.1]) == 0.0
    assert emergence_scores([0, 0, 0, 0, 0.4]) == np.inf
    assert emergence_scores([0.4, 0, 0, 0, 0]) == -np.inf
    with pytest.raises(ValueError, match="two points"):
        emergence_scores([0.3])


def test_flat_at_one_percent_on_twenty_items_is_mostly_infinite() -> None:
    rng = np.random.default_rng(1)
    scores = emergence_scores(rng.binomial(20, 0.01, (4000, 12)) / 20)
    # an independent simulation gave 63%; -inf, where the only hit comes first, is counted apart
    assert np.mean(scores == np.inf) == pytest.approx(0.63, abs=0.03)
    assert np.mean(scores == -np.inf) < 0.2
    y = np.array([0.0] * 8 + [0.05, 0.0, 0.0, 0.05])
    score, p = emergence_p(y, 20, np.random.default_rng(2))
    assert score == np.inf
    assert p > 0.2


def test_p_keeps_its_rate_under_a_steady_rise() -> None:
    p = []
    for k in range(400):
        rng = np.random.default_rng([3, k])
        y = rng.binomial(200, np.linspace(0.25, 0.6, 8)) / 200
        p.append(emergence_p(y, 200, rng, draws=200)[1])
    assert np.mean(np.asarray(p) <= 0.05) < 0.09
    assert 0.3 < np.mean(p) < 0.7


def test_a_jump_is_found_and_lost_when_the_order_is() -> None:
    y = np.array([0.02, 0.03, 0.02, 0.04, 0.03, 0.7, 0.72, 0.71])
    assert emergence_p(y, 500, np.random.default_rng(4))[1] < 0.01
    assert emergence_p(y[::-1], 500, np.random.default_rng(4))[1] > 0.3


def test_graded_scores_use_their_own_spread() -> None:
    y = np.linspace(0.3, 0.5, 6)
    _, p = emergence_p(y, 10, np.random.default_rng(5), spread=np.full(6, 1e-6))
    assert p > 0.3
