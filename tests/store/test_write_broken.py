"""Writing that goes wrong: readers, disks and interruptions; what was complete stays, nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from foreshock._base import StoreError
from foreshock.records import Batch
from foreshock.store import Store

from .conftest import make_batches, make_run

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
