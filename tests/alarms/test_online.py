"""Online rules against an independent implementation, a hand calculation, and their own promise in simulation."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from foreshock.alarms import e_lond, e_of_p, lord_plus_plus
from foreshock.alarms._online import e_lond_batch, early, for_heavy_tails
from foreshock.alarms._residuals import design_of, recursion

LEVEL = 0.05
ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "online_fdr.json").read_text("utf-8"))


def javanmard(j: int) -> float:
    """The sequence of shares that the oracle uses for LORD++."""
    return 0.07720838 * math.log(max(j, 2)) / (j * math.exp(math.sqrt(math.log(j))))


def test_lord_equals_the_oracle() -> None:
    found = lord_plus_plus(ORACLE["p"], LEVEL, javanmard)
    assert found.levels == pytest.approx(ORACLE["lord_levels"], rel=1e-6)
    assert np.flatnonzero(found.rejected).tolist() == ORACLE["lord"]


def test_e_lond_equals_the_oracle() -> None:
    found = e_lond(ORACLE["e"], LEVEL)
    assert found.levels == pytest.approx(ORACLE["lond_levels"], rel=1e-6)
    assert np.flatnonzero(found.rejected).tolist() == ORACLE["lond"]


def test_lord_by_hand() -> None:
    """Halves as shares: the formula of the paper with two discoveries, written out."""
    found = lord_plus_plus([0.001, 1.0, 0.001, 1.0], 0.1, lambda j: 0.5**j)
    first = 0.05 / 2
    second = 0.05 / 4 + 0.05 / 2
    third = 0.05 / 8 + 0.05 / 4
    fourth = 0.05 / 16 + 0.05 / 8 + 0.1 / 2
    assert found.levels == pytest.approx([first, second, third, fourth])


def test_shares_add_up_to_no_more_than_the_whole() -> None:
    million = np.arange(1, 1_000_001) ** -1.6
    tail = 1_000_000**-0.6 / 0.6
    assert (million.sum() + tail) * early(1) <= 1
    assert (million.sum() + tail) * early(1) > 0.999999


def test_lord_never_hands_out_more_than_it_earned() -> None:
    rng = np.random.default_rng(3)
    p = np.where(rng.random(300) < 0.3, 1e-9, rng.random(300))
    found = lord_plus_plus(p, LEVEL)
    earned = LEVEL * np.maximum(np.cumsum(np.r_[0, found.rejected[:-1]]), 1)
    assert (np.cumsum(found.levels) <= earned + 1e-12).all()


def test_calibrated_e_values_have_expectation_at_most_one() -> None:
    edges = np.logspace(-12, 0, 400_001)
    middle = np.sqrt(edges[1:] * edges[:-1])
    below = 1 / -math.log(1e-12)  # integral of the calibrator over [0, x] is -(1 - x) / log x, about 1 / -log x
    assert float((e_of_p(middle) * np.diff(edges)).sum()) + below <= 1.001
    assert (np.diff(e_of_p(np.linspace(1e-9, 1, 10_000))) <= 0).all()
    assert e_of_p([0.0, 1.0]).tolist() == [math.inf, 0.5]


def false_share(rejected: np.ndarray, null: np.ndarray) -> float:
    """Share of false ones among what was rejected; 0 where nothing was."""
    return float((rejected & null).sum() / max(rejected.sum(), 1))


def test_lord_keeps_its_rate_and_finds_what_is_planted() -> None:
    rng = np.random.default_rng(5)
    shares, power = [], []
    for _ in range(300):
        null = rng.random(60) > 0.15
        p = np.where(null, rng.random(60), rng.beta(0.02, 4, 60))
        found = lord_plus_plus(p, LEVEL).rejected
        shares.append(false_share(found, null))
        power.append(float((found & ~null).sum() / max((~null).sum(), 1)))
    assert np.mean(shares) <= LEVEL + 3 * np.std(shares) / math.sqrt(300)
    assert np.mean(power) > 0.5


def test_e_lond_keeps_its_rate_when_everything_hangs_together() -> None:
    """One shock is in every e-value of a stream: the case in which LORD++ promises nothing."""
    rng = np.random.default_rng(6)
    shares, power = [], []
    for _ in range(1000):
        null = rng.random(40) > 0.1
        shock, correlation = rng.normal(), 0.9
        z = math.sqrt(correlation) * shock + math.sqrt(1 - correlation) * rng.normal(size=40)
        # a mixture of likelihood ratios: E = 1 under N(0, 1), whatever the dependence
        e = (np.exp(3 * (z + 5 * ~null) - 4.5) + np.exp(5 * (z + 5 * ~null) - 12.5)) / 2
        found = e_lond(e, LEVEL).rejected
        shares.append(false_share(found, null))
        power.append(float((found & ~null).sum() / max((~null).sum(), 1)))
    assert np.mean(shares) <= LEVEL
    assert np.mean(power) > 0.2


def test_batches_keep_the_rate_of_the_stream_and_are_e_lond_when_single() -> None:
    rng = np.random.default_rng(7)
    shares, power = [], []
    for _ in range(400):
        found, null = np.zeros(0, bool), np.zeros(0, bool)
        for look in range(1, 13):
            away = rng.random(10) < 0.05
            shock = rng.normal()
            z = math.sqrt(0.8) * shock + math.sqrt(0.2) * rng.normal(size=10) + 6 * away
            now = e_lond_batch(np.exp(5 * z - 12.5), LEVEL, early(look), int(found.sum()))
            found, null = np.r_[found, now], np.r_[null, ~away]
        shares.append(false_share(found, null))
        power.append(float((found & ~null).sum() / max((~null).sum(), 1)))
    assert np.mean(shares) <= LEVEL
    assert np.mean(power) > 0.3
    e = np.asarray(ORACLE["e"])
    rejected: list[bool] = []
    for t, value in enumerate(e, start=1):
        rejected += e_lond_batch([value], LEVEL, early(t), sum(rejected)).tolist()
    assert rejected == e_lond(e, LEVEL).rejected.tolist()


def test_empty_streams() -> None:
    assert lord_plus_plus([], LEVEL).levels.size == 0
    assert e_lond([], LEVEL).rejected.size == 0
    assert e_lond_batch([], LEVEL, 0.4, 0).size == 0


def test_rules_over_looks_survive_heavy_tails() -> None:
    """Recursive residuals of noise with 3 degrees of freedom ruin LORD++ as they are; made valid, they do not."""
    rng, worlds, baseline, looks = np.random.default_rng(12), 150, 8, 40
    noise = rng.standard_t(3, size=(worlds, baseline + looks))
    scores = recursion(noise, design_of(np.arange(float(baseline + looks)))).scores()[:, baseline:]
    p = 2 * ndtr(-np.abs(scores))
    rates = [np.mean([lord_plus_plus(row, LEVEL).rejected.any() for row in q]) for q in (p, for_heavy_tails(p))]
    assert rates[0] > 0.2
    assert rates[1] <= LEVEL
    # a jump of ten standard deviations is still seen at once by a single series
    jump = np.c_[rng.normal(size=(200, 16)), 10 + rng.normal(size=200)]
    score = recursion(jump, design_of(np.arange(17.0))).scores()[:, -1]
    assert np.mean(for_heavy_tails(2 * ndtr(-np.abs(score))) <= 0.01) > 0.95
    assert for_heavy_tails([0.0, 1.0]).tolist() == pytest.approx([0.0, 1.0], abs=1e-3)
