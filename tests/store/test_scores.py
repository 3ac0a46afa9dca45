from __future__ import annotations

import math
import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from foreshock._base import StoreError
from foreshock.records import item_key
from foreshock.store import Segment, Store

from .conftest import listing, make_batches, make_run

METRIC = "length@1+ab"


def score_all(store: Store, metric_id: str = METRIC) -> None:
    """Score every response by its row number, so that a wrong position shows."""
    snapshot = store.snapshot()
    for segment in snapshot.segments():
        if not snapshot.has_scores(segment, metric_id):
            rows = snapshot.frame(segment, ["row", "run_key"])
            values = [row + 100 * int(key[1:]) for row, key in rows.iter_rows()]
            store.put_scores(segment, metric_id, [float(v) for v in values], ["scored"] * segment.rows)


@pytest.fixture
def filled(store: Store) -> Store:
    for i in range(3):
        store.write(make_run(f"r{i}", task=f"t{i % 2}"), make_batches(6))
    return store


def positions(store: Store) -> dict[tuple[str, int], float]:
    columns = ["run_key", "row", "value"]
    frame = store.snapshot().scan("scores", source="foreshock", columns=columns).collect()
    return {(key, row): value for key, row, value in frame.iter_rows()}


EXPECTED = {(f"r{i}", row): float(row + 100 * i) for i in range(3) for row in range(6)}


def test_scores_land_at_their_responses(filled: Store) -> None:
    score_all(filled)
    assert positions(filled) == EXPECTED
    long = filled.snapshot().scan("scores").collect()
    assert long.columns == ["ingest_id", "row", "metric_id", "source", "value", "status", "label"]
    assert long.group_by("source").len().sort("source").rows() == [("foreshock", 18), ("harness", 18)]
    keys = long.select("ingest_id", "row", "metric_id", "source").rows()
    assert keys == sorted(keys)


def test_looking_up_scores_does_not_load_numpy(filled: Store) -> None:
    """Loading it costs about as much CPU time as looking through 3,000,000 scores does."""
    score_all(filled)
    key, folder = str(item_key("2+2=", targets=["4"])), str(filled.folder)
    look = f"Store.open({folder!r}).snapshot().scan('scores', items=[{key!r}]).collect().height"
    code = f"import sys\nfrom foreshock.store import Store\nprint({look}, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["6", "False"]


def test_scored_lays_metrics_beside_responses(filled: Store) -> None:
    score_all(filled)
    score_all(filled, "other@1")
    snapshot = filled.snapshot()
    for segment in snapshot.segments():
        frame = snapshot.scored(segment, [METRIC, "other@1"], ["run_key", "row"])
        assert frame.columns == ["run_key", "row", METRIC, f"{METRIC}|status", "other@1", "other@1|status"]
        for row in frame.iter_rows():
            assert row[2] == row[4] == EXPECTED[row[0], row[1]]
        assert set(frame[f"{METRIC}|status"]) == {"scored"}
    with pytest.raises(StoreError, match="foreshock score"):
        snapshot.scored(segment, ["unheard@1"])


def test_scoring_again_changes_nothing(filled: Store) -> None:
    score_all(filled)
    before = listing(filled.folder)
    assert all(filled.snapshot().has_scores(s, METRIC) for s in filled.snapshot().segments())
    for segment in filled.snapshot().segments():
        value = filled.snapshot().scored(segment, [METRIC])[METRIC]
        filled.put_scores(segment, METRIC, value.to_list(), ["scored"] * segment.rows)
    assert listing(filled.folder) == before


def test_staged_scores_are_invisible_until_committed_together(filled: Store) -> None:
    segments = filled.snapshot().segments()
    commits = len(list((filled.folder / "commits").iterdir()))
    # what a worker process gets and gives back
    store, piece = pickle.loads(pickle.dumps((filled, segments[0])))
    assert isinstance(piece, Segment)
    staged = [store.stage_scores(piece, m, np.zeros(piece.rows), ["scored"] * piece.rows) for m in ("a", "b")]
    assert filled.snapshot().scores(segments[0]) == {}
    name = filled.commit_scores(pickle.loads(pickle.dumps(staged)))
    assert name is not None
    assert list(filled.snapshot().scores(segments[0])) == ["a", "b"]
    assert len(list((filled.folder / "commits").iterdir())) == commits + 1
    assert filled.commit_scores([]) is None


def test_statuses_and_values_agree(filled: Store) -> None:
    segment = filled.snapshot().segments()[0]
    values = [1.0, math.nan, None, 0.0, -1e200, 0.0]
    statuses = ["scored", "scored", "unparsed", "needs", "scored", "scored"]
    filled.put_scores(segment, METRIC, values, statuses, labels=["a", None, "b", None, None, None])
    frame = filled.snapshot().scan("scores", source="foreshock").collect()
    found = sorted(zip(frame["value"], frame["status"], strict=True), key=str)
    assert found == sorted(
        [(1.0, "scored"), (None, "failed"), (None, "unparsed"), (None, "needs"), (None, "failed"), (0.0, "scored")],
        key=str,
    )


def test_wrong_lengths_and_words_are_refused(filled: Store) -> None:
    snapshot = filled.snapshot()
    segment = snapshot.segments()[0]
    with pytest.raises(StoreError, match="5 values of value for 6 rows"):
        filled.put_scores(segment, METRIC, [1.0] * 5, ["scored"] * 6)
    with pytest.raises(StoreError, match="'fine'"):
        filled.put_scores(segment, METRIC, [1.0] * 6, ["fine"] * 6)
    with pytest.raises(StoreError, match="items"):
        filled.put_scores(snapshot.segments("items")[0], METRIC, [1.0], ["scored"])


def test_scores_of_hidden_rows_stay_hidden(filled: Store) -> None:
    with filled.writer() as writer:
        writer.write(make_run("r3"), make_batches(6))
        writer.write(make_run("r4"), make_batches(6))
    score_all(filled)
    filled.remove("r3", "leak")
    assert {key for key, _ in positions(filled)} == {"r0", "r1", "r2", "r4"}
    snapshot = filled.snapshot()
    (segment,) = [s for s in snapshot.segments() if s.hidden]
    assert set(snapshot.scored(segment, [METRIC], ["run_key"])["run_key"]) == {"r4"}
    assert snapshot.scored(segment, [METRIC], ["run_key"], hidden=True).height == 12


def test_compact_keeps_rows_and_scores(filled: Store) -> None:
    score_all(filled)
    filled.write(make_run("r3"), make_batches(6))  # one that nobody scored
    before = filled.snapshot()
    tables = ("responses", "items", "trace", "scores", "aggregates", "runs")
    rows = {table: before.scan(table).collect() for table in tables}
    assert filled.compact() is not None
    after = filled.snapshot()
    assert len(after.commits) == 1
    assert [len(after.segments(table)) for table in ("items", "responses", "trace", "scores")] == [1, 1, 1, 1]
    for table in tables:
        assert after.scan(table).collect().equals(rows[table]), table
        assert before.scan(table).collect().equals(rows[table]), table
    assert positions(filled) == EXPECTED
    (segment,) = after.segments()
    assert not after.has_scores(segment, METRIC)
    score_all(filled)
    assert filled.snapshot().has_scores(segment, METRIC)
    assert len(positions(filled)) == 24
    assert filled.compact() is not None
    assert filled.compact() is None


def test_compact_cuts_large_tables_into_ranges(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    score_all(filled)
    for i in range(3, 9):
        filled.write(make_run(f"r{i}", task=f"t{i % 2}"), make_batches(300))
    score_all(filled)
    filled.remove("r4", "leak")
    rows = {table: filled.snapshot().scan(table).collect() for table in ("responses", "scores", "trace", "items")}
    monkeypatch.setattr("foreshock.store._compact.SEGMENT_ROWS", 400)
    monkeypatch.setattr("foreshock.store._compact._STRIDE", 16)
    filled.compact()
    snapshot = filled.snapshot()
    for table, frame in rows.items():
        assert snapshot.scan(table).collect().equals(frame), table
    segments = sorted(snapshot.segments(), key=lambda s: s.low)
    assert len(segments) >= 3
    assert all(s.rows <= 450 and not s.hidden for s in segments)
    for first, second in pairwise(segments):
        assert first.high <= second.low
    assert all(snapshot.has_scores(s, METRIC) for s in segments)
    # the removed run is gone from the disk's live files, yet known, so that adding it again does nothing
    assert not any("ingest-r4" in s.live for s in segments)
    with filled.writer() as writer:
        writer.write(make_run("r4", task="t0"), make_batches(300))
    assert len(writer.removed) == 1
