"""Calibration error: a slow formula of our own, the null of its debiased forms, planted miscalibration."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from foreshock._base import MetricError
from foreshock.metrics import get_metric, reliability, score_batch
from foreshock.metrics._reliability import expected_deviations

CALM = settings(max_examples=30, deadline=None)
ROWS = st.lists(st.tuples(st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0]), st.booleans()), min_size=1, max_size=40)


def expected_deviation(probabilities):
    """Alone, and the same beside others of other lengths."""
    (alone,) = expected_deviations([probabilities])
    _, beside, _ = expected_deviations([np.full(3, 0.5), probabilities, np.full(200, 0.1)])
    assert alone == pytest.approx(beside, rel=1e-9, abs=1e-14)
    return alone


def slow(rows, bins):
    """Guo et al. 2017, row by row; and the variance that Kumar et al. 2019 take off."""
    groups = {}
    for said, right in rows:
        groups.setdefault(min(int(said * bins), bins - 1), []).append((said, float(right)))
    plain = squared = noise = 0.0
    for members in groups.values():
        n, share = len(members), len(members) / len(rows)
        said, right = sum(s for s, _ in members) / n, sum(r for _, r in members) / n
        plain += share * abs(right - said)
        squared += share * (right - said) ** 2
        noise += share * (right * (1 - right) / (n - 1) if n > 1 else said * (1 - said))
    return plain, squared, squared - noise


def brute_null(rows, bins):
    """Mean of the plain error over every possible outcome, weighted by its probability."""
    total = 0.0
    for outcome in itertools.product([0.0, 1.0], repeat=len(rows)):
        weight = math.prod(s if o else 1 - s for (s, _), o in zip(rows, outcome, strict=True))
        total += weight * slow([(s, o) for (s, _), o in zip(rows, outcome, strict=True)], bins)[0]
    return total


@CALM
@given(rows=ROWS, bins=st.integers(1, 20))
def test_equal_widths_are_the_slow_formula(rows, bins):
    stats = np.array(rows, float)
    found = get_metric("calibration_error", bins=bins).result(stats)
    plain, squared, debiased = slow(rows, bins)
    assert found["plain"] == pytest.approx(plain, abs=1e-12)
    assert found["squared"] == pytest.approx(squared, abs=1e-12)
    assert found["squared_debiased"] == pytest.approx(debiased, abs=1e-12)
    assert found["debiased"] == found["plain"] - found["null"]
    shuffled = np.random.default_rng(0).permutation(stats)
    assert get_metric("calibration_error", bins=bins).result(shuffled) == found  # to the last bit


@CALM
@given(said=st.floats(0, 1), right=st.booleans())
def test_one_row_alone_is_a_table_of_one_bin(said, right):
    found = get_metric("calibration_error").result(np.array([[said, float(right)]]))
    table = reliability([said], [right])
    assert found["plain"] == pytest.approx(table.gap[0], abs=1e-15)
    assert found["null"] == pytest.approx(table.null_gap[0], abs=1e-15)
    assert found["squared_debiased"] == pytest.approx(table.gap[0] ** 2 - table.noise[0], abs=1e-15)


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=8), bins=st.integers(1, 4))
def test_the_null_is_the_mean_over_every_outcome(rows, bins):
    found = get_metric("calibration_error", bins=bins).result(np.array(rows, float))
    assert found["null"] == pytest.approx(brute_null(rows, bins), abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 1_000, 20_000])
@pytest.mark.parametrize("p", [1e-4, 0.3, 0.999])
def test_the_expected_deviation_of_equal_probabilities_is_binomial(n, p):
    k = np.arange(n + 1)
    exact = float(np.abs(k - n * p) @ binom.pmf(k, n, p))
    assert expected_deviation(np.full(n, p)) == pytest.approx(exact, rel=1e-9)


def test_the_expected_deviation_of_many_different_probabilities_is_normal():
    rng = np.random.default_rng(2)
    p = rng.uniform(0.2, 0.9, 50_000)
    assert expected_deviation(p) == pytest.approx(math.sqrt(2 / math.pi * (p * (1 - p)).sum()), rel=1e-4)
    assert expected_deviation(np.array([0.0, 1.0, 1.0])) == pytest.approx(0, abs=1e-14)


@CALM
@given(rows=ROWS, bins=st.integers(1, 10))
def test_equal_masses_keep_equal_confidences_together_and_the_rest_even(rows, bins):
    said, right = np.array(rows, float).T
    table = reliability(said, right, bins=bins, by="mass")
    assert table.n.sum() == len(rows)
    assert (table.low[1:] > table.high[:-1]).all()
    if len(set(said)) == len(said):
        assert table.n.max() - table.n.min() <= 1
        assert len(table.n) == min(bins, len(rows))
    assert (table.accuracy @ table.n) == pytest.approx(right.sum())
    assert (table.confidence @ table.n) == pytest.approx(said.sum())


@pytest.mark.parametrize("by", ["width", "mass"])
def test_a_calibrated_model_has_no_debiased_error_and_a_plain_one(by):
    """The null: outcomes drawn with the stated probabilities. Dropping the correction turns the first lines red."""
    rng = np.random.default_rng(5)
    spec = get_metric("calibration_error", by=by)
    draws = []
    for _ in range(100):
        said = rng.beta(2, 1, 200)
        draws.append(spec.result(np.column_stack([said, rng.random(200) < said])))
    for name in ("debiased", "squared_debiased"):
        values = np.array([draw[name] for draw in draws])
        assert abs(values.mean()) < 4 * values.std() / len(values) ** 0.5
    plain = np.array([draw["plain"] for draw in draws])
    assert plain.mean() > 20 * plain.std() / len(plain) ** 0.5
    assert plain.mean() == pytest.approx(np.mean([draw["null"] for draw in draws]), rel=0.05)


def test_planted_overconfidence_is_found_at_its_size():
    """Every share right is .15 below what is said: the squared error is that squared, without bias at 300 rows."""
    rng = np.random.default_rng(6)
    draws = []
    for _ in range(100):
        said = rng.uniform(0.3, 1, 300)
        draws.append(get_metric("calibration_error").result(np.column_stack([said, rng.random(300) < said - 0.15])))
    found = np.array([draw["squared_debiased"] for draw in draws])
    assert abs(found.mean() - 0.15**2) < 4 * found.std() / len(found) ** 0.5
    plain, null, debiased = (np.mean([d[n] for d in draws]) for n in ("plain", "null", "debiased"))
    assert plain > 0.15
    assert 0.15 - null < debiased < 0.15  # what the docstring says: too small by null at the most


def test_more_bins_add_bias_to_the_plain_error_only():
    rng = np.random.default_rng(8)
    worlds = [np.column_stack([said, rng.random(100) < said]) for said in rng.uniform(0, 1, (50, 100))]
    mean = {}
    for bins in (3, 30):
        found = [get_metric("calibration_error", bins=bins).result(world) for world in worlds]
        mean[bins] = {name: np.mean([each[name] for each in found]) for name in ("plain", "debiased")}
    few, many = mean[3], mean[30]
    assert many["plain"] > 2 * few["plain"]
    assert abs(many["debiased"]) < 0.02
    assert abs(few["debiased"]) < 0.02


def test_rows_of_choices():
    rows = {
        "choice_logprobs": [[math.log(0.7), math.log(0.3)], [math.log(0.2), math.log(0.8)], [0.0, 0.0], None],
        "gold_index": [0, 0, 0, 0],
    }
    found = score_batch(get_metric("calibration_error"), rows)
    stats = [json.loads(label) for label in found.labels[:3]]
    assert stats == [[pytest.approx(0.7), 1], [pytest.approx(0.8), 0], [0.5, 1]]
    assert found.statuses == ["scored"] * 3 + ["needs"]
    assert found.parts["plain"][:3] == pytest.approx([0.3, 0.8, 0.5])
    assert found.values[0] == pytest.approx(0.3 - 2 * 0.7 * 0.3)


def test_rows_of_generations():
    spec = get_metric("calibration_error(of=generation, per=token, correct=exact_match(normalise=casefold))")
    rows = {
        "output_token_logprobs": [[-1.0, -3.0], [-0.1], [], [-1.0]],
        "answer": ["Paris", "Rome", "Rome", None],
        "targets": [["paris"]] * 4,
        "output": ["text"] * 4,
    }
    found = score_batch(spec, rows)
    assert [json.loads(label) for label in found.labels[:2]] == [
        [pytest.approx(math.exp(-2)), 1],
        [pytest.approx(math.exp(-0.1)), 0],
    ]
    assert found.statuses == ["scored", "scored", "needs", "unparsed"]


@pytest.mark.parametrize(
    "params",
    [
        {"bins": 0},
        {"bins": 2.0},
        {"by": "quantile"},
        {"of": "text"},
        {"of": "generation", "per": "word"},
        {"of": "generation", "correct": "position_accuracy"},
    ],
)
def test_mistakes_are_refused(params):
    with pytest.raises(MetricError):
        get_metric("calibration_error", **params)


@pytest.mark.parametrize("rows", [([1.1], [1]), ([0.5], [0.5]), ([math.nan], [1]), ([], []), ([0.5], [1, 0])])
def test_a_table_of_nonsense_is_refused(rows):
    with pytest.raises(MetricError):
        reliability(*rows)
