"""Several tasks at chance together: the oracle of the joined p-value, its rate on the boundary, power, mutation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from foreshock.integrity import fell_together
from foreshock.integrity._together import dropped_together
from foreshock.stats import partial_conjunction

SHARED = 0.8  # correlation between the tasks of one model


def test_partial_conjunction_is_the_worst_bonferroni_over_subsets() -> None:
    # Benjamini and Heller's definition: the largest Bonferroni p-value among all subsets of n - r + 1 hypotheses
    rng = np.random.default_rng(3)
    for _ in range(50):
        p = rng.random(6) ** 3
        for r in range(1, 7):
            size = len(p) - r + 1
            worst = max(min(1.0, size * min(subset)) for subset in combinations(p, size))
            assert partial_conjunction(p, r) == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize("r", [0, 4])
def test_partial_conjunction_refuses_what_cannot_be(r: int) -> None:
    with pytest.raises(ValueError, match="at_least"):
        partial_conjunction([0.1, 0.2, 0.3], r)


def worlds(n: int, lost: np.ndarray, seed: int, share: float = SHARED) -> list[tuple[float | None, int]]:
    """p-value and number of fallen tasks in ``n`` worlds whose tasks lose these shares of their height above chance."""
    rng = np.random.default_rng(seed)
    tasks = len(lost)
    chance, error = np.full(tasks, 0.25), np.full(tasks, 0.02)
    found = []
    for _ in range(n):
        noise = np.sqrt(share) * rng.normal(size=(2, 1)) + np.sqrt(1 - share) * rng.normal(size=(2, tasks))
        before = 0.33 + error * noise[0]  # half of its height is two standard errors: within reach of "at chance"
        after = 0.25 + (1 - lost) * 0.08 + error * noise[1]
        told = fell_together(before, error, after, error, chance)
        found.append((told.p, int(told.fallen.sum())))
    return found


@pytest.mark.parametrize("share", [0.0, SHARED])
def test_false_alarms_keep_their_rate_on_the_boundary(share: float) -> None:
    # every task has lost exactly half, the largest loss that the null allows
    alarms = [p is not None and p <= 0.05 for p, _ in worlds(1_500, np.full(5, 0.5), 1, share)]
    assert np.mean(alarms) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1_500)


def test_without_the_joint_rule_the_rate_is_not_kept() -> None:
    # the mutation: the smallest p-value of eight tasks alone, instead of the joined one
    rng = np.random.default_rng(2)
    before, after = 0.45 + 0.02 * rng.normal(size=(500, 8)), 0.35 + 0.02 * rng.normal(size=(500, 8))
    z = ((before - 0.25) / 2 - (after - 0.25)) / np.sqrt(0.02**2 + 0.01**2)
    assert (z.max(axis=1) > 1.645).mean() > 0.2


def test_a_fall_of_all_tasks_is_found() -> None:
    error = np.full(5, 0.015)
    told = fell_together(np.full(5, 0.6), error, np.full(5, 0.255), error, np.full(5, 0.25))
    assert told.p is not None
    assert told.p < 1e-6
    assert told.fallen.all()
    assert told.at_least == 3


def test_a_fall_of_two_tasks_of_five_is_no_case_of_together() -> None:
    after = np.array([0.25, 0.25, 0.6, 0.6, 0.6])
    error = np.full(5, 0.015)
    told = fell_together(np.full(5, 0.6), error, after, error, np.full(5, 0.25))
    assert told.fallen.tolist() == [True, True, False, False, False]
    assert told.p == 1.0


def test_tasks_that_cannot_tell_are_left_out() -> None:
    before = np.array([0.6, 0.6, 0.26, 0.6, 0.6])
    error = np.array([0.01, np.nan, 0.01, 0.0, 0.01])
    chance = np.array([0.25, 0.25, 0.25, 0.25, np.nan])
    told = fell_together(before, error, np.full(5, 0.25), error, chance)
    assert told.able.tolist() == [True, False, False, False, False]
    assert told.p is None


def test_a_half_way_fall_is_not_at_chance() -> None:
    # significantly less than half is left, and significantly more than nothing
    error = np.full(4, 0.005)
    told = fell_together(np.full(4, 0.65), error, np.full(4, 0.35), error, np.full(4, 0.25))
    assert told.able.all()
    assert not told.fallen.any()
    assert told.p == 1.0


@pytest.mark.parametrize("share", [0.0, SHARED])
def test_tasks_that_did_not_fall_are_rarely_said_to_have(share: float) -> None:
    """Null of the test without a score of guessing: equal scores before and after, apart or correlated."""
    rng = np.random.default_rng(4)
    error, alarms = np.full(5, 0.02), 0
    for _ in range(1_500):
        noise = np.sqrt(share) * rng.normal(size=(2, 1)) + np.sqrt(1 - share) * rng.normal(size=(2, 5))
        told = dropped_together(0.5 + error * noise[0], error, 0.5 + error * noise[1], error)
        alarms += told.p is not None and told.p <= 0.05
    assert alarms / 1_500 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1_500)


def test_a_mean_over_unequal_options_is_what_guessing_scores() -> None:
    """Null: a model that guesses among 3 to 10 options is at chance, and none of its tasks has anything to lose."""
    rng = np.random.default_rng(6)
    sizes = rng.integers(3, 11, size=(8, 400))
    chance = (1 / sizes).mean(axis=1)
    right = rng.random((2, 8, 400)) < 1 / sizes
    means, errors = right.mean(axis=2), right.std(axis=2) / 20
    assert (np.abs(means - chance) < 3.5 * errors).all()
    assert not fell_together(means[0], errors[0], means[1], errors[1], chance).able.any()
