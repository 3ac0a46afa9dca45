"""What fuzzing has found, each made small; see ``tools/fuzz.py`` and ``benchmarks/results/fuzz.md``."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from foreshock._base import ForeshockError
from foreshock.readers._items_matrix import Matrix

from . import _every_eval_ever_logs as every_eval_ever
from . import _helm_logs as helm
from ._lm_eval_logs import choice_line, write_lines
from ._logs import maker, small, write_eval
from ._read import failure, read_all, read_one


def test_a_negative_count_of_samples_beyond_64_bits(tmp_path: Path) -> None:
    members: dict[str, Any] = small(2)
    members["header.json"]["results"]["completed_samples"] = -(2**63) - 1
    read = read_one(write_eval(tmp_path / "a.eval", members))
    assert set(read.column("aggregates", "n")) == {None}


def test_lines_after_one_with_too_many_metrics_are_read(tmp_path: Path) -> None:
    first, last = choice_line(0, 0, [-1.0, -2.0]), choice_line(2, 0, [-1.0, -2.0])
    broken = {**choice_line(1, 0, [-1.0, -2.0]), **{f"m{n}": 1.0 for n in range(600)}}
    read = read_one(write_lines(tmp_path / "samples_t.jsonl", [first, broken, last]))
    assert read.column("responses", "item_id") == ["0", "2"]
    assert "more than 500 different members" in " ".join(read.warnings)
    assert "unexpected" not in " ".join(read.warnings)


def test_blank_lines_and_one_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('\n\n\n{"model": "a', "utf-8")
    assert "no whole line" in failure(path, map={"item": "model", "output": "model"})


def test_a_member_above_its_archive_is_read_and_written_nowhere(tmp_path: Path) -> None:
    rows = [{"id": n, "question": f"q{n}", "output": "a"} for n in range(2)]
    folder = tmp_path / "in"
    folder.mkdir()
    write_eval(folder / "a.zip", {"../x.json": rows}, method=maker.DEFLATE)
    assert read_one(folder).column("responses", "item_id") == ["0", "1"]
    assert list(tmp_path.iterdir()) == [folder]


def test_an_archive_without_a_table_is_named_whatever_the_options(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "a.zip", {"readme.md": [], "table.csv": b"x,y\n1,2\n"}, method=maker.DEFLATE)
    assert "no column" in failure(path, csv={"x": "size", "y": "score"})
    path = write_eval(tmp_path / "b.zip", {".hidden.csv": b"x,y\n1,2\n"}, method=maker.DEFLATE)
    assert "no member of the archive is a table" in failure(path, csv={"x": "size", "y": "score"})


def test_thousands_of_columns_that_are_no_table(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{f"a{n} stderr": n for n in range(5_000)}]), "utf-8")
    start = time.process_time()
    assert "no column is plainly the item" in failure(tmp_path)
    assert time.process_time() - start < 4


def test_a_message_is_bounded(tmp_path: Path) -> None:
    name = "x" * 70_000
    (tmp_path / "a.csv").write_text(f"{name},{name},id,output\n1,2,3,4\n", "utf-8")
    assert len(failure(tmp_path)) < 12_000
    error = ForeshockError(name, expected=name, do=name, where=name)
    assert len(str(error)) < 12_100
    assert len(error.found) == len(error.args[0]) == 2_000


@pytest.mark.parametrize("role", ["model", "input"])
def test_how_a_table_was_read_is_told_in_bounded_length(tmp_path: Path, role: str) -> None:
    name = "[" * 70_000
    (tmp_path / "a.csv").write_text(f"id,{name},output,score\n1,x,3,1\n", "utf-8")
    (note, *_) = read_one(tmp_path, map={role: name}).notes
    assert f", {role}='[[[" in note
    assert len(note) < 300
    (tmp_path / "a.csv").write_text(f"model,task,score,std{name}err\nm,t,0.5,0.1\nn,t,0.6,0.1\n", "utf-8")
    (note, *_) = read_all(tmp_path)[0][0].notes
    assert "stderr='std[[[" in note
    assert len(note) < 300
    matrix = Matrix(label=name, rows="model", columns=(name, name), subset=name, codes={"-1" * 99: "missing"})
    assert matrix.sentence().startswith("read as model='[[[")
    assert len(matrix.sentence()) < 500


def test_nothing_is_passed_over_in_silence(tmp_path: Path) -> None:
    for name in ("a.json", "b.jsonl", "c.eval", "d.zip", "e.csv", "f.parquet"):
        (tmp_path / name).write_bytes(b"PK\x03\x04" if name == "d.zip" else b"\x00\x01")
    reads, failures = read_all(tmp_path, csv={"x": "size", "y": "score"})
    assert not reads
    assert len(failures) == 6


def test_tags_of_a_reference_that_are_no_list(tmp_path: Path) -> None:
    folder = next(p.parent for p in helm.write_small(tmp_path) if p.name == "instances.json")
    for other in [p for p in tmp_path.iterdir() if p != folder]:
        shutil.rmtree(other)
    instances = json.loads((folder / "instances.json").read_text("utf-8"))
    instances[0]["references"][0]["tags"] = 5
    (folder / "instances.json").write_text(json.dumps(instances), "utf-8")
    read = read_one(tmp_path)
    assert len(read.column("responses", "item_id")) > 1
    assert "unexpected" not in " ".join(read.warnings)


def test_results_without_a_task_are_named(tmp_path: Path) -> None:
    log = {"config_general": {"lighteval_sha": "a"}, "results": {"acc": 0.3}, "versions": {}, "config_tasks": {}}
    (tmp_path / "results_2025-09-03T10-57-04.203304.json").write_text(json.dumps({**log, "summary_tasks": {}}), "utf-8")
    assert "no task under results" in failure(tmp_path)


@pytest.mark.parametrize("colon", [": ", " : ", "\t:"])
def test_ten_million_members_are_refused_before_they_are_taken_in(tmp_path: Path, monkeypatch: Any, colon: str) -> None:
    monkeypatch.setattr("foreshock.readers._json.MAX_MEMBERS", 5)
    monkeypatch.setattr("foreshock.readers._json._LARGE", 20)
    row = {"id": 1, "output": "a", "target": "b", "x": {"y": {"z": 1}}}
    (tmp_path / "a.jsonl").write_text(json.dumps(row, separators=(",", colon)) + "\n", "utf-8")
    assert "more than 5 members" in failure(tmp_path)


def test_thousands_of_tasks_and_of_metrics(tmp_path: Path) -> None:
    metrics = {f"m{n}": 0.5 for n in range(5_000)}
    log = {"results": {"t": metrics}, "versions": {"t": 0}, "config": {"model": "gpt2"}}
    (tmp_path / "one.json").write_text(json.dumps(log), "utf-8")
    assert len(read_one(tmp_path).column("aggregates", "value")) == 5_000
    log = {**log, "results": {f"t{n}": {"acc": 0.5} for n in range(5_000)}}
    (tmp_path / "one.json").write_text(json.dumps(log), "utf-8")
    start = time.process_time()
    assert len(read_all(tmp_path)[0]) == 5_000
    assert time.process_time() - start < 5


def test_thousands_of_evaluations_in_one_file_of_samples(tmp_path: Path) -> None:
    path = next(p for p in every_eval_ever.write_small(tmp_path / "in") if p.name == "alone_samples.jsonl")
    line = json.loads(path.read_text("utf-8").splitlines()[0])
    lines = [{**line, "evaluation_name": f"e{n % 1_000}", "sample_id": str(n)} for n in range(2_000)]
    start = time.process_time()
    reads, failures = read_all(write_lines(tmp_path / "a_samples.jsonl", lines))
    assert not failures
    assert [r.run.task for r in reads] == [f"e{n}" for n in range(1_000)]
    assert reads[7].column("responses", "item_id") == ["7", "1007"]
    assert time.process_time() - start < 5


def test_a_line_whose_fault_is_in_its_text_is_counted(tmp_path: Path) -> None:
    path = next(p for p in every_eval_ever.write_small(tmp_path / "in") if p.name == "alone_samples.jsonl")
    first = path.read_bytes().splitlines()[0]
    assert b'"output"' in first
    (tmp_path / "a_samples.jsonl").write_bytes(first + b"\n" + first.replace(b'"output"', b'"\xff"') + b"\n")
    read = read_one(tmp_path / "a_samples.jsonl")
    assert len(read.column("responses", "item_id")) == 1
    assert "1 line could not be read" in " ".join(read.warnings)


def test_thousands_of_means_come_in_pieces(tmp_path: Path) -> None:
    members: dict[str, Any] = small(1)
    metrics = {f"m{n}": {"name": f"m{n}", "value": 0.5, "params": {}} for n in range(5_000)}
    members["header.json"]["results"]["scores"] = [{"name": "match", "scorer": "match", "metrics": metrics}]
    assert len(read_one(write_eval(tmp_path / "a.eval", members)).column("aggregates", "value")) == 5_000
    log = {"config_general": {"lighteval_sha": "a"}, "results": {"t|0": {f"m{n}": 0.5 for n in range(5_000)}}}
    path = tmp_path / "results_2025-09-03T10-57-04.203304.json"
    path.write_text(json.dumps({**log, "versions": {}, "config_tasks": {}, "summary_tasks": {}}), "utf-8")
    assert len(read_one(path).column("aggregates", "value")) == 5_000


def test_names_of_members_that_are_no_scores_are_bounded(tmp_path: Path) -> None:
    odd = {"[" * 100_000: [1, 2], **{f"odd{n}": [1, 2] for n in range(100)}}
    lines = [choice_line(n, 0, [-1.0, -2.0]) for n in range(2)]
    read = read_one(write_lines(tmp_path / "samples_t_2024-07-01T10-11-12.000013.jsonl", [lines[0] | odd, lines[1]]))
    assert max(map(len, read.warnings)) < 1_000
    assert 20 < len(read.warnings) < 40


def test_a_group_that_is_a_member_of_another_and_has_no_means(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    told = {"results": {"g": {"acc,none": 0.5, "acc_stderr,none": 0.1}}, "configs": {}, "versions": {}}
    path.write_text(
        json.dumps({**told, "config": {"model": "hf"}, "groups": {"t": {}}, "group_subtasks": {"g": ["t"]}})
    )
    read = read_one(path)
    assert read.column("aggregates", "value") == [0.5]
