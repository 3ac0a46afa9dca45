"""A run that lost responses passes no gate only because the rest looks well."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock._base import ConfigError
from foreshock._cli._compare import gate
from foreshock.compare import CompareOptions, compare
from foreshock.records import Document, State
from foreshock.report import markdown
from foreshock.store import Store
from tests.compare.conftest import Write, flips, sides


def _cut(store: Store, write: Write, *, keep: int, expected: int | None = 300) -> Document:
    a, b = flips(np.random.default_rng(21), 300, 0.06, 0.05)
    return compare(store, sides(write("a", a, expected=300), write("b", b[:keep], expected=expected)))


def test_a_log_cut_to_a_quarter_fires_under_regression(store: Store, write: Write) -> None:
    document = _cut(store, write, keep=75)
    (told,) = document.tables["compare"]
    finding = document.findings[0]
    assert (finding.code, finding.verdict, finding.state) == ("FS901", "incomplete", State.FIRING)
    assert told["verdict"] == "incomplete"
    assert (told["second_lost"], told["second_expected"], told["first_lost"]) == (225, 300, 0)
    assert finding.effect is not None
    assert finding.effect.value == pytest.approx(told["other_difference"])
    assert finding.p == told["other_p"]
    assert finding.title.startswith("b lost 225 of 300 responses; counted as wrong, they make it worse than a by")
    assert gate(document, ["regression"]) == gate(document, ["incomplete"]) == gate(document, ["any"]) == 1
    assert gate(document, ["FS105"]) == gate(document, []) == 0
    text = markdown(document)
    assert "0 of 300 in a, 225 of 300 in b" in text
    assert "b lost 225 of 300 responses" in text


def test_a_few_lost_responses_stop_only_who_asks_for_complete_runs(store: Store, write: Write) -> None:
    document = _cut(store, write, keep=298)
    assert document.tables["compare"][0]["second_lost"] == 2
    assert (gate(document, ["regression"]), gate(document, ["incomplete"])) == (0, 1)


def test_whole_runs_are_not_incomplete(store: Store, write: Write) -> None:
    document = _cut(store, write, keep=300)
    assert (gate(document, ["regression"]), gate(document, ["incomplete"])) == (0, 0)


def test_fewer_items_without_a_word_of_how_many_there_should_be(store: Store, write: Write) -> None:
    document = _cut(store, write, keep=75, expected=None)
    assert document.tables["compare"][0]["verdict"] != "incomplete"
    assert (gate(document, ["regression"]), gate(document, ["incomplete"])) == (0, 1)


def test_a_baseline_that_lost_responses_makes_no_regression(store: Store, write: Write) -> None:
    a, b = flips(np.random.default_rng(21), 300, 0.06, 0.05)
    document = compare(store, sides(write("a", a[:75], expected=300), write("b", b, expected=300)))
    assert gate(document, ["regression"]) == 0
    assert gate(document, ["incomplete"]) == 1


def test_missing_wrong_says_regression_itself(store: Store, write: Write) -> None:
    a, b = flips(np.random.default_rng(21), 300, 0.06, 0.05)
    runs = sides(write("a", a, expected=300), write("b", b[:75], expected=300))
    assert compare(store, runs, CompareOptions(missing="wrong")).tables["compare"][0]["verdict"] == "regression"


def test_one_task_of_several_without_a_single_response_fires(store: Store, write: Write) -> None:
    first = [write("a", [1.0, 0.0, 1.0], task=task) for task in ("t1", "t2", "t3")]
    second = [write("b", [1.0, 0.0, 1.0], task="t1"), write("b", [None] * 3, task="t2", expected=3)]
    document = compare(store, sides(first, second))
    told = {finding.subject.task: finding for finding in document.findings if finding.code == "FS901"}
    assert (told["t2"].verdict, told["t2"].state) == ("incomplete", State.FIRING)
    assert "0 of 3 responses of b arrived" in told["t2"].title
    assert (told["t3"].verdict, told["t3"].state) == ("incomplete", State.WITHHELD)
    assert gate(document, ["regression"]) == 1
    with pytest.raises(ConfigError, match="0 of 3 responses of b arrived"):
        compare(store, sides(first[1], second[1]))


# at a rate of 5% more than 3 of 12, and more than 9 of 60, have chances of 0.002 and 0.001
@pytest.mark.parametrize(("worlds", "most"), [(12, 3), pytest.param(60, 9, marks=pytest.mark.slow)])
def test_equal_models_that_lose_as_much_are_rarely_called_incomplete(
    store: Store, write: Write, worlds: int, most: int
) -> None:
    """Both tails of both ways to count stay within the level: the gate's two words are one tail of each."""
    rng = np.random.default_rng(5)
    fired = 0
    for number in range(worlds):
        right = (rng.random((2, 60)) < 0.6).astype(float)
        rows = [[None if lost else s for s, lost in zip(r.tolist(), rng.random(60) < 0.2, strict=True)] for r in right]
        runs = [write(name, r, key=f"{name}{number}") for name, r in zip("ab", rows, strict=True)]
        fired += gate(compare(store, sides(*runs), CompareOptions(cluster="none")), ["regression"])
    assert fired <= most
