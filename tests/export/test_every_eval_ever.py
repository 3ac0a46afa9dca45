"""Runs written as Every Eval Ever are valid, the same every time, and come back as they were."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from foreshock._base import StoreError
from foreshock.export import write_every_eval_ever
from foreshock.export._every_eval_ever import place
from foreshock.records import Batch, Run, item_key
from foreshock.store import Store, add_paths

from ._world import batches, make, runs, stored

RUN = Run(
    run_key="k0",
    ingest_id="i0",
    format="lm-eval",
    reader="lm-eval@1",
    model="org/model-7b",
    task="sums|easy",
    created="2024-07-01T10:11:12Z",
    conditions={"shots": "5", "temperature": "0.5"},
)
NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(_samples\.jsonl|\.json)")


def item(k: int) -> dict[str, Any]:
    return {
        "item_key": item_key(f"{k}+{k}", (), [str(2 * k)]),
        "item_id": f"q{k}",
        "input": f"{k}+{k}",
        "targets": [str(2 * k)],
        "subset": "even",
    }


def reply(row: int, k: int, output: str | None, **more: Any) -> dict[str, Any]:
    found = {"row": row, "item_key": item(k)["item_key"], "item_id": f"q{k}", "epoch": 1, "sample": 0}
    rest = {"delivery": "ok", "output": output, "answer": output, "choice_logprobs": None, "seconds": 1.5}
    return {**found, **rest, **more}


def score(row: int, metric: str, value: float | None, status: str = "scored") -> dict[str, Any]:
    return {"row": row, "metric_id": metric, "source": "harness", "value": value, "status": status}


def mean(metric: str, value: float | None, **more: Any) -> dict[str, Any]:
    found = {
        "metric_id": metric,
        "value": value,
        "stderr": 0.25,
        "stderr_kind": "bootstrap",
        "n": 2,
        "source": "harness",
    }
    return {**found, "low": 0.0, "high": 1.0, "higher_is_better": True, "raw": "0.5", **more}


def small(folder: Path) -> Store:
    replies = [
        reply(0, 1, "2", choice_logprobs=[-0.1, -2.5]),
        reply(1, 2, "5"),
        reply(2, 2, "4", epoch=2),
        reply(3, 1, None, delivery="refused", answer=None),
    ]
    marks = [score(0, "acc", 1.0), score(0, "f1", 0.5), score(1, "acc", 0.0), score(2, "acc", None, "failed")]
    return make(folder, RUN, batches([item(1), item(2)], replies, marks, [mean("acc", 0.5), mean("ppl", None)]))


def lines_of(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.rglob("*_samples.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_what_is_written(tmp_path: Path) -> None:
    done = write_every_eval_ever(small(tmp_path / "s").snapshot(), tmp_path / "out")
    (path,) = done.files
    assert path.relative_to(tmp_path / "out").parts[:4] == ("data", "sums_easy", "org", "model-7b")
    assert all(NAME.fullmatch(p.name) for p in (tmp_path / "out").rglob("*.json*"))
    found = json.loads(path.read_text("utf-8"))
    assert found["evaluation_timestamp"] == "1719828672"
    assert found["eval_library"] == {"name": "lm_eval", "version": "unknown"}
    results = {r["evaluation_result_id"]: r for r in found["evaluation_results"]}
    assert results["acc"]["score_details"]["uncertainty"] == {
        "num_samples": 2,
        "standard_error": {"method": "bootstrap", "value": 0.25},
    }
    assert results["f1"]["score_details"]["score"] == 0.5  # made of the scores: the log gave no mean
    assert results["acc"]["generation_config"]["generation_args"] == {"temperature": 0.5}
    lines = lines_of(tmp_path / "out")
    assert done.lines == found["detailed_evaluation_results"]["total_rows"] == len(lines) == 3
    assert [(x["sample_id"], x.get("evaluation_result_id"), x["evaluation"]["score"]) for x in lines] == [
        ("q1", "acc", 1.0),
        ("q1", "f1", 0.5),
        ("q2", "acc", 0.0),
    ]
    assert not any(x.get("error") for x in lines)


def test_no_tool_can_take_a_missing_score_for_a_zero(tmp_path: Path) -> None:
    store = small(tmp_path / "s")
    done = write_every_eval_ever(store.snapshot(), tmp_path / "out")
    everything = [json.loads(x) for p in (tmp_path / "out").rglob("*.jsonl") for x in p.read_text("utf-8").splitlines()]
    assert all(x["evaluation_result_id"] for x in everything)
    (apart,) = (tmp_path / "out").rglob("*_unscored.foreshock")
    rest = [json.loads(x) for x in apart.read_text("utf-8").splitlines()]
    assert done.unscored == len(rest) == 2
    assert [(x["sample_id"], x["error"].partition(":")[0]) for x in rest] == [("q2", "not scored"), ("q1", "refused")]
    # a file that has become empty does not stay behind
    (run,) = store.snapshot().runs()
    write_every_eval_ever(
        make(tmp_path / "t", run, batches([], [], [], [mean("acc", 0.5)])).snapshot(), tmp_path / "out"
    )
    assert [p.suffix for p in (tmp_path / "out").rglob("*") if p.is_file()] == [".json"]


def test_a_run_without_any_score_has_no_samples_and_comes_back(tmp_path: Path) -> None:
    store = make(tmp_path / "s", RUN, batches([item(1)], [reply(0, 1, "2")], [], []))
    done = write_every_eval_ever(store.snapshot(), tmp_path / "out")
    assert (done.lines, done.unscored) == (0, 1)
    assert "detailed_evaluation_results" not in json.loads(done.files[0].read_text("utf-8"))
    again = Store.open(tmp_path / "t", create=True)
    assert len(add_paths(again, [tmp_path / "out"]).added) == 1
    assert stored(again) == stored(store)


@pytest.mark.parametrize("blank", ["\r", " ", ""])
def test_a_blank_answer_comes_back(tmp_path: Path, blank: str) -> None:
    store = make(tmp_path / "s", RUN, batches([item(1)], [{**reply(0, 1, "2"), "answer": blank}], [], []))
    write_every_eval_ever(store.snapshot(), tmp_path / "out")
    again = Store.open(tmp_path / "t", create=True)
    add_paths(again, [tmp_path / "out"])
    assert stored(again) == stored(store)


def test_what_does_not_fit_is_counted(tmp_path: Path) -> None:
    store = small(tmp_path / "s")
    notes = write_every_eval_ever(store.snapshot(), tmp_path / "out").notes
    told = {what.split(" ", 3)[1]: times for what, times in notes.items()}
    assert sum(notes.values()) == 6
    assert notes["a response without a score stands apart from the samples, of which the format demands a score"] == 2
    assert notes["choice_logprobs of a response stands as JSON in its metadata"] == 1
    assert notes["an epoch after the first stands as JSON in its metadata"] == 1
    assert told["mean"] == 1


class Schemas:
    """The format's own schemas."""

    def __init__(self, home: Path) -> None:
        names = ("eval", "instance_level_eval")
        found = [json.loads((home / f"{name}.schema.json").read_text("utf-8")) for name in names]
        self.log, self.line = map(jsonschema.Draft7Validator, found)

    def __repr__(self) -> str:
        return "schemas"  # hypothesis shows arguments


@pytest.fixture(scope="module")
def schemas(shared_data: Path) -> Schemas:
    return Schemas(shared_data / "logs" / "every_eval_ever" / "schemas")


def _back_again(folder: Path, schemas: Schemas, made: tuple[Run, list[Batch]]) -> None:
    """The format's own schemas take every file, and reading them gives the same rows and the same run."""
    store = make(folder / "s", *made)
    (path,) = write_every_eval_ever(store.snapshot(), folder / "out").files
    schemas.log.validate(json.loads(path.read_text("utf-8")))
    for samples in (*folder.rglob("*_samples.jsonl"), *folder.rglob("*_unscored.foreshock")):
        for line in samples.read_bytes().splitlines():
            schemas.line.validate(json.loads(line))
    again = Store.open(folder / "t", create=True)
    assert not add_paths(again, [folder / "out"]).failures
    assert stored(again) == stored(store)
    (first,), (second,) = store.snapshot().runs(), again.snapshot().runs()
    same = ("run_key", "model", "card", "task", "task_version", "conditions", "created", "chance", "judge", "counts")
    for name in (*same, "guesses", "status", "writer"):
        assert getattr(second, name) == getattr(first, name), name
    assert set(second.warnings) == set(first.warnings)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(made=runs())
def test_valid_and_back_again(
    tmp_path_factory: pytest.TempPathFactory, schemas: Schemas, made: tuple[Run, list[Batch]]
) -> None:
    _back_again(tmp_path_factory.mktemp("e"), schemas, made)


@pytest.mark.slow
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(made=runs())
def test_valid_and_back_again_often(
    tmp_path_factory: pytest.TempPathFactory, schemas: Schemas, made: tuple[Run, list[Batch]]
) -> None:
    _back_again(tmp_path_factory.mktemp("e"), schemas, made)


def test_the_same_run_has_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    store = small(tmp_path / "s")
    write_every_eval_ever(store.snapshot(), tmp_path / "a")
    before = {p.relative_to(tmp_path / "a"): p.read_bytes() for p in (tmp_path / "a").rglob("*.json*")}
    store.compact()
    write_every_eval_ever(store.snapshot(), tmp_path / "a")
    assert {p.relative_to(tmp_path / "a"): p.read_bytes() for p in (tmp_path / "a").rglob("*.json*")} == before
    assert len(before) == 2
    (log,) = (json.loads(v) for p, v in before.items() if p.suffix == ".json")
    assert log["retrieved_timestamp"] == "1700000000"
    assert not list((tmp_path / "a").rglob(".export-*"))


def test_only_the_asked_runs(tmp_path: Path) -> None:
    store = small(tmp_path / "s")
    store.write(
        msgspec.structs.replace(RUN, run_key="k1", ingest_id="i1", model="other"),
        batches([], [], [], [mean("acc", 1.0)]),
    )
    done = write_every_eval_ever(store.snapshot(), tmp_path / "out", runs=["k1"])
    assert [p.parts[-3:-1] for p in done.files] == [("unknown", "other")]
    assert done.lines == 0
    with pytest.raises(StoreError, match="no run 'nope'"):
        write_every_eval_ever(store.snapshot(), tmp_path / "out", runs=["nope"])


def test_names_are_folders_on_every_system() -> None:
    hostile = ("../../etc", "/etc/passwd", "..", "con", "NUL.txt", "a" * 79 + ".b", "\x1b[31m", "C:\\x")
    for name in hostile:
        for part in place(msgspec.structs.replace(RUN, model=name, task=name)):
            assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,80}", part)
            assert part.rstrip(".") == part
            assert part.partition(".")[0].lower() not in ("con", "nul", "com1")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot write it"):
        write_every_eval_ever(small(tmp_path / "s").snapshot(), tmp_path / "file")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from foreshock._cli import main

    small(tmp_path / "s")
    arguments = ["export", str(tmp_path / "out"), "--store", str(tmp_path / "s")]
    assert main([*arguments, "--format", "every-eval-ever", "--task", "sums*"]) == 0
    shown = capsys.readouterr().out
    assert f"Wrote 1 run, 3 lines of samples, to {tmp_path / 'out' / 'data'}." in shown
    assert "2 x a response without a score" in shown
    assert main([*arguments, "--model", "nobody"]) == 2
    assert "no run fits" in capsys.readouterr().err
