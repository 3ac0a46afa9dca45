"""Equal means of unlike distributions: what sign flips alone would call a difference."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import skew, t

from foreshock.compare import compare, judge_pair, rank_board
from foreshock.compare._means import mean_p, repeats_p
from foreshock.stats import sign_flip
from foreshock.store import Store
from tests.compare.conftest import sides, write_run

Pair = tuple[np.ndarray, np.ndarray]
WORLDS = 200


def constant_and_rare(rng: np.random.Generator, n: int) -> Pair:
    return np.full(n, 0.1), (rng.random(n) < 0.1) * 1.0


def constant_and_heavy(rng: np.random.Generator, n: int) -> Pair:
    return np.full(n, np.exp(0.5)), np.exp(rng.normal(size=n))


def one_and_sixteen(rng: np.random.Generator, n: int) -> Pair:
    return rng.binomial(1, 0.05, n) / 1, rng.binomial(16, 0.05, n) / 16


def called(world: Callable[[np.random.Generator, int], Pair], n: int, bound: float | None, seed: int) -> Pair:
    """Share of worlds with p at most .05: by sign flips alone, and as compared."""
    rng = np.random.default_rng(seed)
    counts = np.array([np.ones(n), np.full(n, 16 if world is one_and_sixteen else 1)], int)
    flips = now = 0
    for _ in range(WORLDS):
        a, b = world(rng, n)
        flips += sign_flip(b - a, rng, 499).p <= 0.05
        now += judge_pair(a, b, rng, repeated=True, repeats=counts, bound=bound).p <= 0.05
    return flips / WORLDS, now / WORLDS


@pytest.mark.parametrize(
    ("world", "n", "bound"),
    [
        (constant_and_rare, 12, 1.0),
        (constant_and_rare, 30, 1.0),
        (constant_and_heavy, 30, None),
        (one_and_sixteen, 30, 1.0),
    ],
)
def test_null_and_the_mutation_that_only_flips_signs(world: object, n: int, bound: float | None) -> None:
    flips, now = called(world, n, bound, 11)
    assert flips > 0.1
    # three standard errors above .05; the heavy tail of so few items keeps a rate of .08
    assert now <= (0.12 if world is constant_and_heavy else 0.05 + 3 * 0.0154)


def test_a_board_does_not_tell_them_apart_either() -> None:
    rng = np.random.default_rng(12)
    apart = 0
    for _ in range(WORLDS):
        rows = np.stack([*one_and_sixteen(rng, 30)])
        counts = np.array([np.ones(30), np.full(30, 16)], int)
        apart += len(rank_board(rows, rng, repeated=True, repeats=counts, bound=1.0, splits=1).groups) > 1
    assert apart / WORLDS <= 0.06


def test_power_of_like_distributions_is_that_of_sign_flips() -> None:
    rng = np.random.default_rng(13)
    flips = now = 0
    for _ in range(WORLDS):
        a, b = rng.binomial(4, np.array([[0.5], [0.62]]), (2, 60)) / 4
        flips += sign_flip(b - a, rng).p <= 0.05
        now += judge_pair(a, b, rng, repeated=True).p <= 0.05
    assert 0.6 < flips / WORLDS < 0.9
    assert now >= flips - 0.03 * WORLDS


def test_the_skewed_t_is_halls_formula_and_without_skewness_students() -> None:
    d = np.random.default_rng(14).exponential(size=25) - 0.4
    root, lean = np.sqrt(25), skew(d)
    student = d.mean() / (d.std(ddof=1) / root)
    hall = student + lean / (3 * root) * student**2 + lean**2 / (27 * 25) * student**3 + lean / (6 * root)
    assert mean_p(d, np.ones(25)) == pytest.approx(2 * t.sf(abs(hall), 24))
    even = np.array([-2.0, -1, 0, 1, 2]) + 1.5
    assert mean_p(even, np.ones(5)) == pytest.approx(2 * t.sf(1.5 / np.sqrt(2.5 / 5), 4))


def test_units_that_all_agree_say_what_the_bound_allows() -> None:
    ones = np.ones(6)
    assert mean_p(ones, ones, 1.0) == sign_flip(ones, np.random.default_rng(0)).p == 2 / 2**6
    # a mean of 0 with nine in ten at -.1: the chance to see none of the others in 12
    assert mean_p(np.full(12, -0.1), np.ones(12), 1.0) == pytest.approx(2 * (1 / 1.1) ** 12)
    assert mean_p(np.zeros(4), np.ones(4), 1.0) == 1.0
    assert mean_p(np.array([0.2, 0.4]), np.array([1.0, 2.0]), 1.0) == pytest.approx(1.0)


def dealt(first: list[list[int]], second: list[list[int]]) -> float:
    """Every way to deal the responses, one by one."""
    ways = []
    for a, b in zip(first, second, strict=True):
        every = range(len(a) + len(b))
        told = [*a, *b]
        ways.append(
            [
                np.mean([told[i] for i in every if i not in taken]) - np.mean([told[i] for i in taken])
                for taken in itertools.combinations(every, len(a))
            ]
        )
    seen = abs(sum(np.mean(b) - np.mean(a) for a, b in zip(first, second, strict=True)))
    sums = [abs(sum(way)) for way in itertools.product(*ways)]
    return float(np.mean([total >= seen - 1e-9 for total in sums]))


@pytest.mark.parametrize(
    ("sizes", "exact"),
    [([(1, 3)] * 3, True), ([(3, 2)] * 3, True), ([(1, 4), (1, 4), (4, 1)], False), ([(1, 3), (2, 3), (2, 2)], False)],
)
def test_responses_dealt_anew_are_every_way_to_deal_them(sizes: list[tuple[int, int]], exact: bool) -> None:
    rng = np.random.default_rng(15)
    for _ in range(6):
        first = [rng.integers(0, 2, a).tolist() for a, _ in sizes]
        second = [rng.integers(0, 2, b).tolist() for _, b in sizes]
        means = tuple(np.array([np.mean(x) for x in side]) for side in (first, second))
        counts = tuple(np.array([len(x) for x in side]) for side in (first, second))
        told = repeats_p(means, counts, rng)
        assert told == pytest.approx(dealt(first, second), abs=1e-9 if exact else 0.01)
    assert repeats_p((np.array([0.3]), np.array([0.5])), (np.array([1]), np.array([2])), rng) is None


def test_the_condition_that_decides_is_told(store: Store) -> None:
    rng = np.random.default_rng(16)
    ids = [str(i) for i in range(40)]
    one = write_run(store, "one", [0.0] * 40, ids=ids)
    right = rng.binomial(1, 0.05, 40 * 16).astype(float).tolist()
    many = write_run(store, "many", right, ids=[i for i in ids for _ in range(16)], epochs=[*range(1, 17)] * 40)
    (told,) = compare(store, sides(one, many)).tables["compare"]
    assert "dealt to the sides anew" in told["test"]
    assert told["p"] > 0.05
    assert told["verdict"] == "undecided"
