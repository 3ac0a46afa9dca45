"""Files of lm-evaluation-harness with values that it does not write: a member suffers, not the line or the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foreshock.readers import Failure, _discover, read_paths
from foreshock.readers._files import unreadable

from ._lm_eval_logs import DATE_ID, choice_line, results, text_line, write_lines, write_pair
from ._read import read_all, read_one

LINES = [text_line(n, "a", "a", "a", filter="none", metrics=["exact_match"]) for n in range(3)]
HEADER = results("t", {"exact_match,none": 1.0}, n=3)


@pytest.mark.parametrize("odd", [5, True, [1], {"a": 1}, "x", [[1]], [None], 10**400, 1.5])
@pytest.mark.parametrize("name", ["filter", "doc_hash", "prompt_hash", "metrics", "arguments", "gold_token_logprobs"])
def test_a_wrong_type_where_it_does_not_matter_keeps_the_line(tmp_path: Path, name: str, odd: Any) -> None:
    write_pair(tmp_path, "t", HEADER, [LINES[0], {**LINES[1], name: odd}, LINES[2]])
    found = read_one(tmp_path)
    assert found.column("responses", "item_id") == ["0", "1", "2"]
    assert found.column("responses", "output") == ["a"] * 3
    assert found.column("scores", "value") == [1.0] * 3
    assert found.status == "complete"
    told = [w for w in found.warnings if w == f"members of an unexpected type were left out: {name} in 1 lines"]
    fits = isinstance(odd, str) == (name in ("filter", "doc_hash", "prompt_hash"))
    assert bool(told) or fits or (isinstance(odd, list) and name in ("gold_token_logprobs", "arguments", "metrics"))


@pytest.mark.parametrize("value", [10**400, -(10**400), float("inf"), float("nan"), None])
def test_a_metric_beyond_every_float_has_failed(tmp_path: Path, value: Any) -> None:
    write_pair(tmp_path, "t", HEADER, [LINES[0], {**LINES[1], "exact_match": value}, LINES[2]])
    found = read_one(tmp_path)
    assert found.column("scores", "value") == [1.0, None, 1.0]
    assert found.column("scores", "status") == ["scored", "failed", "scored"]
    assert found.column("scores", "row") == [0, 1, 2]


def test_log_likelihoods_beyond_every_float(tmp_path: Path) -> None:
    odd = choice_line(1, 0, [-1.0, -2.0], texts=False, filter="none")
    odd["resps"] = [[[-(10**400), False]], [[-2.0, False]]]
    tokens = {**LINES[2], "gold_token_logprobs": [-1.0, 10**400]}
    write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", [odd, tokens])
    found = read_one(tmp_path)
    assert found.column("responses", "choice_logprobs") == [None, None]
    assert found.column("responses", "gold_token_logprobs") == [None, [-1.0, None]]
    assert found.column("responses", "gold_logprob") == [None, None]


def test_one_task_of_the_wrong_type_leaves_the_others(tmp_path: Path) -> None:
    header = {**HEADER, "results": {**HEADER["results"], "u": 3}, "date": "tomorrow", "git_hash": 7}
    header["configs"] = {**header["configs"], "u": [1]}
    write_pair(tmp_path, "t", header, LINES)
    reads, failures = read_all(tmp_path)
    assert not failures
    assert [(r.run.task, r.status) for r in reads] == [("t", "complete"), ("u", "partial")]
    assert reads[0].column("aggregates", "value") == [1.0]
    assert reads[0].column("responses", "row") == [0, 1, 2]
    assert "the results of u are no object" in reads[1].warnings
    assert "parts of an unexpected type were left out: results.u, configs.u, git_hash" in reads[0].warnings
    assert reads[0].run.created == "2024-07-01T10:11:12.000013"


@pytest.mark.parametrize("odd", [5, True, "x", {"metric": "acc"}, [5, None, "x"]])
def test_declarations_of_the_wrong_type(tmp_path: Path, odd: Any) -> None:
    config = {"metric_list": odd, "filter_list": odd, "output_type": odd, "target_delimiter": odd}
    write_pair(tmp_path, "t", results("t", {"exact_match,none": 1.0}, n=3, config=config), LINES)
    found = read_one(tmp_path)
    assert found.column("responses", "item_id") == ["0", "1", "2"]
    assert found.status == "complete"


def test_impossible_numbers_in_the_results(tmp_path: Path) -> None:
    metrics = {"acc,none": 0.5, "acc_stderr,none": 1e-200, "em,none": 10**400, "em_stderr,none": 10**400}
    header = results("t", metrics, group_subtasks={"t": ["g"], "g": ["t"]}, groups={"g": {}})
    header["config"]["model_num_parameters"] = 10**400
    (tmp_path / f"results_{DATE_ID}.json").write_text(json.dumps(header), "utf-8")
    found = read_one(tmp_path)
    assert found.column("aggregates", "value") == [0.5, None]
    assert found.column("aggregates", "n") == [None, None]
    assert found.run.card.parameters is None


def test_samples_of_a_task_without_results_are_read_alone(tmp_path: Path) -> None:
    header = {**HEADER, "configs": {**HEADER["configs"], "other": {}}}
    write_pair(tmp_path, "t", header, LINES)
    write_lines(tmp_path / f"samples_other_{DATE_ID}.jsonl", LINES)
    reads, _ = read_all(tmp_path)
    assert [(r.run.task, len(r.column("responses", "row"))) for r in reads] == [("t", 3), ("other", 3)]


def test_true_is_not_document_one(tmp_path: Path) -> None:
    write_pair(tmp_path, "t", HEADER, [LINES[0], LINES[1], {**LINES[2], "doc_id": True}])
    assert read_one(tmp_path).column("responses", "item_id") == ["0", "1", "True"]


def test_an_endless_document_id_is_bounded(tmp_path: Path) -> None:
    write_pair(tmp_path, "t", HEADER, [{**LINES[0], "doc_id": "x" * 10**6 + end} for end in "ab"])
    found = read_one(tmp_path)
    ids = found.column("responses", "item_id")
    assert len(set(ids)) == 2
    assert max(map(len, ids)) < 300
    assert found.column("items", "item_id") == ids


@pytest.mark.parametrize("content", [b"", b"\x00" * 100])
def test_a_run_whose_samples_cannot_be_read_is_not_complete(tmp_path: Path, content: bytes) -> None:
    _, samples = write_pair(tmp_path, "t", HEADER, LINES)
    assert read_one(tmp_path).status == "complete"
    assert read_one(next(tmp_path.glob("results*"))).status == "complete"  # nobody asked for the samples
    samples.write_bytes(content)
    reads, failures = read_all(tmp_path)
    assert [f.path for f in failures] == [samples]
    assert [r.status for r in reads] == ["partial"]
    assert any(w.startswith("its samples are not read: samples_t_") for w in reads[0].warnings)


def test_a_run_whose_samples_cannot_be_opened_is_not_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from foreshock.readers import _lm_eval_files

    _, samples = write_pair(tmp_path, "t", HEADER, LINES)
    real = _discover.head

    def closed(path: Path) -> bytes:
        if path == samples:
            raise unreadable(path, PermissionError(13, "Permission denied"))
        return real(path)

    monkeypatch.setattr(_discover, "head", closed)
    monkeypatch.setattr(_lm_eval_files, "head", closed)
    found = list(read_paths([tmp_path]))
    (run,) = [f.run for f in found if not isinstance(f, Failure)]
    assert run.status == "partial"
    assert any("Permission denied" in w for w in run.warnings)


def test_samples_whose_documents_are_longer_than_the_head(tmp_path: Path) -> None:
    lines = [{**line, "doc": {**line["doc"], "context": "x" * 100_000}} for line in LINES]
    place = write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", lines)
    assert read_one(place).run.format == "lm-eval"
