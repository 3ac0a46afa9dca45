"""Recordings of OpenAI evals: a real one against a table made without the reader, and what else is recorded."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreshock.readers import Candidate, ReadOptions
from foreshock.readers._openai_evals import OpenAiEvalsReader

from . import _openai_evals_logs as logs
from ._openai_evals_logs import event, match, model_graded, report, sampling, spec, write
from ._read import Read, failure, read_all, read_one

ORACLE = Path(__file__).parent.parent / "oracles" / "openai_evals_expected.json"


def text(value: str | None) -> list[Any] | None:
    return None if value is None else [hashlib.sha256(value.encode()).hexdigest()[:16], len(value)]


def rows(read: Read, table: str, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(read.column(table, name) for name in names), strict=True))


def metas(read: Read) -> list[Any]:
    return [json.loads(m) if m else {} for m in read.column("responses", "meta")]


def test_real_recording(shared_data: Path) -> None:
    table = json.loads(ORACLE.read_text("utf-8"))["files"]
    assert table
    for name, expected in table.items():
        read = read_one(shared_data / "logs" / "openai_evals" / name)
        wanted = expected["rows"]
        for column, key in (("output", "sampled"), ("answer", "picked")):
            assert [text(v) for v in read.column("responses", column)] == [r[key] for r in wanted]
        assert read.column("responses", "item_id") == [r["id"] for r in wanted]
        assert [text(i) for i in read.column("items", "input")] == [r["prompt"] for r in wanted]
        assert [[text(t) for t in ts] for ts in read.column("items", "targets")] == [[r["expected"]] for r in wanted]
        assert read.column("items", "choices") == [None] * len(wanted), "the only option is the expected answer"
        assert read.column("scores", "value") == [float(r["correct"]) for r in wanted]
        assert rows(read, "aggregates", "metric_id", "value", "n") == [
            (metric, value, len(wanted)) for metric, value in expected["report"].items()
        ]
        run = read.run
        assert (run.model, run.task) == (expected["completion_fns"][0], expected["eval_name"])
        assert run.seed == expected["seed"]
        assert run.created == expected["created_at"].replace(" ", "T") + "Z"
        assert run.meta["run_id"] == expected["run_id"]
        assert (read.status, read.warnings) == ("complete", [])


def test_samples_are_spread_over_the_file(tmp_path: Path) -> None:
    lines = [
        spec(),
        sampling("a", "Paris"),
        sampling("b", "Rome"),
        match("b", False),
        report(accuracy=0.5),
        match("a", True),
    ]
    read = read_one(write(tmp_path / "r.jsonl", *lines))
    assert rows(read, "responses", "item_id", "output") == [("b", "Rome"), ("a", "Paris")]
    assert read.column("scores", "value") == [0.0, 1.0]
    assert read.run.conditions["shots"] == "2"
    assert read.run.conditions["limit"] == "4"


def test_unscored_samples_are_kept(tmp_path: Path) -> None:
    lines = [
        spec(),
        sampling("only", "text"),
        event("failed", "error", type="Timeout", message="too slow"),
        sampling("late", "text"),
        event("late", "error", type="E", message="grader"),
        sampling("nothing", None),
        sampling("empty", ""),
        match("empty", False),
        event("extra", "extra", note=1),
        report(accuracy=0.0),
    ]
    read = read_one(write(tmp_path / "r.jsonl", *lines))
    assert dict(rows(read, "responses", "item_id", "delivery")) == {
        "only": "ok",
        "failed": "error",
        "late": "error",
        "nothing": "missing",
        "empty": "ok",
        "extra": "missing",
    }
    assert [r for (r,) in rows(read, "scores", "row")] == [4], "only the sample with a match has a score"
    told = dict(zip(read.column("responses", "item_id"), metas(read), strict=True))
    assert told["failed"]["error"] == "Timeout too slow"
    assert told["extra"]["events"] == {"extra": 1}
    assert read.column("responses", "output")[2] == "text", "what arrived before the error is kept"


def test_several_matches_are_several_responses(tmp_path: Path) -> None:
    lines = [spec(), sampling("a", "Paris"), sampling("a", "Rome"), match("a", True), match("a", False, sampled="Oslo")]
    read = read_one(write(tmp_path / "r.jsonl", *lines, report(accuracy=0.5)))
    assert rows(read, "responses", "item_id", "sample", "output") == [("a", 0, "Paris"), ("a", 1, "Oslo")]
    assert rows(read, "scores", "row", "value") == [(0, 1.0), (1, 0.0)]
    assert read.column("aggregates", "n") == [2]
    assert len(read.column("items", "item_id")) == 1


def test_several_texts_of_one_sampling(tmp_path: Path) -> None:
    read = read_one(write(tmp_path / "r.jsonl", spec(), sampling("a", ["Paris", "Rome"]), report()))
    assert rows(read, "responses", "sample", "output") == [(0, "Paris"), (1, "Rome")]


def test_a_judge_is_no_respondent(tmp_path: Path) -> None:
    lines = [
        model_graded(completion_fns=["gpt-3.5-turbo", "gpt-4"]),
        sampling("a", "a reply"),
        sampling("a", "I would say A"),
        event("a", "metrics", choice="A", score=1.0),
        sampling("b", "b reply"),
        sampling("b", "no idea"),
        event("b", "metrics", choice="__invalid__", score=None),
        sampling("c", "c reply"),
        sampling("c", "B"),
        event("c", "metrics", choice="B"),
        report(**{"counts/choice/A": 1, "score": 0.5}),
    ]
    read = read_one(write(tmp_path / "r.jsonl", *lines))
    assert (read.run.model, read.run.judge) == ("gpt-3.5-turbo", "fact by gpt-4")
    assert read.column("responses", "output") == ["a reply", "b reply", "c reply"]
    assert metas(read)[0]["judgement"] == "I would say A"
    assert rows(read, "scores", "row", "metric_id", "value", "status", "label") == [
        (0, "choice", None, "needs", "A"),
        (0, "score", 1.0, "scored", "A"),
        (1, "choice", None, "unparsed", "__invalid__"),
        (1, "score", None, "unparsed", "__invalid__"),
        (2, "choice", None, "needs", "B"),
    ]


def test_metrics_beside_a_match(tmp_path: Path) -> None:
    lines = [
        spec(),
        sampling("a", "Paris"),
        match("a", True),
        event("a", "metrics", accuracy=1.0, f1_score=0.5),
        sampling("b", "Paris"),
        match("b", True),
        event("b", "metrics", accuracy=0.0, comment="x"),
        report(accuracy=1.0),
    ]
    read = read_one(write(tmp_path / "r.jsonl", *lines))
    assert rows(read, "scores", "row", "metric_id", "value") == [
        (0, "accuracy", 1.0),
        (0, "f1_score", 0.5),
        (1, "accuracy", 1.0),
        (1, "metrics/accuracy", 0.0),
    ]


def test_likelihoods_and_options(tmp_path: Path) -> None:
    weighed = [("Paris", -1.5), ("Rome", -0.5)]
    lines = [
        spec(),
        *(event("a", "cond_logp", prompt="Capital?", completion=c, logp=v) for c, v in weighed),
        match("a", False),
        event("b", "pick_option", prompt="Capital?", options=["Rome", "Paris"], picked="Paris"),
        match("b", True),
        event("c", "cond_logp", prompt="Capital?", completion="Paris", logp=-0.25),
        report(accuracy=0.5),
    ]
    read = read_one(write(tmp_path / "r.jsonl", *lines))
    assert read.column("items", "choices") == [["Paris", "Rome"], ["Rome", "Paris"], None]
    assert read.column("items", "gold_index") == [0, 1, None]
    assert read.column("responses", "choice_logprobs") == [[-1.5, -0.5], None, None]
    assert read.column("responses", "gold_logprob") == [-1.5, None, -0.25]
    assert read.column("responses", "answer") == [None, "Paris", None]


def test_questions_of_chats(tmp_path: Path) -> None:
    system, user = {"role": "system", "content": "Be short."}, {"role": "user", "content": "Capital?"}
    shot = {"role": "system", "name": "example_user", "content": "2+2?"}
    talk = [user, {"role": "assistant", "content": "Which?"}, {"role": "user", "content": "France"}]
    asked = [[system, shot, user], talk, [user]]
    lines = [sampling(str(k), "x", prompt) for k, prompt in enumerate(asked)]
    read = read_one(write(tmp_path / "r.jsonl", spec(), *lines, report()))
    assert read.column("items", "input") == ["Capital?", "Capital?\nWhich?\nFrance", "Capital?"]
    assert len(set(read.column("responses", "prompt_hash"))) == 3


def test_turns_and_tools_are_the_trace(tmp_path: Path) -> None:
    call = event("a", "function_call", name="search", arguments={"q": "x"})
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    details = {**usage, "completion_tokens_details": {"reasoning_tokens": 3}}
    lines = [spec(), sampling("a", "let me look"), call, sampling("a", "Paris", usage=details), match("a", True)]
    read = read_one(write(tmp_path / "r.jsonl", *lines, report()))
    assert rows(read, "trace", "seq", "turn", "kind", "name", "value") == [
        (0, 0, "turn", None, "let me look"),
        (1, 0, "tool", "search", '{"q":"x"}'),
        (2, 1, "turn", None, "Paris"),
    ]
    names = ("output", "input_tokens", "output_tokens", "reasoning_tokens", "total_tokens", "token_unit")
    assert rows(read, "responses", *names) == [("Paris", 5, 7, 3, 12, "gpt-3.5-turbo")]


@pytest.mark.parametrize("named", [{"model_name": "davinci"}, {"model_names": {"completions": ["davinci"]}}])
def test_old_names_of_the_model(tmp_path: Path, named: dict[str, Any]) -> None:
    old = spec()
    del old["spec"]["completion_fns"]
    old["spec"].update(named)
    first = event("a", "sampling", None, prompt="p", sampled="x")
    read = read_one(write(tmp_path / "r.jsonl", old, first, event("a", "match", None, correct=True), report()))
    assert read.run.model == "davinci"
    assert read.column("scores", "value") == [1.0], "old events name no run"


def test_without_a_specification(tmp_path: Path) -> None:
    path = write(tmp_path / f"{logs.RUN}_gpt-4_capitals.jsonl", sampling("a", "x"), match("a", True))
    read = read_one(path)
    assert (read.run.model, read.run.task, read.guesses) == ("gpt-4", "capitals", ["model", "task"])
    assert read.status == "started"
    named = read_one(path, model="m", task="t")
    assert (named.run.model, named.run.task, named.guesses) == ("m", "t", [])


def test_a_run_without_report_did_not_end(tmp_path: Path) -> None:
    read = read_one(write(tmp_path / "r.jsonl", spec(), sampling("a", "x")))
    assert read.status == "started"
    assert any("did not end" in w for w in read.warnings)


def test_a_standard_deviation_of_nothing_is_no_score(tmp_path: Path) -> None:
    """openai/evals#1834: NaN for one sample, and not a bootstrap."""
    path = write(tmp_path / "r.jsonl", spec(), match("a", True), report(accuracy=1.0, boostrap_std=float("nan")))
    assert rows(read_one(path), "aggregates", "metric_id", "value", "n") == [("accuracy", 1.0, 1)]
    read = read_one(write(tmp_path / "s.jsonl", spec(), match("a", True), report(accuracy=1.0, boostrap_std=0.5)))
    assert read.column("aggregates", "metric_id") == ["accuracy"]
    assert any(b.columns.get("meta") == [{"boostrap_std": 0.5}] for b in read.batches)


def test_two_recordings_in_one_file(tmp_path: Path) -> None:
    lines = [spec(), sampling("a", "x"), spec(run_id="r2"), event("a", "sampling", "r2", sampled="y"), match("a", True)]
    reads, failures = read_all(write(tmp_path / "r.jsonl", *lines, report(accuracy=1.0)))
    assert not failures
    assert [r.column("responses", "output") for r in reads] == [["x"], ["y"]]
    assert [len(r.column("scores", "row")) for r in reads] == [1, 0], "an event belongs to the run that it names"
    assert reads[0].run.run_key != reads[1].run.run_key


def test_damage(tmp_path: Path) -> None:
    whole = "".join(json.dumps(line) + "\n" for line in (spec(), sampling("a", "x"), match("a", True)))
    path = tmp_path / "r.jsonl"
    path.write_text(whole + '{"broken": \n[1]\n{"sample_id": "b"}\n' + json.dumps(sampling("b", "y"))[:60])
    read = read_one(path)
    assert rows(read, "responses", "item_id", "output") == [("a", "x")]
    assert read.status == "partial"
    assert any(w.startswith("4 lines could not be read and left out: 4 (") for w in read.warnings)
    path.write_text("".join(json.dumps(spec()) + "\n" for _ in range(300)))
    assert "specifications in one file" in failure(path)


def test_other_lines_are_not_claimed(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", {"spec": {"a": 1}}, {"type": "x", "data": {}})
    assert not OpenAiEvalsReader().claims(Candidate(path, path.read_bytes(), ()), ReadOptions())


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=8), st.booleans()), max_size=7), st.randoms(use_true_random=False))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, given_rows: list[tuple[str, bool]], mixer: Any) -> None:
    events = [[sampling(str(k), t), match(str(k), c)] for k, (t, c) in enumerate(given_rows)]
    lines = [e for pair in events for e in pair]
    mixer.shuffle(lines)
    read = read_one(write(tmp_path_factory.mktemp("r") / "r.jsonl", spec(), *lines, report(accuracy=1.0)))
    found = {i: (o, r) for i, o, r in rows(read, "responses", "item_id", "output", "row")}
    values = dict(zip(read.column("scores", "row"), read.column("scores", "value"), strict=True))
    assert {i: (o, values[r]) for i, (o, r) in found.items()} == {
        str(k): (t, float(c)) for k, (t, c) in enumerate(given_rows)
    }
