"""Values of the built-in metrics against hand-made tables and other people's formulas."""

from __future__ import annotations

import math
import random
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.special import softmax as scipy_softmax

from foreshock._base import MetricError
from foreshock.metrics import Response, get_metric, list_metrics, score_batch

CALM = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
TEXT = st.text(max_size=15) | st.sampled_from(["", "é", "e\u0301", "\ud800\udc00", "אבג", "👩‍👩‍👧", "a" * 80])
LOGPROBS = st.lists(st.floats(-700, 0), min_size=2, max_size=6)


def value(name, **row):
    return get_metric(name)(Response(**row))


def levenshtein(a, b):
    """Textbook dynamic programme over the whole table."""
    table = [[max(i, j) if not i or not j else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
    return table[-1][-1]


def similarity(a, b):
    return 1.0 if not a and not b else 1 - levenshtein(a, b) / max(len(a), len(b))


@pytest.mark.parametrize(
    ("normalise", "answer", "targets", "expected"),
    [
        ("strip", " 4\n", ["4"], 1),
        ("strip", "4.", ["4"], 0),
        ("strip", "Paris", ["paris"], 0),
        ("none", " 4", ["4"], 0),
        ("none", "4", [" 4", "4"], 1),
        ("casefold", "STRASSE", ["straße"], 1),
        ("casefold", "STRASSE ", ["straße"], 0),
        ("strip+casefold", "STRASSE ", ["straße"], 1),
        ("nfc", "e\u0301", ["é"], 1),
        ("strip", "e\u0301", ["é"], 0),
        ("nfkc", "Ⅳ", ["IV"], 1),
        ("spaces", "a \t b", ["a b"], 1),
        ("punctuation", "«4»!", ["4"], 1),
        ("articles+spaces", "The answer", ["answer"], 1),
        ("strip", "", [""], 1),
    ],
)
def test_exact_match_does_what_its_name_says_and_no_more(normalise, answer, targets, expected):
    spec = get_metric("exact_match", normalise=normalise)
    assert spec(Response(answer=answer, targets=targets)) == expected
    assert score_batch(spec, {"answer": [answer], "targets": [targets]}).values == [expected]


def test_exact_match_never_looks_at_the_reasoning():
    row = {"answer": "5", "output": "It is 4. No: 5", "reasoning": "4", "targets": ["4"]}
    assert value("exact_match", **row) == 0


@CALM
@given(answer=TEXT, target=TEXT)
def test_edit_similarity_is_the_textbook_distance(answer, target):
    for name, cut in (("char_similarity", list), ("token_similarity", str.split)):
        found = value(name, answer=answer, targets=[target])
        assert found == pytest.approx(similarity(cut(answer.strip()), cut(target.strip())), abs=1e-12)


@CALM
@given(a=TEXT, b=TEXT, c=TEXT)
def test_edit_similarity_is_symmetric_in_range_and_takes_the_best_target(a, b, c):
    for name in ("char_similarity", "token_similarity(tokens=bytes)", "token_similarity(tokens=wordpunct)"):
        found = value(name, answer=a, targets=[b])
        assert 0 <= found <= 1
        assert found == value(name, answer=b, targets=[a])
        assert value(name, answer=a, targets=[b, c]) == max(found, value(name, answer=a, targets=[c]))


@CALM
@given(answer=TEXT, target=TEXT)
def test_similarity_is_one_exactly_where_the_match_is_exact(answer, target):
    for normalise in ("none", "strip", "casefold+strip"):
        row = Response(answer=answer, targets=[target])
        exact = get_metric("exact_match", normalise=normalise)(row)
        assert (get_metric("char_similarity", normalise=normalise)(row) == 1) == (exact == 1)
        ends = get_metric("position_accuracy", normalise=normalise)(row)
        assert math.prod(ends) == exact


def test_long_texts_are_compared_up_to_a_stated_length():
    from foreshock.metrics._edit import LIMIT

    rng = random.Random(1)
    long = "".join(rng.choices("ab ", k=LIMIT))
    answers = [long[:-1] + "x", long + "b", "short"]
    found = score_batch(
        get_metric("char_similarity", normalise="none"), {"answer": answers, "targets": [[long], [long], ["short"]]}
    )
    assert found.values[0] == pytest.approx(1 - 1 / LIMIT)
    assert found.statuses == ["scored", "failed", "scored"]
    assert f"{LIMIT + 1:,}" in found.labels[1]


def test_two_of_the_longest_texts_are_compared_in_bounded_time():
    from foreshock.metrics._edit import LIMIT

    rng = random.Random(2)
    answer, target = (" ".join(str(rng.randrange(1_000)) for _ in range(LIMIT)) for _ in range(2))
    spec = get_metric("token_similarity")
    before = time.process_time()
    assert 0 < spec(Response(answer=answer, targets=[target])) < 0.5
    assert time.process_time() - before < 2  # 0.2 s and some for the cutting; 100,000 took 1.5 to 3.6 s


def test_a_tokenizer_of_the_users_own():
    from posixpath import basename  # any function at the top of a module will do

    spec = get_metric("token_similarity", tokens=basename)
    assert dict(spec.params)["tokens"] == "posixpath:basename"
    assert spec(Response(answer="x/abc", targets=["y/abd"])) == pytest.approx(2 / 3)
    with pytest.raises(MetricError, match="defined at the top of a module"):
        get_metric("token_similarity", tokens=lambda text: [text])
    with pytest.raises(MetricError, match="no tokenizer"):
        get_metric("token_similarity", tokens="no_such_module:cut")


@pytest.mark.parametrize(
    ("row", "params", "expected"),
    [
        ({"choice_logprobs": [-2.0, -1.0, -3.0], "gold_index": 1}, {}, 1),
        ({"choice_logprobs": [-2.0, -1.0, -3.0], "gold_index": 0}, {}, 0),
        ({"choice_logprobs": [-1.0, -1.0], "gold_index": 0}, {}, 1),
        ({"choice_logprobs": [-1.0, -1.0], "gold_index": 1}, {}, 0),
        ({"choice_logprobs": [-1.0, -1.0, -2.0], "gold_index": 1}, {"ties": "split"}, 0.5),
        ({"choice_logprobs": [-1.0, -1.0, -2.0], "gold_index": 2}, {"ties": "split"}, 0),
        ({"choice_logprobs": [-1.0, -1.0, -2.0], "gold_index": 0}, {"ties": "wrong"}, 0),
        # the likelier choice is the shorter one; by character the longer wins: -1/1 against -2/4
        ({"choice_logprobs": [-1.0, -2.0], "gold_index": 1, "choices": ["a", "abcd"]}, {"length": "characters"}, 1),
        ({"choice_logprobs": [-1.0, -2.0], "gold_index": 1, "choices": ["ab", "é"]}, {"length": "bytes"}, 0),
        ({"answer": "B", "targets": ["B"], "choices": ["x", "y"]}, {}, 1),
        ({"answer": " b ", "targets": ["B"], "choices": ["x", "y"]}, {}, 1),
        ({"answer": "C", "targets": ["B"], "choices": ["x", "y", "z"]}, {}, 0),
        ({"answer": "(B)", "gold_index": 1, "choices": ["x", "y"]}, {}, 1),
        ({"answer": "y", "gold_index": 1, "choices": ["x", "y"]}, {}, 1),
        ({"answer": "A", "gold_index": 1, "choices": ["B", "A"]}, {}, 1),  # the text of an option goes before letters
        ({"answer": "z", "gold_index": 1, "choices": ["x", "y"]}, {}, 0),
        ({"answer": "", "gold_index": 1, "choices": ["x", "y"]}, {}, 0),
        (
            {"answer": "B", "targets": ["B"], "choices": ["x", "y"], "choice_logprobs": [-1.0, -2.0], "gold_index": 1},
            {"by": "answer"},
            1,
        ),
    ],
)
def test_multiple_choice_grade(row, params, expected):
    spec = get_metric("multiple_choice_grade", **params)
    found = score_batch(spec, {k: [v] for k, v in row.items()})
    assert found.values == [expected], found


def test_an_impossible_gold_index_fails_the_row():
    for name in ("multiple_choice_grade", "brier", "choice_margin", "choice_probability", "gold_logprob"):
        found = score_batch(get_metric(name), {"choice_logprobs": [[-1.0, -2.0]] * 3, "gold_index": [2, -1, 1]})
        assert found.statuses == ["failed", "failed", "scored"], name
        assert found.labels[1] == "IndexError: gold_index -1 with 2 choices"


def test_a_log_likelihood_that_is_no_number_fails_the_row():
    for name in ("multiple_choice_grade", "brier", "choice_margin"):
        found = score_batch(
            get_metric(name), {"choice_logprobs": [[-1.0, math.nan], [-1.0, -2.0]], "gold_index": [0, 0]}
        )
        assert found.statuses == ["failed", "scored"], name


@CALM
@given(logprobs=LOGPROBS, data=st.data())
def test_probabilities_against_scipy(logprobs, data):
    gold = data.draw(st.integers(0, len(logprobs) - 1))
    row = Response(choice_logprobs=logprobs, gold_index=gold)
    shares = scipy_softmax(np.array(logprobs))
    truth = np.eye(len(logprobs))[gold]
    assert get_metric("choice_probability")(row) == pytest.approx(shares[gold], abs=1e-12)
    assert get_metric("brier")(row) == pytest.approx(float(np.sum((shares - truth) ** 2)), abs=1e-12)
    assert get_metric("brier", form="binary")(row) == pytest.approx(float((1 - shares[gold]) ** 2), abs=1e-12)
    others = np.delete(np.array(logprobs), gold)
    assert get_metric("choice_margin")(row) == pytest.approx(logprobs[gold] - others.max())
    assert (get_metric("choice_margin")(row) > 0) <= (get_metric("multiple_choice_grade")(row) == 1)


def test_brier_is_proper():
    """Whatever the truth q is, no other prediction has a lower expected score than q itself."""
    rng = np.random.default_rng(0)
    spec = get_metric("brier")

    def expected(prediction, truth):
        logs = [math.log(p) for p in prediction]
        return sum(q * spec(Response(choice_logprobs=logs, gold_index=k)) for k, q in enumerate(truth))

    for _ in range(50):
        truth, other = rng.dirichlet(np.ones(4), 2) + 1e-9
        assert expected(truth / truth.sum(), truth) <= expected(other / other.sum(), truth) + 1e-12


def test_a_choice_alone_has_no_margin():
    found = score_batch(get_metric("choice_margin"), {"choice_logprobs": [[-1.0]], "gold_index": [0]})
    assert (found.statuses, found.labels) == (["needs"], ["there is only one choice"])


@CALM
@given(st.lists(st.floats(-30, 0), min_size=1, max_size=9))
def test_gold_log_probability(tokens):
    row = Response(gold_token_logprobs=tokens)
    assert get_metric("gold_logprob")(row) == pytest.approx(float(np.sum(tokens)))
    assert get_metric("gold_logprob", per="token")(row) == pytest.approx(float(np.mean(tokens)))
    assert get_metric("gold_probability")(row) == pytest.approx(float(np.prod(np.exp(tokens))), abs=1e-12)


@pytest.mark.parametrize(
    ("text", "pick", "expected"),
    [
        ("1,234,567.5", "last", 1234567.5),
        ("12,34", "last", None),
        ("3,14", "last", None),
        ("1,2345", "last", None),
        ("1_000", "last", 1000),
        ("-5", "last", -5),
        ("\u22125", "last", -5),
        ("x-5", "last", 5),
        ("5-3", "last", 3),
        ("5 - 3", "last", 3),
        ("3/4", "last", 0.75),
        ("1 1/2", "last", 1.5),
        ("-1 1/2", "last", -1.5),
        ("1/0", "last", None),
        ("45%", "last", 0.45),
        ("45 %", "last", 0.45),
        ("2.5e-3", "last", 0.0025),
        (".5", "last", 0.5),
        ("$1,000.", "last", 1000),
        ("-$3", "last", -3),
        ("12, 13", "first", 12),
        ("12, 13", "last", 13),
        ("12, 13", "only", None),
        ("12", "only", 12),
        ("H2O", "last", None),
        ("12km", "last", 12),
        ("٣", "last", 3),
        ("1e999", "last", None),
        ("9" * 5000, "last", None),
        ("1.2.3", "last", None),
        ("", "last", None),
        ("2024-05-06", "only", None),
    ],
)
def test_what_a_number_is(text, pick, expected):
    from foreshock.metrics._numeric import parse_number

    found = parse_number(text, pick)
    assert found == (None if expected is None else pytest.approx(expected))


@CALM
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_closeness_is_symmetric_and_in_range(a, t):
    from foreshock.metrics._numeric import closeness

    found = closeness(a, t)
    assert 0 <= found <= 1
    assert found == closeness(t, a) == closeness(-a, -t)
    assert closeness(a, a) == 1


def test_numeric_closeness_tells_unparsed_from_inapplicable():
    columns = {"answer": ["10", "no idea", "10"], "targets": [["5", "a lot"], ["5"], ["a lot"]]}
    found = score_batch(get_metric("numeric_closeness"), columns)
    assert found.values == [pytest.approx(1 - 5 / 15), None, None]
    assert found.statuses == ["scored", "unparsed", "needs"]


def test_numbers_are_found_in_hostile_text_in_time():
    from foreshock.metrics._numeric import parse_number

    for text in (
        "1," * 60_000,
        "1 " * 60_000,
        "-" * 120_000,
        "1/" * 60_000,
        "1,111" * 30_000,
        "1_1" * 40_000,
        "1e" * 60_000,
    ):
        parse_number(text)


@pytest.mark.parametrize(
    ("answer", "params", "expected"),
    [
        ("1234", {}, [1, 1, 1, 1, 1]),
        ("12340", {}, [1, 1, 1, 1, 0]),
        ("123", {}, [1, 1, 1, 0, 0]),
        ("", {}, [0, 0, 0, 0, 0]),
        ("0234", {}, [0, 1, 1, 1, 1]),
        ("234", {}, [0, 0, 0, 0, 0]),
        ("234", {"align": "right"}, [0, 1, 1, 1, 0]),
        ("91234", {"align": "right"}, [1, 1, 1, 1, 0]),
    ],
)
def test_position_accuracy(answer, params, expected):
    found = score_batch(get_metric("position_accuracy", **params), {"answer": [answer], "targets": [["1234"]]})
    from foreshock.metrics import positions

    assert positions(found.labels[0]) == expected
    assert found.values == [pytest.approx(sum(expected) / 5)]


def test_position_accuracy_takes_the_best_target_and_refuses_long_ones():
    spec = get_metric("position_accuracy", tokens="words")
    found = score_batch(spec, {"answer": ["a b", "a"], "targets": [["x y z", "a c"], ["a " * 300]]})
    assert found.values == [pytest.approx(2 / 3), None]
    assert found.statuses[1] == "needs"


@CALM
@given(st.data())
def test_every_value_lies_in_the_declared_range(data):
    row = Response(
        answer=data.draw(TEXT),
        targets=data.draw(st.lists(TEXT | st.just("12"), min_size=1, max_size=2)),
        choice_logprobs=data.draw(LOGPROBS),
        gold_index=data.draw(st.integers(0, 1)),
        gold_token_logprobs=data.draw(st.lists(st.floats(-30, 0), min_size=1)),
    )
    for spec in list_metrics():
        if spec.name.startswith("test_"):
            continue
        found = score_batch(spec, {k: [getattr(row, k)] for k in Response.__struct_fields__})
        assert found.statuses[0] != "failed", (spec, found.labels)
        for number in [v for v in found.values if v is not None]:
            assert spec.low is None or number >= spec.low - 1e-12
            assert spec.high is None or number <= spec.high + 1e-12
