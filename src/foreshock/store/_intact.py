"""Whether a file of rows is the one that its commit names."""

from __future__ import annotations

import stat
from functools import cache
from pathlib import Path

import polars as pl

from foreshock._base import SchemaVersionError, StoreError
from foreshock.store._files import file_sha256
from foreshock.store._frames import SCHEMAS


def check(path: Path, table: str, sha256: str, size: int, rows: int, commit: str) -> None:
    """Verify a file at its first use in this process.

    Raises:
        StoreError: It is missing, short, altered, or not what the commit says of it.
        SchemaVersionError: It has columns that this version does not know.
    """
    try:
        found = path.stat()
    except OSError as error:
        what = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise damaged(path, f"the file {what}", commit) from None
    if not stat.S_ISREG(found.st_mode):
        raise damaged(path, "this is not a file", commit)
    if found.st_size != size:
        raise damaged(path, f"the file has {found.st_size} bytes instead of {size}", commit)
    try:
        same = _sha256(path, size, found.st_mtime_ns) == sha256
    except OSError as error:
        raise damaged(path, f"the file cannot be read ({error.strerror})", commit) from None
    if not same:
        raise damaged(path, "the content of the file was altered", commit)
    _check_shape(path, table, size, rows, commit, found.st_mtime_ns)


def forget() -> None:
    """Verify every file anew at its next use."""
    _sha256.cache_clear()
    _shape.cache_clear()


def damaged(path: Path, what: str, commit: str) -> StoreError:
    """The error of a file that is not as ``commit`` wrote it."""
    return StoreError(
        what,
        expected=f"the file that commit {commit[:12]} wrote",
        do=f"restore it from a backup, or delete commits/{commit}.json and add the logs of that commit again",
        where=str(path),
    )


def _check_shape(path: Path, table: str, size: int, rows: int, commit: str, mtime_ns: int) -> None:
    try:
        schema, height = _shape(path, size, mtime_ns)
    except pl.exceptions.PolarsError as error:
        raise damaged(path, f"the file is not Parquet ({str(error)[:200]})", commit) from None
    if unknown := sorted(schema.keys() - SCHEMAS[table].keys()):
        raise SchemaVersionError(
            f"unknown columns {', '.join(unknown)}",
            expected="columns of this version",
            do="upgrade: pip install --upgrade foreshock",
            where=str(path),
        )
    if odd := [name for name, kind in schema.items() if kind != SCHEMAS[table][name]]:
        raise damaged(path, f"column {odd[0]} holds {schema[odd[0]]} instead of {SCHEMAS[table][odd[0]]}", commit)
    if height != rows:
        raise damaged(path, f"the file has {height} rows instead of the {rows} that its commit says", commit)


@cache
def _sha256(path: Path, size: int, mtime_ns: int) -> str:  # noqa: ARG001 - what an unaltered file is known by
    return file_sha256(path)


@cache
def _shape(path: Path, size: int, mtime_ns: int) -> tuple[pl.Schema, int]:  # noqa: ARG001
    frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    return frame.collect_schema(), int(frame.select(pl.len()).collect().item())
