"""What is written comes back, in order, once."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from foreshock._base import StoreError
from foreshock.records import Batch, Counts, RunStatus, Source
from foreshock.store import Store

from .conftest import listing, make_batches, make_run


def test_rows_come_back_with_what_the_store_fills_in(store: Store) -> None:
    store.write(make_run(), make_batches())
    snapshot = store.snapshot()
    rows = snapshot.scan("responses").collect()
    assert rows.height == 4
    assert set(rows["ingest_id"]) == {"ingest-r0"}
    assert set(rows["run_key"]) == {"r0"}
    assert set(rows["task"]) == {"sums/easy=1"}
    assert sorted(rows["answer"]) == ["0", "2", "4", "6"]
    assert rows.sort("row")["choice_logprobs"].to_list() == [[-0.5, -1.5 - i] for i in range(4)]
    assert snapshot.scan("trace").collect()["ok"].to_list() == [True, False, True, False]
    assert snapshot.scan("aggregates").collect()["task"].to_list() == ["sums/easy=1"]
    assert snapshot.scan("scores").collect()["status"].to_list() == ["scored"] * 4
    assert snapshot.scan("items").collect()["task"].to_list() == ["sums/easy=1"] * 4


def test_segments_are_sorted_by_task_item_and_run(store: Store) -> None:
    with store.writer() as writer:
        for name, task in (("r1", "b"), ("r0", "b"), ("r2", "a")):
            writer.write(make_run(name, task=task), make_batches())
    rows = store.snapshot().scan("responses", columns=["task", "item_key", "item_id", "run_key"]).collect().rows()
    assert rows == sorted(rows)
    assert len({row[0] for row in rows}) == 2


def test_counts_keep_every_state_apart(store: Store) -> None:
    deliveries = ["ok", "truncated", "refused", "blocked", "error", "timeout", "cancelled", "missing", "ok"]
    batch = Batch(
        "responses",
        {
            "row": list(range(9)),
            "item_id": [str(i) for i in range(9)],
            "delivery": deliveries,
            "answer": ["a", None, "said", None, None, None, None, None, None],
            "choice_logprobs": [None] * 8 + [[-1.0]],
        },
    )
    values = [1.0, math.nan, None, 0.0]
    scores = Batch("scores", {"row": [0, 1, 2, 8], "metric_id": ["m"] * 4, "value": values})
    run = store.write(make_run(expected=12), [batch, scores, scores])
    assert run.counts == Counts(expected=12, delivered=3, parsed=2, scored=2, refused=2, error=3, missing=4)
    assert run.status is RunStatus.PARTIAL
    assert any("4 of 12" in warning for warning in run.warnings)


def test_unknown_expectation_counts_only_what_the_log_lists_as_absent(store: Store) -> None:
    batch = Batch("responses", {"row": [0, 1], "delivery": ["ok", "missing"]})
    counts = store.write(make_run(), [batch]).counts
    assert (counts.expected, counts.delivered, counts.missing) == (None, 1, 1)


@pytest.mark.parametrize(
    ("status", "rows", "counts"),
    [
        (RunStatus.COMPLETE, 0, Counts()),
        (RunStatus.STARTED, 0, Counts(expected=12, missing=12)),
        (RunStatus.COMPLETE, 1, Counts(expected=12, delivered=1, missing=11)),
    ],
    ids=["responses were not logged", "the run did not end", "one was logged"],
)
def test_of_a_log_with_totals_alone_no_response_is_called_missing(
    store: Store, status: RunStatus, rows: int, counts: Counts
) -> None:
    batches = [Batch("aggregates", {"metric_id": ["acc"], "value": [0.5]})]
    batches += [Batch("responses", {"row": [0], "delivery": ["ok"]})] * rows
    run = store.write(make_run(expected=12, status=status), batches)
    assert run.counts == counts
    assert run.expected == 12
    assert any("not in the log" in warning for warning in run.warnings) is bool(counts.missing)


def test_a_score_whose_square_no_float_holds_is_failed_and_says_so(store: Store) -> None:
    responses = Batch("responses", {"row": [0, 1, 2], "delivery": ["ok"] * 3})
    values = [1.7e308, -1e101, 1e100]
    store.write(make_run(), [responses, Batch("scores", {"row": [0, 1, 2], "metric_id": ["m"] * 3, "value": values})])
    found = store.snapshot().scan("scores").sort("row").collect()
    assert found["value"].to_list() == [None, None, 1e100]
    assert found["status"].to_list() == ["failed", "failed", "scored"]
    assert found["label"].to_list() == ["the score is beyond 1e+100"] * 2 + [None]


def test_nan_and_infinity_never_enter(store: Store) -> None:
    bad = [math.nan, math.inf, -math.inf, 1.0]
    responses = Batch(
        "responses",
        {
            "row": [0, 1, 2, 3],
            "delivery": ["ok"] * 4,
            "gold_logprob": bad,
            "choice_logprobs": [[value, -1.0] for value in bad],
            "seconds": [1, 2, None, 4],
        },
    )
    scores = Batch(
        "scores",
        {"row": [0, 1, 2, 3], "metric_id": ["m"] * 4, "value": bad, "status": ["scored", None, "unparsed", "scored"]},
    )
    store.write(make_run(), [responses, scores, Batch("aggregates", {"metric_id": ["m"] * 4, "value": bad})])
    snapshot = store.snapshot()
    rows = snapshot.scan("responses").collect().sort("row")
    assert rows["gold_logprob"].to_list() == [None, None, None, 1.0]
    assert rows["choice_logprobs"].to_list() == [[None, -1.0]] * 3 + [[1.0, -1.0]]
    assert rows["seconds"].to_list() == [1.0, 2.0, None, 4.0]
    scored = snapshot.scan("scores").collect().sort("row")
    assert scored["value"].to_list() == [None, None, None, 1.0]
    assert scored["status"].to_list() == ["failed", "failed", "unparsed", "scored"]
    assert snapshot.scan("aggregates").collect()["value"].null_count() == 3


def test_a_score_without_status_or_value_is_settled(store: Store) -> None:
    scores = Batch("scores", {"row": [0, 1], "metric_id": ["m"] * 2, "value": [None, 0.5]})
    store.write(make_run(), [scores, Batch("scores", {"row": [2], "metric_id": ["n"], "label": ["C"]})])
    rows = store.snapshot().scan("scores").collect().sort("row")
    assert rows["status"].to_list() == ["failed", "scored", "failed"]
    assert rows["label"].to_list() == [None, None, "C"]


def test_a_value_beside_another_status_is_not_kept(store: Store) -> None:
    scores = Batch("scores", {"row": [0], "metric_id": ["m"], "value": [0.0], "status": ["unparsed"]})
    assert store.write(make_run(), [scores]).counts.scored == 0
    assert store.snapshot().scan("scores").collect()["value"].to_list() == [None]


def test_late_facts_join_the_header(store: Store) -> None:
    late = Batch("runs", {"warnings": [["cut off"]], "status": ["cancelled"], "expected": [9], "meta": [{"b": 2}]})
    run = make_run(warnings=["odd"], meta={"a": 1}, expected=4)
    written = store.write(run, [*make_batches(), late, Batch("runs", {"warnings": [["and late"]]})])
    assert written.warnings[:3] == ["odd", "cut off", "and late"]
    assert written.status is RunStatus.CANCELLED
    assert (written.counts.expected, written.counts.missing) == (9, 5)
    assert written.meta == {"a": 1, "b": 2}
    assert store.snapshot().runs() == [written]


def test_repeated_ids_keep_both_rows_and_are_reported(store: Store) -> None:
    batch = Batch(
        "responses",
        {
            "row": [0, 1, 2, 3],
            "item_id": ["a", "a", "b", "b"],
            "epoch": [1, 1, 1, 2],
            "delivery": ["ok"] * 4,
            "output": ["x", "y", "z", "z"],
        },
    )
    run = store.write(make_run(), [batch])
    assert any("1 response repeats" in warning and "1 of them with another" in warning for warning in run.warnings)
    assert store.snapshot().scan("responses").collect().height == 4


def test_rows_without_any_id_are_not_called_repeated(store: Store) -> None:
    batch = Batch("responses", {"row": [0, 1], "delivery": ["ok"] * 2, "item_id": [None, None]})
    assert store.write(make_run(), [batch]).warnings == []


def test_adding_twice_changes_nothing(store: Store) -> None:
    for _ in range(2):
        with store.writer() as writer:
            writer.write(make_run("r0"), make_batches())
            writer.write(make_run("r1"), make_batches(6))
            writer.write(make_run("r1"), iter(make_batches(6)))
        before = listing(store.folder)
    assert [run.run_key for run in writer.unchanged] == ["r0", "r1", "r1"]
    assert writer.added == []
    with store.writer() as writer:
        assert writer.write(make_run("r1"), make_batches(6)) == store.snapshot().runs()[1]
    assert listing(store.folder) == before


def test_the_batches_of_a_known_run_are_used_up(store: Store) -> None:
    store.write(make_run(), make_batches())
    batches = iter(make_batches())
    store.write(make_run(), batches)
    assert next(batches, None) is None


def test_equal_input_gives_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for name, epoch in (("one", "1700000000"), ("two", "1800000000")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        store = Store.open(tmp_path / name, create=True)
        with store.writer() as writer:
            for i in range(5):
                writer.write(make_run(f"r{i}"), make_batches(8))
        store.put_scores(store.snapshot().segments()[0], "m@1", [1.0] * 40, ["scored"] * 40)
        found.append(listing(store.folder))
    assert found[0].keys() == found[1].keys()
    clocks = {name for name in found[0] if found[0][name] != found[1][name]}
    assert clocks == {name for name in found[0] if name.startswith("commits")}
    for name in clocks:
        assert found[0][name].replace(b"2023-11-14T22:13:20Z", b"2027-01-15T08:00:00Z") == found[1][name]


def test_three_thousand_small_runs_are_one_commit_and_few_segments(store: Store) -> None:
    with store.writer() as writer:
        for i in range(3_000):
            writer.write(make_run(f"r{i}", task=f"t{i % 7}"), make_batches(2))
    assert len(list((store.folder / "commits").iterdir())) == 1
    snapshot = store.snapshot()
    assert len(snapshot.runs()) == 3_000
    assert [len(snapshot.segments(table)) for table in ("items", "responses", "scores", "trace")] == [1] * 4
    assert snapshot.scan("responses").collect().height == 6_000
    assert snapshot.scan("items").collect().height == 14


def test_large_batches_are_cut_into_segments_each_sorted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foreshock.store._segments.SEGMENT_ROWS", 10_000)
    n = 33_000
    order = [(i * 7_919) % n for i in range(n)]

    def batches() -> list[Batch]:
        return [
            Batch(
                "responses",
                {
                    "row": list(range(start, start + 1_000)),
                    "item_id": [f"{order[i]:06d}" for i in range(start, start + 1_000)],
                    "delivery": ["ok"] * 1_000,
                },
            )
            for start in range(0, n, 1_000)
        ]

    store.write(make_run(), batches())
    snapshot = store.snapshot()
    segments = snapshot.segments()
    assert len(segments) >= 3
    for segment in segments:
        ids = snapshot.frame(segment, ["item_id"])["item_id"].to_list()
        assert ids == sorted(ids)
    assert snapshot.scan("responses").collect()["item_id"].to_list() == [f"{i:06d}" for i in range(n)]


def test_memory_is_bounded_by_bytes_too(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foreshock.store._segments.BUFFER_BYTES", 1_000_000)
    heavy = [Batch("responses", {"row": [i], "delivery": ["ok"], "output": ["x" * 100_000]}) for i in range(400)]
    store.write(make_run(), heavy)
    segments = store.snapshot().segments()
    assert len(segments) > 2
    assert all(segment.memory < 12_000_000 for segment in segments)
    assert store.snapshot().scan("responses").collect()["row"].sort().to_list() == list(range(400))


def test_items_are_stored_once_over_runs_and_commits(store: Store) -> None:
    store.write(make_run("r0"), make_batches(10))
    store.write(make_run("r1"), make_batches(10))
    snapshot = store.snapshot()
    assert [segment.rows for segment in snapshot.segments("items")] == [10]
    store.write(make_run("r2"), make_batches(12))
    assert sorted(segment.rows for segment in store.snapshot().segments("items")) == [2, 10]
    assert store.snapshot().scan("items").collect().height == 12


def test_items_that_say_more_are_preferred(store: Store) -> None:
    def item(**more: object) -> Batch:
        return Batch("items", {"item_key": ["k"], "item_id": ["1"], "input": ["q"], **more})  # type: ignore[dict-item]

    store.write(make_run("r0"), [item()])
    store.write(make_run("r1"), [item(subset=["history"])])
    store.write(make_run("r2"), [item()])
    assert store.snapshot().scan("items", columns=["subset"]).collect()["subset"].to_list() == ["history"]


def test_a_run_without_ingest_id_gets_a_stable_one(store: Store) -> None:
    first = store.write(make_run(ingest_id=""), make_batches())
    again = store.write(make_run(ingest_id=""), make_batches())
    assert first.ingest_id == again.ingest_id != ""
    later = store.write(make_run(ingest_id="", created="2025-01-01T00:00:00Z"), make_batches())
    assert later.ingest_id != first.ingest_id


def test_an_empty_run_is_a_run(store: Store) -> None:
    store.write(make_run(expected=3), [])
    snapshot = store.snapshot()
    assert snapshot.runs()[0].counts == Counts(expected=3, missing=3)
    for table in ("items", "responses", "trace", "scores", "aggregates"):
        assert snapshot.scan(table).collect().height == 0
    assert snapshot.scan("runs").collect().height == 1


def test_two_runs_of_one_file_with_one_identity_are_refused_and_a_copy_elsewhere_is_not(store: Store) -> None:
    here, there = (Source(path=path, size=1, mtime_ns=1, sha256="a") for path in ("/one.csv", "/two.csv"))
    with store.writer() as writer:
        writer.write(make_run(sources=[here]), make_batches())
        rest = iter(make_batches())
        with pytest.raises(StoreError, match="two runs of it have one identity"):
            writer.write(make_run(sources=[here], model="another"), rest)
        assert not list(rest)  # used up, as always
        writer.write(make_run(sources=[there]), make_batches())
    assert [run.model for run in writer.added] == ["model of r0"]
    assert [run.model for run in writer.unchanged] == ["model of r0"]
    with store.writer() as writer:  # nor when the store knows the first
        writer.write(make_run(sources=[here]), make_batches())
        with pytest.raises(StoreError, match="two runs of it have one identity"):
            writer.write(make_run(sources=[here], model="another"), make_batches())
