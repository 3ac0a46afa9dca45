"""Published tables against counts and hashes made without the readers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ._read import read_all

ORACLE = json.loads((Path(__file__).parent.parent / "oracles" / "tables_expected.json").read_text("utf-8"))["files"]


def digest(rows: list[list[Any]]) -> str:
    texts = sorted(json.dumps(row, ensure_ascii=False) for row in rows)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def test_epoch_runs(shared_data: Path) -> None:
    name = "series/epoch/benchmarks_runs.csv"
    reads, failures = read_all(shared_data / name)
    assert not failures
    found, scorers = [], Counter()
    for read in reads:
        run = read.run
        best = round(read.column("aggregates", "value")[0] * 1000)
        found.append([run.model, run.task, run.task_version, run.created, best])
        scorers.update(read.column("aggregates", "metric_id"))
    expected = ORACLE[name]
    assert len(found) == expected["rows"]
    tasks = {t: [n, sum(r[4] for r in found if r[1] == t)] for t, n in Counter(r[1] for r in found).items()}
    assert tasks == expected["tasks"]
    assert scorers == expected["scorers"], "every scorer of a run is there, the best with its digits"
    assert expected["first"] in found
    assert digest(found) == expected["digest"]


@pytest.mark.slow
def test_pythia(shared_data: Path) -> None:
    name = "series/pythia_lmeval.csv.gz"
    reads, failures = read_all(shared_data / name)
    assert not failures
    found, metrics = [], Counter()
    for read in reads:
        run = read.run
        model = run.model.partition("@")[0]
        columns = [read.column("aggregates", c) for c in ("metric_id", "value", "stderr")]
        metrics.update(columns[0])
        found += [[model, run.card.step, run.conditions["shots"], run.task, *row] for row in zip(*columns, strict=True)]
    expected = ORACLE[name]
    assert (len(found), len(reads)) == (expected["rows"], expected["runs"])
    assert metrics == expected["metrics"]
    assert digest(found) == expected["digest"]


def test_mmlu_pro_items(shared_data: Path) -> None:
    name = "items/mmlu_pro_items.parquet"
    reads, failures = read_all(shared_data / name)
    assert not failures
    expected = ORACLE[name]
    found = {}
    for read in reads:
        ids = read.column("responses", "item_id")
        assert len(ids) == len(set(ids)) == expected["items"] == expected["ids"]
        states = Counter(zip(read.column("scores", "status"), read.column("scores", "value"), strict=True))
        counts = {
            "-2": read.column("responses", "delivery").count("missing"),
            "-1": states["unparsed", None],
            "0": states["scored", 0.0],
            "1": states["scored", 1.0],
        }
        found[read.run.model] = {code: n for code, n in counts.items() if n}
    assert found == expected["counts"]
    assert {r.run.task for r in reads} == {"mmlu-pro"}


def test_checks_of_a_suite(shared_data: Path) -> None:
    name = "items/canaicode_junior_tests.csv.gz"
    roles = {"item": "test+lang", "model": "run", "score": "passed", "total": "total"}
    reads, failures = read_all(shared_data / name, map=roles, task="junior-v2")
    assert not failures
    expected = ORACLE[name]
    assert len(reads) == expected["runs"]
    values = {
        r.run.model: dict(zip(r.column("responses", "item_id"), r.column("scores", "value"), strict=True))
        for r in reads
    }
    assert sum(map(len, values.values())) == expected["rows"]
    assert len({item for found in values.values() for item in found}) == expected["items"]
    assert sum(v == 1.0 for found in values.values() for v in found.values()) == expected["whole"]
    assert len(values["0"]) == expected["first_run"][0]


@pytest.mark.parametrize("name", ["aider_polyglot", "balrog", "geobench", "mmlu", "superglue", "weirdml"])
def test_epochs_tables_of_others_are_read(shared_data: Path, name: str) -> None:
    reads, failures = read_all(shared_data / "series" / "epoch" / f"external_benchmark_{name}.csv")
    assert not failures
    assert reads
    assert {r.run.task for r in reads} == {name}
    assert all(0 <= v <= 1 for r in reads for v in r.column("aggregates", "value"))
    assert all("Source" in r.run.conditions for r in reads)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "metrics/evaluation_scores.csv",
            "metrics/bigbench_task_metrics.csv",
            "metrics/wei_2022_bigbench_partial.csv",
        ),
        *("series/epoch/model_versions.csv", "series/obsscaling/instruct_llm_agent_eval.csv"),
        *("items/canaicode_junior_runs.csv", "items/canaicode_junior_tests.csv.gz"),
    ],
)
def test_what_cannot_be_read_ends_in_a_command(shared_data: Path, name: str) -> None:
    reads, (failed,) = read_all(shared_data / name)
    assert not reads
    assert "foreshock add" in str(failed.error) + " ".join(failed.error.__notes__)
    assert any(note.startswith("header: ") for note in failed.error.__notes__)
    assert any(note.startswith("first row: ") for note in failed.error.__notes__)


@pytest.mark.slow
def test_every_table_ends_in_a_reading_or_a_command(shared_data: Path) -> None:
    paths = [p for place in ("series", "metrics") for p in sorted((shared_data / place).rglob("*.csv"))]
    reads, failures = read_all(*paths)
    read = {source.path for r in reads for source in r.run.sources}
    assert len(read) + len(failures) == len(paths)
    assert len(failures) == 6, "three tables of facts, model_versions, one without a scale, one with codes"
    for failure in failures:
        assert "foreshock add" in str(failure.error) + " ".join(failure.error.__notes__)
