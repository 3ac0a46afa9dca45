"""Suites: many tasks that share their models."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.simulate import World, choice_world, suite_world, token_world

EXACT = {"difficulty": 0.0, "surprise": 0.0, "items": 1, "positions": False}


def deviations(world: World) -> np.ndarray:  # type: ignore[type-arg]
    """What each model (of the mean over seeds) adds to the curve, read back from the twin."""
    return -np.log(-world.twins["gold_logprob"][:, 0] / world.tokens) + np.log(1.2) - world.truth.ability


def drawn(count: int, **knobs: object) -> np.ndarray:  # type: ignore[type-arg]
    """Deviations of many suites, shape (count, tasks, points)."""
    rng = np.random.default_rng(11)
    return np.array([[deviations(w) for w in suite_world(rng, **(EXACT | knobs))] for _ in range(count)])  # type: ignore[arg-type]


@pytest.mark.parametrize("correlation", [0.0, 0.5, 1.0])
def test_tasks_correlate_as_asked_whatever_their_noise(correlation: float) -> None:
    off = drawn(400, tasks=3, points=8, noise=[0.05, 0.3, 0.1], correlation=correlation)
    assert off.std(axis=(0, 2)) == pytest.approx([0.05, 0.3, 0.1], rel=0.06)
    told = np.corrcoef(off.transpose(1, 0, 2).reshape(3, -1))
    assert told[np.triu_indices(3, 1)] == pytest.approx(correlation, abs=0.06)
    # neighbouring models have nothing in common
    assert (off[..., 1:] * off[..., :-1]).mean(axis=(0, 2)) == pytest.approx(0, abs=0.005)


def test_chain_holds_in_every_task() -> None:
    off = drawn(300, tasks=2, points=12, noise=0.2, correlation=0.4, chain=0.5)
    assert off.var() == pytest.approx(0.04, rel=0.08)
    assert (off[..., 1:] * off[..., :-1]).mean() / 0.04 == pytest.approx(0.5, abs=0.06)
    assert (off[:, 0] * off[:, 1]).mean() / 0.04 == pytest.approx(0.4, abs=0.08)


def test_outliers_belong_to_tasks_or_to_one_model() -> None:
    own = np.abs(drawn(100, tasks=6, points=8, tails="outlier", correlation=0.0)).argmax(axis=2)
    same = np.abs(drawn(100, tasks=6, points=8, tails="outlier model", correlation=0.0)).argmax(axis=2)
    assert np.mean(own == own[:, :1]) < 0.5
    assert np.mean(same == same[:, :1]) > 0.95
    heavy = drawn(300, tasks=2, points=8, tails="t3", correlation=0.0)
    # quartile of Student's t with 3 degrees of freedom over its standard deviation: .7649 / 3**.5 (a variance of such
    # draws would not settle)
    assert np.median(np.abs(heavy)) == pytest.approx(0.1 * 0.7649 / np.sqrt(3), rel=0.05)
    assert np.mean(heavy**4) / heavy.var() ** 2 > 4


def test_steps_are_planted_where_the_truth_says() -> None:
    worlds = suite_world(np.random.default_rng(1), tasks=20, breaking=0.3, share=(0.4, 0.9), noise=0.0, items=10)
    broken = [w for w in worlds if w.truth.share > 0]
    assert len(broken) == 6
    assert len({w.truth.share for w in broken}) == 6
    assert len({w.truth.interval for w in broken}) > 1
    assert all(0.4 <= w.truth.share <= 0.9 for w in broken)
    common = suite_world(np.random.default_rng(2), tasks=12, common_step=0.6, items=10)
    assert {(w.truth.share, w.truth.interval) for w in common} == {(0.6, common[0].truth.interval)}
    with pytest.raises(ValueError, match="common"):
        suite_world(np.random.default_rng(3), breaking=0.3, common_step=0.5)
    with pytest.raises(ValueError, match="outside 0 to 1"):
        suite_world(np.random.default_rng(3), correlation=1.2)


def test_tasks_differ_as_asked_and_a_seed_fixes_them() -> None:
    each = [{"lengths": [1, 3], "items": 20}, {"lengths": 5, "items": 40}, {"lengths": 2, "items": 60}]

    def suite() -> list[World]:
        return suite_world(np.random.default_rng(4), tasks=4, points=5, seeds=2, each=each)

    worlds = suite()
    assert [w.hard.shape for w in worlds] == [(5, 20), (5, 40), (5, 60), (5, 20)]
    assert [w.tokens for w in worlds] == [2.0, 5.0, 2.0, 2.0]
    assert worlds[0].replicates["hard"][0].shape == (2,)
    assert [w.hard.tobytes() for w in worlds] == [w.hard.tobytes() for w in suite()]


def test_any_kind_of_world_makes_a_suite() -> None:
    worlds = suite_world(np.random.default_rng(5), make=choice_world, tasks=3, points=5, items=30, choices=3)
    assert [w.chance for w in worlds] == [pytest.approx(1 / 3)] * 3


@pytest.mark.parametrize("dependence", [0.0, 0.4])
def test_one_draw_per_answer_has_the_same_chance_as_one_per_token(dependence: float) -> None:
    plain, fast = (
        token_world(np.random.default_rng(6), items=30000, lengths=[1, 4, 9], noise=0.0, points=4,
                    dependence=dependence, positions=positions)
        for positions in (True, False)
    )  # fmt: skip
    assert fast.positions is None
    assert fast.hard.mean(axis=1) == pytest.approx(plain.hard.mean(axis=1), abs=0.015)
    # and item by item: the longer the answer, the rarer
    by_length = [[w.hard[:, k::3].mean() for k in range(3)] for w in (plain, fast)]
    assert by_length[1] == pytest.approx(by_length[0], abs=0.02)
