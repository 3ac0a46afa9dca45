"""Forecasts across the onset: exact where they should be, rarely wrong on smooth worlds, and able to be surprised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from foreshock.mirage import Entry, Foreseeable, foreseeable, judge, trend_of
from foreshock.mirage._forecast import Trail, answers, surprised
from foreshock.simulate import curve, token_world
from tests.mirage.panels import first, hard_of, panel_of, twins_of

RISE, LENGTH = 2.6, 10


def told_of(rng: np.random.Generator, shape: str, points: int, noise: float, share: float = 0.0) -> dict[str, float]:
    """Share of each answer over 1,000 families whose onset is where exact match of ten tokens rises most."""
    x = np.linspace(0, 1, points)
    true = RISE * ((1 - share) * curve(shape, x) + share * (x > 0.5))
    z = true + noise * rng.standard_normal((1000, points))
    exact = rng.binomial(1000, np.exp(-LENGTH * 1.2 * np.exp(-z))) / 1000
    place = np.argmax(np.diff(exact, axis=1), axis=1)
    words = []
    for k in np.unique(place):
        if k >= 2:
            here = np.arange(points)
            trail = Trail(x, z[place == k], np.zeros((points, points)), here <= k, here == k + 1)
            words += answers(trail)[0].tolist()
    return {word: words.count(word) / 1000 for word in ("yes", "no", "cannot tell")}


def test_the_forecast_is_that_of_ordinary_least_squares() -> None:
    rng = np.random.default_rng(1)
    x, z = np.array([0.0, 1.0, 2.5, 3.0, 4.0, 5.5]), rng.standard_normal(6)
    told = surprised(Trail(x, z[None], np.zeros((6, 6)), x < 4, x == 4))
    b, a = np.polyfit(x[:4], z[:4], 1)
    s = np.sqrt(((z[:4] - a - b * x[:4]) ** 2).sum() / 2)
    lever = 1 + 1 / 4 + (4 - x[:4].mean()) ** 2 / ((x[:4] - x[:4].mean()) ** 2).sum()
    half = student.ppf(0.975, 2) * s * np.sqrt(lever)
    assert told.foreseen == pytest.approx(a + 4 * b)
    assert (told.high - told.low) / 2 == pytest.approx(half)


@pytest.mark.parametrize("points", [6, 12])
@pytest.mark.parametrize("shape", ["linear", "sigmoid", "soft knee", "loss floor", "late", "ramp"])
def test_no_is_rarely_said_of_smooth_families(shape: str, points: int) -> None:
    said = told_of(np.random.default_rng(7), shape, points, 0.2)
    assert said["no"] <= 0.05


def test_a_steady_rise_is_foreseeable_and_a_step_is_not() -> None:
    rng = np.random.default_rng(8)
    assert told_of(rng, "linear", 8, 0.1)["yes"] > 0.95
    step = told_of(rng, "linear", 8, 0.1, share=0.8)
    assert step["no"] > 0.9
    assert step["yes"] <= 0.05
    assert told_of(rng, "linear", 12, 0.2, share=0.8)["no"] > 0.85


def test_a_line_that_foretold_far_more_than_came_foresaw_nothing() -> None:
    x = np.arange(7.0)
    z = np.array([0.0, 1.0, 2.0, 3.0, 3.2, 3.3, 3.4]) + 0.01 * np.cos(9 * x)
    told = surprised(Trail(x, z[None], np.zeros((7, 7)), x < 4, x == 6))
    assert told.foreseen > 5.9
    assert told.answer == "cannot tell"
    assert told.why == "a line through the 4 models before foretold more than came"
    near = surprised(Trail(x, z[None], np.zeros((7, 7)), x < 4, x == 4))
    assert near.answer == "yes"


def test_checkpoints_of_one_run_keep_the_rate_under_any_autocorrelation() -> None:
    rng = np.random.default_rng(9)
    here, x = np.arange(10), np.linspace(0, 1, 10)
    for chain in (0.0, 0.5, 0.9):
        e = rng.standard_normal((2000, 10))
        for i in range(1, 10):
            e[:, i] = chain * e[:, i - 1] + np.sqrt(1 - chain**2) * e[:, i]
        trail = Trail(x, 2.6 * x + 0.2 * e, np.zeros((10, 10)), here < 6, here == 6, chained=True)
        word, _, _ = answers(trail)
        assert np.mean(word == "no") <= 0.05
        # the plain test of a surprise keeps its rate as well
        assert np.mean(trail.t(trail.surprise) > trail.quantile()) <= 0.06


@pytest.mark.parametrize("before", [2, 3, 4])
def test_noise_known_from_other_tasks_is_pooled_and_keeps_the_rate(before: int) -> None:
    rng = np.random.default_rng(11)
    here, x, zero = np.arange(7), np.linspace(0, 1, 7), np.zeros((7, 7))
    split = here < before, here == before
    z = 2.6 * x + 0.15 * rng.standard_normal((4000, 7))
    # what other tasks say is itself an estimate: it differs from family to family as 12 degrees of freedom do
    said = 0.15**2 * rng.chisquare(12, 4000) / 12
    even = Trail(x, z, zero, *split, prior=(said, 12.0))
    assert np.mean(even.t(even.surprise) > even.quantile()) == pytest.approx(0.05, abs=0.012)
    step = z + 2.0 * (here >= before) - 1.6 * x
    pooled = np.mean(answers(Trail(x, step, zero, *split, prior=(said, 12.0)))[0] == "no")
    assert pooled > 0.75
    if before > 2:
        assert np.mean(answers(Trail(x, step, zero, *split))[0] == "no") < pooled


def judged(share: float, *, points: int = 8, keep: int | None = None, noise: float = 0.05) -> Foreseeable:
    world = token_world(np.random.default_rng(3), points=points, noise=noise, share=share, start=1.0, lengths=8)
    panel = panel_of(world) if keep is None else first(panel_of(world), keep)
    entry = Entry(panel, hard_of(world), tuple(twins_of(world)))
    return foreseeable(judge(panel, entry.hard, entry.twins, replicates=200), entry)


def test_hard_metric_and_twin_are_forecast_from_the_models_before_the_jump() -> None:
    told = judged(0.85)
    assert told.answer == "no"
    assert told.twin is not None
    assert told.twin.answer == "no"
    assert told.twin.before == 4
    assert told.twin.observed is not None
    assert told.twin.high is not None
    assert told.twin.observed > told.twin.high
    assert (told.after, told.at) == ("m3", "m4")
    row = told.row()
    assert row["twin_answer"] == "no"
    assert not any(isinstance(v, float) and not np.isfinite(v) for v in row.values())
    smooth = judged(0.0)
    assert smooth.answer == "yes"
    assert smooth.twin is not None
    assert smooth.twin.share_high is not None
    assert smooth.twin.share_high < 0.5


def test_too_few_models_say_how_many_would_do() -> None:
    told = judged(0.0, points=5, noise=0.4)
    assert told.answer == "cannot tell"
    some = [one.enough for one in (told.hard, told.twin) if one is not None and one.value is not None]
    assert any(n is not None and n > 3 for n in some)
    none = judged(0.0, keep=3)
    assert none.answer == "cannot tell"
    assert none.why == "3 of >= 4 models"


def test_models_at_floor_are_no_part_of_a_forecast() -> None:
    world = token_world(np.random.default_rng(3), points=9, noise=0.02, start=3.0, lengths=8, items=300)
    panel = panel_of(world)
    entry = Entry(panel, hard_of(world), ())
    told = foreseeable(judge(panel, entry.hard, replicates=200), entry)
    assert told.hard is not None
    floor = (world.hard.mean(axis=1) * 300 < 5).sum()
    assert told.hard.before <= 8 - floor


def test_an_order_of_creation_is_no_axis_and_a_fall_has_no_onset() -> None:
    world = token_world(np.random.default_rng(3), points=6, start=1.0, lengths=4)
    panel = replace(panel_of(world), axis_known=False)
    entry = Entry(panel, hard_of(world), tuple(twins_of(world)))
    assert foreseeable(judge(panel, entry.hard, replicates=100), entry).why == "no axis"
    down = replace(panel_of(world), values={k: v[::-1] for k, v in panel.values.items()}, replicates={})
    falling = Entry(down, entry.hard, entry.twins)
    assert foreseeable(judge(down, entry.hard, replicates=100), falling).answer != "yes"


def test_a_trend_is_small_and_says_the_same() -> None:
    world = token_world(np.random.default_rng(3), points=8, share=0.8, start=1.0)
    panel = panel_of(world)
    entry = Entry(panel, hard_of(world), tuple(twins_of(world)))
    verdict = judge(panel, entry.hard, entry.twins, replicates=100)
    trend = trend_of(entry)
    assert foreseeable(verdict, trend) == foreseeable(verdict, entry)
    assert sum(a.size for a in [*trend.means.values(), *trend.sampling.values()]) < 200
