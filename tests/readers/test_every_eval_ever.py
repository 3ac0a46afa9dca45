"""Every Eval Ever: aggregates with their errors, a line for each metric, what the format demands and means nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreshock.records import item_key

from ._every_eval_ever_logs import log, result, sample, write_log, write_samples, write_small
from ._read import Read, failure, read_all, read_one


def scores(read: Read) -> list[tuple[Any, ...]]:
    return list(zip(*(read.column("scores", c) for c in ("row", "metric_id", "value")), strict=True))


def aggregates(read: Read, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(read.column("aggregates", n) for n in names), strict=True))


def test_the_converted_example(shared_data: Path) -> None:
    """The format's own demonstration; expected values copied from its two files by hand."""
    read = read_one(shared_data / "logs" / "every_eval_ever" / "data")
    run = read.run
    assert (run.model, run.task, run.created) == (
        "demo-org/demo-model",
        "demo-source.demo_bench",
        "2025-06-15T15:06:40Z",
    )
    assert len(run.sources) == 2
    assert read.column("items", "input") == ["What is 2 + 2?"]
    assert read.column("items", "targets") == [["4"]]
    assert read.column("items", "subset") == ["arithmetic"]
    assert read.column("responses", "output") == ["The answer is 4."]
    assert read.column("responses", "answer") == ["4"]
    assert read.column("responses", "total_tokens") == [17]
    assert read.column("responses", "item_key") == [item_key("What is 2 + 2?", (), ["4"])]
    assert scores(read) == [(0, "accuracy", 1.0)]
    assert aggregates(read, "metric_id", "value", "stderr", "low", "high", "higher_is_better") == [
        ("accuracy", 0.75, None, 0.0, 1.0, True)
    ]
    assert not read.warnings


@pytest.mark.parametrize("error", ["N/A", {"value": "N/A"}, None, {"value": None}, [], {"value": [1]}])
def test_no_standard_error_is_none(tmp_path: Path, error: Any) -> None:
    read = read_one(write_log(tmp_path, log([result("sums", "acc", 0.5, standard_error=error, num_samples=9)])))
    assert aggregates(read, "value", "stderr", "stderr_kind", "n") == [(0.5, None, None, 9)]


def test_results_only(tmp_path: Path) -> None:
    found = [
        result("mmlu", "acc", 0.5, standard_error={"value": 0.1, "method": "bootstrap"}),
        result("gsm8k", "em", "N/A"),
        result("mmlu", "elo", 1200),
    ]
    reads, failures = read_all(write_log(tmp_path, log(found)))
    assert not failures
    assert [r.run.task for r in reads] == ["mmlu", "gsm8k"]
    assert aggregates(reads[0], "metric_id", "value", "stderr", "stderr_kind") == [
        ("acc", 0.5, 0.1, "bootstrap"),
        ("elo", 1200.0, None, None),
    ]
    assert aggregates(reads[1], "value") == [(None,)]
    assert reads[0].run.writer == "0.4.7"
    assert reads[0].run.meta["source_organization_name"] == "Somebody"


def test_two_scorers_with_one_metric_are_kept_apart(tmp_path: Path) -> None:
    found = [result("t", "accuracy", 0.5, "match:accuracy"), result("t", "accuracy", 0.75, "judge:accuracy")]
    read = read_one(write_log(tmp_path, log(found)))
    assert aggregates(read, "metric_id", "value") == [("match:accuracy", 0.5), ("judge:accuracy", 0.75)]


def test_filters_of_lm_eval_are_taken_off_the_names(tmp_path: Path) -> None:
    name, id_ = "gsm8k/strict", "exact_match:strict"
    write_log(tmp_path, log([result(name, "exact_match", 0.5, id_), result("a/b", "acc", 0.5)]))
    line = sample("q", "1+1", "2", "2", 1.0, evaluation_name=name, evaluation_result_id=id_)
    write_samples(tmp_path, [line])
    reads, _ = read_all(tmp_path)
    assert [r.run.task for r in reads] == ["gsm8k", "a/b"]
    assert reads[0].column("aggregates", "filter") == reads[0].column("responses", "filter") == ["strict"]
    assert scores(reads[0]) == [(0, "exact_match", 1.0)]


def test_two_filters_are_no_epochs(tmp_path: Path) -> None:
    """As the converter of lm-evaluation-harness writes gsm8k: one metric and one sample under two filters."""
    filters = ("strict", "flexible")
    names = [(f"gsm8k/{f}", f"em:{f}") for f in filters]
    write_log(tmp_path, log([result(name, "em", 0.5, id_) for name, id_ in names]))
    lines = [sample("q", "1", "1", "1", 1.0, evaluation_name=n, evaluation_result_id=i) for n, i in names]
    write_samples(tmp_path, lines)
    read = read_one(tmp_path)
    assert aggregates(read, "metric_id", "filter") == [("em", "strict"), ("em", "flexible")]
    assert read.column("responses", "epoch") == [1, 1]
    assert read.column("responses", "filter") == ["strict", "flexible"]
    assert scores(read) == [(0, "em", 1.0), (1, "em", 1.0)]


def test_a_line_for_each_metric_is_one_response(tmp_path: Path) -> None:
    """Whether the lines of a sample stand together or a whole metric follows another."""
    write_log(tmp_path / "a", log([result("sums", "acc", 0.5), result("sums", "f1", 0.5)]))
    acc = [sample(f"q{k}", f"{k}+1", str(k), "1", float(k == 1)) for k in range(3)]
    f1 = [{**line, "evaluation_result_id": "f1", "evaluation": {"score": 0.25, "is_correct": False}} for line in acc]
    found = []
    for lines in ([*acc, *f1], [line for pair in zip(acc, f1, strict=True) for line in pair]):
        write_samples(tmp_path / "a", lines)
        read = read_one(tmp_path / "a")
        assert read.column("responses", "output") == ["0", "1", "2"]
        found.append(sorted(scores(read)))
    assert (
        found[0]
        == found[1]
        == sorted([(k, "acc", float(k == 1)) for k in range(3)] + [(k, "f1", 0.25) for k in range(3)])
    )


def test_a_sample_again_is_another_epoch(tmp_path: Path) -> None:
    lines = [sample("q", "1+1", output, "2", 1.0) for output in ("2", "2", "3")]
    read = read_one(write_samples(tmp_path, lines))
    assert read.column("responses", "epoch") == [1, 2, 3]
    assert len(read.column("items", "item_id")) == 1


def test_the_zero_of_an_error_is_no_score(tmp_path: Path) -> None:
    """The format demands a score of every line."""
    lines = [
        sample("a", "1", "1", "1", 1.0),
        sample("b", "2", None, "2", 0.0, error="timeout"),
        sample("c", "3", None, "3", 0.0),
    ]
    read = read_one(write_samples(tmp_path, lines))
    assert read.column("responses", "delivery") == ["ok", "error", "missing"]
    assert [row for row, _, _ in scores(read)] == [0, 2]
    assert any("1 line with an error have a score" in w for w in read.warnings)


def test_an_unknown_level_is_no_score(tmp_path: Path) -> None:
    found = result("sums", "grade", 1.5)
    found["metric_config"] |= {"score_type": "levels", "level_names": ["a", "b"], "has_unknown_level": True}
    write_log(tmp_path, log([found]))
    write_samples(tmp_path, [sample("a", "1", "1", "1", v, evaluation_result_id="grade") for v in (1.0, -1.0)])
    read = read_one(tmp_path)
    assert read.column("scores", "value") == [1.0, None]
    assert read.column("scores", "status") == ["scored", "unparsed"]


def test_conversations(tmp_path: Path) -> None:
    call = {"id": "c", "name": "search", "arguments": {"q": "x"}}
    messages = [
        {"turn_idx": 0, "role": "user", "content": "hi"},
        {"turn_idx": 1, "role": "assistant", "content": None, "tool_calls": [call], "reasoning_trace": "hm"},
        {"turn_idx": 2, "role": "tool", "content": "y", "tool_call_id": ["c"]},
        {"turn_idx": 3, "role": "assistant", "content": "bye"},
    ]
    line = {**sample("q", "hi", None, "bye", 1.0, interaction_type="agentic", messages=messages), "output": None}
    read = read_one(write_samples(tmp_path, [line]))
    assert read.column("responses", "output") == ["bye"]
    assert read.column("trace", "kind") == ["reasoning", "turn", "tool", "turn"]
    assert read.column("trace", "turn") == [0, 0, 0, 1]
    assert read.column("trace", "name") == [None, "assistant", "search", "assistant"]


def test_several_outputs_are_samples(tmp_path: Path) -> None:
    line = {**sample("q", "1+1", "2", "2", 1.0), "output": {"raw": ["2", "3"], "reasoning_trace": ["so"]}}
    read = read_one(write_samples(tmp_path, [line]))
    assert read.column("responses", "sample") == [0, 1]
    assert read.column("responses", "reasoning") == ["so", None]
    assert scores(read) == [(0, "acc", 1.0)]


def test_samples_alone(tmp_path: Path) -> None:
    lines = [
        sample("a", "1", "1", "1", 1.0),
        sample("a", "1", "1", "1", 1.0, model_id="b"),
        sample("b", "2", "2", "2", 1.0),
    ]
    reads, failures = read_all(write_samples(tmp_path, lines))
    assert not failures
    assert [(r.run.model, len(r.column("responses", "row"))) for r in reads] == [("org/model-7b", 2), ("b", 1)]
    assert any("no aggregate file" in w for w in reads[0].warnings)


def test_a_judge_and_a_template(tmp_path: Path) -> None:
    found = result("t", "score", 0.5)
    info = {"name": "j", "id": "org/judge", "additional_details": {}}
    found["metric_config"]["llm_scoring"] = {"judges": [{"model_info": info}], "input_prompt": "Grade"}
    found["generation_config"] = {
        "generation_args": {"temperature": 0.5, "prompt_template": "Q: {q}"},
        "additional_details": {"num_fewshot": "5"},
    }
    run = read_one(write_log(tmp_path, log([found]))).run
    assert (run.judge, run.conditions) == ("org/judge", {"temperature": "0.5", "shots": "5"})
    assert run.prompt_hash is not None
    assert run.scorer_hash is not None


def test_bad_lines_are_counted_and_the_others_kept(tmp_path: Path) -> None:
    whole = [json.dumps(sample(f"q{k}", str(k), str(k), str(k), 1.0)) for k in range(3)]
    path = tmp_path / "x_samples.jsonl"
    path.write_text("\n".join([whole[0], "{broken", '{"a":1}', whole[1], whole[2][:90]]), "utf-8")
    read = read_one(path)
    assert read.column("responses", "output") == ["0", "1"]
    assert read.status == "partial"
    assert any(w.startswith("3 lines could not be read and left out: 2 (") for w in read.warnings)


def test_damage_is_said(tmp_path: Path) -> None:
    text = json.dumps(log([result("t", "acc", 0.5)]))
    (tmp_path / "cut.json").write_text(text[:-60], "utf-8")
    assert "not valid JSON" in failure(tmp_path / "cut.json")
    assert "no evaluation in it" in failure(write_log(tmp_path, log([]), "none"))


@pytest.mark.parametrize("odd", [5, None, [1], {"a": 1}, "x", True])
@pytest.mark.parametrize(
    "name", ["input", "output", "evaluation", "metadata", "token_usage", "messages", "answer_attribution", "sample_id"]
)
def test_odd_values_cost_at_most_their_line(tmp_path: Path, name: str, odd: Any) -> None:
    lines = [sample(f"q{k}", str(k), str(k), str(k), 1.0) for k in range(3)]
    read = read_one(write_samples(tmp_path, [lines[0], {**lines[1], name: odd}, lines[2]]))
    assert len(read.column("responses", "row")) >= 2


@pytest.mark.parametrize("odd", [5, None, [1], {"a": 1}, "x", True])
@pytest.mark.parametrize("name", ["source_metadata", "eval_library", "model_info", "evaluation_timestamp"])
def test_odd_parts_of_a_log(tmp_path: Path, name: str, odd: Any) -> None:
    read = read_one(write_log(tmp_path, log([result("t", "acc", 0.5)], **{name: odd})))
    assert aggregates(read, "value") == [(0.5,)]


@pytest.mark.parametrize(
    "own",
    ['{"row": -1}', '{"row": true}', '{"row": 0, "response": {"delivery": "x", "epoch": "a"}}', "[", '{"row": 1e99}'],
)
def test_what_somebody_else_wrote_under_our_name(tmp_path: Path, own: str) -> None:
    line = sample("q", "1+1", "2", "2", 1.0, metadata={"foreshock": own})
    read = read_one(write_samples(tmp_path, [line]))
    assert read.column("responses", "delivery") == ["ok"]
    assert scores(read) == [(0, "acc", 1.0)]


def test_logs_of_inspect_are_not_taken(shared_data: Path) -> None:
    reads, _ = read_all(shared_data / "logs" / "inspect" / "every_eval_ever")
    assert {r.run.format for r in reads} == {"inspect"}


def test_the_schemas_of_the_format_are_no_logs(shared_data: Path) -> None:
    reads, failures = read_all(shared_data / "logs" / "every_eval_ever" / "schemas")
    assert not reads
    assert all("no reader knows this file" in str(f.error) for f in failures)


def test_small_files_are_recognised(tmp_path: Path) -> None:
    write_small(tmp_path)
    reads, failures = read_all(tmp_path)
    assert not failures
    assert [r.run.format for r in reads] == ["every-eval-ever"] * 4


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8), st.floats(-5, 5)), min_size=1, max_size=6))
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, float]]) -> None:
    lines = [sample(f"q{k}", q, o, "t", s) for k, (q, o, s) in enumerate(rows)]
    read = read_one(write_samples(tmp_path_factory.mktemp("e"), lines))
    assert read.column("responses", "output") == [o for _, o, _ in rows]
    assert scores(read) == [(k, "acc", s) for k, (_, _, s) in enumerate(rows)]
