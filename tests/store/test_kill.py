"""Processes that write at the same time, and processes that are killed."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

import polars as pl
import pytest

from foreshock.records import Batch
from foreshock.store import Store

from .conftest import make_batches, make_run

KILLS = 50
RUNS = 3


@pytest.fixture(scope="module")
def context() -> ForkServerContext:
    # importing Polars takes longer than a child lives; one server imports it for all of them
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["polars", "foreshock.store._scores", "foreshock.store._items", __name__])
    return context


def start(context: ForkServerContext, target: object, *arguments: object) -> ForkServerProcess:
    process = context.Process(target=target, args=arguments)  # type: ignore[arg-type]
    process.start()
    return process


def report(path: Path, line: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


def add_forever(folder: Path, told: Path, first: int) -> None:
    store = Store.open(folder)
    report(told, "ready")
    for i in range(first, first + 1_000):
        with store.writer() as writer:
            for j in range(RUNS):
                writer.write(make_run(f"{i}-{j}"), make_batches(20))
        report(told, f"added {i}")
        segment = store.snapshot().segments()[0]
        store.put_scores(segment, f"m{i}", [float(i)] * segment.rows, ["scored"] * segment.rows)
        report(told, f"scored {i}")
        store.stream("ledger").append(i)
        report(told, f"noted {i}")


def wait_for(told: Path, reports: int) -> None:
    limit = time.monotonic() + 30
    while not told.exists() or told.read_bytes().count(b"\n") < reports:
        assert time.monotonic() < limit, "the child does nothing"
        time.sleep(0.001)


def check(store: Store, lines: list[str]) -> None:
    snapshot = store.snapshot()
    there = {run.run_key for run in snapshot.runs()}
    for line in lines:
        word, _, i = line.partition(" ")
        if word == "added":
            assert {f"{i}-{j}" for j in range(RUNS)} <= there
        if word == "scored":
            assert any(f"m{i}" in snapshot.scores(segment) for segment in snapshot.segments())
    noted = [int(line.split()[1]) for line in lines if line.startswith("noted")]
    assert set(noted) <= {entry.value for entry in store.stream("ledger").read()}
    heights = snapshot.scan("responses", columns=["run_key", "row"]).collect().group_by("run_key").agg(pl.col("row"))
    assert {key: sorted(rows) for key, rows in heights.iter_rows()} == {key: list(range(20)) for key in there}


def test_fifty_kills_lose_nothing_reported_and_show_nothing_half(store: Store, context: ForkServerContext) -> None:
    draw = random.Random(20)
    told = store.folder.parent / "told"
    lines: list[str] = []
    interrupted = 0
    for kill in range(KILLS):
        told.unlink(missing_ok=True)
        child = start(context, add_forever, store.folder, told, 1_000 * kill)
        # counted in reports, not in seconds: a slow machine gets as far as a fast one
        wait_for(told, reports=1 + draw.randrange(5))
        time.sleep(draw.uniform(0, 0.03))
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert child.exitcode == -signal.SIGKILL
        mine = [line for line in told.read_text().splitlines() if line != "ready"]
        lines += mine
        named = {e.sha256 for c in store.snapshot().commits.values() for e in [*c.commit.segments, *c.commit.scores]}
        stray = [path for path in store.folder.rglob("*.parquet") if path.stem not in named]
        interrupted += bool(stray or list((store.folder / "tmp").glob("*")))
        check(store, mine)
        store.gc(grace=0)
    check(store, lines)
    assert store.verify() == []
    # otherwise the kills fell between the writes and the test has shown nothing; about 14 of 50 fall inside
    assert interrupted >= 3
    assert sum(line.startswith("added") for line in lines) >= KILLS // 2


def add_some(folder: Path, numbers: list[int]) -> None:
    store = Store.open(folder, create=True)
    for i in numbers:
        with store.writer() as writer:
            writer.write(make_run(f"r{i}", task=f"t{i % 3}"), make_batches(20))
            writer.write(make_run("shared"), make_batches(10))
            writer.write(make_run(f"r{i + 1}", task=f"t{(i + 1) % 3}"), make_batches(20))
        store.stream("ledger").append({"i": i})


def test_two_writers_need_no_lock(tmp_path: Path, context: ForkServerContext) -> None:
    folder = tmp_path / "store"
    # every second run is written by both, each time in another company
    children = [start(context, add_some, folder, list(range(first, 20 + first, 2))) for first in (0, 1)]
    for child in children:
        child.join()
        assert child.exitcode == 0
    store = Store.open(folder)
    snapshot = store.snapshot()
    assert {run.run_key for run in snapshot.runs()} == {f"r{i}" for i in range(21)} | {"shared"}
    rows = snapshot.scan("responses").collect()
    assert rows.height == 21 * 20 + 10
    assert rows.select("ingest_id", "row").is_unique().all()
    assert snapshot.scan("scores").collect().height == rows.height
    assert snapshot.scan("items").collect().height == 3 * 20 + 10
    entries = store.stream("ledger").read()
    assert [entry.n for entry in entries] == list(range(20))
    assert sorted(entry.value["i"] for entry in entries) == list(range(20))
    store.compact()
    assert store.snapshot().scan("responses").collect().equals(rows)


def test_a_run_in_two_commits_is_counted_once(store: Store) -> None:
    shared = make_run("shared"), make_batches(10)
    first, second = store.writer(), store.writer()
    with first, second:
        first.write(*shared)
        second.write(*shared)
        second.write(make_run("own"), make_batches(10))
        first.write(make_run("lone"), [Batch("responses", {"row": [0], "delivery": ["ok"]})])
    snapshot = store.snapshot()
    assert len(snapshot.commits) == 2
    assert snapshot.scan("responses").collect().height == 21
    assert snapshot.scan("aggregates").collect().height == 2
