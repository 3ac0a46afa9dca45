"""Responses beside their scores: the same rows as the long table, however many tasks are read at once."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from foreshock.metrics import get_metric
from foreshock.scoring import joined, score

_spec = spec_from_file_location("scoring_stores", Path(__file__).with_name("_stores.py"))
stores = module_from_spec(_spec)
_spec.loader.exec_module(stores)


@pytest.fixture
def store(tmp_path):
    """Three tasks in two commits, one of them with scores of its harness and answers that cannot be read."""
    store = stores.fill(tmp_path / "s", epochs=2)
    graded = [(3, "exact_match", 0.0), (0, "exact_match", 1.0), (0, "odd|name", 0.5)]
    store.write(stores.run(model="m-7b"), stores.batches(stores.SUMS, graded))
    store.write(stores.run(task="alone"), stores.batches(stores.CHOICES))
    score(store)
    return store


def long(snapshot, task):
    """The same from the long table: (run, row, metric, source) to (value, status)."""
    columns = ["run_key", "row", "metric_id", "source", "value", "status"]
    frame = snapshot.scan("scores", tasks=[task], columns=columns).collect()
    return {tuple(row[:4]): tuple(row[4:]) for row in frame.rows()}


def wide(task):
    found = {}
    for column in task.columns:
        rows = task.frame.select("run_key", "row", column.value, column.status)
        for run, row, value, status in rows.rows():
            if status is not None:
                found[run, row, column.metric_id, column.source] = (value, status)
    return found


@pytest.mark.parametrize("rows", [1, 12, 10**6])
def test_every_score_stands_beside_its_response(store, rows):
    snapshot = store.snapshot()
    tasks = ["sums", "choices", "alone"]
    found = list(joined(snapshot, tasks, rows=rows))
    assert [task.task for task in found] == tasks
    for task in found:
        assert wide(task) == long(snapshot, task.task)
        assert wide(task)
        keys = task.frame.select("ingest_id", "row").rows()
        assert keys == sorted(keys)


def test_only_what_is_asked_for(store):
    snapshot = store.snapshot()
    exact = get_metric("exact_match")
    (told,) = joined(snapshot, ["sums", "no such task"], runs={"m-7b/sums"}, metrics={exact.id})
    assert set(told.frame["run_key"]) == {"m-7b/sums"}
    assert [(c.metric_id, c.source) for c in told.columns] == [
        (exact.id, "foreshock"),
        ("exact_match", "harness"),
        ("odd|name", "harness"),
    ]
    assert list(joined(snapshot, ["no such task"])) == []


def test_labels_are_read_where_they_are_asked_for(store):
    snapshot = store.snapshot()
    place = get_metric("position_accuracy")
    (told,) = joined(snapshot, ["sums"], metrics={place.id}, labels={place.id})
    assert {c.metric_id: c.label is not None for c in told.columns}[place.id]
    columns = ["run_key", "row", "label"]
    frame = snapshot.scan("scores", tasks=["sums"], metrics=[place.id], source="foreshock", columns=columns)
    labels = {(run, row): label for run, row, label in frame.collect().rows()}
    (column,) = (c for c in told.columns if c.metric_id == place.id)
    assert {(run, row): label for run, row, label in told.frame.select("run_key", "row", column.label).rows()} == labels
    assert any(label is not None for label in labels.values())


def test_a_removed_run_is_not_there(store):
    store.remove("m-7b/sums", "a test")
    (told,) = joined(store.snapshot(), ["sums"])
    assert set(told.frame["run_key"]) == {"m-1b/sums"}
