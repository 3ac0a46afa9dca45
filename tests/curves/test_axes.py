"""What models are placed by: stated, derived and unknown places, and what no axis can be made of."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock._base import ConfigError, MetricError
from foreshock.curves._axes import CARD_AXES, ability_axis, benchmark_axis, card_axis, days_of, loss_axis
from foreshock.records import ModelCard, Run
from foreshock.series._lines import axis_value
from foreshock.stats import logit

CARDS = [
    ModelCard(parameters=7e9, tokens=2e12, released="2023-07-18", step=1000),
    ModelCard(parameters=4.7e10, active_parameters=1.3e10, tokens=1e12, released="2023-12"),
    ModelCard(parameters=7e10, flops=8e23, released="2024"),
    ModelCard(released="a while ago"),
]


def test_compute_is_stated_or_six_for_each_active_parameter_and_token() -> None:
    axis = card_axis("flops", CARDS)
    assert axis.x[:3] == pytest.approx([6 * 7e9 * 2e12, 6 * 1.3e10 * 1e12, 8e23])
    assert axis.derived.tolist() == [True, True, False, False]
    assert axis.known.tolist() == [True, True, True, False]
    assert axis.how == "6 FLOPs for each parameter and token, of 2 of 3 models"
    assert axis.log


def test_lines_of_a_store_have_the_same_compute() -> None:
    run = Run(run_key="k", format="table", reader="t@1", model="m", task="t")
    assert axis_value(run, CARDS[0], "flops") == card_axis("flops", CARDS).x[0]
    assert axis_value(run, CARDS[3], "flops") is None


def test_active_parameters_are_all_where_not_told_apart() -> None:
    axis = card_axis("active_parameters", CARDS)
    assert axis.x[:3].tolist() == [7e9, 1.3e10, 7e10]
    assert axis.derived.tolist() == [True, False, True, False]


def test_what_is_stated_needs_no_word() -> None:
    axis = card_axis("parameters", CARDS)
    assert axis.how == ""
    assert not axis.derived.any()
    assert card_axis("step", CARDS).x[0] == 1000.0


def test_dates_are_read_on_a_linear_scale_and_months_stand_at_their_middle() -> None:
    axis = card_axis("released", CARDS)
    assert not axis.log
    assert axis.x[0] == (np.datetime64("2023-07-18") - np.datetime64("1970-01-01")).astype(float)
    assert axis.derived.tolist() == [False, True, True, False]
    december = np.array(["2023-12-01", "2024-01-01"], "datetime64[D]").astype(float)
    assert axis.x[1] == december.mean()
    assert np.isnan(axis.x[3])


@pytest.mark.parametrize("text", ["", "2024-13", "2024-02-30", "-", "1-2-3-4", "99999-01", "2024-01-01-01"])
def test_what_is_no_date_is_none(text: str) -> None:
    assert days_of(text) == (None, False)


def test_every_axis_takes_cards_that_say_nothing() -> None:
    for name in CARD_AXES:
        axis = card_axis(name, [ModelCard()])
        assert np.isnan(axis.x).all()
        assert not axis.derived.any()


def test_unknown_axes_and_impossible_cards_are_refused() -> None:
    with pytest.raises(ConfigError, match="unknown axis 'mood'"):
        card_axis("mood", CARDS)
    with pytest.raises(ConfigError, match="-5 parameters"):
        card_axis("parameters", [ModelCard(parameters=-5.0)])


def test_a_loss_ascends_as_models_get_better() -> None:
    axis = loss_axis([3.0, 2.5, np.nan, 2.0])
    assert np.all(np.diff(axis.x[[0, 1, 3]]) > 0)
    with pytest.raises(MetricError, match="0 or less"):
        loss_axis([1.0, 0.0])


def test_another_benchmark_is_read_as_log_odds() -> None:
    axis = benchmark_axis([0.25, 0.5, 1.0])
    assert axis.x[:2] == pytest.approx(logit.forward(np.array([0.25, 0.5])))
    assert np.isfinite(axis.x).all()
    with pytest.raises(MetricError, match="outside the scale"):
        benchmark_axis([1.2])


def test_an_ability_is_fitted_on_training_models_alone() -> None:
    rng = np.random.default_rng(2)
    able = np.linspace(-2, 2, 12)
    scores = logit.inverse(np.outer(able, [1.0, 0.8, 1.2]) + 0.05 * rng.standard_normal((12, 3)))
    scores[3, 1] = np.nan
    train = np.arange(12) < 8
    axis = ability_axis(scores, train)
    assert np.corrcoef(axis.x, able)[0, 1] > 0.99
    changed = scores.copy()
    changed[11] = 0.5
    assert ability_axis(changed, train).x[:11] == pytest.approx(axis.x[:11])
    with pytest.raises(MetricError, match="most of the models"):
        ability_axis(np.full((12, 2), 0.5), train)
