"""The check of independence against statsmodels, its null, its power, and the choice between break and drift."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.alarms._autocorrelation import drifts, independence_p, likelihood, odds, whitened
from foreshock.alarms._residuals import design_of


def drifting(rng: np.random.Generator, rho: float, size: tuple[int, int]) -> np.ndarray:
    z = rng.standard_normal(size)
    for i in range(1, size[1]):
        z[:, i] = rho * z[:, i - 1] + np.sqrt(1 - rho**2) * z[:, i]
    return z


def test_the_likelihood_is_the_restricted_one_of_generalised_least_squares() -> None:
    rng = np.random.default_rng(1)
    z, x = rng.standard_normal(15), design_of(np.arange(15.0))
    found = []
    for rho in (0.0, 0.5):
        v = rho ** np.abs(np.subtract.outer(np.arange(15), np.arange(15))) / (1 - rho**2)
        inverse = np.linalg.inv(v)
        info = x.T @ inverse @ x
        left = z - x @ np.linalg.solve(info, x.T @ inverse @ z)
        squares = left @ inverse @ left
        direct = -0.5 * (np.linalg.slogdet(v)[1] + np.linalg.slogdet(info)[1] + 13 * np.log(squares))
        found.append(direct - float(likelihood(z, x, rho)))
    assert found[0] == pytest.approx(found[1])


def test_whitening_leaves_equal_and_independent_noise() -> None:
    z = whitened(drifting(np.random.default_rng(2), 0.5, (20000, 4)), 0.5)
    assert np.cov(z.T) == pytest.approx(0.75 * np.eye(4), abs=0.03)


@pytest.mark.parametrize("points", [12, 40])
def test_the_null_keeps_its_rate_whatever_the_line(points: int) -> None:
    rng, design = np.random.default_rng(3), design_of(np.arange(float(points)))
    z = 5 + 3 * design[:, 1] + 0.1 * rng.standard_normal((400, points))
    p = np.array([independence_p(row, design) for row in z])
    assert 0.06 < np.mean(p <= 0.1) < 0.15


def test_drift_is_seen() -> None:
    design = design_of(np.arange(60.0))
    p = [independence_p(row, design) for row in drifting(np.random.default_rng(4), 0.5, (100, 60))]
    shuffled = np.random.default_rng(5).permuted(drifting(np.random.default_rng(4), 0.5, (100, 60)), axis=1)
    assert np.mean(np.array(p) <= 0.1) > 0.9
    assert np.mean([independence_p(row, design) <= 0.1 for row in shuffled]) < 0.25  # the order is what is tested


def test_a_jump_is_told_from_drift() -> None:
    rng, design = np.random.default_rng(6), design_of(np.arange(40.0))
    form = (np.arange(40) >= 30) * 1.0
    jumps = [odds(row, design, form) for row in rng.standard_normal((100, 40)) + 3 * form]
    drift = [odds(row, design, form) for row in 2 * drifting(rng, 0.7, (100, 40))]
    assert np.median(jumps) < -11 < -4 < np.median(drift)


def test_many_series_are_one_after_the_other() -> None:
    z, design = np.random.default_rng(7).standard_normal((3, 20)), design_of(np.arange(20.0))
    assert drifts(z, design) == pytest.approx([float(drifts(row, design)) for row in z])
