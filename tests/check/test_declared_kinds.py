"""``--kind`` of a table with items reaches the measures of its task."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreshock.check._measures import declared_kinds, measures
from foreshock.readers import ReadOptions
from foreshock.records import Run
from foreshock.series import Shelf
from foreshock.store import Store, add_paths


@pytest.mark.parametrize(("kind", "expected"), [(None, "hard"), ("hard", "hard"), ("continuous", "continuous")])
@pytest.mark.parametrize("rows", ["id,score\n1,1\n2,0\n", "id,a,b\n1,1,0\n2,0,1\n"])
def test_a_declared_kind_counts(tmp_path: Path, rows: str, kind: str | None, expected: str) -> None:
    path = tmp_path / "m.csv"
    path.write_text(rows)
    matrix = "a" in rows
    options = ReadOptions(kind=kind, task="t", wide=["*"] if matrix else [], map={"item": "id"} if matrix else {})
    store = Store.open(tmp_path / "store", create=True)
    assert not add_paths(store, [path], options).failures
    snapshot = store.snapshot()
    runs = [ingest.run for ingest in snapshot.ingests.values()]
    shelf = Shelf(snapshot, ["t"])
    found = measures(shelf.scores("t").seen, shelf.specs, None, declared_kinds(runs))
    assert found.main is not None
    assert found.main.kind == expected


def test_runs_that_contradict_each_other_declare_nothing() -> None:
    def run(kind: object) -> Run:
        meta = {"metrics": {"m": {"kind": kind}}}
        return Run(run_key="k", format="items", reader="items@2", model="a", task="t", meta=meta)

    assert declared_kinds([run("hard"), run("hard")]) == {"m": "hard"}
    assert declared_kinds([run("hard"), run("continuous")]) == {}
    assert declared_kinds([run("soft")]) == {}, "a log is a stranger's: no such kind"
    assert declared_kinds([run({})]) == {}
    assert declared_kinds([Run(run_key="k", format="x", reader="x@1", model="a", task="t", meta={"metrics": 3})]) == {}
