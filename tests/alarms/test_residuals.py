"""Recursive residuals against two other implementations, and their law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest, norm
from scipy.stats import t as student

from foreshock.alarms._residuals import design_of, normal_scores, recursion


def test_residuals_are_those_of_statsmodels() -> None:
    from statsmodels.regression.recursive_ls import RecursiveLS

    rng = np.random.default_rng(1)
    x, z = np.sort(rng.uniform(0, 5, 25)), rng.standard_normal(25)
    theirs = RecursiveLS(z, np.column_stack([np.ones(25), x])).fit()
    told = recursion(z, design_of(x))
    assert told.w[3:] == pytest.approx(np.asarray(theirs.resid_recursive)[3:], abs=1e-8)


def test_statistics_are_those_of_a_refit_at_every_point() -> None:
    rng = np.random.default_rng(2)
    x, z = np.cumsum(rng.exponential(size=15)), rng.standard_normal(15)
    t = recursion(z, design_of(x)).t()
    for n in range(3, 15):
        past = np.column_stack([np.ones(n), x[:n]])
        beta, squares = np.linalg.lstsq(past, z[:n], rcond=None)[:2]
        new = np.array([1, x[n]])
        lever = new @ np.linalg.inv(past.T @ past) @ new
        error = np.sqrt(squares[0] / (n - 2) * (1 + lever))
        assert t[n] == pytest.approx((z[n] - new @ beta) / error)


def test_weighted_residuals_are_those_of_the_weighted_problem() -> None:
    rng = np.random.default_rng(3)
    x, z, weights = np.arange(12.0), rng.standard_normal(12), rng.uniform(0.2, 3, 12)
    root = np.sqrt(weights)
    direct = recursion(z * root, design_of(x) * root[:, None])
    assert recursion(z, design_of(x), weights).t() == pytest.approx(direct.t())


@pytest.mark.parametrize("places", ["equal", "random", "pairs"])
def test_scores_are_independent_and_standard_normal(places: str) -> None:
    rng = np.random.default_rng(4)
    x = {"equal": np.arange(12.0), "random": np.sort(rng.uniform(0, 1, 12)), "pairs": np.repeat(np.arange(6.0), 2)}
    told = recursion(3 + 2 * x[places] + 0.1 * rng.standard_normal((4000, 12)), design_of(x[places]))
    usable = told.told & (told.df > 0)
    u = told.scores()[:, usable]
    assert usable.sum() == 9
    assert min(kstest(column, norm.cdf).pvalue for column in u.T) > 0.001
    assert np.abs(np.corrcoef(u.T) - np.eye(9)).max() < 0.07
    assert np.abs(np.corrcoef((u**2).T) - np.eye(9)).max() < 0.07


def test_a_line_leaves_nothing_and_points_without_a_line_have_no_residual() -> None:
    told = recursion(np.array([1.0, 1.0, 2.0, 3.0, 4.0]), design_of(np.array([1.0, 1.0, 2.0, 3.0, 4.0])))
    assert told.told.tolist() == [False, True, False, True, True]
    assert told.w == pytest.approx(np.zeros(5), abs=1e-12)
    assert told.scores() == pytest.approx(np.zeros(5))


def test_a_floor_holds_a_series_without_noise() -> None:
    z = np.array([0.0] * 8 + [1.0])
    told = recursion(z, design_of(np.arange(9.0)))
    assert told.scores() == pytest.approx(np.array([0.0] * 8 + [2.5]))  # nothing to hold it against
    assert 0.5 < told.scores(np.full(9, 0.25))[8] < 2.0


def test_normal_scores_keep_tail_probabilities() -> None:
    t = np.array([-40.0, -3.0, 0.5, 2.0, 300.0])
    for df in (1.0, 3.0, 50.0):
        expected = norm.isf(np.maximum(student.sf(np.abs(t), df), 1e-300)) * np.sign(t)
        assert normal_scores(t, np.full(5, df)) == pytest.approx(expected, rel=1e-6)
