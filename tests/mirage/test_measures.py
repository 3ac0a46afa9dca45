"""Twins on their scales."""

from __future__ import annotations

import decimal

import numpy as np
import pytest

from foreshock._base import MetricError
from foreshock.mirage import ORDER, Hard, Twin
from foreshock.mirage._links import links_for
from foreshock.mirage._measures import in_order
from foreshock.stats import cloglog, identity, logit, loglog

MEANS = {
    "gold_logprob": np.array([-3.0, -0.2]),
    "choice_probability": np.array([0.25, 0.9]),
    "brier": np.array([1.5, 0.1]),
    "choice_margin": np.array([-2.0, 3.0]),
    "pass_rate": np.array([0.1, 0.9]),
    "sub_scores": np.array([0.1, 0.9]),
    "graded_score": np.array([0.1, 0.9]),
    "numeric_closeness": np.array([0.1, 0.9]),
    "token_similarity": np.array([0.1, 0.9]),
    "char_similarity": np.array([0.1, 0.9]),
}


@pytest.mark.parametrize("kind", MEANS)
def test_every_twin_rises_on_all_links(kind: str) -> None:
    twin = Twin(kind, kind, high=2.0 if kind == "brier" else 1.0)
    shown = twin.shown(MEANS[kind])
    assert 0 < shown[0] < shown[1] < 1
    for link in (loglog, cloglog, logit):
        assert twin.on(link, MEANS[kind], 1000) == pytest.approx(link.forward(shown))


def test_order_is_fixed_and_token_accuracy_is_not_in_it() -> None:
    names = ["char_similarity", "brier", "gold_logprob", "pass_rate"]
    twins = [Twin(n, n) for n in names]
    assert [t.name for t in in_order(twins, "all-of-N")] == ["gold_logprob", "brier", "pass_rate", "char_similarity"]
    assert [t.name for t in in_order(twins, "argmax")] == ["brier", "gold_logprob", "pass_rate", "char_similarity"]
    with pytest.raises(MetricError, match="token_accuracy"):
        Twin("token_accuracy", "token_accuracy")


def test_summed_logprobs_are_divided_by_their_tokens() -> None:
    assert Twin("g", "gold_logprob", tokens=10).shown(np.array([-5.0])) == pytest.approx(np.exp(-0.5))


def test_shares_have_a_floor_from_n_and_log_probabilities_none() -> None:
    counted = Twin("p", "pass_rate", trials=10)
    ends = counted.on(logit, np.array([0.0, 1.0]), 50)
    assert ends == pytest.approx(logit.forward(np.array([0.001, 0.999])))
    assert counted.at_floor(np.array([0.0, 0.009, 0.01]), 50).tolist() == [True, True, False]
    assert not Twin("g", "gold_logprob").at_floor(np.array([-50.0]), 50).any()
    assert np.isfinite(Twin("g", "gold_logprob").on(loglog, np.array([-50.0]), 5)).all()


def test_a_difference_is_judged_as_it_is() -> None:
    means = np.array([-0.2, 0.0, 0.4])
    twin = Twin("d", "difference")
    assert set(MEANS) == set(ORDER)
    assert links_for(Hard("d", "identity"), twin) == (identity,)
    assert twin.on(identity, means, 10).tolist() == twin.shown(means).tolist() == means.tolist()
    assert twin.unit == "score"


@pytest.mark.parametrize("p", [1e-300, 1e-20, 1e-9, 0.3, 0.63, 0.999, 1 - 1e-12])
def test_the_loss_of_the_complement_is_exact_at_both_ends(p: float) -> None:
    told = Twin("g", "gold_logprob").on(cloglog, np.log(np.array([p])), 1)[0]
    # in 40 digits: log(-log(1 - p))
    with decimal.localcontext(prec=340):
        exact = float((-(1 - decimal.Decimal(p)).ln()).ln())
    assert told == pytest.approx(exact, rel=1e-3 if p > 0.9999 else 1e-12)


def test_primary_link_belongs_to_the_hard_metric() -> None:
    assert Hard("h", "any-of-T").primary is cloglog
    assert Hard("h", "all-of-N").primary is loglog
    assert Hard("h", "argmax").primary is logit
