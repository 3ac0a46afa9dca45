"""Damage of known size: what is changed, how much, when it cannot be done; hostile texts take no time."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from foreshock._base import ConfigError
from foreshock.lint._degrade import DEGRADATIONS, HARMLESS, LIMIT, Degraded, Undamaged, degrade, parts
from foreshock.lint._degrade_option import Options, swap_option

HOSTILE = [
    *("A. " * 33_000, "?. " * 33_000, "x" + " " * 99_000, "1,111" * 20_000 + "a"),
    *("answer" + " " * 99_000, "a. B" * 25_000, " and" * 25_000),
]
PROSE = "Dr. Roe built it. It is 3,001.5 m tall, as of 1889. It has 57 floors."


def done(kind: str, text: str, seed: int = 0, **told: object) -> Degraded:
    found = degrade(kind, text, seed=seed, **told)  # type: ignore[arg-type]
    assert isinstance(found, Degraded), found
    return found


def test_dropping_leaves_the_other_statements_as_they_are() -> None:
    whole = [p.text for p in parts(PROSE)]
    assert whole == ["Dr. Roe built it.", "It is 3,001.5 m tall, as of 1889.", "It has 57 floors."]
    left = {done("drop_fact", PROSE, seed).text for seed in range(20)}
    assert left == {" ".join(p for p in whole if p != gone) for gone in whole}
    assert done("drop_fact", PROSE).size == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("red, green and blue.", {"green and blue.", "red, blue.", "red, green."}),
        ("one; two", {"one", "two"}),
        ("Sure!\n- iron\n- steel", {"Sure!\n- iron", "Sure!\n- steel"}),
        ("Here they are:\n1. iron\n2. steel", {"Here they are:\n1. iron", "Here they are:\n2. steel"}),
        ('He said "Go." Then he left.', {'He said "Go."', "Then he left."}),
    ],
)
def test_what_counts_as_a_statement(text: str, expected: set[str]) -> None:
    assert {done("drop_fact", text, seed).text for seed in range(40)} == expected


def test_one_digit_of_one_number_is_contradicted() -> None:
    for seed in range(60):
        changed = done("contradict_number", PROSE, seed)
        assert Levenshtein.distance(PROSE, changed.text) == 1
        assert len(changed.text) == len(PROSE)
        at = next(i for i, (a, b) in enumerate(zip(PROSE, changed.text, strict=True)) if a != b)
        assert PROSE[at].isdigit()
        assert changed.text[at].isdigit()
        assert changed.size == pytest.approx(1 / 3)
    assert not {done("contradict_number", "It is 10.", s).text for s in range(60)} & {"It is 00."}
    numbers = {tuple(re.findall(r"\d+", done("contradict_number", PROSE, s).text)) for s in range(60)}
    assert len(numbers) > 20


def test_a_contradiction_never_makes_the_answer_right() -> None:
    others = [str(i) for i in range(10) if i != 7]
    assert degrade("contradict_number", "7", targets=others) == Undamaged("every other number is right as well")
    assert {done("contradict_number", "7", s, targets=others[1:]).text for s in range(20)} == {others[0]}


@pytest.mark.parametrize("text", ["H2O and B52s", "three", "v1.2.3beta"])
def test_digits_inside_words_are_no_numbers(text: str) -> None:
    assert degrade("contradict_number", text) == Undamaged("no number in the text")


def test_truncation_keeps_the_first_half_of_the_words() -> None:
    cut = done("truncate", "one two three four")
    assert (cut.text, cut.size) == ("one two", pytest.approx(9 / 15))
    assert done("truncate", "one two three").text == "one two"
    assert degrade("truncate", " word ") == Undamaged("one word only")


def test_refusals_replace_everything_and_are_not_refused_again() -> None:
    refusal = done("refuse", PROSE)
    assert refusal.size == 1
    assert degrade("refuse", refusal.text) == Undamaged("a refusal already")
    assert {isinstance(degrade("refuse", done("refuse", PROSE, s).text), Undamaged) for s in range(20)} == {True}


def test_padding_adds_as_much_as_there_is_and_says_nothing_more() -> None:
    for seed in range(10):
        longer = done("pad", PROSE, seed)
        assert longer.text.startswith(PROSE)
        assert 0.5 <= longer.size < 1
        assert longer.size == pytest.approx(1 - len(PROSE) / len(longer.text))
        assert not re.search(r"\d", longer.text[len(PROSE) :])
    assert done("pad", "42").text.startswith("42. ")


@pytest.mark.parametrize(
    ("text", "gold", "expected"),
    [
        ("B", 1, {"A", "C"}),
        ("(B)", 1, {"(A)", "(C)"}),
        ("B. Paris", 1, {"A. Lyon", "C. Rome"}),
        ("B) Paris.", 1, {"A) Lyon", "C) Rome"}),
        ("Paris", 1, {"Lyon", "Rome"}),
        ("paris", 1, {"Lyon", "Rome"}),
        ("So I thought it was A. The answer is (B)", 1, {f"So I thought it was A. The answer is ({c})" for c in "AC"}),
        ("Answer: **B**", 1, {"Answer: **A**", "Answer: **C**"}),
        ("It must be Paris, France.", 1, {"It must be Lyon, France.", "It must be Rome, France."}),
        ("A", 1, {"C"}),  # wrong already: the swap must not make it right
        ("B", None, {"A", "C"}),
    ],
)
def test_options_are_found_and_replaced_by_wrong_ones(text: str, gold: int | None, expected: set[str]) -> None:
    options = Options(["Lyon", "Paris", "Rome"], gold)
    assert {done("swap_option", text, seed, options=options).text for seed in range(40)} == expected


@pytest.mark.parametrize("text", ["Z", "Not Paris but Rome", "The answer is a city", "Parisian cooking", "Madrid"])
def test_what_names_no_single_option_is_left_alone(text: str) -> None:
    assert swap_option(text, Options(["Lyon", "Paris", "Rome"], 1), np.random.default_rng(0)) is None


def test_yes_and_no_are_options_of_their_own() -> None:
    for text, other in (("Yes.", "No."), ("NO", "YES"), ("true", "false"), ("False, it is not.", "True, it is not.")):
        assert done("swap_option", text).text == other
    assert degrade("swap_option", "Nothing.") == Undamaged("no option that could be swapped")
    two = Options(["yes", "no"], 0)
    assert degrade("swap_option", "no", options=two) == Undamaged("no option that could be swapped")


def test_changes_of_form_have_no_size_and_keep_the_words() -> None:
    for text in (PROSE, "42", "B", "iron"):
        forms = {done("reformat", text, seed).text for seed in range(40)}
        assert text not in forms
        assert len(forms) >= 2
        assert {f.strip().rstrip(".").casefold() for f in forms} == {text.rstrip(".").casefold()}
    assert done("nothing", PROSE) == Degraded(PROSE, 0.0, "the same text again")


def test_the_choice_hangs_on_seed_kind_item_and_text_alone() -> None:
    assert done("contradict_number", PROSE, 3) == done("contradict_number", PROSE, 3)
    each = {done("contradict_number", PROSE, 3, item=str(i)).text for i in range(30)}
    assert len(each) > 5


def test_no_such_kind() -> None:
    with pytest.raises(ConfigError, match="no degradation 'burn'"):
        degrade("burn", PROSE)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200), st.sampled_from([*DEGRADATIONS, *HARMLESS]), st.integers(0, 3))
@example("½N0000000000", "reformat", 3)
def test_any_text_is_damaged_or_told_why_not(text: str, kind: str, seed: int) -> None:
    found = degrade(kind, text, seed=seed, options=Options(["Lyon", "Paris"], 0))
    if isinstance(found, Degraded):
        assert 0 <= found.size <= 1
        assert (found.size == 0) == (kind in HARMLESS)
        assert found.text != text or kind == "nothing"
    else:
        assert found.why


@pytest.mark.parametrize(
    "text",
    [
        "A. " * 33_000,
        "?. " * 33_000,
        "x" + " " * 99_000,
        "1,111" * 20_000 + "a",
        "answer" + " " * 99_000,
        "a. B" * 25_000,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    start = time.process_time()
    for kind in DEGRADATIONS:
        degrade(kind, text[:LIMIT], options=Options(["Lyon", "Paris"], 0))
    assert time.process_time() - start < 3
    assert degrade("pad", "x" * (LIMIT + 1)) == Undamaged("longer than 100,000 characters")
