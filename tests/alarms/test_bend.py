"""Break or bend: the fits against direct ones, and what is said of jumps, kinks and curves."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from foreshock.alarms._bend import curvature, shapes

X = np.arange(60.0)


def test_fits_are_direct_ones() -> None:
    rng = np.random.default_rng(1)
    x, z, root = np.sort(rng.uniform(0, 3, 14)), rng.standard_normal(14), rng.uniform(0.5, 2, 14)
    found = shapes(z, x, root)
    assert found is not None

    def bic(columns: list[np.ndarray], parameters: int) -> float:
        design = np.column_stack([np.ones(14), x, *columns]) * root[:, None]
        squares = np.linalg.lstsq(design, z * root, rcond=None)[1][0]
        return float(14 * np.log(squares / 14) + parameters * np.log(14))

    assert found.parabola == pytest.approx(bic([x**2], 3))
    assert found.cubic == pytest.approx(bic([x**2, x**3], 4))
    jumps = {i: bic([(x >= x[i]) * 1.0], 4) for i in range(2, 14)}
    kinks = {i: bic([np.clip(x - x[i - 1], 0, None)], 4) for i in range(2, 14)}
    assert (found.jump_at, found.jump) == (min(jumps, key=jumps.get), pytest.approx(min(jumps.values())))
    assert (found.kink_at, found.kink) == (min(kinks, key=kinks.get), pytest.approx(min(kinks.values())))


def test_curvature_is_the_t_test_of_the_square() -> None:
    rng = np.random.default_rng(2)
    x, z = np.sort(rng.uniform(1, 9, 20)), rng.standard_normal(20)
    model = sm.OLS(z, np.column_stack([np.ones(20), x, x**2])).fit()
    found = curvature(z, x)
    assert found is not None
    assert found.p == pytest.approx(model.pvalues[2])
    assert found.change == pytest.approx(2 * model.params[2] * (x[-1] - x[0]))
    assert found.direction == ("up" if model.params[2] > 0 else "down")


def share(change: np.ndarray, series: int = 150) -> float:
    rng = np.random.default_rng(3)
    found = [shapes(change + noise, X, None, 8) for noise in rng.standard_normal((series, X.size))]
    return float(np.mean([one.changed for one in found if one is not None]))


def test_jumps_are_breaks_and_curves_are_not() -> None:
    s = X / X[-1]
    assert share(4.0 * (X >= 40)) > 0.9
    assert share(1.0 * np.clip(X - 30, 0, None)) > 0.9
    for curve in (40 * s**2, 20 * (1 - np.exp(-3 * s)), 20 / (1 + np.exp(-10 * (s - 0.5))), np.expm1(4 * s)):
        assert share(curve) < 0.05


def test_a_jump_is_told_from_a_kink() -> None:
    rng = np.random.default_rng(4).standard_normal(60)
    jump, kink = shapes(6.0 * (X >= 40) + rng, X, None, 8), shapes(1.0 * np.clip(X - 39, 0, None) + rng, X, None, 8)
    assert jump is not None
    assert kink is not None
    assert (jump.jumps, jump.began) == (True, 40)
    assert not kink.jumps
    assert abs(kink.began - 40) <= 3


def test_too_little_says_nothing() -> None:
    assert shapes(np.arange(5.0), np.arange(5.0)) is None
    assert curvature(np.arange(4.0), np.arange(4.0)) is None
    assert curvature(np.arange(9.0) ** 2, np.arange(9.0)) is None  # no noise to hold it against
