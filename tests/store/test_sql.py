from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from foreshock._base import MissingExtraError, StoreError
from foreshock.records import TABLES
from foreshock.store import Store
from foreshock.store._sql import RUN_OF_A_SCORE

from .conftest import listing, make_batches, make_run
from .test_scores import METRIC, score_all


@pytest.fixture
def filled(store: Store) -> Store:
    with store.writer() as writer:
        for i in range(3):
            writer.write(make_run(f"r{i}", task=f"it's {i % 2}", conditions={"shots": "5"}), make_batches(6))
    store.write(make_run("r3", task="it's 0"), make_batches(6))
    score_all(store)
    store.remove("r1", "leak")
    return store


@pytest.mark.parametrize("table", [*TABLES, "runs"])
def test_views_hold_what_scan_holds(filled: Store, table: str) -> None:
    frame = filled.snapshot().scan(table).collect()
    answer = filled.sql(f"SELECT * FROM {table}")
    more = list(RUN_OF_A_SCORE) if table == "scores" else []
    assert answer.columns == [*frame.columns, *more]
    if more:
        frame = frame.join(filled.snapshot().scan("runs").select("ingest_id", *more).collect(), on="ingest_id")
    assert sorted(map(repr, answer.rows)) == sorted(map(repr, frame.rows()))
    assert frame.height > 0


def test_views_of_an_empty_store(store: Store) -> None:
    for table in [*TABLES, "runs"]:
        answer = store.sql(f"SELECT * FROM {table}")
        more = RUN_OF_A_SCORE if table == "scores" else ()
        assert answer.columns == [*store.snapshot().scan(table).collect_schema().names(), *more]
        assert list(answer.rows) == []


def test_positional_scores_join_their_responses(filled: Store) -> None:
    query = (
        "SELECT r.run_key, r.row, s.value FROM scores AS s JOIN responses AS r USING (ingest_id, row) "
        f"WHERE s.metric_id = '{METRIC}' AND s.source = 'foreshock'"
    )
    rows = list(filled.sql(query).rows)
    assert len(rows) == 18
    assert all(value == row + 100 * int(key[1:]) for key, row, value in rows)


def test_scores_say_whose_they_are(filled: Store) -> None:
    query = "SELECT model, task, source, avg(value), count(*) FROM scores GROUP BY ALL ORDER BY ALL"
    found = list(filled.sql(query).rows)
    frame = filled.snapshot().scan("scores", columns=["run_key", "source", "value"]).collect()
    facts = {run.run_key: (run.model, run.task) for run in filled.snapshot().runs()}
    sums: dict[tuple[str, str, str], list[float | None]] = {}
    for key, source, value in frame.iter_rows():
        sums.setdefault((*facts[key], source), []).append(value)
    means = {k: [v for v in values if v is not None] for k, values in sums.items()}
    assert {row[:3]: row[3:] for row in found} == {
        k: (pytest.approx(sum(means[k]) / len(means[k])) if means[k] else None, len(sums[k])) for k in sums
    }
    assert {row[2] for row in found} == {"harness", "foreshock"}


def test_as_of(filled: Store) -> None:
    filled.write(make_run("late", created="2030-01-01"), make_batches())
    assert next(filled.sql("SELECT count(*) FROM runs").rows) == (4,)
    assert next(filled.sql("SELECT count(*) FROM runs", as_of="2025").rows) == (3,)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM read_blob('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM sniff_csv('/etc/passwd')",
        "SELECT * FROM parquet_metadata('/etc/passwd')",
        "SELECT * FROM read_csv('https://example.org/x.csv')",
        "SELECT getenv('HOME')",
        "COPY (SELECT 1) TO '{out}'",
        "COPY responses TO '{segment}' (FORMAT parquet, USE_TMP_FILE false)",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{segment}' (FORMAT parquet, USE_TMP_FILE false)",
        "EXPORT DATABASE '{out}'",
        "ATTACH '{out}'",
        "ATTACH '{out}' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "RESET allowed_paths",
        "PRAGMA database_list",
        "CREATE TABLE t AS SELECT 1",
        "DROP VIEW responses",
        "INSERT INTO runs SELECT * FROM runs",
        "CALL pragma_version()",
        "SELECT 1; SELECT 2",
        "SELECT 1; COPY (SELECT 1) TO '{out}'",
        "",
        "-- nothing",
    ],
)
def test_the_door_is_shut(filled: Store, tmp_path: Path, query: str) -> None:
    out = tmp_path / "out"
    segment = str(filled.snapshot().segments()[0].path).replace("'", "''")
    before = listing(filled.folder)
    with pytest.raises(StoreError):
        list(filled.sql(query.format(out=out, segment=segment)).rows)
    assert not out.exists()
    assert listing(filled.folder) == before


def test_external_access_is_off_even_for_statements_that_get_through(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the second lock must hold when the first one, the check of the statement, does not
    monkeypatch.setattr("foreshock.store._sql._only_reads", lambda *_: None)
    out = tmp_path / "out"
    for query in (
        f"COPY (SELECT 1) TO '{out}'",
        f"EXPORT DATABASE '{out}'",
        f"ATTACH '{out}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "RESET allowed_paths",
    ):
        with pytest.raises(StoreError, match="query failed"):
            list(filled.sql(query).rows)
    assert not out.exists()


def test_mistakes_are_told_with_the_views(filled: Store) -> None:
    for query in ("SELECT colour FROM responses", "SELEKT 1", "SELECT * FROM answers", "SELECT 'x'::INT"):
        with pytest.raises(StoreError, match="query failed") as caught:
            list(filled.sql(query).rows)
        assert "aggregates" in str(caught.value)


def test_rows_come_in_pieces(filled: Store) -> None:
    rows = filled.sql("SELECT * FROM range(10000)").rows
    assert next(rows) == (0,)
    assert sum(1 for _ in rows) == 9_999


def test_equal_names_of_columns_are_numbered(filled: Store) -> None:
    answer = filled.sql("SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS a")
    assert answer.columns == ["a", "a_2", "a_1", "a_3"]
    assert list(answer.rows) == [(1, 2, 3, 4)]


# neither looks for Ctrl-C in the main thread; both end some day, so that a failure is one
ENDLESS = "WITH RECURSIVE t AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM t WHERE a < 1000000) SELECT count(*) FROM t"
RARE = "SELECT * FROM range(20000000000::BIGINT) WHERE range % 1000000007 = 1000000000"


@pytest.mark.skipif(os.name == "nt", reason="a signal to oneself ends the process there")
@pytest.mark.parametrize("query", [ENDLESS, RARE])
def test_ctrl_c_ends_a_query_that_would_not_end(filled: Store, query: str) -> None:
    list(filled.sql("SELECT 1").rows)  # imports are over
    # a process started in the background by a shell ignores SIGINT, and so would this one
    before_test = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    before = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            list(filled.sql(query).rows)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before_test)
    assert time.monotonic() - before < 5


def test_a_long_query_draws_no_bar_among_its_rows(filled: Store, capfd: pytest.CaptureFixture[str]) -> None:
    assert list(filled.sql("SELECT current_setting('enable_progress_bar')").rows) == [(False,)]
    assert capfd.readouterr().out == ""


def test_memory_and_threads_are_bounded(filled: Store) -> None:
    query = "SELECT current_setting('memory_limit'), current_setting('threads')"
    ((memory, threads),) = filled.sql(query).rows
    assert memory == "4.0 GiB"
    assert 1 <= threads <= 4


def test_without_duckdb_the_extra_is_named(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"foreshock\[sql\]"):
        filled.sql("SELECT 1")


def test_damage_during_a_query_is_told(filled: Store) -> None:
    answer = filled.sql("SELECT count(*) FROM responses")
    assert next(answer.rows)[0] == 18
