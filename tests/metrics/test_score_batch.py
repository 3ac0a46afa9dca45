"""One row's trouble stays in its row, and the form over columns gives what the form over rows gives."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreshock._base import MetricError
from foreshock.metrics import Inapplicable, Response, get_metric, metric, score_batch

CALM = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
TEXT = st.text(max_size=12)
"""Any text, lone surrogates, combining characters and right-to-left included."""
SPACES = st.text(" \t\n\r\x0b\x1c\x1f\x85\xa0\u2003\u2028\u3000\u200b\ufeff", max_size=2)
"""White space that ``str.strip`` takes away, and two characters that only look like it."""
PLAIN = st.sampled_from(["4", "four", "1,000", "3/4 or 5", "Ⅳ", "é", "e\u0301", "\ud800", "אבג", ""])
ANSWERS = TEXT | st.builds(lambda before, text, after: before + text + after, SPACES, PLAIN, SPACES)
LOGPROBS = st.lists(st.floats(-50, 0), min_size=1, max_size=5)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "answer": st.none() | ANSWERS,
            "targets": st.none() | st.lists(ANSWERS, max_size=3),
            "output": st.none() | st.just("text"),
            "delivery": st.sampled_from(["ok", "ok", "ok", "truncated", "error", None]),
            "choices": st.none() | st.just([]),
            "choice_logprobs": st.none() | LOGPROBS,
            "gold_index": st.none() | st.integers(-1, 5),
            "gold_token_logprobs": st.none() | st.lists(st.floats(-9, 0), max_size=3),
        }
    ),
    max_size=12,
)
WITH_BATCH = [
    "exact_match",
    "exact_match(normalise=none)",
    "exact_match(normalise=nfc+casefold+punctuation+spaces)",
    "char_similarity",
    "char_similarity(normalise=none)",
    "token_similarity",
    "token_similarity(tokens=wordpunct, normalise=casefold)",
    "token_similarity(tokens=bytes)",
    "multiple_choice_grade(by=likelihood)",
    "numeric_closeness",
    "numeric_closeness(pick=only)",
]


def columns(rows):
    names = rows[0] if rows else Response.__struct_fields__
    return {name: [row[name] for row in rows] for name in names}


@CALM
@given(rows=ROWS)
def test_columns_give_what_rows_give(rows):
    singles = [{k: [v] for k, v in row.items()} for row in rows]
    for name in WITH_BATCH:  # all metrics on the same rows: making rows takes longer than scoring them
        spec = get_metric(name)
        assert spec.has_batch
        together = score_batch(spec, columns(rows))
        for i, row in enumerate(rows):
            alone = score_batch(spec, singles[i])
            assert (name, together.values[i], together.statuses[i], together.labels[i]) == (
                name,
                alone.values[0],
                alone.statuses[0],
                alone.labels[0],
            )
            if alone.statuses[0] == "scored":
                assert together.values[i] == spec(row), name  # the function itself, not the form over columns


@pytest.mark.parametrize("name", ["char_similarity", "exact_match"])
def test_repeated_pairs_are_remembered_with_the_same_values(name):
    rows = [{"answer": a, "targets": [t]} for a in ("x", "xy", " xyz") for t in ("xy", "xyz")] * 50
    spec = get_metric(name)
    assert score_batch(spec, columns(rows)).values == [spec(row) for row in rows]


def test_white_space_is_what_python_strips_and_nothing_else():
    ends = ["", " ", "\t", "\x1c", "\x1f", "\x85", "\xa0", "\u2003", "\u2028", "\u3000", "\u200b", "\ufeff", "\x00"]
    said = [
        (f"{a}{text}{b}", target) for a in ends for b in ends for text in ("é", "e\u0301") for target in ("é", " é")
    ]
    found = score_batch(get_metric("exact_match"), {"answer": [a for a, _ in said], "targets": [[t] for _, t in said]})
    assert found.values == [float(a.strip() == t.strip()) for a, t in said]
    assert set(map(type, found.values)) == {float}
    assert sum(found.values) == 2 * 10 * 10  # ten of the ends are white space; the other form of the letter is another


def test_a_target_that_is_no_text_fails_in_its_row_only():
    found = score_batch(get_metric("exact_match"), {"answer": ["4", "4", " 4"], "targets": [["4"], [None], ["4"]]})
    assert found.values == [1.0, None, 1.0]
    assert found.statuses == ["scored", "failed", "scored"]


@metric(kind="continuous", needs=("answer",), name="test_moody")
def moody():
    def score(response):
        return {
            "raise": lambda: 1 / 0,
            "nan": lambda: math.nan,
            "inf": lambda: -math.inf,
            "text": lambda: "1.0",
            "list": lambda: [1.0],
            "none": lambda: None,
            "away": lambda: (_ for _ in ()).throw(Inapplicable("not for this item")),
            "long": lambda: (_ for _ in ()).throw(ValueError("\ud800" + "x" * 10_000)),
            "true": lambda: True,
        }.get(response.answer, lambda: 0.5)()

    return score


def test_a_failing_row_says_why_and_stops_nobody():
    answers = ["fine", "raise", "nan", "inf", "text", "list", "none", "away", "long", "true"]
    found = score_batch(moody(), {"answer": answers})
    table = dict(zip(answers, zip(found.values, found.statuses, found.labels, strict=True), strict=True))
    assert table["fine"] == (0.5, "scored", None)
    assert table["true"] == (1.0, "scored", None)
    assert table["raise"] == (None, "failed", "ZeroDivisionError: division by zero")
    assert table["nan"] == (None, "failed", "ValueError: gave nan, which is not a finite number")
    assert table["inf"][1] == table["text"][1] == table["list"][1] == table["long"][1] == "failed"
    assert table["none"] == (None, "unparsed", "the metric could not read the answer")
    assert table["away"] == (None, "needs", "not for this item")
    assert len(table["long"][2]) == 200
    table["long"][2].encode()  # can be stored


def test_a_batch_form_that_fails_falls_back_to_the_rows():
    @metric(kind="continuous", needs=("answer",), name="test_half_fast")
    def half_fast():
        return lambda response: 10 / len(response.answer)

    @half_fast.batch
    def _batch(columns):
        return [10 / len(a) for a in columns["answer"]]

    found = score_batch(half_fast(), {"answer": ["ab", "", "abcde"]})
    assert found.values == [5.0, None, 2.0]
    assert found.statuses == ["scored", "failed", "scored"]


def test_statuses_tell_apart_what_is_missing():
    rows = [
        {"answer": "4", "output": "4", "targets": ["4"], "delivery": "ok", "choices": None},
        {"answer": None, "output": "hm", "targets": ["4"], "delivery": "ok", "choices": None},
        {"answer": None, "output": None, "targets": ["4"], "delivery": "ok", "choices": None},
        {"answer": "4", "output": "4", "targets": [], "delivery": "ok", "choices": None},
        {"answer": "4", "output": "4", "targets": ["4"], "delivery": "error", "choices": None},
        {"answer": "4", "output": "4", "targets": ["4"], "delivery": "truncated", "choices": None},
        {"answer": "4", "output": "4", "targets": ["4"], "delivery": None, "choices": ["4", "5"]},
    ]
    exact = score_batch(get_metric("exact_match"), columns(rows))
    assert exact.statuses == ["scored", "unparsed", "needs", "needs", "needs", "scored", "scored"]
    assert exact.labels[2:5] == ["no answer", "no targets", "delivery: error"]
    edit = score_batch(get_metric("char_similarity"), columns(rows))
    assert edit.statuses[-1] == "needs"
    assert edit.labels[-1] == "has choices"
    allowed = score_batch(get_metric("char_similarity", choices="allow"), columns(rows))
    assert allowed.values[-1] == 1.0


def test_alternatives_are_tried_in_turn():
    spec = get_metric("gold_logprob")
    found = score_batch(
        spec,
        {
            "gold_logprob": [-1.0, None, None, None],
            "gold_token_logprobs": [[-5.0], [-1.0, -1.5], None, []],
            "choice_logprobs": [None, None, [-3.0, -4.0], [-3.0]],
            "gold_index": [None, None, 1, None],
        },
    )
    assert found.values == [-1.0, -2.5, -4.0, None]
    assert found.labels[3] == "no gold_logprob"


def test_columns_must_have_one_length():
    with pytest.raises(MetricError, match="different lengths"):
        score_batch(get_metric("exact_match"), {"answer": ["a"], "targets": []})


def test_no_rows_and_no_columns():
    assert score_batch(get_metric("exact_match"), {}) == ([], [], [], {})


def test_several_named_values():
    @metric(kind="continuous", needs=("answer",), names=("first", "second"), name="test_named")
    def named():
        return lambda r: {"first": 1.0, "second": 2.0} if r.answer else {"first": 1.0}

    spec = named()
    assert spec.ids == (spec.id, f"{spec.id}/second")
    found = score_batch(spec, {"answer": ["a", "", None]})
    assert found.values == [1.0, None, None]
    assert found.parts == {"second": [2.0, None, None]}
    assert found.statuses == ["scored", "failed", "unparsed"]
    assert "declares first, second" in found.labels[1]


def test_item_grain_gives_every_epoch_the_value_of_its_item():
    rows = [
        {"item_id": i, "epoch": e, "answer": a, "targets": ["4"], "output": "x"}
        for i, e, a in [("p", 1, "4"), ("q", 1, "5"), ("p", 2, "5"), ("q", 2, "5"), ("p", 3, None), ("r", 1, "4")]
    ]
    found = score_batch(get_metric("pass_rate"), columns(rows))
    assert found.values == [0.5, 0.0, 0.5, 0.0, None, None]
    assert found.statuses[4:] == ["unparsed", "needs"]


def test_responses_without_any_id_are_never_the_same_item():
    rows = [{"item_id": None, "item_key": None, "answer": "4", "targets": ["4"]}] * 3
    assert score_batch(get_metric("pass_rate"), columns(rows)).statuses == ["needs"] * 3
    assert (
        score_batch(get_metric("pass_rate"), {"answer": ["4", "4"], "targets": [["4"]] * 2}).statuses == ["needs"] * 2
    )


def test_a_metric_sees_only_what_it_declares():
    @metric(kind="continuous", needs=("answer",), uses=("subset",), name="test_nosy")
    def nosy():
        return lambda r: float(r.output is not None) + 10 * float(r.subset is not None)

    rows = {"answer": ["a", "a"], "output": ["x", None], "subset": ["s", None]}
    assert score_batch(nosy(), rows).values == [10.0, 0.0]


def test_equal_rows_share_one_call_when_many_repeat():
    calls = []

    @metric(kind="continuous", needs=("answer", "targets"), name="test_counting")
    def counting():
        def score(response):
            calls.append(response)
            if response.answer == "7":
                raise ValueError("seven")
            return float(response.answer) + len(response.targets)

        return score

    answers = [str(i % 10) for i in range(5_000)]
    found = score_batch(counting(), {"answer": answers, "targets": [["x"]] * 5_000})
    assert len(calls) == 10
    assert found.values == [None if a == "7" else int(a) + 1 for a in answers]
    assert found.labels[7] == "ValueError: seven"
    score_batch(counting(), {"answer": [str(i) for i in range(5_000)], "targets": [["x"]] * 5_000})
    assert len(calls) == 5_010


@pytest.mark.parametrize(
    "name",
    [
        *("multiple_choice_grade", "brier", "choice_margin", "choice_probability"),
        *("gold_logprob", "gold_logprob(per=token)"),
    ],
)
def test_a_missing_log_likelihood_is_a_missing_input(name):
    columns = {
        "choice_logprobs": [[-1.0, None], [-1.0, -2.0]],
        "gold_index": [0, 0],
        "gold_token_logprobs": [[None, -1.0], [-2.0]],
    }
    assert score_batch(get_metric(name), columns).statuses == ["needs", "scored"]
