from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foreshock._base import SchemaVersionError, StoreError, canonical
from foreshock.records import Batch, Run
from foreshock.store import Store

from .conftest import listing, make_batches, make_run
from .test_scores import score_all


@pytest.fixture
def filled(store: Store) -> Store:
    for i in range(3):
        store.write(make_run(f"r{i}"), make_batches(6))
    score_all(store)
    return store


def age(folder: Path, seconds: float) -> None:
    moment = time.time() - seconds
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (moment, moment))


def test_gc_waits_for_its_grace_and_then_takes_only_what_nobody_needs(filled: Store) -> None:
    age(filled.folder, 10_000)
    before = filled.snapshot()
    filled.compact()
    (filled.folder / "tmp" / "1-left-over").write_bytes(b"half")
    # the old files are hours old, but were replaced a moment ago: an open snapshot may still read them
    assert filled.gc(grace=3_600).files == 0
    rows = before.scan("responses").collect()
    age(filled.folder, 10_000)
    collected = filled.gc(grace=3_600)
    assert collected.files > 10
    assert collected.bytes > 1_000
    assert filled.gc(grace=3_600).files == 0
    after = Store.open(filled.folder).snapshot()
    assert after.scan("responses").collect().equals(rows)
    assert len(after.commits) == 1
    assert list((filled.folder / "tmp").iterdir()) == []
    kept = {path.stem for table in ("responses", "items", "scores", "trace", "aggregates")
            for path in (filled.folder / table).iterdir()}  # fmt: skip
    named = {e.sha256 for c in after.commits.values() for e in [*c.commit.segments, *c.commit.scores]}
    assert kept == named


def test_segments_of_a_writer_at_work_survive_gc(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foreshock.store._segments.SEGMENT_ROWS", 4_096)
    wide = Batch("responses", {"row": list(range(5_000)), "delivery": ["ok"] * 5_000})
    before = len(list((filled.folder / "responses").iterdir()))
    with filled.writer() as writer:
        writer.write(make_run("new"), [wide])
        assert len(list((filled.folder / "responses").iterdir())) == before + 1
        assert filled.gc().files == 0
    assert filled.snapshot().scan("responses", runs=["new"]).collect().height == 5_000


def test_replaced_commits_never_come_back_to_life(filled: Store) -> None:
    filled.compact()
    filled.write(make_run("r9"), make_batches())
    filled.compact()
    filled.remove("r0", "bad")
    filled.compact()
    newest = set(filled.snapshot().commits)
    others = [path for path in (filled.folder / "commits").iterdir() if path.stem not in newest]
    # whichever of the replaced commits a collector has taken so far, the store shows the same
    for path in others:
        data = path.read_bytes()
        path.unlink()
        assert sorted(run.run_key for run in filled.snapshot().runs()) == ["r1", "r2", "r9"]
        path.write_bytes(data)


def test_two_compactions_and_a_writer_at_once_lose_and_double_nothing(filled: Store) -> None:
    from foreshock._base import quiet
    from foreshock.store._compact import compact

    early = filled.snapshot()
    filled.write(make_run("r3"), make_batches(6))
    late = filled.snapshot()
    filled.write(make_run("r4"), make_batches(6))
    rows = filled.snapshot().scan("responses").collect()
    compact(early, quiet)
    compact(late, quiet)
    assert filled.snapshot().scan("responses").collect().equals(rows)
    assert filled.snapshot().scan("items").collect().height == 6
    filled.compact()
    assert filled.snapshot().scan("responses").collect().equals(rows)
    assert sum(s.rows for s in filled.snapshot().segments()) == rows.height


def test_a_removal_during_a_compaction_holds(filled: Store) -> None:
    from foreshock._base import quiet
    from foreshock.store._compact import compact

    early = filled.snapshot()
    filled.remove("r1", "leak")
    compact(early, quiet)
    assert [run.run_key for run in filled.snapshot().runs()] == ["r0", "r2"]
    filled.compact()
    assert [run.run_key for run in filled.snapshot().runs()] == ["r0", "r2"]


def _segment(store: Store) -> Path:
    return store.snapshot().segments()[0].path


def test_damage_is_named_with_the_commit_and_the_way_out(filled: Store) -> None:
    path = _segment(filled)
    commit = filled.snapshot().segments()[0].commit
    whole = path.read_bytes()
    assert filled.verify() == []
    damages = {
        "instead of": whole[:-20],
        "altered": whole[:100] + bytes([whole[100] ^ 1]) + whole[101:],
        "not there": None,
    }
    for word, data in damages.items():
        path.unlink() if data is None else path.write_bytes(data)
        for attempt in (
            lambda: filled.snapshot().scan("responses"),
            lambda: filled.snapshot().frame(filled.snapshot().segments()[0]),
            lambda: filled.snapshot().scan("scores"),
            filled.compact,
            lambda: filled.sql("select count(*) from responses"),
        ):
            with pytest.raises(StoreError, match=word) as caught:
                attempt()
            assert f"commits/{commit}.json" in str(caught.value)
            assert "backup" in str(caught.value)
        assert [word in str(error) for error in filled.verify()] == [True]
    path.write_bytes(whole)
    assert filled.verify() == []
    before = listing(filled.folder)
    assert filled.snapshot().scan("responses").collect().height == 18
    assert listing(filled.folder) == before


@pytest.mark.parametrize(
    ("change", "error", "word"),
    [
        (lambda data: data[: len(data) // 2], StoreError, "not a commit"),
        (lambda data: b"", StoreError, "not a commit"),
        (lambda data: data.replace(b'"model of r0"', b'"model of r9"'), StoreError, "hash"),
        (lambda data: data.replace(b'"schema":1}', b'"schema":2}'), SchemaVersionError, "upgrade"),
    ],
)
def test_damaged_and_newer_commits_are_refused(store: Store, change, error, word) -> None:  # type: ignore[no-untyped-def]
    store.write(make_run("r0"), make_batches())
    (path,) = (store.folder / "commits").iterdir()
    data = path.read_bytes()
    assert change(data) != data
    path.write_bytes(change(data))
    with pytest.raises(error, match=word) as caught:
        Store.open(store.folder).snapshot()
    assert str(path) in str(caught.value)


def test_unknown_columns_ask_for_an_upgrade(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(make_run("r0"), make_batches())
    from foreshock.store import _frames, _intact

    schema = _frames.SCHEMAS["responses"]
    older = type(schema)({name: kind for name, kind in schema.items() if name != "reasoning"})
    monkeypatch.setitem(_frames.SCHEMAS, "responses", older)
    _intact.forget()
    with pytest.raises(SchemaVersionError, match="reasoning"):
        store.snapshot().scan("responses")


def test_columns_of_a_newer_schema_are_null_in_older_segments(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    import polars as pl

    from foreshock.store import _frames

    store.write(make_run("r0"), make_batches())
    schema = _frames.SCHEMAS["responses"]
    newer = type(schema)({**schema, "mood": pl.String()})
    monkeypatch.setitem(_frames.SCHEMAS, "responses", newer)
    assert store.snapshot().scan("responses").collect()["mood"].to_list() == [None] * 4


def test_a_store_without_its_commits_is_not_an_empty_one(filled: Store) -> None:
    shutil.rmtree(filled.folder / "commits")
    with pytest.raises(StoreError, match="commits"):
        Store.open(filled.folder).snapshot()
    assert ["commits" in str(error) for error in filled.verify()] == [True]
    (filled.folder / "commits").write_bytes(b"")
    with pytest.raises(StoreError, match="commits"):
        Store.open(filled.folder).snapshot()


@pytest.mark.parametrize("marker", [b"[" * 100_000, b'{"schema":true}', b'{"schema":-1}', b"\xff"])
def test_a_marker_that_is_none_is_told(filled: Store, marker: bytes) -> None:
    (filled.folder / "store.json").write_bytes(marker)
    with pytest.raises(StoreError, match="marker"):
        Store.open(filled.folder)


@pytest.mark.parametrize("folder", ["a\0b", "x" * 300])
def test_a_folder_that_cannot_be_one_is_told(folder: str) -> None:
    with pytest.raises(StoreError, match="folder"):
        Store.open(folder)


def test_verify_lists_all_damage_and_does_not_stop_at_a_commit(filled: Store) -> None:
    commits = filled.folder / "commits"
    first, second = filled.snapshot().segments()[:2]
    first.path.write_bytes(b"x")
    path = commits / f"{second.commit}.json"
    path.write_bytes(path.read_bytes()[:100])
    (commits / "y.json").mkdir()
    (commits / "z.json").symlink_to("/nowhere")
    (commits / "d.json").write_bytes(b'{"schema":1,"created":"","body":' + b"[" * 100_000)
    with pytest.raises(StoreError):
        Store.open(filled.folder).snapshot()
    words = ["cannot be read", "link", "not a commit", "not a commit", "bytes instead of"]
    damage = [str(error) for error in Store.open(filled.folder).verify()]
    assert len(damage) == len(words)
    assert all(any(word in text for text in damage) for word in words)


def _rewrite(store: Store, change: Callable[[dict[str, Any]], object]) -> None:
    """Alter the one commit of an add and name it by its new hash, as a faulty or hostile writer could."""
    import hashlib

    for path in (store.folder / "commits").iterdir():
        whole = json.loads(path.read_bytes())
        if whole["body"]["kind"] == "add":
            change(whole["body"])
            body = canonical(whole["body"])
            path.unlink()
            path.with_name(f"{hashlib.sha256(body).hexdigest()}.json").write_bytes(canonical(whole))


@pytest.mark.parametrize(
    ("facts", "error", "word"),
    [
        ({"sha256": "../../../../etc/passwd"}, StoreError, "not a SHA-256"),
        ({"table": "../../x"}, StoreError, "unknown table"),
        ({"runs": [7]}, StoreError, "run 7 of 1"),
        ({"runs": [-1]}, StoreError, "run -1 of 1"),
        ({"rows": 0}, StoreError, "0 rows"),
        ({"low": ["t"]}, StoreError, "key"),
        ({"schema": 99}, SchemaVersionError, "upgrade"),
        ({"table": "moods", "schema": 99}, SchemaVersionError, "upgrade"),
    ],
)
def test_a_commit_that_says_what_cannot_be_is_refused(
    store: Store, facts: dict[str, object], error: type[StoreError], word: str
) -> None:
    store.write(make_run("r0"), make_batches())
    _rewrite(store, lambda body: [segment.update(facts) for segment in body["segments"]])
    with pytest.raises(error, match=word):
        store.snapshot()
    assert [type(found) for found in store.verify()] == [error]


def test_a_commit_that_lies_about_its_rows_is_refused(store: Store) -> None:
    store.write(make_run("r0"), make_batches())
    _rewrite(store, lambda body: [s.update(rows=5) for s in body["segments"] if s["table"] == "responses"])
    with pytest.raises(StoreError, match="4 rows instead of the 5"):
        store.snapshot().scan("responses")
    assert ["4 rows" in str(error) for error in store.verify()] == [True]


@pytest.mark.parametrize(
    ("facts", "word"), [({"runs": []}, "other runs"), ({"low": ["a", None], "high": ["a", None]}, "other items")]
)
def test_verify_compares_what_a_commit_says_with_the_rows(store: Store, facts: dict[str, object], word: str) -> None:
    store.write(make_run("r0"), make_batches())
    _rewrite(store, lambda body: [s.update(facts) for s in body["segments"] if s["table"] == "responses"])
    assert [word in str(error) for error in store.verify()] == [True]


def test_scores_of_another_number_of_rows_are_refused(filled: Store) -> None:
    segment = filled.snapshot().segments()[0]
    short = segment._replace(rows=2)
    filled.put_scores(short, "short@1", [1.0, 2.0], ["scored"] * 2)
    with pytest.raises(StoreError, match="scores of 2 rows"):
        filled.snapshot().scan("scores")
    assert ["scores of 2 rows" in str(error) for error in filled.verify()] == [True]


def test_compact_sorts_what_one_commit_scattered_over_segments_and_then_rests(tmp_path: Path, monkeypatch) -> None:
    import foreshock.store._compact
    import foreshock.store._segments as segments

    assert foreshock.store._compact.SEGMENT_ROWS > 12  # its own, whatever is written below
    monkeypatch.setattr(segments, "SEGMENT_ROWS", 6)
    monkeypatch.setattr(segments, "MAX_ROWS", 3)
    keys = [f"{i:064x}" for i in range(3)]
    store = Store.open(tmp_path / "s", create=True)
    with store.writer() as writer:
        for model in ("a", "b", "c", "d"):
            shared = {"item_key": keys, "item_id": list("xyz")}
            rows = {"row": [0, 1, 2], **shared, "delivery": ["ok"] * 3, "output": [f"{model}{i}" for i in range(3)]}
            graded = {"row": [0, 1, 2], "metric_id": ["acc"] * 3, "source": ["harness"] * 3, "value": [0.0, 1.0, 0.5]}
            run = Run(run_key=model, format="live", reader="live@1", model=model, task="t")
            writer.write(run, [Batch("items", shared), Batch("responses", rows), Batch("scores", graded)])

    def looked_up() -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
        snapshot = store.snapshot()
        outputs = snapshot.scan("responses", items=[keys[1]], columns=["run_key", "output"]).collect().rows()
        scores = snapshot.scan("scores", items=[keys[1]], columns=["row", "value", "item_key"]).collect().rows()
        return outputs, scores

    assert len(store.snapshot().commits) == 1
    assert len(store.snapshot().segments("responses")) == 2
    before = looked_up()
    assert before == ([(m, f"{m}1") for m in "abcd"], [(1, 1.0, keys[1])] * 4)
    assert store.compact() is not None
    assert looked_up() == before
    assert len(store.snapshot().segments("responses")) == 1
    assert store.compact() is None
