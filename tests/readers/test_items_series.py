"""Seeds, steps, shots and conditions of tables of responses: runs of their own, never averaged."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ._read import failure, read_all
from .test_tables import write

TWICE = "item,model,{0},score\nq1,a,{1},1\nq2,a,{1},1\nq3,a,{1},0\nq1,a,{2},0\nq2,a,{2},1\nq3,a,{2},0\n"


@pytest.mark.parametrize(
    ("column", "cells", "role", "found"),
    [
        ("cot", ("yes", "no"), "condition", [("a", None, None, {"cot": "yes"}), ("a", None, None, {"cot": "no"})]),
        ("seed", ("0", "1"), "seed", [("a", 0, None, {}), ("a", 1, None, {})]),
        ("seed", ("x", "y"), "seed", [("a", None, None, {"seed": "x"}), ("a", None, None, {"seed": "y"})]),
        ("step", ("100", "2k"), "step", [("a@step100", None, 100, {}), ("a@step2000", None, 2000, {})]),
        ("shots", ("0", "5-shot"), "shots", [("a", None, None, {"shots": "0"}), ("a", None, None, {"shots": "5"})]),
    ],
)
def test_what_sets_runs_apart_ends_in_the_runs(
    tmp_path: Path, column: str, cells: tuple[str, str], role: str, found: list[object]
) -> None:
    path = write(tmp_path, TWICE.format(column, *cells))
    message = failure(path)
    assert f"{role}={column}" in message, "the way out is offered"
    reads, failures = read_all(path, map={role: column}, task="t")
    assert not failures
    assert [(r.run.model, r.run.seed, r.run.card.step, r.run.conditions) for r in reads] == found
    assert [r.column("scores", "value") for r in reads] == [[1, 1, 0], [0, 1, 0]]
    assert [r.column("responses", "epoch") for r in reads] == [[1, 1, 1]] * 2
    assert len({r.run.run_key for r in reads}) == 2


def test_several_conditions_and_a_blank_one(tmp_path: Path) -> None:
    text = "item,cot,budget,score\nq1,yes,1k,1\nq1,no,1k,0\nq1,yes,,1\n"
    reads, _ = read_all(write(tmp_path, text), map={"condition": "cot+budget"}, model="m", task="t")
    told = [{"cot": "yes", "budget": "1k"}, {"cot": "no", "budget": "1k"}, {"cot": "yes"}]
    assert [r.run.conditions for r in reads] == told


def test_a_step_that_is_no_whole_number_is_refused(tmp_path: Path) -> None:
    assert "the step is 'late'" in failure(write(tmp_path, TWICE.format("step", 1, "late")), map={"step": "step"})


CELLS = {"seed": ["", "0", "1", "x"], "step": ["", "1", "2"], "shots": ["", "0", "5"], "cot": ["", "yes", "no"]}


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, str]]:
    columns = draw(st.lists(st.sampled_from(sorted(CELLS)), unique=True))
    row = {"item": ["q1", "q2"], "model": ["a", "b"], **{name: CELLS[name] for name in columns}}
    rows = st.fixed_dictionaries({name: st.sampled_from(cells) for name, cells in row.items()})
    return draw(st.lists(rows, min_size=1, max_size=12, unique_by=lambda cells: tuple(sorted(cells.items()))))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=tables())
def test_every_row_is_a_score_once(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    path = tmp_path / "m.csv"
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [*rows[0], "score"])
        writer.writeheader()
        writer.writerows({**row, "score": place % 2} for place, row in enumerate(rows))
    roles = {name: name for name in rows[0] if name in CELLS and name != "cot"}
    roles |= {"condition": "cot"} if "cot" in rows[0] else {}
    reads, failures = read_all(path, task="t", map={"item": "item", **roles})
    assert not failures
    assert sum(len(r.column("scores", "value")) for r in reads) == len(rows)
    assert {epoch for r in reads for epoch in r.column("responses", "epoch")} == {1}
    assert len({r.run.run_key for r in reads}) == len({r.run.ingest_id for r in reads}) == len(reads)
