"""Attempts and graded answers: moments against closed forms."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats as oracle

from foreshock.simulate import attempt_world, graded_world, suite_world

ALIKE = {"difficulty": 0.0, "surprise": 0.0, "noise": 0.0, "items": 20000, "points": 4}


@pytest.mark.parametrize("linked", ["complement", "logit", "loss"])
def test_rates_follow_their_scale(linked: str) -> None:
    w = attempt_world(np.random.default_rng(0), attempts=5, start=0.1, rise=1.5, linked=linked, **ALIKE)  # type: ignore[arg-type]
    rate = w.twins["pass_rate"].mean(axis=1)
    assert rate[0] == pytest.approx(0.1, abs=0.005)
    scale = {
        "complement": lambda p: np.log(-np.log1p(-p)),
        "logit": lambda p: np.log(p / (1 - p)),
        "loss": lambda p: -np.log(-np.log(p)),
    }[linked]
    assert scale(rate) - scale(rate[0]) == pytest.approx(w.truth.ability, abs=0.06)
    assert w.hard.mean(axis=1) == pytest.approx(1 - (1 - rate) ** 5, abs=0.01)
    assert (w.link, w.parts, w.trials) == ("any-of-T", 5, 5)


def test_more_attempts_than_needed_give_the_share_of_sets() -> None:
    w = attempt_world(np.random.default_rng(1), attempts=3, of=6, items=40, points=4)
    right = np.round(w.twins["pass_rate"] * 6).astype(int)
    for count, told in zip(right.ravel(), w.hard.ravel(), strict=True):
        made = [1] * count + [0] * (6 - count)
        sets = [any(made[i] for i in chosen) for chosen in combinations(range(6), 3)]
        assert told == pytest.approx(np.mean(sets))


def test_a_threshold_cuts_the_scores() -> None:
    knobs = ALIKE | {"difficulty": 0.6, "surprise": 0.8}
    w = graded_world(np.random.default_rng(2), threshold=0.7, start=0.4, rise=2.0, **knobs)  # type: ignore[arg-type]
    place = np.log(0.4 / 0.6) + w.truth.ability
    assert w.hard.mean(axis=1) == pytest.approx(oracle.norm.cdf(place - np.log(0.7 / 0.3)), abs=0.015)
    assert np.array_equal(w.hard == 1, w.twins["graded_score"] >= 0.7)
    assert (w.link, w.threshold, w.parts) == ("threshold", 0.7, None)


def test_all_parts_must_pass_at_one() -> None:
    w = graded_world(np.random.default_rng(3), parts=4, threshold=1.0, start=0.4, rise=2.0, **ALIKE)  # type: ignore[arg-type]
    p = w.twins["sub_scores"].mean(axis=1)
    assert w.hard.mean(axis=1) == pytest.approx(p**4, abs=0.01)
    assert (w.link, w.threshold, w.parts, w.trials) == ("all-of-N", None, 4, 4)


@pytest.mark.parametrize("make", [attempt_world, graded_world])
def test_they_make_suites_and_a_seed_fixes_them(make: object) -> None:
    knobs = {"make": make, "tasks": 2, "points": 5, "items": 30, "seeds": 2}
    a, b = (suite_world(np.random.default_rng(4), **knobs) for _ in range(2))  # type: ignore[arg-type]
    assert [w.hard.tobytes() for w in a] == [w.hard.tobytes() for w in b]
    assert all(w.hard.shape == (5, 30) and len(w.replicates["hard"][0]) == 2 for w in a)
