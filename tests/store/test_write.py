from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from foreshock._base import StoreError
from foreshock.records import Batch, Counts, RunStatus
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


RESPONSE = {"row": [0], "delivery": ["ok"]}


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (Batch("answers", {"row": [0]}), ["answers", "responses"]),
        (Batch("responses", {**RESPONSE, "colour": ["red"]}), ["colour", "output"]),
        (Batch("responses", {**RESPONSE, "output": [1]}), ["output", "int", "str"]),
        (Batch("responses", {**RESPONSE, "epoch": ["1"]}), ["epoch", "str", "int"]),
        (Batch("responses", {**RESPONSE, "epoch": [True]}), ["epoch", "bool"]),
        (Batch("responses", {**RESPONSE, "epoch": [2**63]}), ["epoch", "64"]),
        (Batch("responses", {**RESPONSE, "gold_logprob": ["x"]}), ["gold_logprob", "str"]),
        (Batch("responses", {**RESPONSE, "choice_logprobs": ["ab"]}), ["choice_logprobs", "str"]),
        (Batch("responses", {**RESPONSE, "choice_logprobs": [["a"]]}), ["choice_logprobs", "str"]),
        (Batch("responses", {"row": [0], "delivery": ["lost"]}), ["delivery", "'lost'", "missing"]),
        (Batch("responses", {"row": [0], "delivery": [None]}), ["delivery", "null"]),
        (Batch("responses", {"row": [0]}), ["delivery"]),
        (Batch("responses", {"row": [0, 1], "delivery": ["ok"]}), ["delivery", "2"]),
        (Batch("responses", {"row": [0, 0], "delivery": ["ok", "ok"]}), ["row"]),
        (Batch("scores", {"row": [0], "metric_id": ["m"], "status": ["good"]}), ["status", "'good'"]),
        (Batch("scores", {"row": [None], "metric_id": ["m"]}), ["row", "null"]),
        (Batch("runs", {"model": ["other"]}), ["model"]),
        (Batch("runs", {"warnings": [["a"], ["b"]]}), ["warnings"]),
    ],
)
def test_what_a_reader_gets_wrong_is_named_and_leaves_nothing_behind(
    store: Store, batch: Batch, words: list[str]
) -> None:
    with store.writer() as writer:
        writer.write(make_run("good"), make_batches())
        with pytest.raises(StoreError) as caught:
            writer.write(make_run("bad"), [*make_batches(), batch])
    for word in [*words, "sums/easy=1"]:
        assert word in str(caught.value)
    assert [run.run_key for run in store.snapshot().runs()] == ["good"]
    for table in ("responses", "scores", "trace", "aggregates"):
        assert set(store.snapshot().scan(table).collect()["ingest_id"]) == {"ingest-good"}
        assert not any(segment.hidden for segment in store.snapshot().segments(table))


def test_rows_of_a_failed_run_that_are_on_disk_already_stay_invisible(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foreshock.store._segments.SEGMENT_ROWS", 4_096)
    wide = Batch("responses", {"row": list(range(5_000)), "delivery": ["ok"] * 5_000})
    with store.writer() as writer:
        with pytest.raises(StoreError, match="colour"):
            writer.write(make_run("bad"), [wide, Batch("responses", {"colour": ["red"]})])
        with pytest.raises(StoreError, match="failed before"):
            writer.write(make_run("bad"), [wide])
        writer.write(make_run("good"), [wide])
    snapshot = store.snapshot()
    assert snapshot.scan("responses").collect().height == 5_000
    with store.writer() as writer:
        writer.write(make_run("bad"), make_batches())
    assert store.snapshot().scan("responses", runs=["bad"]).collect().height == 4
    store.compact()
    assert store.snapshot().scan("responses").collect().height == 5_004
    assert sum(segment.rows for segment in store.snapshot().segments("responses")) == 5_004


def test_lone_surrogates_are_replaced_and_not_fatal(store: Store) -> None:
    batch = Batch(
        "responses",
        {"row": [0, 1], "item_id": ["a\ud800", "b"], "delivery": ["ok"] * 2, "output": ["x\ud83d\ude00", "y\udc00z"]},
    )
    item = Batch("items", {"item_id": ["a\ud800"], "choices": [["p\ud800", "q"]]})
    store.write(make_run(meta={"note\ud800": ["\udfff"]}, warnings=["w\ud800"]), [batch, item])
    rows = store.snapshot().scan("responses").collect().sort("row")
    assert rows["output"].to_list() == ["x\U0001f600", "y�z"]
    assert store.snapshot().scan("items").collect()["choices"].to_list() == [["p�", "q"]]
    assert store.snapshot().runs()[0].meta == {"note�": ["�"]}


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
    assert any("1 responses repeat" in warning and "1 of them with other" in warning for warning in run.warnings)
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


def test_an_error_in_the_block_commits_nothing_and_ctrl_c_what_was_complete(store: Store) -> None:
    def interrupted() -> object:
        yield from make_batches()
        raise KeyboardInterrupt

    with pytest.raises(RuntimeError), store.writer() as writer:  # noqa: PT012 - the block is what is tested
        writer.write(make_run("r0"), make_batches())
        raise RuntimeError
    assert store.snapshot().runs() == []
    with pytest.raises(KeyboardInterrupt), store.writer() as writer:  # noqa: PT012
        writer.write(make_run("r0"), make_batches())
        writer.write(make_run("r1"), interrupted())  # type: ignore[arg-type]
    assert [run.run_key for run in store.snapshot().runs()] == ["r0"]
    assert store.snapshot().scan("responses").collect().height == 4


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


def test_a_full_disk_is_told_and_what_was_added_stays(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(make_run("r0"), make_batches())
    real = Path.replace
    for full in (".parquet", ".json"):

        def refuse(self: Path, target: Path, full: str = full) -> Path:
            if target.suffix == full:
                raise OSError(28, "No space left on device")
            return real(self, target)

        monkeypatch.setattr(Path, "replace", refuse)
        with pytest.raises(StoreError, match="No space left"):
            store.write(make_run("r1"), make_batches())
    monkeypatch.undo()
    assert [run.run_key for run in store.snapshot().runs()] == ["r0"]
    assert store.snapshot().scan("responses").collect().height == 4
    store.write(make_run("r1"), make_batches())
    assert store.snapshot().scan("responses").collect().height == 8


@contextmanager
def full_disk(limit: int) -> Iterator[None]:
    """No file may grow beyond ``limit`` bytes: as a disk that fills up while Polars writes."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_the_systems_words_are_taken_out_of_those_of_polars() -> None:
    from polars.exceptions import ComputeError

    from foreshock.store._files import writing

    said = "parquet: File out of specification: underlying IO error: No space left on device (os error 28)"
    with pytest.raises(StoreError, match=r"cannot write \(No space left on device\)"), writing(Path("x")):
        raise ComputeError(said)
    with pytest.raises(ZeroDivisionError), writing(Path("x")):
        raise ZeroDivisionError


def test_a_disk_that_fills_up_inside_polars_is_told_and_leaves_no_draft(store: Store) -> None:
    store.write(make_run("r0"), make_batches())
    segment = store.snapshot().segments()[0]
    for work in (
        lambda: store.write(make_run("r1"), make_batches()),
        lambda: store.put_scores(segment, "m@1", [1.0] * segment.rows, ["scored"] * segment.rows),
    ):
        with full_disk(100), pytest.raises(StoreError, match="cannot write"):
            work()
        assert list((store.folder / "tmp").iterdir()) == []
    assert [run.run_key for run in store.snapshot().runs()] == ["r0"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_rows_of_a_complete_run_outlive_a_spill_that_fails(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    monkeypatch.setattr("foreshock.store._segments.MAX_ROWS", 4)
    monkeypatch.setattr("foreshock.store._segments.SEGMENT_ROWS", 6)

    def refuse(*_: object) -> None:
        raise error

    with store.writer() as writer:
        writer.write(make_run("r0"), make_batches())
        with monkeypatch.context() as broken:
            broken.setattr("foreshock.store._segments.publish", refuse)
            with pytest.raises((StoreError, KeyboardInterrupt)):
                writer.write(make_run("r1"), make_batches())
    assert [run.run_key for run in store.snapshot().runs()] == ["r0"]
    assert store.snapshot().scan("responses").collect().height == 4


def test_a_batch_cut_by_ctrl_c_does_not_shift_the_columns() -> None:
    from foreshock.store._segments import _Pending

    pending = _Pending("responses")
    pending.add({"row": [0, 1], "delivery": ["ok", "ok"]}, 2)
    pending.columns["row"].append(2)
    assert pending.take().select("row", "delivery").rows() == [(0, "ok"), (1, "ok")]


def test_rows_may_come_out_of_order_but_not_twice(store: Store) -> None:
    def rows(*numbers: int) -> Batch:
        return Batch("responses", {"row": list(numbers), "delivery": ["ok"] * len(numbers)})

    assert store.write(make_run("r0"), [rows(0, 1), rows(5, 3), rows(2)]).counts.delivered == 5
    for last in ((1,), (5,), (7, 7)):
        with pytest.raises(StoreError, match="same row number"):
            store.write(make_run("r1"), [rows(0, 1), rows(5, 3), rows(*last)])
