"""What is said of one series: states, guarantees, refusals, the words, and the same bytes for the same input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from foreshock._base import ConfigError
from foreshock.alarms import TrendAlarm, trend_alarm
from foreshock.curves import Curve
from foreshock.records import State, Subject

PLEDGE = (
    "at most 5% over the next 60 looks for this series, if scores follow a straight line on the link with independent "
    "noise of constant size; not for curved trends, running bests or checkpoints of one run."
)


def series(change: np.ndarray | float = 0.0, points: int = 40, seed: int = 1, **facts: object) -> Curve:
    """A rising line with unit noise on an open scale, and a change."""
    noise = np.random.default_rng(seed).standard_normal(points)
    x = np.arange(1.0, points + 1)
    return replace(Curve(x, 0.2 * x + noise + change, log_x=False), **facts)  # type: ignore[arg-type]


def jump(at: int, size: float = 6.0, points: int = 40) -> np.ndarray:
    return size * (np.arange(points) >= at)


def firing(change: np.ndarray | float, seeds: range, **asked: int) -> list[TrendAlarm]:
    return [trend_alarm(series(change, seed=seed), **asked) for seed in seeds]  # type: ignore[arg-type]


def test_calm_series_are_ok_with_the_printed_sentence() -> None:
    told = [one for one in firing(0.0, range(100)) if one.guaranteed]
    assert len(told) > 80
    assert {one.sentence for one in told} == {PLEDGE}
    assert np.mean([one.state is State.FIRING for one in told]) <= 0.05
    assert all(one.e is None for one in told)  # clipped scores have no e-value
    assert all((one.p or 0) > 0.05 for one in told if one.state is State.OK)


def test_jumps_fire_soon_and_mostly_with_guarantee() -> None:
    told = [one for one in firing(jump(30), range(60)) if one.state is State.FIRING]
    assert len(told) >= 57
    assert np.median([(one.at or 0) - 31 for one in told]) <= 3
    assert np.mean([one.guaranteed for one in told]) > 0.6
    assert {one.verdict for one in told} == {"break"}
    assert np.mean([one.direction == "up" for one in told]) > 0.95
    assert np.mean([one.began == 31 for one in told]) > 0.8
    assert all((one.p or 0) <= 0.05 for one in told if one.guaranteed)


def test_alarms_of_drifting_noise_are_shown_without_guarantee() -> None:
    rng, told = np.random.default_rng(2), []
    for _ in range(100):
        z = rng.standard_normal(68)
        for i in range(1, 68):
            z[i] = 0.5 * z[i - 1] + np.sqrt(0.75) * z[i]
        told.append(trend_alarm(Curve(np.arange(1.0, 69), z, log_x=False)))
    alarms = [one for one in told if one.state is State.FIRING]
    assert len(alarms) > 20
    assert sum(one.guaranteed for one in alarms) <= 5
    assert all("no rate is promised" in one.sentence and one.p is None for one in alarms if not one.guaranteed)


def test_a_curve_is_a_bend_and_never_a_break() -> None:
    told = firing(0.02 * np.arange(40.0) ** 2, range(40))
    assert np.mean([one.verdict == "bend" for one in told]) > 0.9
    assert not any(one.verdict == "break" and one.guaranteed for one in told)
    bend = next(one for one in told if one.verdict == "bend")
    assert bend.state is State.PENDING
    assert bend.bend is not None
    assert (bend.bend.instead, bend.bend.direction) == (True, "up")
    assert bend.finding(Subject(task="t", metric="acc")).code == "FS402"


def test_too_few_points_are_no_data_and_say_what_is_enough() -> None:
    told = trend_alarm(series(points=8))
    assert told.state is State.NO_DATA
    assert [(need.have, need.enough) for need in told.needs] == [(8, 9)]
    assert trend_alarm(series(points=9)).state is not State.NO_DATA


def test_running_bests_are_refused() -> None:
    best = series(y=np.maximum.accumulate(series().y))
    for told in (trend_alarm(best), trend_alarm(series(), running_best=True)):
        assert told.state is State.NO_DATA
        assert "running best" in (told.refused or "")


def test_a_score_that_stands_at_the_floor_is_no_running_best() -> None:
    right = np.array([0.0] * 12 + [1, 2, 3])
    told = trend_alarm(Curve(np.arange(1.0, 16), right / 100, np.full(15, 100.0), low=0.0, high=1.0))
    assert told.state is not State.NO_DATA
    assert "fewer than 5 items right" in (told.unguaranteed or "")


def test_a_score_at_the_end_of_its_scale_without_items_is_refused() -> None:
    told = trend_alarm(Curve(np.arange(1.0, 13), np.linspace(0, 0.5, 12) + 0.01 * (np.arange(12) % 3 == 1), low=0.0))
    assert told.state is State.NO_DATA
    assert "end of the scale" in (told.refused or "")


def test_checkpoints_never_have_the_guarantee_and_still_find_a_jump() -> None:
    told = [trend_alarm(series(jump(30), seed=seed, trajectory=True)) for seed in range(20)]
    assert np.mean([one.state is State.FIRING for one in told]) > 0.7
    assert not any(one.guaranteed for one in told)
    rate = told[0].finding(Subject(task="t", metric="acc")).rate
    assert (rate.stated, rate.measured is not None) == (None, True)


def test_repeats_have_an_exact_rule_with_an_e_value() -> None:
    k = np.random.default_rng(3).binomial(200, np.where(np.arange(40) < 30, 0.4, 0.6))
    runs = Curve(np.arange(1.0, 41), k / 200, np.full(40, 200.0), low=0.0, high=1.0, log_x=False)
    told = trend_alarm(runs, repeats=True)
    assert (told.state, told.rule, told.guaranteed) == (State.FIRING, "repeats", True)
    assert told.e is not None
    assert told.e >= 20
    assert "same model on the same items" in told.sentence
    assert trend_alarm(runs).e is None


def test_unequal_items_are_weighed_and_withdraw_the_guarantee() -> None:
    items = np.resize([50.0, 1000.0], 30)
    y = np.random.default_rng(4).binomial(items.astype(int), 0.4) / items
    told = trend_alarm(Curve(np.arange(1.0, 31), y, items, low=0.0, high=1.0, log_x=False))
    assert any("weighed" in note for note in told.notes)
    assert not told.guaranteed


def test_noise_that_grows_towards_an_end_of_the_scale_withdraws_the_guarantee() -> None:
    rng = np.random.default_rng(17)

    def shares(first: float, last: float, items: int = 100) -> TrendAlarm:
        odds = np.linspace(np.log(first / (1 - first)), np.log(last / (1 - last)), 60)
        y = rng.binomial(items, 1 / (1 + np.exp(-odds))) / items
        return trend_alarm(Curve(np.arange(1.0, 61), y, np.full(60, float(items)), low=0.0, high=1.0, log_x=False))

    fall = [shares(0.5, 0.05) for _ in range(20)]
    assert not any(one.guaranteed for one in fall)
    assert all("sampling noise on the link has grown" in (one.unguaranteed or "") for one in fall)
    assert np.mean([one.guaranteed for _ in range(20) for one in [shares(0.2, 0.8)]]) > 0.6
    assert np.mean([one.guaranteed for _ in range(20) for one in [shares(0.9, 0.9)]]) > 0.6


def test_more_looks_than_asked_for_end_the_promise() -> None:
    told = trend_alarm(series(), looks=20)
    assert not told.guaranteed
    assert "32 looks were taken" in (told.unguaranteed or "")
    again = trend_alarm(series(), looks=20, baseline_from=15.0)
    assert "looks were taken" not in (again.unguaranteed or "")


def test_a_series_longer_than_the_rule_says_what_is_not_watched() -> None:
    told = trend_alarm(series(points=240), looks=200)
    assert "the newest 32 are not watched" in (told.unguaranteed or "")


def test_a_new_baseline_forgets_the_change() -> None:
    shifted = series(jump(20, 8.0))
    assert trend_alarm(shifted).state is State.FIRING
    assert trend_alarm(shifted, baseline_from=21.0).state is not State.FIRING


def test_a_constant_series_is_calm() -> None:
    told = trend_alarm(Curve(np.arange(1.0, 21), np.zeros(20), log_x=False))
    assert (told.state, told.statistic is not None) == (State.OK, True)


def test_a_series_without_noise_fires_when_it_jumps_and_stays() -> None:
    x = np.arange(1.0, 21)
    told = trend_alarm(Curve(x, 0.1 * x + 0.5 * (x > 15), log_x=False))
    assert (told.state, told.began) == (State.FIRING, 16.0)
    assert (told.at or 0) > 16  # not by one point alone
    assert trend_alarm(Curve(x, 0.1 * x + 0.5 * (x > 19), log_x=False)).state is not State.FIRING


def test_the_same_input_gives_the_same_answer_and_key() -> None:
    one, other = trend_alarm(series(jump(30)), seed=3), trend_alarm(series(jump(30)), seed=3)
    assert one == other
    assert one.data_hash != trend_alarm(series(jump(30)), looks=50).data_hash
    assert one.data_hash != trend_alarm(series(jump(31))).data_hash


def test_a_finding_says_everything() -> None:
    told = next(one for one in firing(jump(30), range(20)) if one.state is State.FIRING and one.guaranteed)
    made = told.finding(Subject(task="t", metric="acc"))
    assert (made.code, made.state, made.verdict, made.e) == ("FS401", State.FIRING, "break", None)
    assert made.rate.stated == 0.05
    assert made.rate.measured is not None
    assert PLEDGE in (made.null or "")
    assert made.effect is not None
    assert (made.effect.low or 0) < (made.effect.value or 0) < (made.effect.high or 0)
    assert "acc left its trend" in made.title
    assert {a.name for a in made.alternatives} >= {"bend", "noise that drifts", "metric"}
    assert made.fit is not None
    assert made.fit.data_hash == told.data_hash


@pytest.mark.parametrize(
    ("low", "high", "unit"), [(0.0, 1.0, "log-odds"), (0.0, None, "log units"), (None, None, "score")]
)
def test_a_change_is_told_in_words_for_its_unit(low: float | None, high: float | None, unit: str) -> None:
    x = np.arange(1.0, 41.0)
    odds = 0.05 * np.random.default_rng(4).standard_normal(40) + 0.8 * (x > 30) - 1
    y = {"log-odds": 1 / (1 + np.exp(-odds)), "log units": np.exp(odds), "score": odds}[unit]
    told = trend_alarm(Curve(x, y, low=low, high=high, log_x=False))
    assert told.state is State.FIRING
    effect = told.finding(Subject(task="t", metric="acc")).effect
    assert effect is not None
    assert effect.unit == unit
    assert 0.6 < (effect.value or 0) < 1.0


def test_what_was_never_simulated_is_refused() -> None:
    with pytest.raises(ConfigError, match="simulated"):
        trend_alarm(series(), looks=100000)


def test_maxima_of_few_steps_promise_nothing() -> None:
    rng = np.random.default_rng(3)
    told = [
        trend_alarm(Curve(np.arange(1.0, 29.0), np.maximum.accumulate(rng.standard_normal(28)), log_x=False), looks=20)
        for _ in range(40)
    ]
    assert not any(one.guaranteed for one in told)
    assert any(one.refused is None for one in told), "some have too few steps to be refused"
