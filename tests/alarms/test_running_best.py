"""A running best is told from a smooth series that is rounded, crowded or at rest."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.alarms import trend_alarm
from foreshock.alarms._running_best import last_digit, looks_like_running_best, stands
from foreshock.curves import Curve
from foreshock.records import State

SERIES = 150


def loss(t: np.ndarray, y: np.ndarray) -> Curve:
    return Curve(t, y, low=0.0, log_x=False)


@pytest.mark.parametrize("digits", [3, 4])
@pytest.mark.parametrize("even", [True, False])
def test_a_falling_law_is_no_running_best_however_it_is_rounded(digits: int, *, even: bool) -> None:
    rng = np.random.default_rng(digits)
    repeats = 0
    for _ in range(SERIES):
        n = int(rng.integers(4, 61))
        t = np.arange(1.0, n + 1) if even else np.sort(rng.uniform(0, n, n))
        y = rng.uniform(0, 2) + rng.uniform(0.3, 10) * np.exp(-rng.uniform(0.5, 14) * t / n)
        for rounded in (np.round(y, digits - 1), np.array([float(f"{v:.{digits}g}") for v in y])):
            repeats += bool((np.diff(rounded) == 0).any())
            assert not looks_like_running_best(loss(t, rounded))
    assert repeats > SERIES / 3, "rounding must have made exact repeats"


def test_a_loss_quantised_by_its_source_is_no_running_best() -> None:
    t = np.linspace(-3.0, 9.0, 48)
    dot = 0.0127931  # of a picture, in units of the loss
    y = np.round((6.0 + 4.8 / (1 + np.exp(t - 4))) / dot) * dot
    curve = loss(t, np.round(y, 6))
    assert (np.diff(curve.y) == 0).sum() > 3
    assert not looks_like_running_best(curve)


def test_repeats_at_places_close_together_are_no_evidence() -> None:
    t = np.repeat(np.arange(8.0), 2) + np.tile([0.0, 0.05], 8)
    y = np.repeat(np.array([4.0371, 3.5513, 3.2217, 2.9871, 2.7993, 2.6641, 2.5502, 2.4719]), 2)
    assert not looks_like_running_best(loss(t, y))
    # the same scores at even places stand still although they were due to move
    assert looks_like_running_best(loss(np.arange(16.0), y))


def test_a_series_that_has_not_begun_or_has_come_to_rest_is_no_running_best() -> None:
    fall = 0.4 - 0.3 / (1 + np.exp(-np.linspace(-3, 3, 9)))
    y = np.concatenate([np.full(8, 0.41), fall, np.full(6, 0.0731)])
    assert not looks_like_running_best(loss(np.arange(23.0), y))


def test_bests_of_noisy_scores_are_found() -> None:
    rng = np.random.default_rng(8)
    found = {"loss": 0, "share": 0}
    t = np.arange(28.0)
    for _ in range(SERIES):
        noisy = 2 + np.exp(-t / 14) + rng.normal(0, 0.05, t.size)
        found["loss"] += looks_like_running_best(loss(t, np.round(np.minimum.accumulate(noisy), 3)))
        rate = 1 / (1 + np.exp(0.3 - t / 14 - rng.normal(0, 0.2, t.size)))
        best = np.maximum.accumulate(rng.binomial(100, rate) / 100)
        shares = Curve(t, best, np.full(t.size, 100.0), low=0.0, high=1.0, log_x=False)
        found["share"] += looks_like_running_best(shares)
    assert found["loss"] > 0.95 * SERIES
    assert found["share"] > 0.95 * SERIES


def test_scores_of_their_own_are_seldom_called_a_best() -> None:
    rng = np.random.default_rng(9)
    called = 0
    for _ in range(10 * SERIES):
        odds = np.linspace(-rng.uniform(1, 3), rng.uniform(1, 3), 14)
        y = rng.binomial(100, 1 / (1 + np.exp(-odds))) / 100
        called += looks_like_running_best(Curve(np.arange(14.0), y, np.full(14, 100.0), low=0.0, high=1.0, log_x=False))
    assert called <= 0.02 * 10 * SERIES


def test_a_rounded_law_has_an_alarm_without_a_guarantee() -> None:
    t = np.arange(40.0)
    told = trend_alarm(loss(t, np.round(2 + np.exp(-t / 9), 2)))
    assert told.state is not State.NO_DATA
    assert not told.guaranteed
    assert "may be rounded" in (told.unguaranteed or "")


def test_how_far_a_score_was_due_to_move_by_hand() -> None:
    found = stands(loss(np.array([0.0, 1, 2, 3, 4]), np.array([1.0, 3, 3, 3.5, 3.6])))
    # middles 0, 1.5, 3, 4: rates 2/1.5 and .5/1.5 about a stretch of 1
    assert found.due.tolist() == pytest.approx([1 / 3])
    assert found.usual.tolist() == pytest.approx([(2 / 1.5 * 0.5 / 1.5) ** 0.5 / 0.5])
    assert found.digit.tolist() == [0.1]
    assert last_digit(np.array([0.251, 100.0])).tolist() == pytest.approx([0.001, 1.0])
