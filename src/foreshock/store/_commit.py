"""A commit: the one small file that makes rows visible.

A commit is named by the SHA-256 of its body. Moments of the wall clock stand outside the body, so the same ingest has
the same name wherever and whenever it is made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from foreshock._base import SchemaVersionError, StoreError, canonical
from foreshock.records import SCHEMA_VERSION, Run
from foreshock.store._files import write_file
from foreshock.store._sound import faults, newest_schema
from foreshock.store._text import repair

Kind = Literal["add", "scores", "remove", "compact"]


class SegmentEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A file of rows of one table.

    Attributes:
        table: Table of the rows.
        sha256: Hash of the file; with the table it is its path.
        rows: Number of rows.
        bytes: Size of the file.
        memory: Size of the rows in memory.
        schema: Schema version of the columns.
        runs: Positions in the commit's ``runs`` of the runs that have rows here; empty for items.
        stray: Whether there are also rows of runs that failed after their first rows had been written.
        low: Task and item key of the first row, for tables sorted by them.
        high: Task and item key of the last row.
    """

    table: str
    sha256: str
    rows: int
    bytes: int
    memory: int
    schema: int = SCHEMA_VERSION
    runs: list[int] = []
    stray: bool = False
    low: list[str | None] = []
    high: list[str | None] = []


class ScoreEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A file with one metric of every row of one responses segment, in that segment's order.

    Attributes:
        segment: SHA-256 of the responses segment.
        metric_id: The metric.
        sha256: Hash of the file.
        rows: Number of rows, equal to the segment's.
        bytes: Size of the file.
        complete: Whether every row was looked at; after ``compact`` some may come from segments never scored.
    """

    segment: str
    metric_id: str
    sha256: str
    rows: int
    bytes: int
    complete: bool = True


class Tombstone(msgspec.Struct, frozen=True, kw_only=True):
    """A removed run; ``id`` differs from that of an earlier tombstone which was lifted by adding the run again."""

    id: str
    run: Run
    reason: str


class Commit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one ``add``, scoring, removal or compaction brought.

    Attributes:
        kind: What made it.
        runs: Runs whose rows stand in ``segments``.
        segments: Files of rows.
        scores: Files of scores.
        removed: Runs hidden by this commit.
        lifts: Ids of tombstones that no longer count, because the run was asked for again.
        replaces: Commits whose content is wholly in this one.
    """

    kind: Kind
    runs: list[Run] = []
    segments: list[SegmentEntry] = []
    scores: list[ScoreEntry] = []
    removed: list[Tombstone] = []
    lifts: list[str] = []
    replaces: list[str] = []


class _Envelope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    schema: int
    created: str
    body: msgspec.Raw
    since: dict[str, str] = {}


class StoredCommit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit as it was found.

    Attributes:
        name: SHA-256 of its body, the stem of its file.
        created: When it was written.
        commit: Its content.
        since: When its runs were written, by ingest id, where another commit brought them first (``compact``).
    """

    name: str
    created: str
    commit: Commit
    since: dict[str, str] = {}


def write_commit(root: Path, commit: Commit, created: str, since: Mapping[str, str] | None = None) -> str:
    """Write ``commit`` last of all its files and return its name; a commit that is there already stays as it is."""
    try:
        body = canonical(commit)
    except UnicodeEncodeError:
        body = canonical(repair(msgspec.to_builtins(commit)))
    name = hashlib.sha256(body).hexdigest()
    target = root / "commits" / f"{name}.json"
    if not target.exists():
        envelope = _Envelope(schema=SCHEMA_VERSION, created=created, body=msgspec.Raw(body), since=dict(since or {}))
        write_file(root, target, canonical(envelope))
    return name


def read_commit(path: Path) -> StoredCommit:
    """Read and verify one commit.

    Raises:
        FileNotFoundError: It was there when the folder was listed, and a collector has taken it since.
        SchemaVersionError: A newer Foreshock wrote it.
        StoreError: It is damaged.
    """
    data = _bytes(path)
    try:
        envelope = msgspec.json.decode(data, type=_Envelope)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _damaged(path, f"is not a commit ({error})") from None
    _check_schema(path, envelope.schema)
    if hashlib.sha256(bytes(envelope.body)).hexdigest() != path.stem:
        raise _damaged(path, "does not match the hash in its name")
    try:
        commit = msgspec.json.decode(envelope.body, type=Commit)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _damaged(path, f"is not a commit ({error})") from None
    _check_schema(path, newest_schema(commit))
    for fault in faults(commit):
        raise _damaged(path, fault)
    return StoredCommit(name=path.stem, created=envelope.created, commit=commit, since=envelope.since)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            raise _damaged(path, "is a link to a file that is not there") from None
        raise
    except PermissionError:
        raise StoreError("the file may not be read", do="ask its owner for access", where=str(path)) from None
    except OSError as error:
        raise _damaged(path, f"cannot be read ({error.strerror})") from None


def _check_schema(path: Path, schema: int) -> None:
    if schema > SCHEMA_VERSION:
        raise SchemaVersionError(
            f"the store holds data of schema {schema}",
            expected=f"schema {SCHEMA_VERSION} or older",
            do="upgrade: pip install --upgrade foreshock",
            where=str(path),
        )


def _damaged(path: Path, what: str) -> StoreError:
    return StoreError(
        f"the file {what}",
        expected="the file as it was written",
        do="restore it from a backup, or delete this one file and add its logs again",
        where=str(path),
    )
