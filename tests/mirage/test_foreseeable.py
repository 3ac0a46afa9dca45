"""Forecasts across the onset: exact where they should be, rarely wrong on smooth worlds, and able to be surprised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from foreshock.curves import Curve, forecast
from foreshock.mirage import Entry, Foreseeable, Twin, _foreseeable, foreseeable, judge, trend_of
from foreshock.mirage._calibrated_forecast import Calibrated, history_of
from foreshock.mirage._forecast import Trail, answers, surprised
from foreshock.series import Panel
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


def stepped(share: float = 0.85, noise: float = 0.05, seed: int = 3) -> Entry:
    world = token_world(np.random.default_rng(seed), noise=noise, share=share, start=1.0, lengths=8, positions=False)
    return Entry(panel_of(world), hard_of(world), tuple(twins_of(world)))


def asked(entry: Entry, panel: Panel | None = None) -> Foreseeable:
    """Forecasts alone: what the verdict is does not matter to them, only which twin it names."""
    entry = entry if panel is None else replace(entry, panel=panel)
    return foreseeable(replace(judge(entry.panel, entry.hard, replicates=20), twin=entry.twins[0].name), entry)


@pytest.mark.parametrize("log_axis", [True, False])
@pytest.mark.parametrize("share", [0.0, 0.85])
def test_the_calibrated_columns_are_the_forecast_of_the_models_before(*, share: float, log_axis: bool) -> None:
    entry = stepped(share)
    panel = entry.panel
    if not log_axis:
        panel = replace(panel, x=5 + np.log(panel.x), log_axis=False)
    told = asked(entry, panel)
    assert told.answer == ("yes" if share == 0 else "no")
    k = panel.points.index(told.at or "")
    hard, loss = (panel.values[name][:k] for name in ("hard", "gold_logprob"))
    y = np.exp(loss.mean(axis=1) / entry.twins[0].tokens)
    root, tokens = np.sqrt(hard.shape[1]), entry.twins[0].tokens
    known: dict[str, dict[str, object]] = {
        "hard": {"y": hard.mean(axis=1), "stderr": hard.std(axis=1, ddof=1) / root, "items": np.full(k, 1000.0)},
        "twin": {"y": y, "stderr": y * loss.std(axis=1, ddof=1) / root / tokens},
    }
    row = told.row()
    for role, facts in known.items():
        history = Curve(panel.x[:k], low=0.0, high=1.0, log_x=log_axis, **facts)  # type: ignore[arg-type]
        right = forecast(history, [panel.x[k]])
        if row[f"{role}_answer"] == "cannot tell" and row[f"{role}_calibrated"] is None:
            continue
        for name, ends in (("calibrated", right.value), ("calibrated_low", right.low), ("calibrated_high", right.high)):
            assert row[f"{role}_{name}"] == pytest.approx(ends[0], rel=1e-6)
        assert row[f"{role}_refused"] is None
    assert row["twin_calibrated"] is not None


def test_steps_keep_their_no_and_smooth_worlds_are_not_given_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def words(share: float) -> list[str]:
        return [asked(stepped(share, 0.1, seed)).answer for seed in range(12)]

    steps, smooth = words(0.85), words(0.0)
    monkeypatch.setattr(_foreseeable, "_held", lambda trend, series, told, onset: told)
    line_steps, line_smooth = words(0.85), words(0.0)
    assert line_steps.count("no") >= 10
    assert steps == line_steps
    assert "no" not in smooth
    assert smooth == line_smooth
    assert smooth.count("yes") >= 8


def test_the_calibrated_interval_takes_back_a_no_that_it_contradicts(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(share: float, found: Calibrated) -> Foreseeable:
        monkeypatch.setattr(_foreseeable, "calibrated", lambda *given, **more: found)
        return asked(stepped(share))

    wide, narrow = Calibrated(0.5, 0.0, 1.0), Calibrated(0.05, 0.0, 0.1)
    assert told(0.85, narrow).answer == "no"
    held = told(0.85, wide)
    assert held.answer == "cannot tell"
    assert "but the calibrated interval, which allows for other shapes, holds what came" in held.why
    assert told(0.0, wide).answer == "yes"
    missed = told(0.0, narrow)
    assert missed.answer == "yes"
    assert "calibrated 0.05 (0 to 0.1)" in missed.why


def test_a_refused_forecast_changes_nothing_and_is_told() -> None:
    entry = stepped()
    # the next model is fifty times as large: further than any curve of the calibration went
    told = asked(entry, replace(entry.panel, x=entry.panel.x**4))
    assert told.answer == "no"
    assert told.twin is not None
    assert told.twin.refused == "further beyond the history than it supports"
    assert told.twin.calibrated is None
    assert "no calibrated forecast: further beyond the history than it supports" in told.why


def test_it_is_asked_only_where_the_line_has_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_foreseeable, "calibrated", lambda *given, **more: pytest.fail("asked"))
    world = token_world(np.random.default_rng(3), points=5, noise=0.4, start=1.0, lengths=8, positions=False)
    row = asked(Entry(panel_of(world), hard_of(world), tuple(twins_of(world)))).row()
    assert row["answer"] == "cannot tell"
    assert [row[f"twin_{name}"] for name in ("calibrated", "calibrated_low", "calibrated_high", "refused")] == [
        None
    ] * 4


@pytest.mark.parametrize(
    "twin",
    [
        Twin("t", "gold_logprob", tokens=3.0, high=0.0),
        Twin("t", "choice_margin"),
        Twin("t", "brier", high=2.0),
        Twin("t", "pass_rate", trials=4),
    ],
)
def test_errors_of_a_twin_are_those_of_what_is_shown(twin: Twin) -> None:
    mean, step = np.array([-2.0, -1.0, -0.5]) if twin.kind == "gold_logprob" else np.array([0.2, 0.4, 0.7]), 1e-6
    trend = replace(
        trend_of(stepped()),
        x=np.arange(3.0),
        log_axis=False,
        items=100,
        means={"t": mean},
        sampling={"t": np.diag([0.01, 0.02, 0.03]) ** 2},
    )
    history = history_of(trend, twin, 2.0)
    slope = np.abs(twin.shown(mean + step) - twin.shown(mean - step)) / (2 * step)
    assert history.y == pytest.approx(twin.shown(mean))
    assert history.stderr == pytest.approx(slope * [0.01, 0.02, 0.03])
    assert history.items is None or history.items.tolist() == [400.0] * 3
    assert (history.items is None) == (twin.kind != "pass_rate")
