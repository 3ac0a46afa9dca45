"""lighteval: results and details of every layout, damaged Parquet, names with bars and colons."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreshock.records import item_key

from ._lighteval_logs import (
    MODEL,
    MOMENT,
    choice_row,
    leaderboard_row,
    old_row,
    results,
    text_row,
    write_details,
    write_results,
    write_small,
)
from ._lm_eval_logs import results as lm_eval_results
from ._lm_eval_logs import text_line
from ._read import failure, read_all, read_one

LLS = [-4.5, -1.25, -3.0]
LAW = "mmlu:law|5"


def test_results_and_details_are_one_run(tmp_path: Path) -> None:
    write_results(tmp_path, results({LAW: {"acc": 1 / 3, "acc_stderr": 0.3}}, {LAW: 3}))
    write_details(tmp_path, LAW, [choice_row(k, k, LLS) for k in range(3)])
    read = read_one(tmp_path)
    run = read.run
    assert (run.model, run.task, run.conditions) == (MODEL, "mmlu:law", {"shots": "5", "temperature": "0.5"})
    assert (run.created, run.guesses, run.writer, run.expected) == (
        *("2025-09-03T10:57:04.203304", ["created"]),
        *("abc123", 3),
    )
    assert len(run.sources) == 2
    assert read.column("responses", "choice_logprobs") == [LLS] * 3
    assert read.column("responses", "gold_logprob") == LLS
    assert read.column("responses", "answer") == [f" choice {k}.1" for k in range(3)]
    assert read.column("responses", "input_tokens") == [3] * 3
    assert read.column("items", "gold_index") == [0, 1, 2]
    assert read.column("items", "item_key")[0] == item_key(
        "Question 0?", [f" choice 0.{k}" for k in range(3)], [" choice 0.0"]
    )
    assert read.column("scores", "value") == [0.0, 1.0, 0.0]
    assert [read.column("aggregates", c) for c in ("value", "stderr", "n")] == [[1 / 3], [0.3], [3]]
    assert not read.warnings


def test_generations_and_their_samples(tmp_path: Path) -> None:
    rows = [
        text_row(0, ["4", "5"], "4", reasonings=["hm", None]),
        text_row(1, ["<think>x</think>7"], "4", text_post_processed=["7"]),
    ]
    write_results(tmp_path, results({"gsm8k|0": {"extractive_match": 0.5}}, {"gsm8k|0": 2}))
    write_details(tmp_path, "gsm8k|0", rows)
    read = read_one(tmp_path)
    assert read.column("responses", "output") == ["4", "5", "7"]
    assert read.column("responses", "sample") == [0, 1, 0]
    assert read.column("responses", "reasoning") == ["hm", None, None]
    assert read.column("responses", "output_tokens") == [2, 2, 2]
    assert read.column("items", "targets") == [["4"], ["4"]]
    assert read.column("items", "choices") == [None, None]
    assert list(zip(read.column("scores", "row"), read.column("scores", "value"), strict=True)) == [(0, 1.0), (2, 0.0)]


@pytest.mark.parametrize("row", [old_row, leaderboard_row])
def test_the_layouts_before(tmp_path: Path, row: Any) -> None:
    path = write_details(
        tmp_path, "harness|arc:challenge|25", [row(k, 1, LLS) for k in range(2)], "2023-07-19T13-48-53.093937"
    )
    read = read_one(path)
    assert (read.run.model, read.run.task, read.run.conditions) == (MODEL, "harness|arc:challenge", {"shots": "25"})
    assert read.run.guesses == ["model", "task", "created"]
    assert read.column("responses", "choice_logprobs") == [LLS] * 2
    assert read.column("items", "gold_index") == [1, 1]
    assert read.column("items", "input") == ["Question 0?", "Question 1?"]
    assert sorted(set(read.column("scores", "metric_id"))) == ["acc", "acc_norm"]
    assert read.column("scores", "value") == [1.0] * 4
    assert all(read.column("responses", "prompt_hash"))


def test_generations_of_old_files(tmp_path: Path) -> None:
    texts = {**old_row(0, 0, LLS), "predictions": ["4"], "choices": [], "gold_index": [], "gold": ["4"]}
    read = read_one(write_details(tmp_path, "lighteval|gsm8k|0|0", [texts]))
    assert read.column("responses", "output") == ["4"]
    assert read.column("items", "targets") == [["4"]]
    assert (read.run.task, read.run.conditions) == ("lighteval|gsm8k", {"shots": "0"})


def test_columns_that_were_turned_into_text(tmp_path: Path) -> None:
    """When the rows of a column had different types the writer made text of it."""
    rows = [{name: str(value) for name, value in choice_row(k, 1, LLS).items()} for k in range(2)]
    read = read_one(write_details(tmp_path, LAW, [*rows, {**rows[0], "doc": "{broken", "model_response": "{}"}]))
    assert read.column("responses", "choice_logprobs")[:2] == [LLS] * 2
    assert read.column("responses", "delivery") == ["ok", "ok", "missing"]


def test_text_that_is_no_value_of_python_stays_text(tmp_path: Path) -> None:
    rows = [{name: str(value) for name, value in choice_row(k, 1, LLS).items()} for k in range(2)]
    read = read_one(write_details(tmp_path, LAW, [rows[0], {**rows[1], "metric": "{[1], 2}", "doc": "{{}: [1]}"}]))
    assert read.column("responses", "delivery") == ["ok", "ok"]
    assert not any("unexpected" in warning for warning in read.run.warnings)


def test_a_configuration_without_end_has_no_hash(tmp_path: Path) -> None:
    value = results({LAW: {"acc": 0.5}}, {LAW: 3})
    text = json.dumps(value)
    name = next(n for n in ("prompt_function", "hf_repo") if f'"{n}": ' in text)
    config = value["config_tasks"]
    found = config[next(iter(config))]
    found[name] = "HERE"
    deep = "[" * 700 + "]" * 700
    path = write_results(tmp_path, value)
    path.write_text(path.read_text("utf-8").replace('"HERE"', deep), "utf-8")
    run = read_one(path).run
    assert run.prompt_hash is None or len(run.prompt_hash) == 16


def test_averages_have_no_standard_error(tmp_path: Path) -> None:
    """lighteval averages the errors of the members, too, which is the error of nothing."""
    mean = {"acc": 0.5, "acc_stderr": 0.1}
    tasks = {"mmlu:law|5": mean, "mmlu:art|5": mean, "mmlu:_average|5": mean}
    write_results(tmp_path, results(tasks, {"mmlu:law|5": 9}))
    reads, failures = read_all(tmp_path)
    assert not failures
    found = {r.run.task: r.column("aggregates", "stderr") for r in reads}
    assert found == {"mmlu:law": [0.1], "mmlu:art": [0.1], "mmlu:_average": [None]}
    assert reads[2].run.meta["group_of"] == ["mmlu:law|5", "mmlu:art|5"]


def test_functions_have_no_addresses_in_hashes(tmp_path: Path) -> None:
    value = results({LAW: {"acc": 0.5}}, {LAW: 3})
    other = json.loads(json.dumps(value).replace("0x7f00", "0x7fff"))
    first = read_one(write_results(tmp_path / "a", value)).run
    second = read_one(write_results(tmp_path / "b", other)).run
    assert first.prompt_hash == second.prompt_hash is not None


def test_names_that_a_file_cannot_have(tmp_path: Path) -> None:
    """Copies write _ for bars and colons; the task is found all the same."""
    write_results(tmp_path, results({LAW: {"acc": 0.0}}, {LAW: 1}))
    path = write_details(tmp_path, LAW, [choice_row(0, 0, LLS)])
    path.rename(path.with_name(f"details_mmlu_law_5_{MOMENT}.parquet"))
    assert read_one(tmp_path).column("responses", "row") == [0]


def test_details_of_another_moment_stay_alone(tmp_path: Path) -> None:
    write_results(tmp_path, results({LAW: {"acc": 0.0}}, {LAW: 1}))
    write_details(tmp_path, LAW, [choice_row(0, 0, LLS)], "2024-01-01T00-00-00.000000")
    reads, _ = read_all(tmp_path)
    assert len(reads) == 2
    assert len({r.run.run_key for r in reads}) == 2


def test_values_that_are_no_scores(tmp_path: Path) -> None:
    rows = [choice_row(0, 1, LLS, ppl=[1.0, 2.0], nan=math.nan), choice_row(1, 1, LLS, ppl=None, nan=1.0)]
    read = read_one(write_details(tmp_path, LAW, rows))
    found = list(zip(*(read.column("scores", c) for c in ("row", "metric_id", "value", "status")), strict=True))
    assert found == [
        (0, "acc", 1.0, "scored"),
        (0, "nan", None, "failed"),
        (1, "acc", 1.0, "scored"),
        (1, "nan", 1.0, "scored"),
    ]
    assert any("ppl is not a score of single documents: 1" in w for w in read.warnings)


@pytest.mark.parametrize("keep", [0.2, 0.6, 0.95])
def test_damaged_parquet_is_an_error_to_show(tmp_path: Path, keep: float) -> None:
    path = write_details(tmp_path, LAW, [choice_row(k, 1, LLS) for k in range(50)])
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    assert "not a whole Parquet file" in failure(path)
    path.write_bytes(data[: len(data) // 3] + bytes(200) + data[len(data) // 3 + 200 :])
    reads, failures = read_all(path)  # whatever it is, nothing escapes
    assert len(reads) + len(failures) >= 1


def test_damaged_details_leave_the_means(tmp_path: Path) -> None:
    write_results(tmp_path, results({LAW: {"acc": 0.5}}, {LAW: 3}))
    path = write_details(tmp_path, LAW, [choice_row(0, 1, LLS)])
    path.write_bytes(path.read_bytes()[:100])
    reads, failures = read_all(tmp_path)
    assert len(failures) == 1
    assert reads[0].column("aggregates", "value") == [0.5]
    assert reads[0].status == "partial"


@pytest.mark.parametrize("odd", [5, None, [1], "x", {}])
@pytest.mark.parametrize("name", ["config_general", "versions", "config_tasks", "summary_tasks"])
def test_odd_parts_of_the_results(tmp_path: Path, name: str, odd: Any) -> None:
    value = results({LAW: {"acc": 0.5, "acc_stderr": "N/A"}}, {LAW: 3}, **{name: odd})
    text = json.dumps(value)
    if name == "config_general":
        text = text.replace("{", '{"lighteval_sha": 1, ', 1)
    path = tmp_path / f"results_{MOMENT}.json"
    path.write_text(text, "utf-8")
    read = read_one(path)
    assert read.column("aggregates", "value") == [0.5]
    assert read.column("aggregates", "stderr") == [None]


def test_the_second_leaderboard_is_lm_eval(tmp_path: Path) -> None:
    """Its samples are lines in files that end in .json; the reader of lm-eval knows them by content."""
    header = lm_eval_results("leaderboard_bbh", {"exact_match,none": 1.0}, n=2)
    (tmp_path / f"results_{MOMENT}.json").write_text(json.dumps(header), "utf-8")
    lines = [text_line(k, "a", "a", "a", filter="none", metrics=["exact_match"]) for k in range(2)]
    samples = tmp_path / f"samples_leaderboard_bbh_{MOMENT}.json"
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    read = read_one(tmp_path)
    assert read.run.format == "lm-eval"
    assert read.column("responses", "output") == ["a", "a"]


def test_small_files_are_recognised(tmp_path: Path) -> None:
    write_small(tmp_path)
    reads, failures = read_all(tmp_path)
    assert not failures
    assert [r.run.format for r in reads] == ["lighteval"] * 4


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=6), st.lists(st.floats(-9, 0), min_size=2, max_size=4)), min_size=1, max_size=5)
)
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, documents: list[tuple[str, list[float]]]
) -> None:
    rows = [choice_row(k, 0, lls) for k, (_, lls) in enumerate(documents)]
    for row, (question, _) in zip(rows, documents, strict=True):
        row["doc"]["query"] = question
    read = read_one(write_details(tmp_path_factory.mktemp("l"), LAW, rows))
    assert read.column("responses", "choice_logprobs") == [lls for _, lls in documents]
    assert [q or "" for q in read.column("items", "input")] == [q if q.strip() else "" for q, _ in documents]
