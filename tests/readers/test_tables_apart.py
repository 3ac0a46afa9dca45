"""Rows in, scores out: whatever tells two rows of a table apart, both are runs of their own."""

from __future__ import annotations

import csv
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreshock.readers import ReadOptions
from foreshock.records import parse_model, run_key
from foreshock.store import Store, add_paths

from ._read import Read, read_all
from .test_tables import write

CELLS = {
    "model": ["a", "b", "a 1B"],
    "family": ["", "f", "g"],
    "organisation": ["", "X", "Y"],
    "size": ["", "1B", "7B", "7000000001"],
    "tokens": ["", "1e9", "2e9"],
    "flops": ["", "1e20", "3e21"],
    "step": ["", "10", "1234567", "1234568"],
    "seed": ["", "0", "1", "first"],
    "date": ["", "2024-01-01", "2024-02-01"],
    "shots": ["", "0", "5"],
    "task_version": ["", "1", "2"],
    "task": ["t", "u"],
}


def values(reads: list[Read]) -> list[float]:
    return sorted(value for read in reads for value in read.column("aggregates", "value"))


@st.composite
def boards(draw: st.DrawFn) -> list[dict[str, str]]:
    """Rows of a table with random columns of which no two are alike."""
    columns = ["model", *draw(st.lists(st.sampled_from([c for c in CELLS if c != "model"]), unique=True))]
    rows = st.fixed_dictionaries({name: st.sampled_from(CELLS[name]) for name in columns})
    return draw(st.lists(rows, min_size=1, max_size=12, unique_by=lambda row: tuple(sorted(row.items()))))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=boards())
def test_every_row_is_a_score_of_a_run_of_its_own(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    path = tmp_path / "board.csv"
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [*rows[0], "accuracy"])
        writer.writeheader()
        writer.writerows({**row, "accuracy": f"{place / 16:g}"} for place, row in enumerate(rows))
    reads, failures = read_all(path)
    assert not failures
    assert values(reads) == [place / 16 for place in range(len(rows))]
    assert len({read.run.run_key for read in reads}) == len({read.run.ingest_id for read in reads}) == len(reads)


@pytest.mark.parametrize(
    ("text", "options", "models", "family"),
    [
        ("model,size,task,acc\nllama,7B,x,.5\nllama,70B,x,.8\n", {}, ["llama 7B", "llama 70B"], "llama"),
        ("model,tokens,task,acc\na,1e9,x,.5\na,2e9,x,.8\n", {}, ["a tokens=1000000000", "a tokens=2000000000"], "a"),
        ("model,width,acc\na,64,.5\na,128,.8\n", {"csv": {"x": "width"}}, ["a width=64", "a width=128"], "a"),
        ("model,step,acc\na,1234567,.5\na,1234568,.8\n", {}, ["a@step1234567", "a@step1234568"], "a"),
        ("model,size,MMLU\na,1B,.5\na,7B,.8\n", {}, ["a 1B", "a 7B"], "a"),
        ("model,organisation,task,acc\na,X,x,.5\na,Y,x,.8\n", {}, ["X/a", "Y/a"], "a"),
        ("model,family,task,acc\n7B,f,x,.5\n7B,g,x,.8\n", {}, ["f 7B", "g 7B"], None),
        # the fewest that do: the tokens follow from the size
        ("model,size,tokens,acc\na,1B,1e9,.5\na,7B,7e9,.8\n", {}, ["a 1B", "a 7B"], "a"),
        # without names, places that look alike in four digits
        ("size,task,acc\n1.00001B,x,.5\n1.00002B,x,.8\n", {}, ["board 1.00001B", "board 1.00002B"], "board"),
    ],
)
def test_what_tells_models_of_one_name_apart_stands_in_their_names(
    tmp_path: Path, text: str, options: dict[str, object], models: list[str], family: str | None
) -> None:
    reads, failures = read_all(write(tmp_path, text, "board.csv"), **options)
    assert not failures
    assert [read.run.model for read in reads] == models
    assert values(reads) == [0.5, 0.8]
    if family is not None:
        assert [r.run.card.family or parse_model(r.run.model).family for r in reads] == [family] * 2


def test_a_name_is_the_same_on_every_task(tmp_path: Path) -> None:
    reads, _ = read_all(write(tmp_path, "model,size,task,acc\na,1B,x,.1\na,7B,x,.2\na,1B,y,.3\nb,2B,x,.4\n", "b.csv"))
    assert [(read.run.model, read.run.task) for read in reads] == [
        ("a 1B", "x"),
        ("a 7B", "x"),
        ("a 1B", "y"),
        ("b", "x"),
    ]
    assert any("'a' is of several models" in note for note in reads[0].notes)


def test_keys_are_those_of_before_where_the_names_differ(tmp_path: Path) -> None:
    path = write(tmp_path, "model,size,task,acc\na,1B,x,.1\nb,7B,x,.2\n", "b.csv")
    reads, _ = read_all(path)
    content = sha256(path.read_bytes()).hexdigest()
    assert [r.run.run_key for r in reads] == [run_key("table", m, "x", "", "", "", "", content, "") for m in "ab"]
    assert [read.run.model for read in reads] == ["a", "b"]


def test_a_table_that_an_older_version_read_in_part_is_completed(tmp_path: Path) -> None:
    path = write(tmp_path, "model,size,task,acc\na,1B,x,.5\na,7B,x,.8\n", "b.csv")
    store = Store.open(tmp_path / "store", create=True)
    reads, _ = read_all(path)
    old = run_key("table", "a", "x", "", "", "", "", reads[0].run.sources[0].sha256, "")
    assert reads[0].run.run_key == old  # so that the new reading takes the place of the old one
    assert len(add_paths(store, [path], ReadOptions()).added) == 2
    again = add_paths(store, [path], ReadOptions())
    assert (again.added, again.skipped) == ([], [path])
    assert store.snapshot().scan("aggregates").collect()["value"].sort().to_list() == [0.5, 0.8]


def test_dates_that_are_blank_and_absent_are_one_run(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    rows = (
        '{"item": "q1", "score": 1, "model": "a", "date": null}\n{"item": "q2", "score": 0, "model": "a", "date": ""}\n'
    )
    path.write_text(rows)
    added = add_paths(Store.open(tmp_path / "s", create=True), [path], ReadOptions())
    assert [run.counts.delivered for run in added.added] == [2]
    assert not added.unchanged
