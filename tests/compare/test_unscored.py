"""What arrived and has no score is lost as well: it is told, and no gate passes a run whose scorer broke."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from foreshock._cli._compare import gate
from foreshock.compare import CompareOptions, compare
from foreshock.records import Batch, Document, Run, State, item_key
from foreshock.report import markdown
from foreshock.store import Store
from tests.compare.conftest import Write, flips, sides

NAN = math.nan


def _alternative(document: Document) -> tuple[str, str, str]:
    found = next(a for a in document.findings[0].alternatives if a.name.startswith("responses that"))
    return found.name, found.status, found.why


@pytest.mark.parametrize("listed", [True, False])
def test_right_answers_alone_keep_their_score(store: Store, write: Write, listed: bool) -> None:
    """Planted: the new model is wrong in 15 of 40 and its scorer fails on just these, in both ways a log says so."""
    a, b = [1.0] * 40, [1.0] * 25 + [NAN] * 15
    document = compare(store, sides(write("a", a, expected=40), write("b", b, expected=40, listed=listed)))
    (told,) = document.tables["compare"]
    finding = document.findings[0]
    assert (finding.verdict, finding.state) == ("incomplete", State.FIRING)
    assert finding.title.startswith("b has no score for 15 of 40 responses; counted as wrong, they make it worse than")
    assert "have no score" in (finding.null or "")
    assert (told["second_unscored"], told["second_lost"], told["first_unscored"]) == (15, 0, 0)
    assert (told["only_first"], told["only_second"], told["items"]) == (0, 0, 25)
    assert told["other_difference"] == pytest.approx(-15 / 40)
    assert gate(document, ["regression"]) == gate(document, ["incomplete"]) == 1
    text = markdown(document)
    assert "arrived without a score, left out: 0 of 40 in a, 15 of 40 in b" in text
    assert "did not arrive, left out" not in text


def test_a_run_with_no_score_at_all_is_compared_on_the_baselines(store: Store, write: Write) -> None:
    """Our metric of the stored answers would say that both are equal."""
    first = write("a", [1.0] * 40)
    for number, listed in enumerate((True, False)):
        second = write("b", [NAN] * 40, key=f"b{number}", listed=listed)
        document = compare(store, sides(first, second))
        (told,) = document.tables["compare"]
        assert (told["source"], told["verdict"], told["items"]) == ("harness", "incomplete", 0)
        assert gate(document, ["regression"]) == 1


def test_an_improvement_that_hangs_on_lost_scores_is_said_to(store: Store, write: Write) -> None:
    a = [1.0] * 20 + [0.0] * 10 + [1.0] * 15
    document = compare(store, sides(write("a", a), write("b", [1.0] * 30 + [NAN] * 15)))
    assert document.findings[0].verdict == "improvement"
    assert document.tables["compare"][0]["other_verdict"] == "undecided"
    name, status, why = _alternative(document)
    assert (name, status) == ("responses that have no score", "possible")
    assert "If responses that have no score counted as wrong" in why


def test_the_three_ways_to_lack_a_score_are_kept_apart(store: Store, write: Write) -> None:
    a = [1.0, 0.0] * 20
    b = [*a[:30], None, None, None, NAN, NAN]
    document = compare(store, sides(write("a", a), write("b", b, expected=35)))
    (told,) = document.tables["compare"]
    assert (told["items"], told["only_first"], told["second_lost"], told["second_unscored"]) == (30, 5, 3, 2)
    assert _alternative(document)[0] == "responses that did not arrive or have no score"
    wrong = compare(store, sides(*_again(store)), CompareOptions(missing="wrong")).tables["compare"][0]
    assert (wrong["items"], wrong["only_first"]) == (35, 5)
    assert "were left out" in wrong["other_text"]


def _again(store: Store) -> list[Run]:
    return sorted(store.snapshot().runs(), key=lambda run: run.model)


def test_whole_runs_lose_nothing(store: Store, write: Write) -> None:
    a, b = flips(np.random.default_rng(3), 60, 0.1, 0.1)
    (told,) = compare(store, sides(write("a", a), write("b", b))).tables["compare"]
    assert (told["first_unscored"], told["second_unscored"]) == (0, 0)
    assert "other_text" not in told


def _completions(store: Store, model: str, scored: Sequence[float | None], kept: int) -> Run:
    """Several completions of each item, of which a harness scores the first, as HELM does."""
    rows = [(item, sample) for item in range(len(scored)) for sample in range(kept)]
    first = [n for n, (item, sample) in enumerate(rows) if sample == 0 and scored[item] is not None]
    texts = [f"question {item}" for item, _ in rows]
    responses: dict[str, list[Any]] = {
        "row": list(range(len(rows))),
        "item_id": [str(item) for item, _ in rows],
        "item_key": [item_key(text, targets=["yes"]) for text in texts],
        "sample": [sample for _, sample in rows],
        "delivery": ["ok"] * len(rows),
        "output": ["maybe"] * len(rows),
    }
    scores: dict[str, list[Any]] = {
        "row": first,
        "metric_id": ["em"] * len(first),
        "source": ["harness"] * len(first),
        "value": [float(scored[rows[n][0]] or 0) for n in first],
        "status": ["scored"] * len(first),
    }
    run = Run(run_key=model, format="test", reader="test@1", model=model, task="sums")
    return store.write(run, [Batch("responses", responses), Batch("scores", scores)])


def test_what_a_harness_never_scores_is_not_lost(store: Store) -> None:
    """Further completions, and an item that has a score in no run: nobody can be blamed for either."""
    a = _completions(store, "a", [1.0] * 39 + [None], kept=3)
    b = _completions(store, "b", [1.0] * 30 + [0.0] * 9 + [None], kept=3)
    document = compare(store, sides(a, b))
    (told,) = document.tables["compare"]
    assert (told["items"], told["difference"], told["verdict"]) == (39, pytest.approx(-9 / 39), "regression")
    assert "other_difference" not in told
    assert (told["first_unscored"], told["second_unscored"]) == (1, 1)


# at a rate of 5% more than 3 of 12, and more than 9 of 60, have chances of 0.002 and 0.001
@pytest.mark.parametrize(("worlds", "most"), [(12, 3), pytest.param(60, 9, marks=pytest.mark.slow)])
def test_equal_models_whose_scorer_fails_as_often_are_rarely_stopped(
    store: Store, write: Write, worlds: int, most: int
) -> None:
    """Null: scores fail in a fifth of the responses of both, whatever the answer."""
    rng = np.random.default_rng(8)
    fired = 0
    for number in range(worlds):
        right = (rng.random((2, 60)) < 0.6).astype(float)
        right[rng.random((2, 60)) < 0.2] = NAN
        runs = [write(name, r.tolist(), key=f"{name}{number}") for name, r in zip("ab", right, strict=True)]
        fired += gate(compare(store, sides(*runs), CompareOptions(cluster="none")), ["regression"])
    assert fired <= most
