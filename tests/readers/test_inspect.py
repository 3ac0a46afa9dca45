"""The shapes in which an Inspect log comes; the samples are ours."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from foreshock.readers._inspect import InspectReader
from foreshock.readers._protocol import Candidate, Reading, ReadOptions
from foreshock.records import RunStatus

from ._logs import Read, candidate, maker, read, small, write_eval


def comparable(found: Read) -> dict[str, Any]:
    """All rows, without what the header's counts add."""
    return {k: found.tables.get(k) for k in ("items", "responses", "scores", "trace", "aggregates")}


def chunk(sample: dict[str, Any], per: int = 2, texts: bool = True) -> dict[str, Any]:
    """The members of a chunked sample as ``inspect log convert-chunked`` lays them out."""
    full = copy.deepcopy(sample)
    prefix = f"samples/{full['id']}_epoch_{full['epoch']}"
    inside = [{"role": "system", "content": "not in the conversation"}, *full.pop("messages")]
    held = [full["input"], full["output"]["completion"]]
    if texts:
        full["input"], full["output"]["completion"] = "attachment://0", "attachment://1"
        inside[2]["content"] = "attachment://0"
    metadata, events = full.pop("metadata"), full.pop("events")
    full.pop("attachments")
    full["message_refs"] = [[1, 3], [3, len(inside)]]
    pieces = {f"messages/{n}.json": inside[n : n + per] for n in range(0, len(inside), per)}
    pieces |= {f"events/{n}.json": events[n : n + 7] for n in range(0, len(events), 7)}
    pieces |= {f"attachments/{n}.json": [held[n]] for n in range(2)}
    pieces |= {"events/stats.json": {"version": 1}, "events/uuids.json": ["a"], "calls/0.json": [{"id": "x"}]}
    # the shell neither first nor last
    pieces |= {"metadata.json": metadata, "sample.json": full, "skeleton.json": {"version": 1, "spans": []}}
    return {f"{prefix}/{name}": value for name, value in pieces.items()}


@pytest.fixture
def whole(tmp_path: Path) -> Read:
    return read(write_eval(tmp_path / "whole.eval", small()))


def test_an_ordinary_log(whole: Read) -> None:
    run = whole.run
    assert (run.format, run.reader, run.writer) == ("inspect", "inspect@1", "0.3.285")
    assert (run.model, run.task, run.task_version) == ("lab/model-1b", "sums", "1")
    assert (run.status, run.expected, run.warnings) == (RunStatus.COMPLETE, 3, [])
    assert run.created == "2026-11-30T09:00:00Z"
    assert run.conditions == {
        "epochs": "1",
        "epochs_reducer": '["mean"]',
        "max_tokens": "512",
        "solver": "generate",
        "task.difficulty": "easy",
        "temperature": "0.0",
    }
    assert whole.ids() == [("1", 1), ("2", 1), ("3", 1)]
    assert [r["row"] for r in whole.responses] == [0, 1, 2]
    first, sample = whole.responses[0], maker.sample(1)
    assert first["output"] == sample["output"]["completion"]
    assert first["answer"] == sample["scores"]["match"]["answer"]
    assert first["seconds"] == sample["working_time"]
    assert first["total_tokens"] == sample["model_usage"]["lab/model-1b"]["total_tokens"]
    assert whole.metas()[0]["metadata"] == sample["metadata"]
    assert len(whole.items) == 3
    assert whole.items[0]["targets"] == [sample["target"]]
    assert len(whole.scores) == 6
    assert [(a["metric_id"], a["value"], a["stderr"], a["n"]) for a in whole.aggregates] == [
        ("match", 0.5, 0.01, 3),
        ("includes", 0.5, 0.01, 3),
    ]


@pytest.mark.parametrize("method", [maker.DEFLATE, maker.STORED])
def test_other_compressions(tmp_path: Path, whole: Read, method: int) -> None:
    assert comparable(read(write_eval(tmp_path / "a.eval", small(), method=method))) == comparable(whole)


def test_several_frames_in_a_member(tmp_path: Path, whole: Read) -> None:
    assert comparable(read(write_eval(tmp_path / "a.eval", small(), frames=3))) == comparable(whole)


def test_json(tmp_path: Path, whole: Read) -> None:
    members = small()
    samples = [v for k, v in members.items() if k.startswith("samples/")]
    for name, text in {
        "a.json": json.dumps({**members["header.json"], "samples": samples}),
        "b.json": json.dumps({**members["header.json"], "samples": samples}, indent=2),
        "c.txt": "\ufeff" + json.dumps({"samples": samples, **members["header.json"]}),
    }.items():
        path = tmp_path / name
        path.write_text(text, "utf-8")
        found = read(path)
        assert comparable(found) == comparable(whole)
        assert found.run.run_key == whole.run.run_key
        assert found.run.warnings == []


@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize("per", [1, 2, 9])
def test_chunked(tmp_path: Path, whole: Read, per: int, texts: bool) -> None:
    members: dict[str, Any] = {}
    for name, value in small().items():
        members |= chunk(value, per, texts) if name.startswith("samples/") else {name: value}
    assert comparable(read(write_eval(tmp_path / "a.eval", members))) == comparable(whole)


def test_chunks_are_ordered_by_their_numbers(tmp_path: Path) -> None:
    members = chunk({**maker.sample(1), "events": []})
    for n in (10, 9, 0):
        members[f"samples/1_epoch_1/events/{n}.json"] = [{"event": "error", "error": {"message": str(n)}}]
    got = read(write_eval(tmp_path / "a.eval", {**members, "header.json": maker.header(1)}))
    assert [s["value"] for s in got.trace if s["kind"] == "error"] == ["0", "9", "10"]


def test_chunked_and_whole_samples_mixed(tmp_path: Path, whole: Read) -> None:
    members = small()
    mixed: dict[str, Any] = {}
    for name, value in members.items():
        mixed |= chunk(value) if name == "samples/2_epoch_1.json" else {name: value}
    assert comparable(read(write_eval(tmp_path / "a.eval", mixed))) == comparable(whole)


@pytest.mark.parametrize("per", [None, 2])
@pytest.mark.parametrize(
    "odd", ["a/b", "../../etc/passwd", "x_epoch_7", "messages/0", "a_epoch_1/messages/0", "sample", "é\u202e", " ", ""]
)
def test_ids_come_from_the_sample(tmp_path: Path, odd: str, per: int | None) -> None:
    members = small(2)
    sample = {**members.pop("samples/1_epoch_1.json"), "id": odd, "epoch": 3}
    pieces = {f"samples/{odd}_epoch_3.json": sample} if per is None else chunk(sample, per)
    found = read(write_eval(tmp_path / "a.eval", {**pieces, **members}))
    assert sorted(found.ids()) == sorted([(odd, 3), ("2", 1)])
    assert {p.name for p in tmp_path.iterdir()} == {"a.eval"}


def test_duplicate_members_the_last_one_counts(tmp_path: Path) -> None:
    members = small(2)
    path = tmp_path / "a.eval"
    with path.open("wb") as file:
        archive = maker.ZipWriter(file)
        old = {**members["samples/1_epoch_1.json"], "target": "old"}
        archive.add_json("samples/1_epoch_1.json", old)
        for name, value in members.items():
            archive.add_json(name, value)
        archive.close()
    found = read(path)
    assert found.ids() == [("1", 1), ("2", 1)]
    assert "old" not in [r["targets"][0] for r in found.items]
    assert found.run.status == RunStatus.COMPLETE
    assert found.run.warnings == [
        "1 member(s) of the archive are replaced by a later one of the same name: samples/1_epoch_1.json"
    ]


def test_equal_ids_in_one_log_keep_both_rows(tmp_path: Path) -> None:
    members = small(2)
    members["samples/x_epoch_1.json"] = {**members["samples/2_epoch_1.json"], "id": 1}
    found = read(write_eval(tmp_path / "a.eval", members))
    assert sorted(found.ids()) == [("1", 1), ("1", 1), ("2", 1)]
    assert len(found.items) == 3
    assert found.run.warnings == ["1 sample(s) repeat an id and epoch of this run (all rows are kept): 1, epoch 1"]


def test_epochs_share_an_item(tmp_path: Path) -> None:
    members = small(2, 3)
    for name, value in members.items():
        if name.startswith("samples/"):
            members[name] = {**maker.sample(value["id"]), "epoch": value["epoch"]}
    found = read(write_eval(tmp_path / "a.eval", members))
    assert len(found.items) == 2
    assert len(found.responses) == found.run.expected == 6
    assert [a["n"] for a in found.aggregates] == [2, 2]


def test_no_header_the_journal_tells(tmp_path: Path) -> None:
    members = small(3)
    del members["header.json"], members["summaries.json"], members["samples/3_epoch_1.json"]
    members["_journal/summaries/1.json"] = [maker.summary(maker.sample(1))]
    found = read(write_eval(tmp_path / "a.eval", members))
    assert (found.run.status, found.run.expected, found.run.model) == (RunStatus.STARTED, 3, "lab/model-1b")
    assert found.ids() == [("1", 1), ("2", 1)]
    assert found.aggregates == []
    assert found.run.warnings == [
        "the log has no header.json: the run was not finished, or crashed",
        "1 of 3 announced samples are not in the log",
    ]


@pytest.mark.parametrize("absent", [0, 1])
def test_a_complete_run_with_absent_samples_is_partial(tmp_path: Path, absent: int) -> None:
    members = small(3, sample_ids=None)
    members["header.json"]["eval"]["dataset"]["sample_ids"] = [1, 2, 3]
    if absent:
        del members["samples/2_epoch_1.json"]
    found = read(write_eval(tmp_path / "a.eval", members))
    assert found.run.status == (RunStatus.PARTIAL if absent else RunStatus.COMPLETE)
    assert found.run.meta.get("absent_ids") == ([["2", 1]] if absent else None)


def test_log_samples_off(tmp_path: Path) -> None:
    members = {k: v for k, v in small(3).items() if not k.startswith("samples/")}
    members["header.json"]["eval"]["config"]["log_samples"] = False
    found = read(write_eval(tmp_path / "a.eval", members))
    assert (found.run.status, found.run.expected) == (RunStatus.COMPLETE, 3)
    assert len(found.aggregates) == 2
    assert found.run.warnings == ["no samples were logged: only the log's own aggregates are known"]


@pytest.mark.parametrize(
    ("status", "want"),
    [
        ("success", RunStatus.COMPLETE),
        ("cancelled", RunStatus.CANCELLED),
        ("error", RunStatus.ERROR),
        ("started", RunStatus.STARTED),
        ("paused", RunStatus.PARTIAL),
        (None, RunStatus.PARTIAL),
    ],
)
def test_status(tmp_path: Path, status: str | None, want: RunStatus) -> None:
    members = small(1)
    members["header.json"]["status"] = status
    run = read(write_eval(tmp_path / "a.eval", members)).run
    assert run.status == want
    assert bool(run.warnings) == (status in ("paused", None))


def test_versions(tmp_path: Path) -> None:
    for version in (1, 2, 3):
        assert read(write_eval(tmp_path / "a.eval", altered(version=version))).run.warnings == []
    (warning,) = read(write_eval(tmp_path / "a.eval", altered(version=9))).run.warnings
    assert "version 9" in warning


def altered(**header: Any) -> dict[str, Any]:
    members = small(1)
    members["header.json"].update(header)
    return members


@pytest.mark.parametrize(
    ("spec", "results", "want"),
    [
        ({}, {"total_samples": 7}, 7),
        ({"dataset": {"samples": 100}, "config": {"limit": 10, "epochs": 3}}, {}, 30),
        ({"dataset": {"samples": 100}, "config": {"limit": [5, 9]}}, {"total_samples": 0}, 4),
        ({"dataset": {"samples": 5}, "config": {"limit": 10}}, None, 5),
        ({"dataset": {"samples": 100, "sample_ids": [1, "b"]}, "config": {"limit": 10, "epochs": 2}}, {}, 4),
        ({"dataset": {"name": "d"}, "config": {"limit": 20}}, {}, None),
        ({"dataset": None}, {}, None),
        ({"dataset": {"samples": 10**30}}, {}, None),
        ({"dataset": {"samples": "many"}}, {"total_samples": "all"}, None),
        ({"dataset": {"samples": -4}, "config": {"epochs": "two", "limit": [1]}}, {}, None),
    ],
)
def test_expected(tmp_path: Path, spec: Any, results: Any, want: int | None) -> None:
    members = small(1, **spec)
    members["header.json"]["results"] = results
    assert read(write_eval(tmp_path / "a.eval", members)).run.expected == want


def test_conditions_and_identity(tmp_path: Path) -> None:
    spec: dict[str, Any] = {
        "model_generate_config": {"temperature": 1.0, "reasoning_effort": "low", "max_retries": 3, "seed": 11},
        "task_args": {"my_api_key": "sk-secret", "shots": 5, "cot": True, "names": ["a"], "long": "x" * 999},
        "config": {"limit": [0, 10], "message_limit": 30, "log_images": True},
        "model_roles": {"grader": {"model": "lab/judge"}},
        "model_args": {"api_key": "sk-secret", "device": "cuda", "outputs": [{"a": 1}], "big": "y" * 999},
        "tags": ["nightly"],
        "scorers": [{"name": "match", "options": {"numeric": False}}],
    }
    members = small(1, **spec)
    members["header.json"]["plan"] = {
        "steps": [{"solver": "chain", "params": {"template": "T"}}, {"solver": "generate"}],
        "config": {"temperature": 0.5},
    }
    run = read(write_eval(tmp_path / "a.eval", members)).run
    long = run.conditions.pop("task.long")
    assert long.startswith("sha256:")
    assert run.conditions == {
        "temperature": "0.5",
        "reasoning_effort": "low",
        "seed": "11",
        "task.shots": "5",
        "task.cot": "true",
        "limit": "[0,10]",
        "message_limit": "30",
        "solver": "chain > generate",
    }
    assert (run.seed, run.judge) == (11, "lab/judge")
    assert run.meta["model_args"] == {"device": "cuda"}
    assert "sk-secret" not in repr(run)
    assert run.meta["tags"] == ["nightly"]
    members["header.json"]["plan"]["steps"][0]["params"]["template"] = "U"
    other = read(write_eval(tmp_path / "b.eval", members)).run
    assert other.prompt_hash != run.prompt_hash
    assert other.scorer_hash == run.scorer_hash
    assert other.run_key == run.run_key
    members["header.json"]["eval"]["task_id"] = "else"
    assert read(write_eval(tmp_path / "c.eval", members)).run.run_key != run.run_key


@pytest.mark.parametrize(
    ("created", "want"),
    [
        ("2025-05-12T20:28:13-04:00", "2025-05-13T00:28:13Z"),
        ("2024-05-05T07:59:35", "2024-05-05T07:59:35Z"),
        ("2024-05-05T07:59:35.5Z", "2024-05-05T07:59:35.500000Z"),
        ("yesterday", None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_created(tmp_path: Path, created: str, want: str | None) -> None:
    run = read(write_eval(tmp_path / "a.eval", small(1, created=created))).run
    assert run.created == want
    assert bool(run.warnings) == (want is None)


def test_options_name_what_the_log_does_not(tmp_path: Path) -> None:
    members = small(1)
    del members["header.json"]["eval"]["model"]
    path = write_eval(tmp_path / "a.eval", members)
    assert (read(path).run.model, read(path).run.guesses) == ("unknown", ["model"])
    options = ReadOptions(model="mine", task="other")
    (found,) = InspectReader().read([candidate(path)], options)
    assert isinstance(found, Reading)
    list(found.batches)
    assert (found.run.model, found.run.task, found.run.guesses) == ("mine", "sums", [])
    assert found.run.ingest_id != read(path).run.ingest_id


def test_claims_by_content() -> None:
    claims = InspectReader().claims
    header = json.dumps(maker.header(1)).encode()

    def judged(head: bytes, *members: str) -> bool:
        return claims(Candidate(Path("x"), head, members), ReadOptions())

    assert judged(b"PK\x03\x04", "header.json", "samples/1_epoch_1.json")
    assert judged(b"PK\x03\x04", "_journal/start.json")
    assert not judged(b"PK\x03\x04", "data.csv", "samples/readme.txt")
    assert not judged(b"PK\x03\x04" + b"." * 26 + b"word/document.xml")
    assert judged(b"PK\x03\x04" + b"." * 26 + b"_journal/start.json")
    assert judged(header)
    assert judged(b"\xef\xbb\xbf\n  " + header)
    assert not judged(b'{"results": {}, "config": {"model": "x"}}')
    assert not judged(b'{"eval": 1, "status": 2}')
    assert not judged(b"[" + header)
    assert not judged(b"")


def test_claims_a_log_whose_directory_is_lost(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "a.eval", small(2), directory=False)
    assert InspectReader().claims(candidate(path), ReadOptions())
