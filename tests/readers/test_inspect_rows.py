"""What a sample becomes: delivery, texts, answers, scores, usage, trace, aggregates."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from foreshock.readers import _inspect_trace
from foreshock.readers._inspect_scores import number
from foreshock.readers._inspect_text import gold_index
from foreshock.records import item_key

from ._logs import Read, maker, read, small, write_eval

MODEL = "lab/model-1b"


def one(tmp_path: Path, header: dict[str, Any] | None = None, drop: tuple[str, ...] = (), **fields: Any) -> Read:
    """A log of one sample with some of its fields replaced or dropped."""
    members = small(1)
    sample = members["samples/1_epoch_1.json"]
    sample.update(fields)
    for name in drop:
        del sample[name]
    members["header.json"].update(header or {})
    return read(write_eval(tmp_path / "one.eval", members))


def output(content: Any = "text", stop: str | None = "stop", **fields: Any) -> dict[str, Any]:
    message = {"id": "m9", "role": "assistant", "content": content}
    return {"model": "model-1b", "choices": [{"message": message, "stop_reason": stop}], **fields}


# Delivery

REFUSAL = [{"type": "text", "text": "I will not.", "refusal": True}]


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        ({}, "ok"),
        ({"output": output("")}, "ok"),
        ({"output": output(stop="tool_calls")}, "ok"),
        ({"output": output(stop=None)}, "ok"),
        ({"output": output(stop="something new")}, "ok"),
        ({"output": output("I cannot help with that.")}, "ok"),  # nothing is guessed from the words
        ({"output": output(stop="max_tokens")}, "truncated"),
        ({"output": output(stop="model_length")}, "truncated"),
        ({"output": output(stop="length")}, "truncated"),
        ({"output": output(stop="content_filter")}, "blocked"),
        ({"output": output(error="rejected")}, "blocked"),
        ({"output": output(REFUSAL)}, "refused"),
        ({"output": output(REFUSAL, stop="content_filter")}, "refused"),
        ({"output": output([{"type": "text", "text": "x", "refusal": False}])}, "ok"),
        ({"output": {"choices": []}}, "ok"),
        ({"output": {"choices": []}, "scores": {}}, "missing"),
        ({"output": None, "scores": None}, "missing"),
        ({"output": output(REFUSAL), "limit": {"type": "time", "limit": 5}}, "timeout"),
        ({"limit": {"type": "working", "limit": 5}}, "timeout"),
        ({"limit": {"type": "operator", "limit": 1}}, "cancelled"),
        *(
            ({"limit": {"type": kind, "limit": 1}}, "truncated")
            for kind in ("message", "token", "turn", "cost", "context", "custom", "new kind")
        ),
        ({"error": {"message": "ValueError('x')"}, "limit": {"type": "time"}}, "error"),
        ({"error": {"message": "TimeoutError('x')"}}, "timeout"),
        ({"error": {"message": "CancelledError()"}}, "cancelled"),
        ({"error": {}}, "error"),
    ],
)
def test_delivery(tmp_path: Path, fields: dict[str, Any], want: str) -> None:
    assert [r["delivery"] for r in one(tmp_path, **fields).responses] == [want]


SAID = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "", "tool_calls": []}]


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        ({"output": {"choices": []}, "messages": SAID[:1]}, ""),  # a scorer gave a value to nothing
        ({"output": {"choices": []}, "messages": SAID}, None),  # an agent that spoke: what came is not known
        ({"output": {"choices": []}, "messages": SAID[:1], "scores": {}}, None),  # missing
        ({"output": {"choices": []}, "messages": SAID[:1], "error": {"message": "x"}}, None),
        ({"output": None, "messages": SAID[:1]}, None),
        ({"output": output(""), "messages": SAID}, ""),
    ],
)
def test_a_generation_that_gave_nothing_is_an_empty_reply(tmp_path: Path, fields: dict[str, Any], want: object) -> None:
    assert [r["output"] for r in one(tmp_path, **fields).responses] == [want]


def test_invalidated_samples_are_kept_but_not_scored(tmp_path: Path) -> None:
    got = one(tmp_path, invalidation={"author": "me", "reason": "leaked"})
    (row,), (meta,) = got.responses, got.metas()
    assert (row["delivery"], got.scores) == ("cancelled", [])
    assert meta["invalidated"] == {"author": "me", "reason": "leaked"}
    assert meta["delivery"] == "ok"
    assert row["output"]
    assert got.run.warnings == [
        "1 sample(s) were declared invalid after the run; they count as cancelled and are not scored: "
        "samples/1_epoch_1.json"
    ]
    assert one(tmp_path, invalidation=None).responses[0]["delivery"] == "ok"


# Texts


def test_parts_text_is_output_and_reasoning_stands_apart(tmp_path: Path) -> None:
    parts = [
        {"type": "reasoning", "reasoning": "first", "signature": "xx"},
        {"type": "text", "text": "one"},
        {"type": "reasoning", "reasoning": "gAAAA", "summary": "short", "redacted": True},
        {"type": "image", "image": "data:image/png;base64,AAAA"},
        {"type": "text", "text": "two"},
        {"type": "something new", "text": "?"},
    ]
    (row,) = one(tmp_path, output=output(parts)).responses
    assert (row["output"], row["reasoning"]) == ("one\ntwo", "first\nshort")
    (row,) = one(tmp_path, output=output(parts, completion="as stored")).responses
    assert row["output"] == "as stored"
    old = output("said")
    old["choices"][0]["message"]["reasoning"] = "thought"
    (row,) = one(tmp_path, output=old).responses
    assert (row["output"], row["reasoning"]) == ("said", "thought")
    (row,) = one(tmp_path, output=output("")).responses
    assert (row["output"], row["reasoning"]) == ("", None)


def test_the_question_is_what_the_user_said(tmp_path: Path) -> None:
    system, user = {"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}
    (plain,) = one(tmp_path, input="2 + 2?").items
    (spoken,) = one(tmp_path, input=[system, user]).items
    assert spoken["input"] == "2 + 2?"
    assert spoken["item_key"] == plain["item_key"] == item_key("2 + 2?", [], plain["targets"])
    talk = [user, {"role": "assistant", "content": "4"}, {"role": "user", "content": "sure?"}]
    (longer,) = one(tmp_path, input=talk).items
    assert longer["input"] == "user: 2 + 2?\nassistant: 4\nuser: sure?"


def test_pictures_tell_items_apart(tmp_path: Path) -> None:
    def asked(link: str, **attachments: str) -> dict[str, Any]:
        content = [{"type": "text", "text": "What?"}, {"type": "image", "image": link}]
        (item,) = one(tmp_path, input=[{"role": "user", "content": content}], attachments=attachments).items
        return item

    inline = asked("data:image/png;base64,AAAA")
    assert asked("attachment://h", h="data:image/png;base64,AAAA") == inline
    assert asked("data:image/png;base64,BBBB")["item_key"] != inline["item_key"]
    assert asked("https://a.org/b.png")["input"] == "What?\n[image: https://a.org/b.png]"
    assert "sha256:" in inline["input"]


@pytest.mark.parametrize("place", ["attachments", "transcript"])
def test_references_are_resolved(tmp_path: Path, place: str) -> None:
    table, scheme = {"k": "the long text"}, "attachment" if place == "attachments" else "tc"
    where = {"attachments": table} if place == "attachments" else {"transcript": {"events": [], "content": table}}
    got = one(
        tmp_path,
        drop=("attachments",) if place == "transcript" else (),
        input=f"{scheme}://k",
        output=output(f"{scheme}://k"),
        scores={"match": {"value": "C", "answer": f"{scheme}://k"}},
        target=f"{scheme}://unknown",
        **where,
    )
    assert got.items[0]["input"] == got.responses[0]["output"] == got.responses[0]["answer"] == "the long text"
    assert got.items[0]["targets"] == [f"{scheme}://unknown"]


@pytest.mark.parametrize(
    ("choices", "targets", "want"),
    [
        (["x", "y"], ["B"], 1),
        (["x", "y"], [" A "], 0),
        (["x", "y"], ["C"], None),
        (["x", "y"], ["y"], 1),
        (["x", "x"], ["x"], None),
        (["B", "A"], ["A"], 0),  # a letter is the writer's own way of naming a choice
        (["x", "y"], ["A", "B"], None),
        (["x", "y"], [], None),
        ([], ["A"], None),
    ],
)
def test_gold_index(choices: list[str], targets: list[str], want: int | None) -> None:
    assert gold_index(choices, targets) == want


def test_choices_and_targets(tmp_path: Path) -> None:
    (item,) = one(tmp_path, choices=["one", "two", "three"], target="C").items
    assert (item["choices"], item["targets"], item["gold_index"]) == (["one", "two", "three"], ["C"], 2)
    (item,) = one(tmp_path, target=["a", "b"]).items
    assert (item["choices"], item["targets"], item["gold_index"]) == (None, ["a", "b"], None)


def test_log_probabilities_of_the_output(tmp_path: Path) -> None:
    said = output()
    said["choices"][0]["logprobs"] = {"content": [{"token": "a", "logprob": -0.25}, {"token": "b", "logprob": -1}]}
    assert one(tmp_path, output=said).responses[0]["output_token_logprobs"] == [-0.25, -1.0]
    said["choices"][0]["logprobs"]["content"][1]["logprob"] = None
    assert one(tmp_path, output=said).responses[0]["output_token_logprobs"] is None
    said["choices"][0]["logprobs"]["content"][1]["logprob"] = -math.inf
    assert one(tmp_path, output=said).responses[0]["output_token_logprobs"] is None
    assert one(tmp_path).responses[0]["output_token_logprobs"] is None


def test_further_completions_are_counted(tmp_path: Path) -> None:
    said = output("first")
    said["choices"] += output("second")["choices"]
    got = one(tmp_path, output=said)
    assert got.responses[0]["output"] == "first"
    assert got.metas()[0]["completions"] == 2
    assert "several completions" in got.run.warnings[0]


# Answers


def test_the_first_scorers_answer_is_the_answer(tmp_path: Path) -> None:
    scores = {
        "includes": {"value": "C", "answer": "x" * 900},
        "match": {"value": "C", "answer": "4"},
        "third": {"value": 1, "answer": None},
        "fourth": {"value": 1, "answer": 4.5},
    }
    got = one(tmp_path, scores=scores)
    assert got.responses[0]["answer"] == "4"  # the header names match first
    assert got.metas()[0]["answers"] == {"includes": "x" * 500, "fourth": "4.5"}
    del scores["match"]
    assert one(tmp_path, scores=scores).responses[0]["answer"] == "x" * 900
    assert one(tmp_path, scores={"match": {"value": "I"}}).responses[0]["answer"] is None
    assert one(tmp_path, scores={"match": {"value": "I", "answer": ""}}).responses[0]["answer"] == ""


# Scores


@pytest.mark.parametrize(
    ("value", "want", "label"),
    [
        ("C", 1.0, "C"),
        ("I", 0.0, "I"),
        ("P", 0.5, "P"),
        ("N", 0.0, "N"),
        (True, 1.0, "true"),
        (False, 0.0, "false"),
        (3, 3.0, None),
        (0.25, 0.25, None),
        ("0.7", 0.7, "0.7"),
        ("Yes", 1.0, "Yes"),
        ("false", 0.0, "false"),
        ("c", None, "c"),
        ("excellent", None, "excellent"),
        ("", None, ""),
        (None, None, "null"),
        (math.nan, None, "NaN"),
        (math.inf, None, "Infinity"),
        ("nan", None, "nan"),
        (10**400, None, "Infinity"),
        ([1, {"a": 2}], None, '[1,{"a":2}]'),
        ("9" * 500, None, "9" * 200),
    ],
)
def test_values_as_numbers(value: Any, want: float | None, label: str | None) -> None:
    assert number(value) == (want, "failed" if want is None else "scored", label)


def test_values_agree_with_the_harness() -> None:
    """The words of ``inspect_ai.scorer.value_to_float``, from its documentation."""
    words = {"C": 1, "I": 0, "P": 0.5, "N": 0, "yes": 1, "TRUE": 1, "no": 0, "False": 0, "12": 12}
    assert {w: number(w).value for w in words} == words


def test_dictionary_and_list_scores(tmp_path: Path) -> None:
    scores = {
        "grader": {"value": {"style": 3, "right": "C", "why": "so"}},
        "levels": {"value": [1, math.nan, "P"]},
        "nothing": {"value": {}},
        "huge": {"value": list(range(100))},
    }
    got = one(tmp_path, scores=scores)
    assert [(s["metric_id"], s["value"], s["status"]) for s in got.scores] == [
        ("grader/style", 3.0, "scored"),
        ("grader/right", 1.0, "scored"),
        ("grader/why", None, "failed"),
        ("levels/0", 1.0, "scored"),
        ("levels/1", None, "failed"),
        ("levels/2", 0.5, "scored"),
        ("nothing", None, "failed"),
        ("huge", None, "failed"),
    ]
    assert {s["source"] for s in got.scores} == {"harness"}
    assert got.run.warnings == [
        "1 score(s) are partial credit (P), counted as 0.5: samples/1_epoch_1.json (levels/2)",
        "4 score(s) are not a number and count as failed: samples/1_epoch_1.json (grader/why: so), "
        "samples/1_epoch_1.json (levels/1: NaN), samples/1_epoch_1.json (nothing: {}), …",
    ]


@pytest.mark.parametrize(
    ("results", "name"),
    [
        ({"scorer": {"name": "exact"}, "metrics": {}}, "exact"),
        ({"scores": [{"name": "f1", "metrics": {}}]}, "f1"),
        (None, "score"),
    ],
)
def test_the_single_score_of_old_logs(tmp_path: Path, results: Any, name: str) -> None:
    got = one(tmp_path, {"results": results}, drop=("scores",), score={"value": "C", "answer": "4"})
    assert [(s["metric_id"], s["value"]) for s in got.scores] == [(name, 1.0)]
    assert got.responses[0]["answer"] == "4"


# Usage


def test_usage_is_that_of_the_runs_model(tmp_path: Path) -> None:
    mine = {"input_tokens": 5, "output_tokens": 6, "total_tokens": 12, "reasoning_tokens": 2}
    mine |= {"input_tokens_cache_read": 1, "input_tokens_cache_write": 0}
    judge = {"input_tokens": 100, "output_tokens": 1, "total_tokens": 101}
    last = {"input_tokens": 2, "output_tokens": 3, "total_tokens": 5}
    got = one(tmp_path, model_usage={"lab/judge": judge, MODEL: mine}, output=output(usage=last))
    (row,), (meta,) = got.responses, got.metas()
    counts = [row[f"{k}_tokens"] for k in ("input", "output", "total", "reasoning")]
    assert (counts, row["token_unit"]) == ([5, 6, 12, 2], MODEL)
    assert meta["usage"] == {"lab/judge": [100, 1, 101], MODEL: [5, 6, 12]}
    assert (meta["last_usage"], meta["cache_read"]) == ([2, 3, 5], 1)
    (row,) = one(tmp_path, model_usage={}, output=output(usage=last)).responses
    assert (row["total_tokens"], row["token_unit"]) == (5, MODEL)
    (row,) = one(tmp_path, model_usage=None, output=output()).responses
    assert (row["total_tokens"], row["token_unit"]) == (None, None)


# Trace


def steps(got: Read) -> list[tuple[Any, ...]]:
    assert [s["seq"] for s in got.trace] == list(range(len(got.trace)))
    return [
        (s["turn"], s["kind"], s["name"], s["ok"], s["tokens"], s["unit"], s["seconds"], s["value"]) for s in got.trace
    ]


def test_the_steps_of_an_agent(tmp_path: Path) -> None:
    calls = [
        {"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}},
        {"id": "c2", "function": "python", "arguments": {"code": "1/0"}},
        {"id": "c3", "function": "late", "arguments": {}},
    ]
    search = {"type": "tool_use", "tool_type": "web_search", "id": "s", "name": "search", "arguments": "q"}
    failed = {**search, "name": "fetch", "error": "404"}
    messages = [
        {"role": "user", "content": "go"},
        {"id": "m1", "role": "assistant", "content": [{"type": "reasoning", "reasoning": "abc"}], "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "files"},
        {"role": "tool", "tool_call_id": "c2", "content": "", "error": {"type": "unknown", "message": "division"}},
        {"id": "m2", "role": "assistant", "content": [{"type": "text", "text": "12345"}, search, failed]},
        {"role": "tool", "tool_call_id": "gone", "function": "old", "content": "x", "tool_error": "no such tool"},
    ]
    events = [
        {"event": "span_begin", "id": "c1", "type": "tool"},
        {"event": "model", "output": output(usage={"output_tokens": 7}), "working_time": 1.5, "error": None},
        {"event": "tool", "id": "c1", "function": "bash", "working_time": 0.25},
        {"event": "model", "output": {"choices": []}, "error": "rate limit", "working_time": 2.0},
        {"event": "logger", "message": {"level": "info"}},
        {"event": "sandbox", "output": "text", "result": 0},
        {"event": "sample_limit", "type": "message", "message": "exceeded 30 messages", "limit": 30},
    ]
    events[1]["output"]["choices"][0]["message"]["id"] = "m1"
    got = one(
        tmp_path, messages=messages, events=events, limit={"type": "message"}, error_retries=[{"message": "KeyError()"}]
    )
    assert steps(got) == [
        (0, "reasoning", None, None, 3, "characters", None, None),
        (0, "turn", "assistant", None, 7, "tokens", 1.5, None),
        (0, "tool", "bash", True, None, None, 0.25, '{"cmd":"ls"}'),
        (0, "tool", "python", False, None, None, None, "unknown: division"),
        (0, "tool", "late", None, None, None, None, "{}"),
        (1, "turn", "assistant", None, 5, "characters", None, None),
        (1, "tool", "search", True, None, None, None, '"q"'),
        (1, "tool", "fetch", False, None, None, None, '"q"'),
        (1, "tool", "old", False, None, None, None, "no such tool"),
        (None, "error", "model", False, None, None, 2.0, "rate limit"),
        (None, "limit", "message", None, None, None, None, "exceeded 30 messages"),
        (None, "error", "retried", False, None, None, None, "KeyError()"),
    ]
    assert got.metas()[0]["error_retries"] == 1


def test_an_error_without_an_event(tmp_path: Path) -> None:
    error = {"message": "ValueError('" + "x" * 900 + "')", "traceback": "…"}
    got = one(tmp_path, messages=[], events=[], error=error)
    ((_, kind, name, ok, *_, value),) = steps(got)
    assert (kind, name, ok, len(value)) == ("error", "sample", False, 200)
    assert len(got.metas()[0]["error"]) == 500
    got = one(tmp_path, messages=[], events=[{"event": "error", "error": error}], error=error)
    assert [s[1:3] for s in steps(got)] == [("error", "sample")]
    got = one(tmp_path, messages=[], events=None, limit={"type": "token", "reason": "too many"})
    assert [(s[1], s[2], s[7]) for s in steps(got)] == [("limit", "token", "too many")]


def test_old_transcripts(tmp_path: Path) -> None:
    got = one(tmp_path, drop=("events",), transcript={"events": maker.sample(1)["events"], "content": {}})
    assert [s[1] for s in steps(got)] == ["turn"]


def test_the_trace_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [{"role": "assistant", "content": "x"}] * (_inspect_trace.MAX_STEPS + 5)
    got = one(tmp_path, messages=messages, events=[])
    assert len(got.trace) == _inspect_trace.MAX_STEPS
    assert got.metas()[0]["trace_left_out"] == 5
    assert "more steps than are kept" in got.run.warnings[0]


# Meta and aggregates


def test_large_metadata_stays_in_the_log(tmp_path: Path) -> None:
    got = one(tmp_path, metadata={"a": "x" * 5_000})
    assert "metadata" not in got.metas()[0]
    assert got.metas()[0]["metadata_bytes"] > 5_000
    assert got.metas()[0]["uuid"]
    assert "metadata" not in one(tmp_path, metadata={}).metas()[0]


def test_reducers_and_further_metrics_stay_apart(tmp_path: Path) -> None:
    def entry(name: str, reducer: str | None, **values: float) -> dict[str, Any]:
        metrics = {k: {"name": k, "value": v, "params": {}} for k, v in values.items()}
        return {"name": name, "scorer": "grader", "reducer": reducer, "metrics": metrics, "scored_samples": 9}

    scores = [
        {**entry("grader", "mean", accuracy=0.5, stderr=0.1, std=0.3), "unscored_samples": 2},
        entry("grader", "max", accuracy=0.75, stderr=0.2),
        entry("style", "mean", mean=3.0, var=1.0),
    ]
    got = one(tmp_path, {"results": {"scores": scores}})
    rows = [(a["metric_id"], a["reducer"], a["value"], a["stderr"], a["n"], a["n_scored"]) for a in got.aggregates]
    assert rows == [
        ("grader", "mean", 0.5, 0.1, 11, 9),
        ("grader:std", "mean", 0.3, None, 11, 9),
        ("grader", "max", 0.75, 0.2, 9, 9),
        ("grader/style", "mean", 3.0, None, 9, 9),
        ("grader/style:var", "mean", 1.0, None, 9, 9),
    ]


def test_a_log_of_the_r_package(tmp_path: Path) -> None:
    """vitals writes one object in the schema of 0.3.63, with calls as scorer names and no uuid."""
    name = "model_graded_qa(partial_credit = TRUE)"
    members = small(2, model="claude-3-7-sonnet-latest", packages={}, scorers=None)
    head = members["header.json"]
    head["results"]["scores"] = [
        {"name": name, "scorer": name, "metrics": {"accuracy": {"name": "accuracy", "value": 1}}}
    ]
    samples = [members[f"samples/{n}_epoch_1.json"] for n in (1, 2)]
    for sample in samples:
        del sample["uuid"], sample["working_time"], sample["attachments"]
        sample["scores"] = {name: {"value": "P", "answer": "so"}}
    path = tmp_path / "vitals.json"
    path.write_text(json.dumps({**head, "samples": samples}))
    got = read(path)
    assert (got.run.model, got.run.writer) == ("claude-3-7-sonnet-latest", None)
    assert [(s["metric_id"], s["value"], s["label"]) for s in got.scores] == [(name, 0.5, "P")] * 2
    assert [r["answer"] for r in got.responses] == ["so", "so"]
    assert [a["metric_id"] for a in got.aggregates] == [name]
    assert "2 score(s) are partial credit (P)" in got.run.warnings[0]
