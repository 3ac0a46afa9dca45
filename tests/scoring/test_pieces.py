"""However small the pieces in which a segment is read, the scores are the same bytes, and no piece is large."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import foreshock.scoring._rows as rows_module
import foreshock.store._segments as segments_module
from foreshock.metrics import get_metric, metric
from foreshock.records import Batch
from foreshock.scoring import default_metrics, needs, score
from foreshock.scoring._rows import Reader, _pieces
from foreshock.store import Store

_spec = spec_from_file_location("scoring_stores_pieces", Path(__file__).with_name("_stores.py"))
stores = module_from_spec(_spec)
_spec.loader.exec_module(stores)


def fill(folder):
    store = Store.open(folder, create=True)
    with store.writer() as writer:
        rows = [row | {"epoch": e + 1} for e in range(3) for row in stores.SUMS]
        rows[0]["answer"] = "wrong"
        writer.write(stores.run(), stores.batches(rows))
        writer.write(stores.run(model="m-2b"), stores.batches(rows[:7]))
        writer.write(stores.run(task="choices"), stores.batches(stores.CHOICES))
    return store


def written(store):
    return {path.name for path in (store.folder / "scores").iterdir()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A store that was scored in whole segments, and what was told."""
    store = fill(tmp_path_factory.mktemp("whole"))
    return store, score(store)


@pytest.mark.parametrize(("block", "size"), [(1, 1), (2, 60), (3, 10_000), (16_384, 100)])
def test_scores_do_not_depend_on_the_pieces(whole, tmp_path, monkeypatch, block, size):
    store, told = whole
    monkeypatch.setattr(rows_module, "BLOCK_ROWS", block)
    monkeypatch.setattr(rows_module, "PIECE_BYTES", size)
    cut = fill(tmp_path / "cut")
    again = score(cut)
    assert (again.written, again.failures) == (told.written, told.failures)
    # which tasks lack something is the same; of several things that a task lacks, another one may be named
    assert {m: set(tasks) for m, tasks in again.inapplicable.items()} == {
        m: set(tasks) for m, tasks in told.inapplicable.items()
    }
    assert written(cut) == written(store)


def test_pieces_hold_all_rows_in_order_and_keep_what_belongs_together(tmp_path, monkeypatch):
    monkeypatch.setattr(rows_module, "BLOCK_ROWS", 4)
    monkeypatch.setattr(rows_module, "PIECE_BYTES", 1)
    store = fill(tmp_path / "s")
    snapshot = store.snapshot()
    (segment,) = snapshot.segments("responses")
    for specs, together in (([get_metric("pass_rate")], True), ([get_metric("exact_match")], False)):
        found = list(Reader(snapshot, segment, specs, []))
        heights = [piece.height for piece in found]
        assert [piece.start for piece in found] == [sum(heights[:i]) for i in range(len(found))]
        assert sum(heights) == segment.rows
        # three epochs of each sum of the first run stay together; a choice has one response
        assert (max(heights) == 3) is together


def test_a_piece_is_as_large_as_its_texts_allow_and_never_empty():
    size = np.array([5, 5, 40_000_000, 5, 20_000_000, 9_000_000, 9_000_000])
    assert list(_pieces(size, None)) == [(0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]
    assert list(_pieces(size, np.array([0, 1, 4]))) == [(0, 1), (1, 4), (4, 7)]
    assert list(_pieces(np.ones(3), None)) == [(0, 3)]


def test_a_long_target_of_many_responses_does_not_multiply(tmp_path):
    """300 responses to one item with a target of 1 MB are never 300 MB of Python texts."""
    store = Store.open(tmp_path / "s", create=True)
    rows = [
        {"item_id": "a", "input": "q", "targets": ["x" * 10**6], "output": "y", "answer": "y", "epoch": e}
        for e in range(300)
    ]
    one = stores.batches(rows[:1])[0]
    store.write(stores.run(), [one, *stores.batches(rows)[1:]])
    snapshot = store.snapshot()
    found = list(Reader(snapshot, snapshot.segments("responses")[0], [get_metric("exact_match")], []))
    assert max(piece.height for piece in found) <= 17
    score(store, ["exact_match"])
    assert {value for value, _ in stores.scores(store).values()} == {0.0}


def test_epochs_that_straddle_segments_are_found_also_in_pieces(tmp_path, monkeypatch):
    whole = fill(tmp_path / "whole")
    monkeypatch.setattr(segments_module, "SEGMENT_ROWS", 4)
    monkeypatch.setattr(segments_module, "MAX_ROWS", 4)
    monkeypatch.setattr(rows_module, "BLOCK_ROWS", 2)
    cut = Store.open(tmp_path / "cut", create=True)
    rows = [row | {"epoch": e + 1} for e in range(3) for row in stores.SUMS]
    rows[0]["answer"] = "wrong"
    pieces = [
        table._replace(columns={k: v[i : i + 4] for k, v in table.columns.items()})
        for table in stores.batches(rows)
        for i in range(0, table.rows, 4)
    ]
    cut.write(stores.run(), pieces)
    assert len(cut.snapshot().segments("responses")) > 2
    score(cut, ["pass_rate"])
    score(whole, ["pass_rate"])
    ours = stores.scores(cut)
    assert ours["a", "pass_rate", 1] == (pytest.approx(2 / 3), "scored")
    expected = {key: value for key, value in stores.scores(whole).items() if key[0] in "abcde"}
    assert ours == expected


def test_metrics_see_the_steps_and_the_harness_scores_of_their_response(tmp_path, monkeypatch):
    @metric(kind="continuous", needs=("trace",), name="test_steps")
    def steps():
        return lambda r: float("".join(f"{step.seq}" for step in r.trace))

    @metric(kind="continuous", needs=("harness_scores",), name="test_harness_pieces")
    def harness():
        return lambda r: r.harness_scores["exact_match"] + 0.5

    monkeypatch.setattr(rows_module, "BLOCK_ROWS", 2)
    store = Store.open(tmp_path / "s", create=True)
    trace = {"row": [2, 0, 0, 2, 2], "seq": [3, 1, 0, 1, 2], "kind": ["tool"] * 5, "name": list("abcde")}
    graded = [(0, "exact_match", 1.0), (2, "exact_match", 0.0)]
    store.write(stores.run(), [*stores.batches(stores.SUMS, graded), Batch("trace", trace)])
    store.write(stores.run(model="m-2b"), stores.batches(stores.SUMS))
    score(store, [steps(), harness()])
    found = store.snapshot().scan("scores", source="foreshock", columns=["run_key", "item_id", "metric_id", "value"])
    values = {(run[:4], item, name.partition("@")[0]): value for run, item, name, value in found.collect().rows()}
    assert {key: value for key, value in values.items() if value is not None} == {
        ("m-1b", "a", "test_steps"): 1.0,  # seq 0 and 1
        ("m-1b", "c", "test_steps"): 123.0,
        ("m-1b", "a", "test_harness_pieces"): 1.5,
        ("m-1b", "c", "test_harness_pieces"): 0.5,
    }


def test_groups_stand_for_their_metrics(tmp_path):
    store = stores.fill(tmp_path / "s")
    told = score(store, ["probability", "exact_match", "brier"])
    names = [spec.name for spec in told.metrics]
    assert names.count("brier") == 1
    assert {"gold_logprob", "exact_match"} <= set(names)
    assert len(names) > 4
    assert default_metrics() != told.metrics


def test_what_other_tables_hold_is_not_said_to_lack(tmp_path):
    store = Store.open(tmp_path / "s", create=True)
    trace = {"row": [0], "seq": [0], "kind": ["tool"]}
    store.write(stores.run(), [*stores.batches(stores.SUMS, [(0, "acc", 1.0)]), Batch("trace", trace)])
    store.write(stores.run(task="bare"), stores.batches(stores.SUMS))
    lacks = needs(store.snapshot(), ["tool_calls", "sub_scores"])
    assert {(lack.task, lack.missing) for lack in lacks} == {("bare", ("trace",)), ("bare", ("harness_scores",))}
