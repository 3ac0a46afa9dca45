"""Log score, ranks and pass@k against brute force and other people's formulas."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax
from scipy.stats import rankdata

from foreshock._base import MetricError
from foreshock.metrics import Response, get_metric, score_batch

CALM = settings(max_examples=30, deadline=None)
LOGPROBS = st.lists(st.floats(-700, 0) | st.sampled_from([-1.0, -2.0]), min_size=1, max_size=6)


def value(name, **row):
    return get_metric(name)(Response(**row))


@CALM
@given(values=LOGPROBS, data=st.data())
def test_the_log_score_is_the_log_softmax(values, data):
    gold = data.draw(st.integers(0, len(values) - 1))
    expected = log_softmax(values)[gold]
    row = {"choice_logprobs": values, "gold_index": gold}
    assert value("log_score(unit=nats)", **row) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert value("log_score", **row) == pytest.approx(expected / math.log(2), rel=1e-12, abs=1e-15)
    assert value("log_score(floor=-3)", **row) == max(value("log_score", **row), -3)
    assert value("log_score", **row) <= 0


def test_very_small_probabilities_keep_their_digits():
    assert value("log_score(unit=nats)", choice_logprobs=[-5_000.0, -1.0], gold_index=0) == -4_999
    assert value("log_score(unit=nats)", choice_logprobs=[0.0, -40.0], gold_index=0) == -math.exp(-40)


def test_an_infinite_log_score_is_never_silent():
    rows = {"choice_logprobs": [[0.0, -math.inf]] * 2 + [[-math.inf] * 2], "gold_index": [1, 0, 0]}
    found = score_batch(get_metric("log_score"), rows)
    assert found.statuses == ["failed", "scored", "failed"]
    assert "minus infinity" in found.labels[0]
    assert found.values[1] == 0
    assert score_batch(get_metric("log_score", floor=-20), rows).values == [-20, 0, None]


def test_the_log_score_is_proper():
    """The mean score over outcomes drawn from q is largest for the prediction q, wherever one moves from there."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        q = rng.dirichlet([1.0] * 4)
        p = rng.dirichlet([1.0] * 4)

        def mean(said, truth=q):
            logs = np.log(said).tolist()
            return sum(t * value("log_score", choice_logprobs=logs, gold_index=k) for k, t in enumerate(truth))

        assert mean(q) > mean(p)


@pytest.mark.parametrize(("name", "params"), [("log_score", {"unit": "dits"}), ("log_score", {"floor": 1.0})])
def test_mistakes_are_refused(name, params):
    with pytest.raises(MetricError):
        get_metric(name, **params)


@CALM
@given(values=LOGPROBS, data=st.data())
def test_ranks_are_those_of_scipy(values, data):
    gold = data.draw(st.integers(0, len(values) - 1))
    row = {"choice_logprobs": values, "gold_index": gold}
    for ties, method in (("mid", "average"), ("worst", "max"), ("best", "min")):
        rank = rankdata(-np.array(values), method=method)[gold]
        assert value(f"gold_rank(ties={ties})", **row) == rank
        assert value(f"reciprocal_rank(ties={ties})", **row) == pytest.approx(1 / rank, rel=1e-15)
    assert (value("gold_rank(ties=worst)", **row) == 1) == (value("multiple_choice_grade(ties=wrong)", **row) == 1)


@pytest.mark.parametrize("choices", [2, 4, 6])
def test_ranks_of_guessing(choices):
    orders = list(itertools.permutations(range(choices)))[:5_040]
    for name in ("gold_rank", "reciprocal_rank"):
        spec = get_metric(name)
        mean = np.mean([spec({"choice_logprobs": [-float(x) for x in o], "gold_index": 0}) for o in orders])
        assert spec.chance(choices) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("name", ["gold_rank", "log_score"])
def test_a_choice_that_is_missing_or_outside_is_no_rank(name):
    rows = {"choice_logprobs": [[-1.0, None], [-1.0], [math.nan, -1.0]], "gold_index": [0, 1, 0]}
    assert score_batch(get_metric(name), rows).statuses == ["needs", "failed", "failed"]


def attempts(passed, failed, unread=0):
    answers = ["4"] * passed + ["5"] * failed + [None] * unread
    n = len(answers)
    return {
        "answer": answers,
        "output": ["text"] * n,
        "targets": [["4"]] * n,
        "item_id": ["a"] * n,
        "epoch": list(range(1, n + 1)),
    }


def test_pass_at_k_counts_the_sets_of_attempts():
    for n, k in itertools.product(range(1, 8), range(1, 8)):
        for c in range(n + 1):
            found = score_batch(get_metric("pass_at_k", k=k), attempts(c, n - c))
            if n < k:
                assert found.statuses == ["needs"] * n
                assert found.labels[0] == f"the item has {n} attempts, fewer than {k}"
                continue
            marks = [True] * c + [False] * (n - c)
            sets = [any(chosen) for chosen in itertools.combinations(marks, k)]
            assert found.values == [pytest.approx(np.mean(sets), abs=1e-15)] * n


@CALM
@given(n=st.integers(1, 3_000), data=st.data())
def test_pass_at_k_is_exact_for_many_attempts(n, data):
    from foreshock.metrics._pass_at_k import at_least_one

    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    exact = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
    assert at_least_one(n, c, k) == pytest.approx(float(exact), abs=1e-13)


def test_pass_at_k_has_no_bias_and_the_naive_estimate_has():
    rng = np.random.default_rng(1)
    p, n, k = 0.2, 6, 4
    passed = rng.binomial(n, p, 40_000)
    by_count = {c: score_batch(get_metric("pass_at_k", k=k), attempts(c, n - c)).values[0] for c in range(n + 1)}
    found = np.array([by_count[c] for c in passed])
    truth = 1 - (1 - p) ** k
    assert abs(found.mean() - truth) < 4 * found.std() / len(found) ** 0.5
    naive = 1 - (1 - passed / n) ** k
    assert abs(naive.mean() - truth) > 4 * naive.std() / len(naive) ** 0.5


def test_an_attempt_without_an_answer_has_failed_and_one_that_did_not_arrive_is_none():
    rows = attempts(1, 1, unread=2)
    spec = get_metric("pass_at_k", k=2)
    assert score_batch(spec, rows).values == [0.5] * 4  # 1 - C(3, 2) / C(4, 2)
    rows["delivery"] = ["ok", "ok", "ok", "error"]
    found = score_batch(spec, rows)
    assert found.values == [pytest.approx(2 / 3)] * 3 + [None]
    assert found.statuses[3] == "needs"
    rows["output"] = [None] * 4  # nothing says that there was an output: whether an answer is missing is not known
    assert score_batch(spec, rows).values == [1.0] * 3 + [None]


def test_pass_at_k_of_other_metrics():
    spec = get_metric("pass_at_k", k=2, of="char_similarity", threshold=0.5)
    rows = {"answer": ["abcd", "abxx", "xxxx"], "targets": [["abcd"]] * 3, "item_id": ["a"] * 3}
    assert score_batch(spec, rows).values == [1.0] * 3
    assert get_metric(spec.twins[0]) == get_metric("pass_rate", of="char_similarity", threshold=0.5)
    choice = get_metric("pass_at_k", k=1, of="multiple_choice_grade")
    assert ("choice_logprobs", "gold_index") in choice.needs
    assert ("targets", "choices") in choice.needs  # not the answer: an attempt without one has failed
    with pytest.raises(MetricError, match="grain item"):
        get_metric("pass_at_k", of="pass_rate")
    for k in (0, -1, 1.5, True):
        with pytest.raises(MetricError, match="whole number"):
            get_metric("pass_at_k", k=k)


def test_a_metric_inside_a_metric_has_its_own_commas():
    inner = get_metric("multiple_choice_grade", by="likelihood", ties="split")
    spec = get_metric("pass_at_k", k=3, of=str(inner))
    assert get_metric(str(spec)) == spec


@CALM
@given(logprob=st.floats(-800, 0), k=st.integers(1, 1_000))
def test_pass_at_k_from_an_exact_probability(logprob, k):
    found = value(f"pass_at_k_exact(k={k})", gold_logprob=logprob)
    p = Fraction(math.exp(logprob))
    exact = 1 - (1 - p) ** k if k < 50 else None
    if exact is not None:
        assert found == pytest.approx(float(exact), rel=1e-12)
    assert 0 <= found <= 1
    assert found == pytest.approx(k * float(p), rel=k * float(p) + 1e-12, abs=0)


def test_samples_agree_with_the_exact_probability():
    """Attempts drawn with probability p: the estimate from samples is centred at the value from p itself."""
    rng = np.random.default_rng(7)
    p, n, k = 0.15, 8, 3
    by_count = {c: score_batch(get_metric("pass_at_k", k=k), attempts(c, n - c)).values[0] for c in range(n + 1)}
    found = np.array([by_count[c] for c in rng.binomial(n, p, 20_000)])
    exact = value(f"pass_at_k_exact(k={k})", gold_logprob=math.log(p))
    assert abs(found.mean() - exact) < 4 * found.std() / len(found) ** 0.5


def test_confidence_is_that_of_what_was_said():
    assert value("confidence", choice_logprobs=[-1.0, -1.0, -9e9]) == 0.5
    assert value("confidence(of=generation)", output_token_logprobs=[-0.5, -1.5]) == pytest.approx(math.exp(-2))
    assert value("confidence(of=generation, per=token)", output_token_logprobs=[-0.5, -1.5]) == pytest.approx(
        math.exp(-1)
    )
    rows = {"output_token_logprobs": [[-0.5, None], [1e-9], [math.nan]]}  # rounding above 0 does occur in logs
    found = score_batch(get_metric("confidence(of=generation)"), rows)
    assert found.statuses == ["needs", "scored", "needs"]
    assert found.values[1] == 1


def recorded(*verdicts, **more):
    scores = [None if v is None else {"passed": float(v)} for v in verdicts]
    return {"harness_scores": scores, "item_id": ["a"] * len(scores), **more}


@pytest.mark.parametrize(("n", "c", "k"), [(5, 2, 3), (5, 0, 3), (4, 3, 2), (3, 3, 3)])
def test_pass_at_k_of_the_recorded_verdicts(n, c, k):
    rows = recorded(*[True] * c + [False] * (n - c))
    wins = [any(i < c for i in chosen) for chosen in itertools.combinations(range(n), k)]
    found = score_batch(get_metric("pass_at_k", k=k, of="harness"), rows).values
    assert found == pytest.approx([sum(wins) / len(wins)] * n, abs=1e-12)
    assert score_batch(get_metric("pass_rate(of=harness)"), rows).values == pytest.approx([c / n] * n)


def test_an_attempt_without_a_verdict_is_no_attempt():
    rows = recorded(True, None, False)
    assert score_batch(get_metric("pass_at_k(k=2,of=harness)"), rows).statuses == ["scored", "needs", "scored"]
    assert score_batch(get_metric("pass_at_k(k=3,of=harness)"), rows).statuses == ["needs"] * 3


def test_of_several_verdicts_one_must_be_named():
    rows = {"harness_scores": [{"base": 1.0, "plus": 0.0}] * 2, "item_id": ["a", "a"]}
    for name in ("pass_at_k(k=1,of=harness)", "pass_rate(of=harness)"):
        found = score_batch(get_metric(name), rows)
        assert found.statuses == ["needs", "needs"]
        assert found.labels[0] == "the harness gave several scores; name one with harness(score=NAME): base, plus"
    for score, passed in (("base", 1.0), ("plus", 0.0)):
        assert score_batch(get_metric(f"pass_at_k(k=1,of=harness(score={score}))"), rows).values == [passed, passed]
    gone = score_batch(get_metric("pass_at_k(k=1,of=harness(score=other))"), rows)
    assert gone.labels[0] == "the harness gave no other: base, plus"


def test_nobody_knows_what_guessing_gives_under_the_score_of_a_harness():
    assert get_metric("pass_rate(of=harness)").chance(4) is None
    assert get_metric("pass_rate").chance(4) == 0
    assert get_metric("harness(score=acc)").link == "argmax"
    assert get_metric("harness").kind == "hard"
