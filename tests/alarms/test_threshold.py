"""Thresholds keep their rate on fresh noise of shapes and places that the table has not seen."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock._base import ConfigError
from foreshock.alarms._detector import CLIP, JUMPS, PACE, SLOPES, evidence
from foreshock.alarms._residuals import design_of, recursion
from foreshock.alarms._threshold import false_alarm, measured_rate, table, threshold


def test_the_table_is_of_this_detector() -> None:
    assert table().detector == {"clip": CLIP, "jumps": list(JUMPS), "slopes": list(SLOPES), "pace": PACE}


def rate(noise: np.ndarray, x: np.ndarray, baseline: int, looks: int, level: float) -> float:
    u = recursion(noise, design_of(x)).scores()[:, baseline:]
    return float(np.mean(evidence(u, baseline).max(axis=1) >= threshold(baseline, looks, level)))


@pytest.mark.parametrize(("baseline", "looks", "level"), [(8, 60, 0.05), (5, 15, 0.1), (17, 25, 0.2)])
def test_the_null_keeps_its_rate(baseline: int, looks: int, level: float) -> None:
    rng, series = np.random.default_rng([9, baseline]), 600
    points = baseline + looks
    wide = 3 * np.sqrt(level * (1 - level) / series)
    normal = rate(rng.standard_normal((series, points)), np.arange(float(points)), baseline, looks, level)
    heavy = rate(rng.standard_t(3, (series, points)), np.sort(rng.uniform(0, 1, points)), baseline, looks, level)
    assert level / 3 < normal < level + wide  # not far below either: a threshold that never fires keeps every rate
    assert heavy < level + wide


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["normal", "t3", "uniform", "exponential"])
def test_the_rate_at_length(shape: str) -> None:
    rng = np.random.default_rng([10, len(shape)])
    size = (4000, 68)
    drawn = {
        "normal": rng.standard_normal(size),
        "t3": rng.standard_t(3, size),
        "uniform": rng.uniform(-1, 1, size),
        "exponential": rng.exponential(size=size),
    }[shape]
    found = [rate(part, np.arange(68.0), 8, 60, 0.05) for part in np.split(drawn, 8)]
    assert np.mean(found) <= 0.055


def test_thresholds_rise_with_looks_and_fall_with_the_level() -> None:
    grid = [[threshold(9, looks, level) for looks in (1, 7, 33, 150)] for level in (0.3, 0.07, 0.02)]
    assert (np.diff(grid, axis=1) > 0).all()
    assert (np.diff(grid, axis=0) > 0).all()


def test_the_p_value_is_the_threshold_backwards() -> None:
    for level in (0.3, 0.08, 0.013):
        assert false_alarm(threshold(6, 40, level), 6, 40) == pytest.approx(level)
    assert false_alarm(0.0, 6, 40) == 1.0
    far = [false_alarm(value, 6, 40) for value in (1e4, 1e6, 1e9)]
    assert far[0] > far[1] > far[2] > 0


def test_what_was_never_simulated_is_refused() -> None:
    for asked in ((3, 60, 0.05), (8, 0, 0.05), (8, 1000, 0.05), (8, 60, 0.005), (8, 60, 0.9)):
        with pytest.raises(ConfigError, match="simulated"):
            threshold(*asked)


def test_a_rate_is_told_where_it_was_measured() -> None:
    rates = [measured_rate(8, level)[0] for level in (0.02, 0.05, 0.1)]
    assert 0.02 < rates[1] <= 0.05
    assert rates == sorted(rates)
