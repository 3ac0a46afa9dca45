"""Headline, counts, folds and names: what a document is called before it is laid out."""

from __future__ import annotations

import shlex
from typing import Any

import msgspec
import pytest

from foreshock.records import Document, Finding, Rate, State, Subject
from foreshock.report._alike import common_text
from foreshock.report._format import probability
from foreshock.report._rows import RunRow
from foreshock.report._sentences import counts_sentence, headline, rate_sentence
from foreshock.report._terminal import _run_counts
from foreshock.report._view import load

from ._fixture import document
from ._small import FINDING, SMALL, build


def bare(tables: dict[str, list[dict[str, Any]]], command: list[str] | None = None) -> Document:
    return Document(foreshock="0", command=command or ["check"], generated_at="", counts={}, tables=tables)


def models(number: int, **more: Any) -> list[dict[str, Any]]:
    return [{"task": "t", "model": f"m{i}", "value": 0.5} | more for i in range(number)]


def run(number: int, **more: Any) -> dict[str, Any]:
    return {"run_key": f"r{number}", "task": "t", "model": f"m{number}"} | more


@pytest.mark.parametrize(
    ("tables", "command", "said"),
    [
        ({}, [], "Nothing to report: no runs."),
        ({"failures": [{"path": "a", "message": "b"}]}, [], "Nothing to report: 1 file could not be read."),
        ({"models": models(1)}, [], "No verdict: 1 model, and a line of models needs at least 4."),
        ({"models": models(5)}, [], "No verdict: nothing says in which order the 5 models stand."),
        (
            {"runs": [run(i, delivered=9, parsed=0, scored=0, format="items") for i in range(5)]},
            ["mirage"],
            "No verdict: 5 models, but no response has a score or an extracted answer; name the column",
        ),
        (
            {"runs": [run(i, delivered=9, parsed=9) for i in range(5)]},
            ["mirage"],
            "No verdict: 5 models, but no line of at least 4 on one task.",
        ),
        ({"models": models(5, x=1.0)}, [], "No verdict: 5 models, but no line of at least 4 on one task."),
        ({"models": models(5, value=None)}, [], "Nothing to report: 5 models, but neither a response nor a total."),
        ({"models": models(5)}, ["--ignore", "FS3"], "Nothing to report among the findings that were asked for"),
    ],
)
def test_a_headline_says_why_there_is_nothing(tables: dict[str, Any], command: list[str], said: str) -> None:
    assert headline(load(bare(tables, command))).startswith(said)


def test_counts_that_are_not_known_are_not_counted() -> None:
    known = {"expected": 5, "delivered": 4, "parsed": 4, "scored": 3, "refused": 0, "error": 0, "missing": 1}
    assert counts_sentence(known).replace("\u00a0", " ") == (
        "Responses: 5 expected, 4 delivered, 4 parsed, 3 scored by the harness, 0 refused, 0 error, 1 missing."
    )
    unknown = counts_sentence(known | {"expected": None, "missing": 0, "scored": 0})
    assert "expected not known" in unknown
    assert "missing" not in unknown
    assert "scored" not in unknown


def folded(reasons: list[str], advice: list[str]) -> Document:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    silent = FINDING | {"state": "no-data", "verdict": "unresolved", "needs": []}
    raw["findings"] = [silent | {"id": f"id{i}", "advice": text} for i, text in enumerate(advice)]
    row = raw["tables"]["verdicts"][0] | {"verdict": "unresolved"}
    raw["tables"]["verdicts"] = [row | {"finding_id": f"id{i}", "reason": text} for i, text in enumerate(reasons)]
    return build(raw)


def test_reasons_that_differ_in_numbers_fold_together() -> None:
    reasons = ["a break may carry 0% to 57% of the rise; 1 point left out", "no twin"]
    reasons += ["a break may carry 20% to 86% of the rise; 4 points left out"]
    first, second = load(folded(reasons, ["do this", "do that", "do more"])).folds
    assert first.subject == "2 lines"
    assert first.reason == "a break may carry 0–20% to 57–86% of the rise; 1–4 points left out"
    assert first.remedies == ["1 line: do this", "1 line: do more"]
    assert (second.subject, second.reason, second.remedies) == ("1 line", "no twin", ["do that"])


@pytest.mark.parametrize("task", ["t", "run", "two words"])
def test_the_name_of_a_task_is_taken_out_of_commands_alone(task: str) -> None:
    """A task with the name of a letter or word must not take the sentence apart."""
    name = shlex.quote(task)
    raw = msgspec.json.decode(msgspec.json.encode(folded(["no twin"] * 2, ["", ""])))
    for number, (finding, row) in enumerate(zip(raw["findings"], raw["tables"]["verdicts"], strict=True)):
        own = name if number == 0 else "other"
        finding["subject"]["task"] = task if number == 0 else "other"
        row["command"] = f"inspect eval {own} --model m{number}"
        finding["advice"] = (
            f"Put at least 4 to the test: `foreshock check --task {own} -t x`, then run `{row['command']}`."
        )
    (fold,) = load(build(raw)).folds
    below = "run the command below for each line, with its own task and model"
    assert fold.remedies == [f"Put at least 4 to the test: `foreshock check --task TASK -t x`, then {below}."]


def test_numbers_in_names_are_no_numbers() -> None:
    reasons = ["no scores of pythia-1.4b at 3 points", "no scores of pythia-12b at 3 points"]
    assert len(load(folded(reasons, ["a", "a"])).folds) == 2


def test_an_ellipsis_of_the_log_does_no_harm() -> None:
    assert common_text(["… of 4", "3 of 4"]) == "… of 4"
    assert len(load(folded(["… of 4", "3 of 4"], ["a", "a"])).folds) == 1


def test_responses_have_names_instead_of_keys() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    seen = {"run": "key r", "item": "f" * 64, "epoch": None, "what": "0 at model before, 1 at model after"}
    raw["findings"][0]["evidence"] = [seen, seen | {"item": "e" * 64}]
    (response,) = load(build(raw)).told[0].responses
    assert (response.model, response.item, response.question) == ("model r", "item one", "a question")


def test_evidence_without_names_keeps_its_keys() -> None:
    (response,) = load(build(SMALL)).told[0].responses
    assert (response.model, response.item, response.question) == ("run two", "item two", None)


def test_the_level_of_an_interval_is_its_finding_s() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    raw["findings"][0]["effect"]["level"] = 0.9
    view = load(build(raw))
    assert view.level_of(view.verdicts) == 0.9
    assert view.share(view.verdicts[0], 0.9) == "84% [71, 93]"
    assert view.share(view.verdicts[0], None) == "84% [71, 93] at 90%"


def test_levels_that_differ_have_none_in_common() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(document()))
    judged = [f for f in raw["findings"] if f["effect"] and f["code"] == "FS301"]
    judged[0]["effect"]["level"] = 0.9
    view = load(build(raw))
    assert view.level_of(view.verdicts) is None
    assert sorted(view.share(row, None)[-4:] for row in view.verdicts if row.share) == [" 90%", " 95%", " 95%"]


def test_a_title_does_not_repeat_its_badge() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    raw["findings"][0]["title"] = "break: a score jumps: break: it does"
    assert load(build(raw)).told[0].title == "a score jumps: break: it does"


def test_scores_of_the_harness_without_answers_are_no_failure() -> None:
    counts = {"expected": 9, "delivered": 9, "parsed": 0, "scored": 9, "refused": 0, "error": 0, "missing": 0}
    assert "parsed" not in counts_sentence(counts)
    assert "0 parsed" in counts_sentence({**counts, "scored": 0}).replace("\u00a0", " ")


def test_a_fact_involves_no_chance_and_small_p_values_are_written_alike() -> None:
    fact = Finding(
        code="FS104",
        subject=Subject(task="t"),
        state=State.OK,
        title="t",
        null="no chance",
        advice="a",
        rate=Rate(stated=0.0),
    )
    assert rate_sentence(fact) == "Involves no chance."
    assert "5.0%" in rate_sentence(msgspec.structs.replace(fact, rate=Rate(stated=0.05)))
    assert {probability(p) for p in (0.0, 1e-300, 4.8e-157)} == {"< 10⁻¹⁰⁰"}


def test_a_notice_does_not_make_a_run_incomplete() -> None:
    rows = [RunRow(run_key=key, model="m", task="t", status="complete", warnings=["w"]) for key in "ab"]
    assert _run_counts(rows) == "2 runs: all complete, 2 with a notice"
    lost = msgspec.structs.replace(rows[0], expected=9, delivered=8, warnings=[])
    assert _run_counts([lost, rows[1]]) == "2 runs: 1 complete, 1 with a notice"


def test_lines_are_folded_without_remarks_and_named_with_their_metric() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    silent = FINDING | {"state": "no-data", "verdict": "unresolved", "needs": []}
    pairs = [("acc", None), ("acc_norm", "window open")]
    raw["findings"] = [
        silent | {"id": name, "subject": {"task": "arc", "model_family": "toy", "metric": name}} for name, _ in pairs
    ]
    verdict = {"task": "arc", "family": "toy", "verdict": "unresolved"}
    raw["tables"] = {
        "verdicts": [
            verdict | {"finding_id": name, "remarks": note, "reason": f"no twin; {note}" if note else "no twin"}
            for name, note in pairs
        ]
    }
    (fold,) = load(msgspec.convert(raw, Document)).folds
    assert fold.reason == "no twin"
    assert fold.places == ["arc · toy · acc", "arc · toy · acc_norm"]
