"""Every lm-evaluation-harness log of the shared data against a table made without the readers."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from foreshock.readers import Failure, ReadOptions, read_paths
from foreshock.records import Batch, Run

ORACLE = Path(__file__).parent.parent / "oracles" / "lm_eval_expected.json"
NO_VERSION = {"Yaml", "N/A"}


def expected() -> dict[str, dict[str, Any]]:
    return json.loads(ORACLE.read_text("utf-8"))["files"]


@cache
def everything(folder: Path) -> dict[str, list[tuple[Run, list[Batch]]]]:
    """All readings of the two folders by the (first) file they come from."""
    found: dict[str, list[tuple[Run, list[Batch]]]] = {}
    for reading in read_paths([folder / "lm_eval_0.3", folder / "lm_eval_0.4"], ReadOptions()):
        assert not isinstance(reading, Failure), reading
        run, batches = reading.run, list(reading.batches)
        for source in run.sources:
            name = Path(source.path).relative_to(folder.resolve()).as_posix()
            found.setdefault(name, []).append((run, batches))
    return found


def column(batches: list[Batch], table: str, name: str) -> list[Any]:
    return [v for b in batches if b.table == table for v in b.columns[name]]


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def per_task(given: Any, task: str) -> Any:
    return given[task] if isinstance(given, dict) else given


@pytest.mark.parametrize("kind", ["results-0.3", "results-0.4"])
def test_aggregates(shared_data: Path, kind: str) -> None:
    logs, table = everything(shared_data / "logs"), expected()
    files = {name: entry for name, entry in table.items() if entry["kind"] == kind}
    assert len(files) > 40
    rows = 0
    for name, entry in files.items():
        seen = []
        for run, batches in logs[name]:
            columns = [column(batches, "aggregates", c) for c in ("metric_id", "filter", "value", "stderr")]
            seen += [[run.task, *row] for row in zip(*columns, strict=True)]
        assert sorted(seen, key=str) == sorted(entry["rows"], key=str), name
        rows += len(seen)
    assert rows > 400


def test_facts_of_runs(shared_data: Path) -> None:
    logs = everything(shared_data / "logs")
    for name, entry in expected().items():
        if not entry["kind"].startswith("results"):
            continue
        for run, batches in logs[name]:
            shots = per_task(entry["num_fewshot"], run.task)
            assert run.conditions.get("shots") == (None if shots is None else str(shots)), (name, run.task)
            version = per_task(entry["versions"], run.task)
            assert run.task_version == (None if version in NO_VERSION or version is None else str(version))
            assert run.meta["model_args"] == entry["model_args"]
            assert ("group_of" in run.meta) == (run.task in entry["groups"])
            stated = entry["n"].get(run.task)
            if stated is not None:
                assert set(column(batches, "aggregates", "n")) == {stated}
            if entry["lm_eval_version"]:
                assert run.writer == entry["lm_eval_version"]


def test_pythia_models_keep_size_and_step(shared_data: Path) -> None:
    logs = everything(shared_data / "logs")
    models = {run.model for name, found in logs.items() if "0.3/pythia-70m" in name for run, _ in found}
    steps = (0, 512, 1000, 3000, 33000, 143000)
    assert models == {f"EleutherAI/pythia-v1.1-70m@step{s}" for s in steps}


def test_latxa_models_are_named_by_their_folder(shared_data: Path) -> None:
    logs = everything(shared_data / "logs")
    found = {
        Path(name).parent.name: {run.model for run, _ in runs} for name, runs in logs.items() if "/latxa/latxa/" in name
    }
    assert found == {folder: {folder} for folder in found}
    assert len(found) == 6


def test_derived_sizes(shared_data: Path) -> None:
    """The sizes that the data sets are known to have follow from the standard errors of every model."""
    sizes: dict[str, set[Any]] = {}
    for name, found in everything(shared_data / "logs").items():
        if "lm_eval_0.3" in name:
            for run, batches in found:
                sizes.setdefault(run.task, set()).update(column(batches, "aggregates", "n"))
    known = {"lambada_openai": 5153, "piqa": 1838, "hendrycksTest-virology": 166, "arc_easy": 2376, "winogrande": 1267}
    for task, size in known.items():
        assert sizes[task] - {None} == {size}, task
    assert all(len(found - {None}) <= 1 for found in sizes.values()), "one task, one size"


def test_chat_items(shared_data: Path) -> None:
    logs = everything(shared_data / "logs")
    files = {n: e for n, e in expected().items() if e["kind"] == "chat-items"}
    assert len(files) == 4
    for name, entry in files.items():
        ((run, batches),) = logs[name]
        assert [run.model] == entry["model"]
        ids = column(batches, "responses", "item_id")
        assert (len(ids), len(set(ids))) == (entry["items"], entry["distinct_ids"])
        assert [*ids[:3], *ids[-3:]] == [str(i) for i in entry["first_ids"] + entry["last_ids"]]
        assert sum(column(batches, "scores", "value")) == entry["correct"]
        assert digest(column(batches, "responses", "output")) == entry["outputs"]
        kinds = ("input_tokens", "output_tokens", "total_tokens")
        assert [sum(column(batches, "responses", k)) for k in kinds] == entry["tokens"]
        deliveries = column(batches, "responses", "delivery")
        assert deliveries.count("truncated") == entry["finish_reasons"].get("length", 0)
        assert run.conditions == {"shots": "5"}


def test_samples(shared_data: Path) -> None:
    logs, table = everything(shared_data / "logs"), expected()
    ((name, entry),) = [(n, e) for n, e in table.items() if e["kind"] == "samples-0.4"]
    ((run, batches),) = logs[name]
    ids = column(batches, "responses", "item_id")
    assert len(ids) == entry["lines"]
    assert [*ids[:3], *ids[-3:]] == [str(i) for i in entry["first_ids"] + entry["last_ids"]]
    assert [digest([a]) for a in column(batches, "responses", "answer")] == entry["output"]
    assert [digest(t[0]) for t in column(batches, "items", "targets")] == entry["target"]
    for name_of_filter, means in entry["means"].items():
        for metric, (mean, lines) in means.items():
            values = [
                v
                for v, m in zip(column(batches, "scores", "value"), column(batches, "scores", "metric_id"), strict=True)
                if m == metric
            ]
            assert len(values) == lines
            assert sum(values) / lines == mean
        assert set(column(batches, "responses", "filter")) == {name_of_filter}
    assert run.expected == 5000
    assert all(column(batches, "items", "item_key"))
