"""BIG-bench results: files written by its own classes with invented numbers, and what may be wrong with others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import _bigbench_logs as logs
from ._bigbench_logs import choice, choices, entry, generation, results, write
from ._read import Read, failure, read_all, read_one

ORACLES = Path(__file__).parent.parent / "oracles"


def rows(read: Read, table: str, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(read.column(table, name) for name in names), strict=True))


def written(name: str) -> dict[tuple[str, Any], Read]:
    reads, failures = read_all(ORACLES / f"bigbench_{name}.json")
    assert not failures
    return {(r.run.task, r.run.conditions.get("shots")): r for r in reads}


def test_scores_as_bigbench_writes_them() -> None:
    """The expected numbers are those of the script that wrote the file, and of BIG-bench's rule for means."""
    found = written("scores")
    wanted = {
        ("sums:easy", "0"): 1 / 8,
        ("sums:hard", "0"): 2 / 8,
        ("sums:easy", "2"): 3 / 8,
        ("sums:hard", "2"): 4 / 8,
    }
    wanted |= {("sums", "0"): 1.5 / 8, ("sums", "2"): 3.5 / 8}
    assert found.keys() == wanted.keys()
    for part, value in wanted.items():
        read = found[part]
        assert rows(read, "aggregates", "metric_id", "value", "low", "high")[0] == (
            "multiple_choice_grade",
            value,
            0.0,
            1.0,
        )
        raw = [json.loads(r) for r in read.column("aggregates", "raw")]
        assert raw[0] == {"value": value, "preferred": True, "low_score": 0.25, "high_score": 1.0}
        assert not any("preferred" in r for r in raw[1:])
        assert read.run.chance == 0.25
        assert read.run.meta["preferred_metric"] == "multiple_choice_grade"
        assert read.column("responses", "row") == []
    whole = dict(rows(found["sums", "0"], "aggregates", "metric_id", "value"))
    assert whole["normalized_aggregate_score"] == pytest.approx(100 * ((0.125 - 0.25) + (0.25 - 0.25)) / 0.75 / 2)
    assert whole["calibration"] == -0.5


def test_model_as_bigbench_writes_it() -> None:
    for read in written("scores").values():
        run = read.run
        assert run.model == "BIG-G sparse 2b"
        assert (run.conditions["temperature"], run.conditions["decoding.max_decode_steps"]) == ("0", "64")
        assert (run.card.family, run.card.parameters, run.card.active_parameters) == ("big-g-sparse", 60e9, 2e9)
        assert run.meta["non_embedding_params"] == 51e9
        assert run.card.guesses == []


def test_queries_as_bigbench_writes_them() -> None:
    found = written("full_log")
    easy, hard = found["sums:easy", "0"], found["sums:hard", "2"]
    names = ("item_id", "delivery", "output", "answer", "choice_logprobs", "gold_logprob")
    assert rows(easy, "responses", *names) == [
        ("0", "ok", None, "4", [-4.0, -2.15], -2.15),
        ("1", "ok", None, None, None, -1.25),
    ]
    assert rows(easy, "items", "input", "choices", "targets", "gold_index") == [
        ("2+2=", ["3", "4"], ["4"], 1),
        ("2+4=", None, ["6"], None),
    ]
    assert rows(easy, "scores", "row", "metric_id", "value") == [(0, "multiple_choice_grade", 1.0)]
    assert rows(hard, "responses", *names[:4]) == [("0", "ok", "5", "5")]
    assert rows(hard, "items", "input", "targets") == [(None, ["5", "five"])], "examples and question are one text"
    assert rows(hard, "scores", "metric_id", "value") == [("exact_str_match", 1.0)], "the best target counts"
    assert hard.column("aggregates", "n") == [1] * len(hard.column("aggregates", "n"))
    assert found["sums", "0"].column("responses", "row") == []
    for part, read in written("scores").items():
        assert read.run.run_key == found[part].run.run_key, "the log of queries is the same run"


@pytest.mark.parametrize(
    ("family", "name", "model", "heat"),
    [
        ("BIG-G T=0", "128b", "BIG-G 128b", "0"),
        ("BIG-G T=1", "128b", "BIG-G 128b", "1"),
        ("GPT", "GPT-3-XL", "GPT-3-XL", None),
        ("PaLM", "535b", "PaLM 535b", None),
    ],
)
def test_temperature_in_the_family(tmp_path: Path, family: str, name: str, model: str, heat: str | None) -> None:
    made = results(entry({"exact_str_match": 0.5}), model_family=family, model_name=name)
    run = read_one(write(tmp_path / "scores_x.json", made)).run
    assert (run.model, run.conditions.get("temperature")) == (model, heat)
    assert run.card.active_parameters is None, "dense"


def test_shots_of_minus_one_are_none(tmp_path: Path) -> None:
    run = read_one(write(tmp_path / "r.json", results(entry({"x": 1.0}, shots=-1)))).run
    assert "shots" not in run.conditions
    assert run.chance is None, "a low score of another metric is not chance"


def test_values_that_are_no_numbers(tmp_path: Path) -> None:
    made = entry({"exact_str_match": float("nan"), "bleu": "N/A", "rouge": 1.5, "big": 10**400})
    read = read_one(write(tmp_path / "r.json", results(made)))
    found = dict(rows(read, "aggregates", "metric_id", "value"))
    assert found == {"exact_str_match": None, "bleu": None, "rouge": 1.5, "big": None}


def test_repeated_entries_are_kept(tmp_path: Path) -> None:
    read = read_one(write(tmp_path / "r.json", results(entry({"x": 1.0}), entry({"x": 0.0}))))
    assert read.column("aggregates", "value") == [1.0, 0.0]
    assert any("2 times" in w for w in read.warnings)


def test_programs_file_their_queries_under_the_whole_task(tmp_path: Path) -> None:
    asked = [generation("programmatic", logs.text("1+1=", "2", "2")), generation("other", logs.text("1+2=", "3", "3"))]
    reads, _ = read_all(write(tmp_path / "r.json", results(entry({"x": 1.0}, shots=3), queries=asked)))
    assert {r.run.task: r.column("responses", "output") for r in reads} == {"sums": ["2"], "sums:other": ["3"]}


def test_bad_samples_and_queries_do_not_lose_the_others(tmp_path: Path) -> None:
    bad = choice("x", [-1.0, -2.0], 0, targets=None)
    good = choice("y", [-1.0, -2.0], 0)
    unknown = {**choice("z", [-1.0], 0), "scores": ["a"]}
    asked = [choices("sums", bad, good, unknown, 7), "no query", {"task": "sums", "shots": 0}]
    read = read_one(write(tmp_path / "r.json", results(entry({"x": 1.0}), 5, queries=asked)))
    assert rows(read, "responses", "choice_logprobs", "delivery")[-2:] == [([-1.0, -2.0], "ok"), (None, "missing")]
    assert read.column("aggregates", "value") == [1.0]
    assert read.status == "partial"
    assert any(w.startswith("1 sample could not be read and left out: 4 (not a JSON object)") for w in read.warnings)
    assert {"1 entry of scores could not be read", "1 query could not be read"} <= set(read.warnings)


def test_damage(tmp_path: Path) -> None:
    path = write(tmp_path / "r.json", results(entry({"x": 1.0})))
    whole = path.read_text("utf-8")
    path.write_text(whole[: len(whole) // 2], "utf-8")
    assert "not valid JSON" in failure(path)
    path.write_text('{"model": {"model_family": "a", "non_embedding_params": 1}}', "utf-8")
    assert "neither scores nor queries" in failure(path)
    assert "neither scores" in failure(write(tmp_path / "q.json", results(1, [entry({"x": 1.0})])))
    read = read_one(write(tmp_path / "s.json", {"scores": [entry({"x": 1.0})], "task": 1, "model": []}), model="m")
    assert (read.run.model, read.run.task) == ("m", "sums")


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["sums", "easy", "a:b"]), st.integers(-1, 5)),
        st.dictionaries(st.text(min_size=1, max_size=5), st.floats(-1e9, 1e9), min_size=1, max_size=4),
        min_size=1,
    )
)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, table: dict[tuple[str, int], dict[str, float]]) -> None:
    made = [entry(metrics, subtask=name, shots=shots) for (name, shots), metrics in table.items()]
    reads, failures = read_all(write(tmp_path_factory.mktemp("r") / "r.json", results(*made)))
    assert not failures
    found = {
        (r.run.task, r.run.conditions.get("shots")): dict(rows(r, "aggregates", "metric_id", "value")) for r in reads
    }
    named = {"sums": "sums", "easy": "sums:easy", "a:b": "sums:a:b"}
    assert found == {(named[n], str(s) if s >= 0 else None): m for (n, s), m in table.items()}
    assert len({r.run.run_key for r in reads}) == len(reads)
