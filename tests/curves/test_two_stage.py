"""A hard score through its twin: a planted chain, its rate, and pairs that say nothing."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock._base import ConfigError
from foreshock.curves import Curve, two_stage

AXIS = np.geomspace(1e8, 3e9, 7)
AHEAD = np.array([6e9, 1.5e10])


def loss_at(x: np.ndarray) -> np.ndarray:
    return 1.8 + 3.0 * (x / 1e8) ** -0.25


def chance_at(loss: np.ndarray, steep: float = 3.0) -> np.ndarray:
    return 0.25 + 0.7 / (1 + np.exp(steep * (loss - 3.0)))


def pair(seed: int = 0, noise: float = 0.01, items: int = 2000) -> tuple[Curve, Curve, np.ndarray]:
    """Hard score, twin, and the hard scores to come: the loss differs from model to model, and the score follows it."""
    rng = np.random.default_rng(seed)
    every = np.concatenate([AXIS, AHEAD])
    loss = loss_at(every) * np.exp(noise * rng.standard_normal(every.size))
    score = rng.binomial(items, chance_at(loss)) / items
    seen = slice(0, AXIS.size)
    hard = Curve(AXIS, score[seen], np.full(AXIS.size, float(items)), low=0.0, high=1.0)
    return hard, Curve(AXIS, loss[seen], low=0.0), score[AXIS.size :]


def test_a_planted_chain_is_followed() -> None:
    hard, twin, came = pair()
    told = two_stage(hard, twin, AHEAD)
    assert told.rises == "no"
    assert ((told.low <= told.value) & (told.value <= told.high)).all()
    # the twin's own forecast is drawn to its last value, so part of the way is lost
    assert (np.abs(told.value - came) < 0.6 * np.abs(told.direct.persistence - came)).all()


def test_the_interval_has_both_stages_in_it() -> None:
    hard, twin, _ = pair()
    told = two_stage(hard, twin, AHEAD)
    ends = np.sort(chance_at(np.stack([told.twin.low, told.twin.high])), axis=0)
    first_alone = ends[1] - ends[0]
    assert (told.high - told.low > 0.8 * first_alone).all()
    rng = np.random.default_rng(1)
    loose = Curve(
        hard.x, np.clip(hard.y + 0.08 * rng.standard_normal(hard.points), 0, 1), hard.items, low=0.0, high=1.0
    )
    wider = two_stage(loose, twin, AHEAD)
    assert (wider.high - wider.low > told.high - told.low).all()


def test_intervals_hold_what_comes() -> None:
    held = []
    for seed in range(7):
        hard, twin, came = pair(10 + seed, noise=0.02)
        told = two_stage(hard, twin, AHEAD[:1])
        held.append(bool(told.low[0] <= came[0] <= told.high[0]))
    assert np.mean(held) >= 0.7  # at a rate of .9, fewer than 5 of 7 in 1 of 40 such tests


def test_a_twin_that_says_nothing_of_the_score_widens_it() -> None:
    hard, twin, _ = pair()
    noise = Curve(AXIS, 2.0 + np.random.default_rng(3).random(AXIS.size), low=0.0)
    told = two_stage(hard, noise, AHEAD)
    assert told.rises == "cannot tell"
    assert (told.high - told.low > two_stage(hard, twin, AHEAD).high - two_stage(hard, twin, AHEAD).low).all()


def test_same_input_same_bytes_and_scales_do_not_matter() -> None:
    hard, twin, _ = pair()
    first, again = two_stage(hard, twin, AHEAD), two_stage(hard, twin, AHEAD)
    assert first.value.tobytes() == again.value.tobytes()
    percent = Curve(hard.x, 100 * hard.y, hard.items, low=0.0, high=100.0)
    assert two_stage(percent, twin, AHEAD).value == pytest.approx(100 * first.value)


def test_places_that_only_one_has_are_left_out_of_the_second_stage() -> None:
    hard, twin, _ = pair()
    told = two_stage(hard.take(slice(0, 3)), twin, AHEAD)
    assert told.refused == "3 models have both scores"
    assert told.enough == "4 models"
    assert np.isnan(told.value).all()
    assert told.twin.refused is None


def test_a_constant_twin_and_one_without_a_forecast_are_refused() -> None:
    hard, twin, _ = pair()
    assert two_stage(hard, Curve(AXIS, np.full(AXIS.size, 2.0), low=0.0), AHEAD).refused is not None
    short = two_stage(hard, twin.take(slice(0, 2)), AHEAD)
    assert short.refused is not None
    assert short.refused.startswith("the twin has no forecast: ")


def test_a_score_that_is_always_nothing() -> None:
    _, twin, _ = pair()
    none = Curve(AXIS, np.zeros(AXIS.size), np.full(AXIS.size, 500.0), low=0.0, high=1.0)
    told = two_stage(none, twin, AHEAD)
    assert (told.low == 0).all()
    assert (told.value < 0.02).all()


def test_scales_and_axes_that_do_not_fit() -> None:
    hard, twin, _ = pair()
    with pytest.raises(ConfigError, match="open end"):
        two_stage(twin, twin, AHEAD)
    with pytest.raises(ConfigError, match="read their axes differently"):
        two_stage(hard, Curve(AXIS, twin.y, low=0.0, log_x=False), AHEAD)
