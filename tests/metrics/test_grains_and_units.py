"""Grain ``run``, units, deliveries, steps and groups: what a metric may declare beside its value."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest

from foreshock._base import MetricError
from foreshock.metrics import (
    METRIC_GROUPS,
    PER_ROW,
    Quantity,
    Response,
    Step,
    get_metric,
    list_metrics,
    metric,
    metric_group,
    score_batch,
)
from foreshock.records import Delivery


@metric(
    kind="continuous",
    grain="run",
    needs=("answer",),
    statistics=("vowels", "letters"),
    additive=True,
    name="test_vowel_share",
)
def vowel_share(*, scale: float = 1.0):
    return lambda response: [sum(c in "aeiou" for c in response.answer), len(response.answer)]


@vowel_share.result
def _share(stats, *, scale):
    assert stats.shape == (1, 2)  # additive: always the sums
    vowels, letters = stats[0]
    return scale * vowels / letters if letters else math.nan


@metric(kind="continuous", grain="run", needs=("seconds",), statistics=("seconds",), names=("median", "most"), unit="s")
def test_median_seconds():
    return lambda response: (response.seconds,)


test_median_seconds.__test__ = False


@test_median_seconds.result
def _median(stats):
    return {"median": np.median(stats), "most": stats.max()}


def test_the_value_of_a_run_is_made_of_the_statistics_of_its_rows():
    spec = vowel_share(scale=100)
    found = score_batch(spec, {"answer": ["aei", "xyz", "", None, "abcd"]})
    assert found.values == [100, 0, None, None, 25]
    assert found.statuses == ["scored", "scored", "failed", "unparsed", "scored"]
    assert found.labels[2] == "ValueError: gave nan, which is not a finite number"
    assert found.labels[:2] == ["[3.0,3.0]", "[0.0,3.0]"]
    stats = np.array([json.loads(label) for label in found.labels if label and label.startswith("[")])
    assert spec.result(stats) == 100 * 4 / 10  # not the mean of the rows' values
    assert spec.result(stats[:2]) == 50
    assert spec.result(stats[[0, 0, 2]]) == 100 * 7 / 10
    assert spec.result(stats.sum(axis=0, keepdims=True)) == spec.result(stats)  # adding up beforehand changes nothing
    assert pickle.loads(pickle.dumps(spec)).result(stats) == spec.result(stats)


def test_sums_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(3)
    stats = rng.lognormal(0, 8, (2_000, 2))
    values = {vowel_share().result(rng.permutation(stats)) for _ in range(20)}
    assert len(values) == 1


def test_named_results_become_columns():
    spec = test_median_seconds()
    found = score_batch(spec, {"seconds": [1.0, 2.0, 9.0]})
    assert found.values == [1, 2, 9]
    assert found.parts == {"most": [1, 2, 9]}
    assert spec.result(np.array([[1.0], [2.0], [9.0]])) == {"median": 2, "most": 9}
    assert spec.unit_of(None) == spec.unit_of("[1.0]") == "s"


def test_long_statistics_are_not_cut():
    @metric(
        kind="continuous",
        grain="run",
        needs=("seconds",),
        statistics=lambda k: [str(i) for i in range(k)],
        name="test_many_statistics",
    )
    def many(*, k: int = 100):
        return lambda response: [response.seconds / 3] * k

    many.result(lambda stats, *, k: stats.mean())
    label = score_batch(many(), {"seconds": [1.0]}).labels[0]
    assert len(label) > 1_000
    assert json.loads(label) == [1 / 3] * 100


@pytest.mark.parametrize("wrong", [[1.0], [1.0, 2.0, 3.0], [1.0, math.nan], [1.0, "x"], 3.0])
def test_wrong_statistics_fail_in_their_row(wrong):
    @metric(kind="hard", grain="run", needs=("answer",), statistics=("a", "b"), name="test_wrong_statistics")
    def broken():
        return lambda response: wrong if response.answer == "bad" else [1.0, 2.0]

    broken.result(lambda stats: stats[:, 0].sum() / stats[:, 1].sum())
    assert score_batch(broken(), {"answer": ["bad", "good"]}).statuses == ["failed", "scored"]


def test_misdeclared_grains_and_units_are_refused():
    base = {"kind": "continuous", "needs": ("answer",)}
    for wrong in (
        {"grain": "run"},
        {"statistics": ("a",)},
        {"additive": True},
        {"unit": PER_ROW, "names": ("a", "b")},
        {"unit": PER_ROW, "grain": "run", "statistics": ("a",)},
        {"deliveries": ()},
        {"deliveries": "ok"},
        {"deliveries": ("fine",)},
    ):
        with pytest.raises(MetricError):
            metric(**base, **wrong)
    with pytest.raises(MetricError, match="grain response"):
        get_metric("exact_match").result(np.zeros((1, 1)))
    for shape in ((0, 2), (2, 3), (2,)):
        with pytest.raises(MetricError, match="columns vowels, letters"):
            vowel_share().result(np.zeros(shape))


def test_a_metric_that_cannot_be_made_is_a_warning_where_metrics_are_listed():
    declared = metric(kind="continuous", needs=("answer",), grain="run", statistics=("a",), name="test_no_result")
    unfinished = declared(lambda: len)
    with pytest.raises(MetricError, match=r"@test_no_result\.result"):
        unfinished()
    with pytest.warns(RuntimeWarning, match="test_no_result"):
        assert "test_no_result" not in {spec.name for spec in list_metrics()}
    unfinished.result(lambda stats: stats.mean())
    assert "test_no_result" in {spec.name for spec in list_metrics()}


def test_a_unit_may_differ_from_row_to_row_and_then_is_the_label():
    @metric(kind="continuous", needs=("output_tokens", "token_unit"), unit=PER_ROW, name="test_length")
    def length():
        return lambda r: Quantity(r.output_tokens, r.token_unit) if r.output_tokens else 0.0

    found = score_batch(length(), {"output_tokens": [3, 5, 0], "token_unit": ["a", "b" * 300, "c"]})
    assert found.values == [3, 5, None]
    assert found.statuses == ["scored", "scored", "failed"]
    assert length().unit_of(found.labels[0]) == "a"
    assert len(found.labels[1]) == 200
    assert "Quantity" in found.labels[2]
    bare = score_batch(length(), {"output_tokens": [0, 0], "token_unit": ["a", "b"]})
    assert bare.statuses == ["failed"] * 2  # a number whose unit nobody said is none


def test_a_metric_sees_the_deliveries_that_it_declares():
    @metric(kind="hard", needs=("delivery",), deliveries=("ok", "refused"), name="test_refused")
    def declined():
        return lambda response: float(response.delivery == "refused")

    rows = {"delivery": [d.value for d in Delivery] + [None]}
    found = dict(zip(rows["delivery"], score_batch(declined(), rows).values, strict=True))
    assert {name for name, value in found.items() if value is not None} == {"ok", "refused"}
    assert found["refused"] == 1
    assert get_metric("exact_match").deliveries == ("ok", "truncated")


def test_a_metric_of_steps():
    @metric(kind="continuous", needs=("trace",), unit="calls", higher_is_better=None, name="test_calls")
    def calls():
        return lambda response: float(sum(step.kind == "tool" for step in response.trace))

    steps = [Step(0, 0, "tool", "bash", True), Step(1, 0, "turn")]
    found = score_batch(calls(), {"trace": [steps, [], None, steps[1:]]})
    assert found.values == [1, None, None, 0]
    assert found.statuses == ["scored", "needs", "needs", "scored"]
    assert score_batch(calls(), {"trace": [steps] * 3_000}).values == [1] * 3_000  # equal rows share a call
    assert calls().higher_is_better is None


def test_harness_scores_can_be_needed():
    @metric(kind="continuous", needs=("harness_scores",), name="test_harness")
    def best():
        return lambda response: max(response.harness_scores.values())

    assert score_batch(best(), {"harness_scores": [{"a": 0.5, "b": 1.0}, {}, None]}).values == [1, None, None]
    assert score_batch(best(), {"harness_scores": [{"a": 0.5}] * 3_000}).values == [0.5] * 3_000
    assert best()(Response(harness_scores={"a": 2.0})) == 2


def test_groups_are_lists_of_metrics():
    for name in METRIC_GROUPS:
        found = metric_group(name)
        assert len({spec.id for spec in found}) == len(found)
    with pytest.raises(MetricError, match="one of text, probability, trace"):
        metric_group("texts")
    with pytest.raises(MetricError, match="is a group"):
        metric(kind="hard", needs=("answer",), name="text")(lambda: len)


EDGES = {
    "answer": ["the cat sat on the mat", "", "a", None, "x" * 40, "nothing alike", "the cat sat on the mat"],
    "targets": [["the cat sat down", "it fled"], ["full"], ["a"], ["b"], ["x" * 39], ["42 7"], ["the cat"]],
}


@pytest.mark.parametrize(
    "name",
    [
        *("corpus_bleu", "corpus_bleu(effective=True)", "corpus_bleu(smoothing=add-k,k=0.5)"),
        *("corpus_chrf", "corpus_chrf(word_order=2)", "corpus_chrf(smoothing=epsilon,beta=1.5)"),
        *("corpus_word_error_rate", "corpus_character_error_rate"),
    ],
)
def test_the_fast_form_of_rows_alone_changes_nothing(name, monkeypatch):
    spec = get_metric(name)
    fast = score_batch(spec, EDGES)
    assert spec.factory.alone_form is not None
    monkeypatch.setattr(spec.factory, "alone_form", None)
    assert score_batch(spec, EDGES) == fast
    rows = [(v, json.loads(label)) for v, s, label in zip(*fast[:3], strict=True) if s == "scored"]
    assert len(rows) > 3
    assert all(spec.result(np.array([stats])) == value for value, stats in rows)


def test_a_fast_form_that_fails_or_gives_other_shapes_is_not_believed(monkeypatch):
    spec = vowel_share(scale=1)
    table = {"answer": ["aei", "xyz"]}
    right = score_batch(spec, table)
    for wrong in (lambda stats, **_: stats, lambda stats, **_: stats[:, 0] / 0, lambda stats, **_: 1 // 0):
        monkeypatch.setattr(spec.factory, "alone_form", wrong)
        with np.errstate(divide="ignore", invalid="ignore"):
            assert score_batch(spec, table) == right
