"""p-values of a break: their rate, their tail, and that they agree with the bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from foreshock.mirage._calibrate import LEAST, _Scatter, lower_tail, null_members, null_of
from foreshock.mirage._design import Design, residual_variance
from foreshock.mirage._excess import Curves, Prior
from foreshock.mirage._share import SHARE, Windowed, judge_share

NONE = np.zeros((8, 8))
DESIGN = Design.of(range(8))


def at_border(rng: np.random.Generator, draws: int, rise: float = 25.0) -> np.ndarray:
    t = np.asarray(DESIGN.position)
    return rise * (0.75 * t + 0.25 * (np.arange(8) > 3)) + rng.standard_normal((draws, 8))


@pytest.mark.parametrize("df", [0.0, 4.0, 24.0, np.inf])
def test_p_is_seldom_small_under_the_null(df: float) -> None:
    rng = np.random.default_rng(1)
    z = at_border(rng, 6000)
    if df > 0:
        scale = 1.0 if np.isinf(df) else np.sqrt(df / rng.chisquare(df, (6000, 1)))
        t = np.asarray(DESIGN.position)
        z = 25 * (0.75 * t + 0.25 * (np.arange(8) > 3)) + scale * rng.standard_normal((6000, 8))
    prior = Prior(1.0, df) if df > 0 else None
    p = null_of(DESIGN, SHARE, 2.0, df).p(Curves(z, DESIGN, NONE, None, prior).excess(SHARE, 2.0).max(axis=1))
    for level in (0.2, 0.05, 0.01):
        assert np.mean(p <= level) <= 1.25 * level


@pytest.mark.parametrize("points", [4, 5, 6])
def test_p_is_seldom_small_with_few_models_and_their_own_noise(points: int) -> None:
    """With one degree of freedom the tail outlasts the grid of the simulation."""
    rng = np.random.default_rng(points)
    design = Design.of(range(points))
    curve = null_members(design, SHARE, 2.0)[1]
    z = 25 * curve + rng.standard_normal((8000, points))
    p = null_of(design, SHARE, 2.0).p(Curves(z, design, np.zeros((points, points))).excess(SHARE, 2.0).max(axis=1))
    for level in (0.2, 0.05, 0.01):
        assert np.mean(p <= level) <= 1.25 * level


def test_the_tail_goes_on_where_simulation_ends() -> None:
    # ten times the draws of the calibration, with other random numbers
    rng = np.random.default_rng(2)
    null = null_of(DESIGN, SHARE, 2.0)
    top = np.concatenate(
        [Curves(at_border(rng, 20_000, 50.0), DESIGN, NONE).excess(SHARE, 2.0).max(axis=1) for _ in range(5)]
    )
    p = null.p(top)
    assert np.mean(p <= 0.001) <= 0.0016
    # and it is no bound that nothing reaches: a tenth of what it allows at least
    assert np.mean(p <= 0.001) >= 0.0001


def test_one_degree_of_freedom_has_a_tail_that_outlasts_the_grid() -> None:
    design = Design.of(range(4))
    null = null_of(design, SHARE, 2.0)
    assert null.p(np.array([0.0, 5.0, 19.0, 100.0])) == pytest.approx(np.sort(null.p(np.array([0, 5, 19, 100])))[::-1])
    # an interval of a third of the axis may take two thirds of the rise: this curve lies on the border
    z = 25 * 0.5 * (np.asarray(design.position) + (np.arange(4) > 1))
    z = z + np.random.default_rng(5).standard_normal((6000, 4))
    p = null.p(Curves(z, design, np.zeros((4, 4))).excess(SHARE, 2.0).max(axis=1))
    assert np.mean(p <= 0.05) <= 0.0625
    assert p.min() > 0


@pytest.mark.parametrize("terms", [2, 4])
def test_products_made_once_give_the_same_scatter(terms: int) -> None:
    design = replace(Design.of([0, 1, 1.5, 3, 4, 6, 7, 7.5]), terms=terms)
    rng = np.random.default_rng(4)
    noise, curve = rng.standard_normal((50, 8)), rng.random(8).cumsum()
    fast = _Scatter(noise, design).along(curve)
    for rise in (0.0, 3.0, 50.0):
        assert fast(rise) == pytest.approx(residual_variance(rise * curve + noise, design), abs=1e-9)


def test_p_falls_as_the_excess_grows() -> None:
    p = null_of(DESIGN, SHARE, 2.0).p(np.linspace(-1, 200, 2000))
    assert p[0] == 1.0
    assert np.all(np.diff(p) <= 1e-12)
    assert p[-1] == LEAST
    assert null_of(DESIGN, SHARE, 2.0).p(np.array(-np.inf)) == 1.0


def test_lower_tail_of_normal_and_t() -> None:
    assert lower_tail(np.array([-1.6448536]), np.inf)[0] == pytest.approx(0.05)
    assert lower_tail(np.array([-2.0150484]), 5)[0] == pytest.approx(0.05)


def test_p_and_the_lower_bound_say_the_same() -> None:
    rng = np.random.default_rng(3)
    t = np.asarray(DESIGN.position)
    for share in rng.uniform(0.2, 0.9, 60):
        z = 12 * ((1 - share) * t + share * (np.arange(8) > 4)) + rng.standard_normal(8)
        told = judge_share(Windowed.one(Curves(z[None], DESIGN, NONE)))
        assert (told.low > SHARE) <= (told.p <= 0.05)
        if told.p <= 0.03:
            assert told.low >= SHARE
        low = [ends[1] for ends in told.ratios]
        high = [ends[2] for ends in told.ratios]
        assert [r for r, *_ in told.ratios] == [1.5, 2.0, 3.0]
        assert low == sorted(low, reverse=True)
        assert (told.low, told.high) == (low[1], high[1])
