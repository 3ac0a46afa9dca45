"""The L-th root of exact match: told as conditional, never a verdict."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from foreshock._base import MetricError
from foreshock.mirage import from_length, judge_length, length_rows
from foreshock.simulate import token_world
from tests.mirage.totals import series_of, totals_of


def test_roots_floors_and_exact_ends() -> None:
    series = series_of("exact_match", [0.0, 0.1, 0.5, 1.0], n=200)
    rows = length_rows(series, 4)
    assert rows[0]["value"] is None
    assert rows[0]["at_floor"] is True
    assert rows[0]["high"] == pytest.approx((1 - 0.025 ** (1 / 200)) ** 0.25)
    assert [row["value"] for row in rows[1:]] == pytest.approx([0.1**0.25, 0.5**0.25, 1.0])
    assert rows[1]["low"] == pytest.approx(beta.ppf(0.025, 20, 181) ** 0.25)
    assert rows[1]["floor"] == pytest.approx((1 / 200) ** 0.25)


def test_the_derived_series_carries_its_condition_and_error() -> None:
    series = series_of("exact_match", [0.0, 0.25], stderr=[0.0, 0.02], n=470)
    root = from_length(series, 2)
    assert root.metric == "exact_match^(1/2)"
    assert "as if each of 2 tokens were right or wrong alone" in root.source
    assert root.points[1].value == pytest.approx(0.5)
    rng = np.random.default_rng(1)
    assert root.points[1].stderr == pytest.approx(np.sqrt(rng.normal(0.25, 0.02, 20_000)).std(), rel=0.03)
    assert root.points[0].stderr is None


def test_no_length_makes_a_mirage() -> None:
    words = set()
    for seed in range(5):
        rng = np.random.default_rng(seed)
        world = token_world(rng, points=8, lengths=10, start=0.8, noise=0.03, difficulty=0, surprise=0)
        told = judge_length(totals_of(world)[0], 10)
        words.add(told.said)
        assert told.text.startswith("only if all 10 tokens are equally hard and independent")
    assert words == {"smooth"}


def test_a_step_of_the_tokens_is_a_break_under_the_condition() -> None:
    said = []
    for seed in range(4):
        world = token_world(
            np.random.default_rng(seed), points=8, lengths=4, start=0.9, share=0.9, noise=0.03, difficulty=0, surprise=0
        )
        said.append(judge_length(totals_of(world)[0], 4).said)
    assert said == ["break"] * 4


def test_without_right_answers_nothing_is_said() -> None:
    told = judge_length(series_of("exact_match", [0.0, 0.0, 0.01, 0.02], n=100), 5)
    assert told.said == "cannot tell"
    assert "no model has 5 right answers" in told.text
    assert judge_length(series_of("exact_match", [0.1, 0.2, 0.4, 0.8]), 5).said == "cannot tell"


@pytest.mark.parametrize("length", [0, 0.5, float("nan"), float("inf"), -3, 1e9])
def test_lengths_that_cannot_be_are_refused(length: float) -> None:
    with pytest.raises(MetricError, match="a length of"):
        from_length(series_of("exact_match", [0.1]), length)


def test_a_total_that_is_no_share_is_refused() -> None:
    with pytest.raises(MetricError, match="no share of right answers"):
        length_rows(series_of("exact_match", [0.1, 12.0], n=5), 3)
