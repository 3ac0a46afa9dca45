from __future__ import annotations

from pathlib import Path

import pytest

from foreshock._base import SchemaVersionError, StoreError
from foreshock.readers import ReadOptions
from foreshock.records import Batch, Run, Source
from foreshock.store import Store, add_paths

from .conftest import listing, make_batches, make_run


def states(store: Store, as_of: str | None = None) -> dict[str, str]:
    return {name: ingest.state for name, ingest in sorted(store.snapshot(as_of).ingests.items())}


def source(sha256: str, path: str = "/logs/a", mtime_ns: int = 5) -> Source:
    return Source(path=path, size=10, mtime_ns=mtime_ns, sha256=sha256)


def reading(name: str, n: int = 4, **facts: object) -> tuple[Run, list[Batch]]:
    facts.setdefault("sources", [source(name)])
    return make_run("key", ingest_id=name, **facts), make_batches(n)


def test_more_delivered_supersedes_whatever_the_order(tmp_path: Path) -> None:
    for order in ((0, 1), (1, 0)):
        store = Store.open(tmp_path / str(order[0]), create=True)
        readings = [reading("few", 4, created="2024-06-01"), reading("many", 6, created="2024-05-01")]
        for i in order:
            store.write(*readings[i])
        assert states(store) == {"few": "superseded", "many": "live"}
        assert store.snapshot().ingests["few"].note == "many"
        assert [run.ingest_id for run in store.snapshot().runs()] == ["many"]
        assert {run.ingest_id for run in store.snapshot().runs(all=True)} == {"few", "many"}
        for table in ("responses", "scores", "trace", "aggregates"):
            assert set(store.snapshot().scan(table).collect()["ingest_id"]) == {"many"}


def test_later_created_breaks_the_tie_then_the_newer_reader(store: Store) -> None:
    # as text the first one would be the later
    store.write(*reading("a", created="2024-05-01T23:00:00-05:00"))
    store.write(*reading("b", created="2024-05-01T12:00:00Z"))
    assert states(store) == {"a": "live", "b": "superseded"}
    store.write(*reading("c", created="2024-05-01T23:00:00-05:00", reader="made@10"))
    store.write(*reading("d", created="2024-05-01T23:00:00-05:00", reader="made@9"))
    assert [name for name, state in states(store).items() if state == "live"] == ["c"]


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_the_later_of_two_equal_readings_counts_also_after_compact(store: Store, names: tuple[str, str]) -> None:
    for name in names:
        store.write(*reading(name, created="2024-05-01"))
    assert states(store) == {names[0]: "superseded", names[1]: "live"}
    assert store.compact() is not None
    assert states(store) == {names[0]: "superseded", names[1]: "live"}
    store.write(*reading("c", created="2024-05-01"))
    store.compact()
    assert states(store) == {"a": "superseded", "b": "superseded", "c": "live"}


def test_two_copies_take_no_turns_and_a_reading_asked_for_again_counts(store: Store, tmp_path: Path) -> None:
    logs = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in logs:
        path.write_text("model,benchmark,score\nm-1b,sums,0.5\nm-2b,sums,0.6\n", "utf-8")

    def items_after(number: int) -> set[int]:
        add_paths(store, logs, ReadOptions(n=str(number), csv={"x": "model", "y": "score", "group": "benchmark"}))
        return set(store.snapshot().scan("aggregates").collect()["n"])

    assert [items_after(n) for n in (100, 200, 100)] == [{100}, {200}, {100}]
    before = listing(store.folder)
    assert items_after(100) == {100}
    assert listing(store.folder) == before
    store.compact()
    assert [items_after(n) for n in (100, 200)] == [{100}, {200}]


def test_a_reading_that_is_brought_back_is_the_later_one(store: Store) -> None:
    for name in ("a", "b"):
        store.write(*reading(name, created="2024-05-01"))
    store.remove("a", "wrong")
    with store.writer(again=True) as writer:
        writer.write(*reading("a", created="2024-05-01"))
    assert states(store) == {"a": "live", "b": "superseded"}
    store.compact()
    assert states(store) == {"a": "live", "b": "superseded"}


def test_disagreeing_readings_of_one_run_are_kept_and_reported(store: Store) -> None:
    store.write(*reading("a"))
    store.write(*reading("same"))
    assert store.snapshot().conflicts() == []
    run, _ = reading("b")
    store.write(run, make_batches(4, answer=lambda i: "9" if i > 1 else str(2 * i)))
    conflicts = store.snapshot().conflicts()
    assert {(c.table, c.task, c.key, c.rows) for c in conflicts} == {("responses", "sums/easy=1", "key", 2)}
    assert len(conflicts) == 2  # with each of the two readings that agree
    assert len(store.snapshot().runs(all=True)) == 3


def test_one_file_read_in_two_ways_is_no_conflict(store: Store) -> None:
    store.write(*reading("a"))
    run, _ = reading("b", sources=[source("a")])
    store.write(run, make_batches(4, answer=lambda i: "9"))
    assert store.snapshot().conflicts() == []


def test_items_that_disagree_under_one_id_are_reported(store: Store) -> None:
    for name, gold in (("a", 0), ("b", 1)):
        item = Batch("items", {"item_id": ["7"], "gold_index": [gold], "choices": [["x", "y"]]})
        store.write(make_run(name), [item])
    (conflict,) = store.snapshot().conflicts()
    assert (conflict.table, conflict.key, conflict.rows) == ("items", "7", 2)
    assert "gold_index" in conflict.text
    assert "choices" not in conflict.text
    assert store.snapshot().scan("items").collect().height == 1


def test_removed_runs_stay_away_until_asked_for_again(store: Store) -> None:
    store.write(*reading("a"))
    store.write(make_run("other"), make_batches(2))
    removed = store.remove("key", "wrong prompt")
    assert [run.ingest_id for run in removed] == ["a"]
    snapshot = store.snapshot()
    assert (snapshot.ingests["a"].state, snapshot.ingests["a"].note) == ("removed", "wrong prompt")
    assert [run.run_key for run in snapshot.runs()] == ["other"]
    assert len(snapshot.runs(all=True)) == 2
    assert snapshot.scan("responses").collect().height == 2
    assert snapshot.sources() == {"/logs/a": (10, 5)}

    with store.writer() as writer:
        writer.write(*reading("a"))
    assert [run.ingest_id for run in writer.removed] == ["a"]
    assert states(store)["a"] == "removed"

    for _ in range(2):
        with store.writer(again=True) as writer:
            writer.write(*reading("a"))
        assert states(store)["a"] == "live"
        assert store.snapshot().scan("responses", runs=["key"]).collect().height == 4
        store.remove("a", "wrong prompt")
        assert states(store)["a"] == "removed"


def test_removing_needs_a_run_and_a_reason(store: Store) -> None:
    store.write(*reading("a"))
    with pytest.raises(StoreError, match="no run 'b'"):
        store.remove("b", "why")
    with pytest.raises(StoreError, match="reason"):
        store.remove("key", " ")
    store.remove("key", "why")
    with pytest.raises(StoreError, match="no run 'key'"):
        store.remove("key", "why")


def test_removing_the_better_reading_shows_the_other_one(store: Store) -> None:
    store.write(*reading("few", 4))
    store.write(*reading("many", 6))
    store.remove("many", "leaked")
    assert [run.ingest_id for run in store.snapshot().runs()] == ["few"]
    assert store.snapshot().scan("responses").collect().height == 4


def test_as_of_shows_what_was_known(store: Store) -> None:
    store.write(*reading("part", 4, created="2024-03-01T00:00:00Z"))
    store.write(*reading("full", 6, created="2024-06-01T00:00:00Z"))
    store.write(make_run("held", created="2024-01-01", known_at="2024-05-15"), make_batches())
    store.write(make_run("undated", created=None), make_batches())
    assert states(store, "2024-02") == {
        "full": "later", "ingest-held": "later", "ingest-undated": "undated", "part": "later",
    }  # fmt: skip
    assert states(store, "2024-05-14")["part"] == "live"
    assert states(store, "2024-05-14")["ingest-held"] == "later"
    assert states(store, "2024-05-15")["ingest-held"] == "live"
    late = states(store, "2024-06-01T00:00:00Z")
    assert (late["part"], late["full"]) == ("superseded", "live")
    assert store.snapshot("2024-04-01").scan("responses").collect().height == 4
    with pytest.raises(StoreError, match="ISO 8601"):
        store.snapshot("last week")


def test_a_snapshot_does_not_see_later_commits(store: Store) -> None:
    store.write(*reading("a"))
    before = store.snapshot()
    store.write(make_run("b"), make_batches())
    store.remove("key", "gone")
    assert [run.ingest_id for run in before.runs()] == ["a"]
    assert before.scan("responses").collect().height == 4


def test_scan_restricts_and_orders(store: Store) -> None:
    for name, task in (("r2", "b"), ("r0", "a"), ("r1", "b")):
        store.write(make_run(name, task=task), make_batches(5))
    snapshot = store.snapshot()
    columns = ["task", "item_key", "run_key", "row"]
    rows = snapshot.scan("responses", columns=columns).collect().rows()
    assert rows == sorted(rows)
    assert len(rows) == 15
    for table, height in (
        ("responses", 10),
        ("scores", 10),
        ("trace", 10),
        ("items", 5),
        ("aggregates", 2),
        ("runs", 2),
    ):
        assert snapshot.scan(table, tasks=["b"]).collect().height == height, table
    for table, height in (("responses", 5), ("scores", 5), ("items", 5), ("aggregates", 1), ("runs", 1)):
        assert snapshot.scan(table, runs=["r1"]).collect().height == height, table
    key = rows[0][1]
    assert snapshot.scan("responses", items=[key]).collect().height == 3
    assert snapshot.scan("scores", items=[key], columns=["value", "run_key"]).collect().height == 3
    assert snapshot.scan("items", items=[key]).collect().height == 2
    assert snapshot.scan("responses", runs=[]).collect().height == 0
    assert snapshot.scan("scores", metrics=["other"]).collect().height == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"table": "answers"}, ["answers", "responses"]),
        ({"table": "responses", "columns": ["colour"]}, ["colour", "output"]),
        ({"table": "responses", "tasks": "sums"}, ["tasks='sums'", "list"]),
    ],
)
def test_scan_names_what_is_wrong(store: Store, arguments: dict[str, object], words: list[str]) -> None:
    store.write(make_run(), make_batches())
    with pytest.raises(StoreError) as caught:
        store.snapshot().scan(**arguments)  # type: ignore[arg-type]
    for word in words:
        assert word in str(caught.value)


def test_item_lookup_opens_only_segments_that_can_hold_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for low in range(4):
        keys = [f"{low}{i:03d}" for i in range(50)]
        batch = Batch("responses", {"row": list(range(50)), "item_key": keys, "delivery": ["ok"] * 50})
        store.write(make_run(f"r{low}"), [batch])
    snapshot = store.snapshot()
    opened = []
    monkeypatch.setattr("foreshock.store._scan.check", lambda *facts: opened.append(facts[0]))
    assert snapshot.scan("responses", items=["2007"]).collect()["run_key"].to_list() == ["r2"]
    assert len(opened) == 1


@pytest.mark.parametrize("metrics", [["acc"], ["acc", "f1"]])
def test_scores_of_an_item_are_the_same_whatever_columns_are_asked_for(store: Store, metrics: list[str]) -> None:
    keys = [f"{i:064x}" for i in range(3)]
    for name in ("b", "a"):
        rows = {"row": [0, 1, 2], "item_key": keys, "delivery": ["ok"] * 3}
        marks = {"row": [0, 1, 2], "source": ["harness"] * 3, "value": [0.25, 0.5, 1.0]}
        graded = [Batch("scores", {**marks, "metric_id": [name] * 3}) for name in reversed(metrics)]
        store.write(make_run(name), [Batch("responses", rows), *graded])
    snapshot = store.snapshot()
    whole = snapshot.scan("scores", items=[keys[1]]).collect()
    assert whole["metric_id"].to_list() == metrics * 2
    for columns in (
        ["value"],
        ["ingest_id", "row", "value"],
        ["metric_id"],
        ["item_key", "value"],
        ["label", "source"],
    ):
        found = snapshot.scan("scores", items=[keys[1]], columns=columns).collect()
        assert found.columns == columns
        assert found.drop("item_key", strict=False).equals(whole.select([c for c in columns if c != "item_key"]))


def test_sources_name_every_file_and_the_reader(store: Store) -> None:
    store.write(*reading("a", sources=[source("a", "/logs/a"), source("b", "/logs/b", 7)]))
    store.write(make_run("r", reader="made@2", sources=[source("c", "/logs/c")]), make_batches())
    assert store.snapshot().sources() == {"/logs/a": (10, 5), "/logs/b": (10, 7), "/logs/c": (10, 5)}
    assert store.snapshot().sources({"made@2"}) == {"/logs/c": (10, 5)}


def test_with_items_keeps_rows_and_order(store: Store) -> None:
    store.write(make_run(), make_batches(5))
    store.write(make_run("none"), [Batch("responses", {"row": [0], "item_id": ["x"], "delivery": ["ok"]})])
    snapshot = store.snapshot()
    responses = snapshot.scan("responses").collect().sample(6, shuffle=True, seed=1)
    joined = snapshot.with_items(responses, ["targets", "input"])
    assert joined.select(responses.columns).equals(responses)
    expected = [None if row is None else [row.removeprefix("it is ")] for row in responses["output"]]
    assert joined["targets"].to_list() == expected


def test_opening(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="foreshock add"):
        Store.open(tmp_path / "none")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "todo.txt").write_text("not a store")
    with pytest.raises(StoreError, match="--store"):
        Store.open(tmp_path / "notes", create=True)
    store = Store.open(tmp_path / "deep" / "store", create=True)
    assert Store.open(store.folder, create=True).snapshot().runs() == []
    (store.folder / "store.json").write_text('{"schema": 99}')
    with pytest.raises(SchemaVersionError, match="upgrade"):
        Store.open(store.folder)
    (store.folder / "store.json").write_text("{")
    with pytest.raises(StoreError, match="marker"):
        Store.open(store.folder)


def test_runs_as_a_table(store: Store) -> None:
    store.write(make_run(conditions={"shots": "5"}, meta={"x": [1]}, sources=[source("a")], expected=4), make_batches())
    row = store.snapshot().scan("runs").collect().row(0, named=True)
    assert row["conditions"] == '{"shots":"5"}'
    assert row["meta"] == '{"x":[1]}'
    assert row["sources"] == ["/logs/a"]
    assert (row["expected"], row["delivered"], row["missing"], row["status"]) == (4, 4, 0, "complete")
