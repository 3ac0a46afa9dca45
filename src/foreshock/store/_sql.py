"""The SQL door: DuckDB over the named files of a snapshot, shut towards everything else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from foreshock._base import StoreError, canonical, require
from foreshock.records import TABLES
from foreshock.store._intact import check
from foreshock.store._runs import RUNS, run_rows
from foreshock.store._scores import score_file

if TYPE_CHECKING:
    from foreshock.store._snapshot import Segment, Snapshot

_SQL_TYPES = {
    "str": "VARCHAR",
    "int": "BIGINT",
    "float": "DOUBLE",
    "bool": "BOOLEAN",
    "list[str]": "VARCHAR[]",
    "list[float]": "DOUBLE[]",
}
RUN_OF_A_SCORE = ("run_key", "task", "model")
"""Columns of the run that the view of scores has beside those of the table."""
_FETCH = 4_096
_MEMORY = "4GiB"
_THREADS = 4
_LOOK = 0.1
_PATIENCE = 2.0
"""Seconds that an interrupted query gets to stop; one that is inside a single huge value does not look."""
# a folder called "a=b" is a folder, not a column
_NUMBERED = "file_row_number = true, hive_partitioning = false"


class Answer(NamedTuple):
    """The result of a query.

    Attributes:
        columns: Names of the columns; equal ones are numbered (``n``, ``n_1``), so that none hides another.
        rows: Rows as tuples of Python values, fetched as they are asked for.
    """

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]


def ask(snapshot: Snapshot, query: str) -> Answer:
    """See :meth:`Store.sql`."""
    duckdb = require("duckdb", "sql", "foreshock sql")
    _only_reads(duckdb, query)
    door = _Door(_open(duckdb, snapshot))
    try:
        door.run(door.connection.execute, query)
    except duckdb.Error as error:
        door.close()
        raise _failed(error) from None
    except BaseException:
        door.close()
        raise
    return Answer(_distinct([column[0] for column in door.connection.description]), _rows(duckdb, door))


def _rows(duckdb: Any, door: _Door) -> Iterator[tuple[Any, ...]]:
    try:
        while rows := door.run(door.connection.fetchmany, _FETCH):
            yield from rows
    except duckdb.Error as error:
        raise _failed(error) from None
    finally:
        door.close()


class _Door:
    """A connection whose work stops at Ctrl-C.

    In the main thread DuckDB looks for Ctrl-C only between its tasks, and one task may last for hours.
    """

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self._stuck = False

    def run(self, work: Callable[..., Any], *arguments: object) -> Any:
        """``work(*arguments)`` in a thread of its own; whatever interrupts the caller interrupts the work."""
        done: Future[Any] = Future()

        def attempt() -> None:
            try:
                done.set_result(work(*arguments))
            except BaseException as error:  # noqa: BLE001 - it is raised in the caller's thread
                done.set_exception(error)

        Thread(target=attempt, daemon=True).start()
        try:
            # Polars' own handler of the signal lets a wait go on, and Windows' waits never end early: look again
            while not done.done():
                wait([done], timeout=_LOOK)
            return done.result()
        except BaseException:
            if not done.done():
                self.connection.interrupt()
                wait([done], timeout=_PATIENCE)
                self._stuck = not done.done()
            raise

    def close(self) -> None:
        """Close the connection, unless that would wait for work that does not stop."""
        if not self._stuck:
            self.connection.close()


def _distinct(names: Sequence[str]) -> list[str]:
    taken = set(names)
    found: list[str] = []
    for name in names:
        own, number = name, 0
        while own in found or (number and own in taken):
            number += 1
            own = f"{name}_{number}"
        found.append(own)
    return found


def _only_reads(duckdb: Any, query: str) -> None:
    """Allow one SELECT (also FROM, VALUES, DESCRIBE, SUMMARIZE, SHOW).

    Allowed paths may be written to as well as read, and EXPLAIN ANALYZE runs what it explains: without this check a
    COPY could overwrite a segment.
    """
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        raise _failed(error) from None
    kinds = [statement.type for statement in statements]
    if kinds != [duckdb.StatementType.SELECT]:
        found = ", ".join(kind.name for kind in kinds) or "nothing"
        raise StoreError(f"the query is {found}", expected="one SELECT", do="the store is only read through this door")


def _failed(error: Exception) -> StoreError:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return StoreError(
        "the query failed: " + "\n".join(lines),
        do=f"views: runs, {', '.join(TABLES)}; their columns: foreshock sql 'DESCRIBE responses'",
    )


def _open(duckdb: Any, snapshot: Snapshot) -> Any:
    connection = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
    connection.execute(f"SET memory_limit = '{_MEMORY}'")
    connection.execute(f"SET threads = {min(_THREADS, os.cpu_count() or 1)}")
    connection.execute("SET temp_directory = ''")
    # the bar would go to standard output, among the rows
    connection.execute("SET enable_progress_bar = false")
    files = _make_views(connection, snapshot)
    connection.execute(f"SET allowed_paths = [{', '.join(map(_quoted, files))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _make_views(connection: Any, snapshot: Snapshot) -> list[Path]:
    """Create the views and return the files behind them."""
    _make_runs(connection, snapshot)
    files: list[Path] = []
    for table in TABLES:
        segments = snapshot.segments(table)
        for segment in segments:
            check(segment.path, table, segment.sha256, segment.bytes, segment.rows, segment.commit)
        files += [segment.path for segment in segments]
        parts = [_read([s.path for s in segments if not s.hidden])] if any(not s.hidden for s in segments) else []
        parts += [_read([s.path]) + _live(s) for s in segments if s.hidden]
        if table == "scores":
            found, more = _score_rows(snapshot)
            files += found
            parts += more
        _make_view(connection, table, parts)
    return files


def _read(paths: Sequence[Path]) -> str:
    # columns that an older schema lacks come back as null
    names = ", ".join(map(_quoted, paths))
    return f"SELECT * FROM read_parquet([{names}], union_by_name = true, hive_partitioning = false)"  # noqa: S608


def _make_runs(connection: Any, snapshot: Snapshot) -> None:
    shape = {name: _RUN_TYPES[str(kind)] for name, kind in RUNS.items()}
    fields = ", ".join(f"unnest.{name}" for name in shape)
    connection.execute(
        f"CREATE TABLE runs AS SELECT {fields} FROM (SELECT unnest(from_json($1, $2)) AS unnest)",  # noqa: S608
        [canonical(run_rows(snapshot)).decode(), canonical([shape]).decode()],
    )


_RUN_TYPES = {"String": "VARCHAR", "Int64": "BIGINT", "Float64": "DOUBLE", "List(String)": ["VARCHAR"]}


def _make_view(connection: Any, table: str, parts: Sequence[str]) -> None:
    columns = [_name(column.name) for column in TABLES[table]]
    empty = ", ".join(f"NULL::{_SQL_TYPES[column.kind]} AS {_name(column.name)}" for column in TABLES[table])
    body = " UNION ALL BY NAME ".join([f"SELECT {empty} WHERE false", *parts])
    if table == "items":
        keys = "task, item_key, item_id"
        unknowns = " + ".join(f"({name} IS NULL)::INT" for name in columns)
        body = f"SELECT DISTINCT ON ({keys}) * FROM ({body}) ORDER BY {keys}, {unknowns}"  # noqa: S608
    if table == "scores":
        own = ", ".join(f"r.{name}" for name in RUN_OF_A_SCORE)
        body = f"SELECT s.*, {own} FROM ({body}) AS s LEFT JOIN runs AS r ON s.ingest_id = r.ingest_id"  # noqa: S608
    connection.execute(f"CREATE VIEW {table} AS {body}")


def _live(segment: Segment, prefix: str = "") -> str:
    if not segment.hidden:
        return ""
    return f" WHERE {prefix}ingest_id IN ({', '.join(map(_quoted, sorted(segment.live)))})"


def _score_rows(snapshot: Snapshot) -> tuple[list[Path], list[str]]:
    files, parts = [], []
    for segment in snapshot.segments("responses"):
        for metric_id, entry in snapshot.scores(segment).items():
            path = score_file(snapshot.root, entry, segment)
            files.append(path)
            parts.append(
                f"SELECT r.ingest_id, r.row, {_quoted(metric_id)} AS metric_id, 'foreshock' AS source, "  # noqa: S608
                f"s.value, s.status, s.label "
                f"FROM read_parquet({_quoted(segment.path)}, {_NUMBERED}) AS r "
                f"JOIN read_parquet({_quoted(path)}, {_NUMBERED}) AS s "
                f"ON r.file_row_number = s.file_row_number AND s.status IS NOT NULL" + _live(segment, "r.")
            )
    return files, parts


def _quoted(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _name(name: str) -> str:
    return f'"{name}"'
