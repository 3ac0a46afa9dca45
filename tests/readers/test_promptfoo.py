"""promptfoo: runs by provider and prompt, items by their variables, errors that are no scores."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreshock.records import item_key

from ._promptfoo_logs import ECHO, document, failed, prompt, result, table, write, write_lines, write_small
from ._read import Read, failure, read_all, read_one

ROWS = [
    result(0, "2+2", "4", True),
    result(1, "3+1", "5", False),
    failed(2, "1+3", "API error: 500"),
]
ONE = document(ROWS, [prompt("openai:gpt-4o", 1, 1, 1)])


def scores(read: Read) -> dict[tuple[int, str], float | None]:
    columns = (read.column("scores", name) for name in ("row", "metric_id", "value"))
    return {(row, metric): value for row, metric, value in zip(*columns, strict=True)}


def test_what_the_file_says(tmp_path: Path) -> None:
    read = read_one(write(tmp_path / "out.json", ONE))
    run = read.run
    assert (run.model, run.task, run.writer, run.created) == (
        *("openai:gpt-4o", "sums", "0.118.0"),
        "2025-10-01T20:08:11.168Z",
    )
    assert run.conditions == {"temperature": "0.2"}
    assert run.expected == 3
    assert not run.guesses
    assert read.column("responses", "output") == ["4", "5", None]
    assert read.column("items", "input") == ["2+2", "3+1", "1+3"]
    assert read.column("responses", "item_key") == [item_key(q) for q in ("2+2", "3+1", "1+3")]
    assert read.column("responses", "input_tokens") == [9, 9, None]
    assert read.column("responses", "reasoning_tokens") == [2, 2, None]
    assert read.column("responses", "seconds") == [1.5] * 3
    assert [read.column("aggregates", c) for c in ("value", "n", "n_scored")] == [[1 / 3], [3], [2]]


def test_an_assertion_that_fails_is_no_error_and_an_error_is_no_score(tmp_path: Path) -> None:
    """Both write ``error``; only ``failureReason`` tells them apart."""
    read = read_one(write(tmp_path / "out.json", ONE))
    assert read.column("responses", "delivery") == ["ok", "ok", "error"]
    assert scores(read) == {
        (0, "score"): 1.0,
        (0, "success"): 1.0,
        (0, "assert:contains"): 1.0,
        (1, "score"): 0.0,
        (1, "success"): 0.0,
        (1, "assert:contains"): 0.0,
    }
    meta = [json.loads(m) for m in read.column("responses", "meta")]
    assert meta[2]["error"] == "API error: 500"
    assert "error" not in meta[1]


@pytest.mark.parametrize(
    ("more", "delivery"),
    [
        ({"error": "Evaluation timed out after 10ms", "failureReason": 2, "response": None}, "timeout"),
        ({"error": "boom", "failureReason": None, "response": None}, "error"),
        ({"error": None, "failureReason": 0, "response": None}, "missing"),
        ({"response": {"output": "I", "finishReason": "length"}}, "truncated"),
        ({"response": {"output": "no", "isRefusal": True}}, "refused"),
        ({"response": {"output": ""}}, "ok"),
    ],
)
def test_delivery(tmp_path: Path, more: dict[str, Any], delivery: str) -> None:
    read = read_one(write_lines(tmp_path / "x.jsonl", [ROWS[0], {**ROWS[1], **more}]))
    assert read.column("responses", "delivery") == ["ok", delivery]


def test_providers_and_prompts_are_runs(tmp_path: Path) -> None:
    rows = [
        result(0, "2+2", "4", True, "openai:a"),
        result(0, "2+2", "5", False, "openai:b", promptIdx=1),
        result(0, "2+2", "6", False, "openai:a", promptIdx=2, promptId="other", prompt={"raw": "x", "label": "two"}),
        {**result(0, "2+2", "7", False, promptIdx=3), "provider": {"id": "openai:a", "label": "hot"}},
    ]
    reads, failures = read_all(write(tmp_path / "o.json", document(rows, [prompt("openai:a", 1, 0)])))
    assert not failures
    assert [(r.run.model, r.column("responses", "output")) for r in reads] == [
        *(("openai:a", ["4"]), ("openai:b", ["5"]), ("openai:a", ["6"]), ("openai:a", ["7"]))
    ]
    assert len({r.run.run_key for r in reads}) == 4
    assert reads[2].run.prompt_hash != reads[0].run.prompt_hash
    assert reads[2].run.conditions["prompt"] == "two"
    assert reads[3].run.conditions["provider_label"] == "hot"
    assert [r.run.expected for r in reads] == [1, None, None, None]


def test_a_test_put_in_front_moves_no_item(tmp_path: Path) -> None:
    """testIdx counts: with a test inserted, every later one has another number and the same variables."""
    late = [result(0, "new", "4", True), *({**r, "testIdx": r["testIdx"] + 1} for r in ROWS)]
    before = read_one(write_lines(tmp_path / "a.jsonl", ROWS))
    after = read_one(write_lines(tmp_path / "b.jsonl", late))
    assert after.column("items", "item_key")[1:] == before.column("items", "item_key")
    assert after.column("items", "item_id")[1:] == before.column("items", "item_id")


def test_repeats_are_epochs_and_other_assertions_are_other_items(tmp_path: Path) -> None:
    other = {"vars": {"question": "2+2"}, "assert": [{"type": "equals", "value": "4"}]}
    rows = [
        result(0, "2+2", "a", True),
        result(1, "2+2", "b", True),
        result(2, "2+2", "c", True, testCase=other),
        result(3, "2+2", "d", True, testCase=other),
    ]
    orders = [rows, list(reversed(rows)), random.Random(0).sample(rows, 4)]
    found = []
    for number, order in enumerate(orders):
        read = read_one(write_lines(tmp_path / f"{number}.jsonl", order))
        columns = (read.column("responses", c) for c in ("output", "item_key"))
        found.append(dict(zip(*columns, strict=True)))
        assert sorted(read.column("responses", "epoch")) == [1, 1, 2, 2]
    assert found[0] == found[1] == found[2]
    assert found[0]["a"] == found[0]["b"] != found[0]["c"] == found[0]["d"]
    assert found[0]["a"] == item_key("2+2")


def test_named_scores_components_and_a_broken_grader(tmp_path: Path) -> None:
    parts = [
        {"pass": True, "score": 0.5, "assertion": {"type": "llm-rubric", "metric": "tone"}},
        {"pass": True, "score": 1, "assertion": {"type": "contains"}},
        {"pass": False, "score": 0, "assertion": {"type": "contains"}},
        {
            "pass": False,
            "score": 0,
            "reason": "no JSON",
            "assertion": {"type": "g-eval"},
            "metadata": {"graderError": True},
        },
    ]
    case = {"vars": {"question": "q"}, "assert": [{"type": "llm-rubric", "provider": {"id": "openai:judge"}}]}
    row = result(
        0, "q", "x", False, namedScores={"tone": 0.5}, gradingResult={"componentResults": parts}, testCase=case
    )
    read = read_one(write_lines(tmp_path / "x.jsonl", [row, ROWS[0]]))
    own = {metric: value for (number, metric), value in scores(read).items() if number == 0}
    assert own == {
        "score": 0.0,
        "success": 0.0,
        "named:tone": 0.5,
        "assert:contains": 1.0,
        "assert:contains #2": 0.0,
        "assert:g-eval": None,
    }
    assert read.run.judge == "openai:judge"


def test_several_variables_are_one_question(tmp_path: Path) -> None:
    row = result(0, "", "4", True, vars={"b": 2, "a": "x", "_conversation": [1], "sessionId": "s"})
    read = read_one(write_lines(tmp_path / "x.jsonl", [row, ROWS[0]]))
    assert read.column("items", "input")[0] == '{"a":"x","b":2}'


def test_a_file_that_holds_only_the_table(tmp_path: Path) -> None:
    reads, _ = read_all(write(tmp_path / "old.json", table()))
    assert [(r.run.model, r.column("responses", "output")) for r in reads] == [("openai:a", ["4"]), ("openai:b", ["5"])]
    assert [scores(r)[0, "success"] for r in reads] == [1.0, 0.0]


def test_bad_lines_are_counted_and_the_others_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    whole = [json.dumps(row) for row in ROWS]
    path.write_text("\n".join([whole[0], "{broken", '{"a": 1}', whole[1][:80], whole[2]]) + "\n", "utf-8")
    read = read_one(path)
    assert len(read.column("responses", "row")) == 2
    assert read.status == "partial"
    assert any(w.startswith("3 lines could not be read and left out: 2 (") for w in read.warnings)


def test_damage_is_said(tmp_path: Path) -> None:
    text = json.dumps(ONE)
    (tmp_path / "cut.json").write_text(text[: len(text) // 2], "utf-8")
    assert "not valid JSON" in failure(tmp_path / "cut.json")
    write(tmp_path / "none.json", document([], [prompt("p", 0, 0)]))
    assert "without a readable result" in failure(tmp_path / "none.json")


@pytest.mark.parametrize("odd", [5, None, [1], {"a": 1}, "x", True, 1e400])
@pytest.mark.parametrize(
    "name", ["response", "score", "namedScores", "gradingResult", "testCase", "latencyMs", "prompt", "testIdx", "vars"]
)
def test_odd_values_cost_at_most_their_result(tmp_path: Path, name: str, odd: Any) -> None:
    reads, failures = read_all(write_lines(tmp_path / "x.jsonl", [ROWS[0], {**ROWS[1], name: odd}, ROWS[2]]))
    assert not failures
    assert sum(len(r.column("responses", "row")) for r in reads) >= 2


def test_small_files_are_recognised(tmp_path: Path) -> None:
    reads, failures = read_all(*write_small(tmp_path))
    assert not failures
    assert {r.run.format for r in reads} == {"promptfoo"}


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=8), st.text(max_size=8), st.booleans()),
        min_size=2,
        max_size=8,
        unique_by=lambda row: " ".join(row[0].split()),
    )
)
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, bool]]) -> None:
    written = [result(k, q, o, p) for k, (q, o, p) in enumerate(rows)]
    read = read_one(write_lines(tmp_path_factory.mktemp("p") / "x.jsonl", written))
    assert read.column("responses", "output") == [o for _, o, _ in rows]
    assert read.column("items", "input") == [q for q, _, _ in rows]
    assert [v for (_, m), v in scores(read).items() if m == "success"] == [float(p) for _, _, p in rows]
    assert ECHO not in read.column("items", "targets")
