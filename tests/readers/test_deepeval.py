"""deepeval: test cases as responses, metrics as scores, a metric that failed as no score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreshock.records import item_key

from ._deepeval_logs import case, conversation, metric, results, run_of, write, write_small
from ._read import Read, failure, read_all, read_one

CASES = [
    case(0, "2+2", "4", "4", metric("Correctness [GEval]", 0.9), metric("Bias", 0.25)),
    case(1, "3+1", "5", "4", metric("Correctness [GEval]", None, error="judge timed out"), metric("Bias", 1.0)),
]


def scores(read: Read) -> list[tuple[Any, ...]]:
    return list(zip(*(read.column("scores", c) for c in ("row", "metric_id", "value", "label")), strict=True))


def test_what_the_file_says(tmp_path: Path) -> None:
    read = read_one(write(tmp_path / "test_run_20260430_120001.json", run_of(CASES)))
    run = read.run
    assert (run.model, run.task, run.judge, run.expected) == ("org/model-7b", "sums", "gpt-4.1", 2)
    assert run.created == "2026-04-30T12:00:01"
    assert run.guesses == ["created"]  # local time, from the name
    assert run.conditions == {"temperature": "0.2", "prompt template": "Answer: {input}"}
    assert run.meta["identifier"] == "nightly"
    assert read.column("items", "item_key") == [item_key("2+2", (), ["4"]), item_key("3+1", (), ["4"])]
    assert read.column("responses", "output") == ["4", "5"]
    assert read.column("responses", "delivery") == ["ok", "ok"]
    assert json.loads(read.column("responses", "meta")[0])["reasons"]["Bias"] == "because Bias"
    assert not read.warnings


def test_a_metric_that_failed_is_no_score(tmp_path: Path) -> None:
    read = read_one(write(tmp_path / "r.json", run_of(CASES)))
    assert scores(read) == [
        (0, "Correctness [GEval]", 0.9, "pass"),
        (0, "Bias", 0.25, "fail"),
        (0, "success", 0.0, None),
        (1, "Correctness [GEval]", None, "judge timed out"),
        (1, "Bias", 1.0, "pass"),  # and no verdict: deepeval's counts the metric that failed
    ]
    assert read.column("scores", "status") == ["scored"] * 3 + ["failed", "scored"]


def test_both_spellings_are_the_same(tmp_path: Path) -> None:
    camel = read_one(write(tmp_path / "a.json", run_of(CASES)), model="m", task="t")
    wrapped = read_one(write(tmp_path / "b.json", {"testRunData": run_of(CASES)}), model="m", task="t")
    snake = read_one(write(tmp_path / "c.json", results(CASES)), model="m", task="t")
    for name in ("output", "item_key", "delivery", "epoch"):
        assert camel.column("responses", name) == snake.column("responses", name) == wrapped.column("responses", name)
    assert scores(camel) == scores(snake) == scores(wrapped)
    assert camel.run.scorer_hash == snake.run.scorer_hash


def test_another_threshold_is_another_scorer(tmp_path: Path) -> None:
    strict = [case(0, "2+2", "4", "4", metric("Correctness [GEval]", 0.9, threshold=0.95))]
    loose = [case(0, "2+2", "4", "4", metric("Correctness [GEval]", 0.9))]
    first, second = (read_one(write(tmp_path / f"{k}.json", run_of(c))) for k, c in enumerate((strict, loose)))
    assert first.run.scorer_hash != second.run.scorer_hash
    assert first.run.prompt_hash == second.run.prompt_hash


def test_conversations(tmp_path: Path) -> None:
    turns = [("user", "hi"), ("assistant", "hello"), ("user", "and?"), ("assistant", "bye")]
    read = read_one(write(tmp_path / "r.json", run_of([], [conversation(0, turns, metric("Role Adherence", 1.0))])))
    assert read.column("responses", "output") == ["bye"]
    assert read.column("items", "input") == ["Somebody asks 0"]
    assert read.column("items", "targets") == [["An answer"]]
    assert read.column("trace", "kind") == ["tool", "turn", "tool", "turn"]
    assert read.column("trace", "turn") == [0, 0, 1, 1]
    assert read.column("trace", "value")[0] == '{"q":"x"}'


def test_repeats_are_epochs_whatever_their_names(tmp_path: Path) -> None:
    """The names count: a test case put in front moves all others, so the question is the item."""
    cases = [case(k, "2+2", str(k), "4", metric("Bias", 1.0)) for k in range(3)]
    read = read_one(write(tmp_path / "r.json", run_of(cases)))
    assert read.column("responses", "epoch") == [1, 2, 3]
    assert len(set(read.column("responses", "item_key"))) == 1


def test_no_output_is_missing(tmp_path: Path) -> None:
    cases = [case(0, "2+2", None, "4", metric("Bias", None, error="no output")), case(1, "2", "", "4")]
    read = read_one(write(tmp_path / "r.json", run_of(cases)))
    assert read.column("responses", "delivery") == ["missing", "ok"]


def test_what_nobody_said_is_a_guess(tmp_path: Path) -> None:
    told = run_of(CASES, hyperparameters=None, datasetAlias=None)
    read = read_one(write(tmp_path / "r.json", told))
    assert read.run.guesses == ["model", "task"]
    assert any("no hyperparameter names the model" in w for w in read.warnings)
    named = read_one(write(tmp_path / "s.json", run_of(CASES, datasetAlias=None, testFile="tests/test_sums.py")))
    assert (named.run.task, named.run.guesses) == ("test_sums", [])


@pytest.mark.parametrize("odd", [5, None, [1], {"a": 1}, "x", True, float("nan"), 10**400])
@pytest.mark.parametrize("name", ["metricsData", "name", "input", "actualOutput", "turns", "success", "toolsCalled"])
def test_odd_values_cost_at_most_their_test_case(tmp_path: Path, name: str, odd: Any) -> None:
    read = read_one(write(tmp_path / "r.json", run_of([CASES[0], {**CASES[1], name: odd}, CASES[0]])))
    assert read.column("responses", "output")[0] == "4"
    assert len(read.column("responses", "row")) >= 2


def test_a_broken_test_case_is_counted(tmp_path: Path) -> None:
    read = read_one(write(tmp_path / "r.json", run_of([CASES[0], 5, CASES[1]])))  # type: ignore[list-item]
    assert len(read.column("responses", "row")) == 2
    assert read.status == "partial"
    assert any(w.startswith("1 test case could not be read and left out: 2 (") for w in read.warnings)


def test_damage_is_said(tmp_path: Path) -> None:
    text = json.dumps(run_of(CASES))
    (tmp_path / "cut.json").write_text(text[:-200], "utf-8")
    assert "not valid JSON" in failure(tmp_path / "cut.json")
    assert "without test cases" in failure(write(tmp_path / "none.json", run_of([], actualOutput=None)))


def test_small_files_are_recognised(tmp_path: Path) -> None:
    reads, failures = read_all(*write_small(tmp_path))
    assert not failures
    assert {r.run.format for r in reads} == {"deepeval"}
    assert len(reads) == 3


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8), st.none() | st.floats(0, 1)), min_size=1, max_size=6)
)
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, float | None]]
) -> None:
    cases = [case(k, q, o, "t", metric("M", s)) for k, (q, o, s) in enumerate(rows)]
    read = read_one(write(tmp_path_factory.mktemp("d") / "r.json", run_of(cases)))
    assert read.column("responses", "output") == [o for _, o, _ in rows]
    assert [v for _, m, v, _ in scores(read) if m == "M"] == [s for _, _, s in rows]
