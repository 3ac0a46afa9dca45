"""Induced metrics against their definitions, and the verdict on emergence that is known to have been made."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm

from foreshock._base import MetricError
from foreshock.mirage import judge_family
from foreshock.mirage.induce import (
    Induced,
    all_of_k,
    entry,
    induced_all_of_k,
    induced_reconstruction,
    induced_subset,
    induced_threshold,
    reconstruction_below,
    squared_error,
    subset_accuracy,
    threshold,
)

SIZES = 10.0 ** np.linspace(2, 5, 8)


def test_reconstruction_is_the_share_of_errors_below_c() -> None:
    rng = np.random.default_rng(0)
    images, again = rng.normal(size=(2, 50, 3, 4))
    errors = squared_error(images.reshape(50, 12), again.reshape(50, 12))
    by_hand = [
        sum((x - y) ** 2 for x, y in zip(a.ravel(), b.ravel(), strict=True)) for a, b in zip(images, again, strict=True)
    ]
    assert np.allclose(errors, by_hand)
    c = float(np.median(errors))
    assert reconstruction_below(errors, c).mean() == sum(e < c for e in by_hand) / 50
    assert reconstruction_below([1.0, 1.0], 1.0).tolist() == [0, 0]  # below, not at
    assert threshold([1.0], 1.0).tolist() == [1]  # at least


def test_all_of_k_and_subsets_are_products_by_enumeration() -> None:
    every = np.array(list(product([0, 1], repeat=4)), float)
    assert subset_accuracy(every).tolist() == [float(all(row)) for row in every]
    for length in range(1, 5):
        assert subset_accuracy(every, length).tolist() == [float(all(row[:length])) for row in every]
    row = np.array([1, 1, 1, 0, 1, 1, 1, 1, 1], float)
    assert all_of_k(row, 2).tolist() == [1, 0, 1, 1]
    assert all_of_k(row, 9).tolist() == [0]
    assert all_of_k(np.stack([row, row]), 3).shape == (2, 3)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_all_of_k_of_independent_answers_has_the_rate_of_the_power(k: int) -> None:
    right = (np.random.default_rng(k).uniform(size=100_000) < 0.8).astype(float)
    groups = all_of_k(right, k)
    low, high = binom.interval(0.9999, groups.size, 0.8**k)
    assert low <= groups.sum() <= high


def test_missing_values_stay_missing() -> None:
    gap = np.array([[1.0, np.nan], [1.0, 1.0]])
    assert np.isnan(threshold(gap, 0.5)).tolist() == [[False, True], [False, False]]
    assert np.isnan(reconstruction_below(gap, 0.5)).tolist() == [[False, True], [False, False]]
    assert np.isnan(subset_accuracy(gap)).tolist() == [True, False]
    assert subset_accuracy(gap, 1).tolist() == [1, 1]


def test_points_are_sizes_and_seeds_are_replicates() -> None:
    score = np.random.default_rng(0).uniform(size=(6, 30))
    line = entry(induced_threshold(score, 0.4, name="s"), [9, 1, 3, 1, 9, 3], task="t", family="f")
    assert line.panel.points == ("1", "3", "9")
    assert np.allclose(line.panel.values["s"][0], score[[1, 3]].mean(axis=0))
    assert np.allclose(line.panel.replicates["s >= 0.4"][2], (score[[0, 4]] >= 0.4).mean(axis=1))
    assert (line.hard.link, line.hard.threshold) == ("threshold", 0.4)


def smooth_errors(rng: np.random.Generator, step: float = 0.0) -> np.ndarray:
    """Squared errors of three seeds of each size: a power law of size, or that with a drop in the middle."""
    place = np.repeat(np.linspace(0, 1, SIZES.size), 3)
    log = -2.5 * ((1 - step) * place + step * (place > 0.5)) + 0.05 * rng.standard_normal(place.size)
    return np.asarray(np.exp(log)[:, None] * rng.gamma(12, 1 / 12, (place.size, 400)))


def answers(
    rng: np.random.Generator, step: float = 0.0, shape: tuple[int, ...] = (1000,)
) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities and leads: log-odds rise from -3 to 5 evenly, or most of it at once.

    p^5 then rises by at most 5 (5/6)^5 / 6 = .335 for each unit of log-odds: 2.8 times its mean slope.
    """
    place = np.repeat(np.linspace(0, 1, SIZES.size), 3)
    odds = 8 * ((1 - step) * place + step * (place > 0.5)) - 3 + 0.05 * rng.standard_normal(place.size)
    loss = np.log1p(np.exp(-odds))
    p = np.exp(-loss.reshape(-1, *(1,) * len(shape)) * rng.gamma(4, 1 / 4, (place.size, *shape)))
    return np.log(p), np.where(rng.uniform(size=p.shape) < p, 1.0, -1.0)


def said(made: Induced) -> str:
    line = entry(made, np.repeat(SIZES, 3), task="t", family="f")
    return judge_family([line], replicates=400).judgements[0].verdict


def test_emergence_that_the_metric_made_is_told_as_such() -> None:
    rng = np.random.default_rng(1)
    errors = smooth_errors(rng)
    assert said(induced_reconstruction(errors, 0.15, scale=1.0)) == "mirage"
    assert said(induced_threshold(np.exp(-3 * errors), np.exp(-0.45))) == "mirage"
    assert said(induced_all_of_k(*answers(rng), 5)) == "mirage"
    assert said(induced_subset(*answers(rng, shape=(300, 5)))) == "mirage"


def test_without_a_sharp_metric_nothing_emerges() -> None:
    assert said(induced_all_of_k(*answers(np.random.default_rng(2)), 1)) == "smooth"


def test_a_real_step_beneath_is_not_blamed_on_the_metric() -> None:
    rng = np.random.default_rng(3)
    assert said(induced_reconstruction(smooth_errors(rng, 0.85), 0.15, scale=1.0)) == "break"
    assert said(induced_all_of_k(*answers(rng, 0.85), 5)) == "break"
    assert said(induced_subset(*answers(rng, 0.85, (300, 5)), 4)) == "break"


def test_the_sharpness_that_a_threshold_induces_is_that_of_the_normal_curve() -> None:
    """Scores that move evenly pass a threshold as a normal distribution function: the curve is known in closed form."""
    rng = np.random.default_rng(4)
    places = np.linspace(-3, 3, 9)
    score = places[:, None] + rng.standard_normal((9, 40_000))
    rate = threshold(score, 0.0).mean(axis=1)
    assert np.abs(rate - norm.cdf(places)).max() < 4 * 0.5 / 200
    jumps = np.diff(rate) / np.ptp(rate)
    assert jumps.max() == pytest.approx(norm.cdf(0.75) - 0.5, abs=0.01)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: all_of_k([1, 1], 3), "groups of 3 from 2"),
        (lambda: all_of_k([1, 1], 0), "groups of 0"),
        (lambda: subset_accuracy([[1, 1]], 3), "3 of 2 answers"),
        (lambda: induced_threshold([[0.5, 1.5]], 0.5), "scores in"),
        (lambda: induced_threshold([0.5, 0.4], 0.5), "shape"),
        (lambda: induced_reconstruction([[-1.0]], 0.5, scale=1), "errors from -1"),
        (lambda: induced_reconstruction([[1.0]], 0.5, scale=0), "scale"),
        (lambda: induced_subset(np.zeros((2, 3, 4)), np.zeros((2, 3, 5))), "shapes"),
        (lambda: entry(induced_threshold([[0.5]], 0.5), [1, 2], task="t", family="f"), "one size for each model"),
    ],
)
def test_mistakes_are_told(call: object, told: str) -> None:
    with pytest.raises(MetricError, match=told):
        call()  # type: ignore[operator]
