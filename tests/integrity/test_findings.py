"""Each finding fires on a planted fault and is silent without it."""

from __future__ import annotations

from typing import Any

import pytest

from foreshock.integrity import BETWEEN, CODES, between, changes, examine, pairing
from foreshock.records import Finding, Run, State
from foreshock.scoring import score
from foreshock.store import Store
from tests.integrity.conftest import Put

RIGHT = [(f"{i}", f"{i}", f"{i}", 1.0) for i in range(20)]
HALF = [(f"{i}", f"{i if i % 2 else 'x'}", f"{i}", float(i % 2)) for i in range(20)]


def found(store: Store, code: str) -> list[Finding]:
    score(store)
    told = examine(store.snapshot())
    assert {finding.code for finding in told} <= set(CODES)
    return [finding for finding in told if finding.code == code]


def test_sound_runs_give_no_finding(store: Store, put: Put) -> None:
    put("m-1b", HALF, prompt_hash="p", scorer_hash="s", task_version="1")
    put("m-2b", RIGHT, prompt_hash="p", scorer_hash="s", task_version="1")
    score(store)
    assert examine(store.snapshot()) == []


def test_fs101_names_the_responses_that_differ(store: Store, put: Put) -> None:
    put("m-1b", [*HALF[:-1], ("19", "19", "19", 0.0)])
    (told,) = found(store, "FS101")
    assert told.state is State.FIRING
    assert told.evidence_total == 1
    assert told.evidence[0].item == "19"
    assert told.evidence[0].what == "ours 1, harness 0"
    assert told.effect is not None
    assert told.effect.value == pytest.approx(1 / 20)


def test_fs101_of_a_metric_with_another_rule_is_pending(store: Store, put: Put) -> None:
    put("m-1b", [("1", "yes.", "yes", 1.0), ("2", "no", "no", 1.0)], metric="match")
    (told,) = found(store, "FS101")
    assert told.state is State.PENDING


def test_fs102_shows_both_denominators(store: Store, put: Put) -> None:
    put("m-1b", HALF, expected=40)
    (told,) = found(store, "FS102")
    assert told.state is State.FIRING
    assert "0.5 over 20 scored" in told.title
    assert "0.25 over 40 expected" in told.title
    assert told.effect is not None
    assert told.effect.value == pytest.approx(0.25)


def test_fs102_within_the_margin_is_pending(store: Store, put: Put) -> None:
    put("m-1b", HALF, expected=21)
    (told,) = found(store, "FS102")
    assert told.state is State.PENDING


def total(value: float, stderr: float | None, metric: str = "acc", **more: Any) -> dict[str, Any]:
    return {"metric_id": metric, "value": value, "stderr": stderr, **more}


def test_fs103_an_error_of_0_between_the_ends_cannot_be(store: Store, put: Put) -> None:
    put("m-1b", [], totals=[total(0.5, 0.0, n=100)])
    put("m-2b", [], totals=[total(0.0, 0.0, n=100)])
    put("m-3b", [], totals=[total(0.5, 0.05, n=100)])
    (told,) = found(store, "FS103")
    assert told.state is State.FIRING
    assert told.subject.runs == ["m-1b/sums"]


def test_fs103_of_an_unknown_metric_is_pending(store: Store, put: Put) -> None:
    put("m-1b", [], totals=[total(0.5, 0.0, "home_made")])
    (told,) = found(store, "FS103")
    assert told.state is State.PENDING
    assert [a.name for a in told.alternatives] == ["equal scores"]


def test_fs104_a_second_answer_in_the_same_place(store: Store, put: Put) -> None:
    put("m-1b", [*HALF, ("3", "another", "3", 0.0)])
    (told,) = found(store, "FS104")
    assert (told.state, told.verdict, told.evidence_total) == (State.FIRING, "duplicates", 1)
    assert told.evidence[0].item == "3"


def test_fs104_equal_repetitions_are_pending_and_epochs_are_none(store: Store, put: Put) -> None:
    put("m-1b", [*HALF, HALF[3]])
    (told,) = found(store, "FS104")
    assert told.state is State.PENDING


def test_fs104_epochs_are_no_duplicates(store: Store, put: Put) -> None:
    put("m-1b", [*HALF, *HALF], more={"epoch": [1] * 20 + [2] * 20})
    assert found(store, "FS104") == []


def test_fs104_items_that_only_one_run_has(store: Store, put: Put) -> None:
    one, two = put("m-1b", HALF), put("m-2b", RIGHT[:15])
    (told,) = found(store, "FS104")
    assert (told.state, told.verdict) == (State.PENDING, "unpaired")
    assert "15 items of 20" in told.title
    whole = pairing(store.snapshot(), "sums", [one, two])
    assert (whole.shared, whole.any, dict(whole.items)) == (15, 20, {"m-1b/sums": 20, "m-2b/sums": 15})


def test_fs104_reworded_items_share_nothing(store: Store, put: Put) -> None:
    put("m-1b", HALF)
    put("m-2b", RIGHT, text="please tell: {}")
    (told,) = found(store, "FS104")
    assert told.state is State.FIRING


@pytest.mark.parametrize("field", ["prompt_hash", "scorer_hash", "judge", "task_version"])
def test_fs105_each_fact_that_changed(field: str) -> None:
    def run(model: str, **facts: Any) -> Run:
        return Run(run_key=model, format="lm-eval", reader="t@1", model=model, task="t", **facts)

    same = [run("a", **{field: "1"}), run("b", **{field: "1"}), run("c")]
    assert changes(same) == []
    (told,) = changes([*same, run("d", **{field: "2"})])
    assert told.state is State.FIRING
    assert [e.run for e in told.evidence] == ["d"]
    # shots are another prompt by intention
    assert changes([*same, run("d", **{field: "2"}, conditions={"shots": "5"})]) == []


def test_fs106_percent_beside_fractions(store: Store, put: Put) -> None:
    put("m-1b", [], totals=[total(0.5, 0.05), total(0.6, 0.05)])  # two totals of one run are one run
    put("m-2b", [], totals=[total(61.0, 5.0)])
    (told,) = found(store, "FS106")
    assert "is at most 1 in 1 run and 61 in m-2b" in told.title
    assert told.state is State.FIRING
    assert [e.run for e in told.evidence] == ["m-2b/sums"]


@pytest.mark.parametrize("metric", ["ppl", "brier_score", "loglikelihood"])
def test_fs106_metrics_that_are_no_rates_may_cross_1(store: Store, put: Put, metric: str) -> None:
    put("m-1b", [], totals=[total(0.9, 0.05, metric)])
    put("m-2b", [], totals=[total(1.7, 0.05, metric)])
    assert found(store, "FS106") == []


def test_fs107_tasks_that_fall_to_chance_together(store: Store, put: Put) -> None:
    tasks = ["one", "two", "three", "four"]
    for task in tasks:
        for model, value in (("m-1b", 0.6), ("m-2b", 0.7), ("m-4b", 0.26)):
            put(model, [], task=task, totals=[total(value, 0.014, n=1_000)], chance=0.25)
    (told,) = found(store, "FS107")
    assert told.state is State.FIRING
    assert told.subject.model == "m-4b"
    assert told.evidence_total == 4
    assert told.p is not None
    assert told.q is not None
    assert told.p < told.q < 0.001


def options(sizes: list[int]) -> dict[str, list[Any]]:
    """Choices of items, so many each."""
    return {"choices": [[f"{k}" for k in range(n)] for n in sizes]}


@pytest.mark.parametrize(("last", "fires"), [(0.26, True), (0.42, False)])
def test_fs107_chance_is_the_mean_over_items_of_unequal_options(
    store: Store, put: Put, last: float, fires: bool
) -> None:
    """One item with three options among those with four made it silent; the null keeps more than half of the height."""
    sizes = [3] + [4] * 39
    for task in ("one", "two", "three", "four"):
        for model, value in (("m-1b", 0.6), ("m-2b", 0.6), ("m-4b", last)):
            rows = [(f"{i}", "0", "0", None) for i in range(40)]
            put(model, rows, task=task, items=options(sizes), totals=[total(value, 0.014, n=1_000)])
    score(store)
    told = [finding for finding in examine(store.snapshot()) if finding.code == "FS107"]
    assert [finding.state for finding in told] == ([State.FIRING] if fires else [])


@pytest.mark.parametrize(("last", "states"), [(0.26, [State.PENDING]), (0.61, [])])
def test_fs107_a_fall_with_unknown_chance_is_said_not_to_be_looked_at(
    store: Store, put: Put, last: float, states: list[State]
) -> None:
    for task in ("one", "two", "three", "four", "five"):
        for model, value in (("m-1b", 0.6), ("m-2b", 0.6), ("m-4b", last)):
            put(model, [], task=task, totals=[total(value, 0.014, n=1_000)])
    told = found(store, "FS107")
    assert [finding.state for finding in told] == states
    for finding in told:
        assert finding.verdict == "chance-unknown"
        assert [(need.have, need.enough) for need in finding.needs] == [(0, 3)]
        assert "5 of 5 tasks fell together" in finding.title
        assert "--chance" in finding.advice


def test_fs107_models_that_only_follow_each_other_in_time_are_no_line(store: Store, put: Put) -> None:
    for task in ["one", "two", "three", "four"]:
        for place, (model, value) in enumerate((("alpha", 0.7), ("beta", 0.26))):
            totals = [total(value, 0.014, n=1_000)]
            put(model, [], task=task, totals=totals, chance=0.25, created=f"2026-01-0{place + 1}")
    assert found(store, "FS107") == []


def test_fs108_nothing_was_delivered(store: Store, put: Put) -> None:
    put("m-1b", [(f"{i}", " \n", f"{i}", 0.0) for i in range(20)])
    put("m-2b", HALF)
    (told,) = found(store, "FS108")
    assert told.state is State.FIRING
    assert told.subject.model == "m-1b"
    assert told.evidence_total == 20


def test_fs108_half_empty_is_no_finding_and_most_is_pending(store: Store, put: Put) -> None:
    put("m-1b", [(f"{i}", "" if i % 2 else "x", f"{i}", 0.0) for i in range(20)])
    assert found(store, "FS108") == []
    put("m-2b", [(f"{i}", "" if i else "0", f"{i}", float(i == 0)) for i in range(20)])
    (told,) = found(store, "FS108")
    assert (told.state, told.verdict) == (State.PENDING, "mostly-empty")


def test_between_runs_item_scores_on_two_scales_and_empty_replies(store: Store, put: Put) -> None:
    put("a", HALF, metric="acc")
    put("b", [(i, a, t, 100 * (s or 0)) for i, a, t, s in HALF], metric="acc")
    put("c", [(i, "", t, 0.0) for i, _, t, _ in HALF[:10]], metric="acc")
    snapshot = store.snapshot()
    told = {finding.code: finding for finding in between(snapshot, snapshot.runs())}
    assert told["FS106"].evidence[0].run == "b/sums"
    assert told["FS108"].subject.model == "c"
    assert told["FS104"].verdict == "unpaired"
    assert {finding.code for finding in between(snapshot, snapshot.runs())} <= set(BETWEEN)
    assert between(snapshot, snapshot.runs()[:1]) == []


def test_between_runs_an_error_of_0_cannot_be(store: Store, put: Put) -> None:
    put("a", [], totals=[total(0.5, 0.0, n=100)])
    put("b", [], totals=[total(0.6, 0.05, n=100)])
    snapshot = store.snapshot()
    assert [finding.code for finding in between(snapshot, snapshot.runs())] == ["FS103"]


def test_fs106_a_metric_of_ours_has_one_scale(store: Store, put: Put) -> None:
    put("m-1b", RIGHT)
    put("m-2b", [(i, "three words instead", t, 0.0) for i, _, t, _ in RIGHT])
    score(store, ["word_error_rate"])  # 0 for the first model, 3 for the second
    assert [told for told in examine(store.snapshot()) if told.code == "FS106"] == []


def test_one_question_under_two_ids_is_two_items(store: Store, put: Put) -> None:
    twins = [("1", "a", "t", 1.0), ("2", "b", "t", 0.0)]
    put("m-1b", twins, text="the same question")
    put("m-2b", twins, text="the same question")
    snapshot = store.snapshot()
    found = pairing(snapshot, "sums", snapshot.runs())
    assert (found.shared, found.any, dict(found.repeated)) == (2, 2, {})


def test_fs104_rows_without_text_differ_by_their_scores(store: Store, put: Put) -> None:
    put("m-1b", [("1", None, "1", 1.0), ("2", None, "2", 0.0), ("1", None, "1", 0.0), ("2", None, "2", 0.0)])
    (told,) = found(store, "FS104")
    assert (told.state, told.evidence_total) == (State.FIRING, 2)
    assert "1 of them says something else" in told.title
