"""Worlds are what they say they are."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.simulate import CURVES, choice_world, curve, ladder, token_world


@pytest.mark.parametrize("name", CURVES)
def test_curves_go_from_0_to_1_and_never_fall(name: str) -> None:
    y = curve(name, np.linspace(0, 1, 401))
    assert y[0] == pytest.approx(0, abs=1e-9)
    assert y[-1] == pytest.approx(1)
    assert np.all(np.diff(y) >= -1e-12)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("linear", 1, 1), ("sigmoid", 1.75, 1.85), ("steep sigmoid", 2.45, 2.55), ("soft knee", 1.3, 2), ("ramp", 2, 2)],
)
def test_steepest_slope(name: str, low: float, high: float) -> None:
    steepest = np.diff(curve(name, np.linspace(0, 1, 2001))).max() * 2000
    assert low - 1e-6 <= steepest <= high + 1e-6


def test_ladder_spacing() -> None:
    assert np.diff(np.log(ladder(7))) == pytest.approx(np.log(10) / 2)
    gaps = np.diff(np.log(ladder(7, uneven=True)))
    assert gaps.max() / gaps.min() == pytest.approx(3)


def test_token_world_follows_its_ability() -> None:
    w = token_world(
        np.random.default_rng(0), items=20000, noise=0.0, surprise=0.0, difficulty=0.0, lengths=[1, 4], points=5
    )
    loss = -w.twins["gold_logprob"].mean(axis=1) / w.tokens
    assert -np.log(loss) == pytest.approx(w.truth.ability - np.log(1.2), abs=1e-6)
    product = (np.exp(-loss) + np.exp(-4 * loss)) / 2
    assert w.hard.mean(axis=1) == pytest.approx(product, abs=0.015)
    assert w.positions is not None
    assert np.nanmean(w.positions, axis=(1, 2)) == pytest.approx(np.exp(-loss), abs=0.01)
    exact = np.nan_to_num(w.positions, nan=1.0).min(axis=2)
    assert np.array_equal(exact, w.hard)


def test_dependence_raises_exact_match_and_leaves_tokens_alone() -> None:
    plain, tied = (
        token_world(np.random.default_rng(1), items=8000, noise=0.0, dependence=d, points=4) for d in (0.0, 0.8)
    )
    assert plain.positions is not None
    assert tied.positions is not None
    assert tied.hard.mean() > plain.hard.mean() + 0.2
    assert np.nanmean(tied.positions) == pytest.approx(np.nanmean(plain.positions), abs=0.02)


@pytest.mark.parametrize("at", [0.05, 0.5, 0.95])
def test_planted_step_carries_its_share(at: float) -> None:
    w = token_world(np.random.default_rng(2), share=0.8, at=at, noise=0.0, rise=2.0, points=6, items=10)
    assert w.truth.interval is not None
    steps = np.diff(w.truth.ability)
    assert steps.argmax() == w.truth.interval
    assert steps.max() == pytest.approx(2.0 * (0.8 + 0.2 / 5))
    assert w.truth.steepest == pytest.approx(5 * (0.8 + 0.2 / 5))


def test_choice_world_starts_near_chance_and_scores_agree() -> None:
    w = choice_world(np.random.default_rng(3), items=4000, start=0.0, rise=5.0, noise=0.0, difficulty=0.0)
    hard = w.hard.mean(axis=1)
    assert hard[0] == pytest.approx(0.25, abs=0.03)
    assert hard[-1] > 0.9
    assert np.array_equal(w.twins["choice_margin"] > 0, w.hard == 1)
    p = w.twins["choice_probability"]
    assert np.all((1 - p) ** 2 <= w.twins["brier"] + 1e-12)
    assert np.all(w.twins["brier"] <= 2)


def test_noise_has_the_scale_the_seeds_and_the_chain_asked_for() -> None:
    spread, neighbours = [], []
    for k in range(200):
        w = token_world(
            np.random.default_rng(k), points=10, items=2, noise=0.3, chain=0.6, seeds=2, surprise=0.0, difficulty=0.0
        )
        means = np.stack(w.replicates["gold_logprob"]).T
        off = -np.log(-means / w.tokens) + np.log(1.2) - w.truth.ability
        spread.append(off.var())
        neighbours.append((off[:, 1:] * off[:, :-1]).mean())
    assert np.sqrt(np.mean(spread)) == pytest.approx(0.3, abs=0.03)
    assert np.mean(neighbours) / 0.09 == pytest.approx(0.6, abs=0.06)


@pytest.mark.parametrize("tails", ["t3", "outlier"])
def test_tails_are_heavy(tails: str) -> None:
    rng = np.random.default_rng(5)
    off = []
    for _ in range(300):
        w = token_world(rng, points=8, items=1, noise=0.1, tails=tails, surprise=0.0, difficulty=0.0)
        off.append(-np.log(-w.twins["gold_logprob"][:, 0] / w.tokens) + np.log(1.2) - w.truth.ability)
    z = np.concatenate(off) / 0.1
    assert np.mean(z**4) / np.mean(z**2) ** 2 > 3.5


def test_a_seed_fixes_a_world() -> None:
    a, b = (token_world(np.random.default_rng(9), points=4, items=30) for _ in range(2))
    assert a.hard.tobytes() == b.hard.tobytes()
