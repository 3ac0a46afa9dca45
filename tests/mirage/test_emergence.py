"""The emergence score and its null."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from foreshock.mirage import emergence, emergence_p, emergence_scores


def by_hand(y: list[float]) -> float:
    top, bottom = y.index(max(y)), y.index(min(y))
    root = median((b - a) ** 2 for a, b in pairwise(y)) ** 0.5
    sign = (top > bottom) - (top < bottom)
    if max(y) == min(y):
        return 0.0
    return sign * ((max(y) - min(y)) / root if root > 0 else float("inf"))


def simulated(line: list[float], items: int, families: int) -> list[float]:
    """Scores of families that rise along a line, by the standard library alone."""
    rng = random.Random(1)
    found = []
    for _ in range(families):
        right = [sum(rng.random() < p for _ in range(items)) for p in line]
        found.append(by_hand([k / items for k in right]))
    return found


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


@pytest.mark.parametrize("items", [20, 100])
def test_the_null_is_that_of_an_independent_simulation(items: int) -> None:
    line = [0.25 + 0.35 * k / 11 for k in range(12)]
    oracle = simulated(line, items, 600)
    # the observed scores lie on the line, so the null rises along it
    told = emergence(line, items, np.random.default_rng(6), draws=4000)
    assert told.straight == 11
    assert told.typical == pytest.approx(median(oracle), rel=0.08)
    above = np.mean([s > told.high for s in oracle])
    assert above == pytest.approx(0.05, abs=0.025)
    # "a score above 10" is a matter of the items: 12 models on a straight line from .25 to .6
    null = emergence_scores(np.random.default_rng(7).binomial(items, line, (4000, 12)) / items)
    assert np.mean(null > 10) == pytest.approx(np.mean([s > 10 for s in oracle]), abs=0.05)


@pytest.mark.parametrize(("items", "share"), [(20, 0.05), (100, 0.20), (205, 0.40), (1000, 0.76)])
def test_share_above_ten_on_a_straight_line_is_as_published(items: int, share: float) -> None:
    line = np.linspace(0.25, 0.6, 12)
    null = emergence_scores(np.random.default_rng(8).binomial(items, line, (4000, 12)) / items)
    assert np.mean(null > 10) == pytest.approx(share, abs=0.02)
    assert np.mean(null > 20) <= 0.015


def test_flat_families_are_told_apart_from_rising_ones_by_their_null() -> None:
    y = np.array([0.0] * 8 + [0.05, 0.0, 0.0, 0.05])
    few = emergence(y, 20, np.random.default_rng(9))
    assert few.score == np.inf
    assert few.infinite == pytest.approx(np.mean(np.isinf(simulated(list(_line(y)), 20, 600))), abs=0.06)
    assert (few.floor, few.zero_steps) == (10, 8)
    assert few.high == np.inf
    many = emergence(y, 2000, np.random.default_rng(9))
    assert many.infinite < 0.05
    assert many.p < 0.01 < few.p


def _line(y: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return np.clip(np.polyval(np.polyfit(np.arange(y.size), y, 1), np.arange(y.size)), 0, 1)


def test_the_direction_is_that_of_the_metric() -> None:
    falling = np.array([0.9, 0.88, 0.87, 0.2, 0.18])
    assert emergence_scores(falling) == -emergence_scores(falling, higher_is_better=False)
    assert emergence(falling, 500, np.random.default_rng(10)).p > 0.9
    assert emergence(falling, 500, np.random.default_rng(10), higher_is_better=False).p < 0.05
    with pytest.raises(ValueError, match="every point"):
        emergence_scores([0.1, np.nan, 0.3])


def test_rounding_of_means_is_no_step() -> None:
    # 1/3 as a mean of three and as a third: the last digit differs, the score does not
    y = [np.mean([1.0, 0.0, 0.0]), 1 / 3, 1 - 2 / 3, 0.9]
    assert len(set(y)) > 2
    assert emergence_scores(y) == np.inf


def test_real_addition_jumps_and_the_score_misses_it(shared_data: Path) -> None:
    import gzip

    right: dict[tuple[float, str], list[float]] = defaultdict(list)
    with gzip.open(shared_data / "series" / "pythia_v0_arithmetic_by_operand.csv.gz", "rt") as file:
        names = file.readline().strip().split(",")
        rows = [dict(zip(names, line.strip().split(","), strict=True)) for line in file]
    last = max(float(row["checkpoint"]) for row in rows)
    for row in rows:
        if float(row["checkpoint"]) == last and float(row["shots"]) == 2:
            right[float(row["params"]), row["op"]].append(float(row["acc"]))
    sizes = sorted({size for size, _ in right})
    addition = [float(np.mean(right[size, "addition"])) for size in sizes]
    told = emergence(addition, 5000, np.random.default_rng(11))
    assert addition[4] - addition[3] > 0.65
    assert told.score == pytest.approx(4.3, abs=0.1)
    # less than a straight line would score
    assert told.score < told.straight
    multiplication = [float(np.mean(right[size, "multiplication"])) for size in sizes]
    assert emergence_scores(multiplication) == pytest.approx(6.3, abs=0.1)


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
