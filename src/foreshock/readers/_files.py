"""Bytes from disk: hashing once, lines in bounded memory."""

from __future__ import annotations

import gzip
import hashlib
import stat
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, cast

from foreshock._base import BrokenFileError, ReadError
from foreshock.records import Source

HEAD = 64 * 2**10
BLOCK = 2**20
# One log record. The largest real Inspect samples and lm-eval lines seen are a few MB; beyond this, memory is at stake.
MAX_RECORD = 256 * 2**20
# A JSON array has to be parsed whole.
MAX_ARRAY = 2**30

GZIP = b"\x1f\x8b"
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)
"""What a gzip stream raises that is cut off or has a wrong byte in it."""


def source(path: Path, member: str | None = None) -> Source:
    """Size, time and SHA-256 of a file, read once in blocks."""
    try:
        facts = path.stat()
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from None
    return Source(
        path=str(path.absolute()), member=member, size=facts.st_size, mtime_ns=facts.st_mtime_ns, sha256=found
    )


def head(path: Path) -> bytes:
    """First 64 KiB, unpacked when the file is gzip."""
    try:
        with open_bytes(path) as stream:
            return stream.read(HEAD)
    except DAMAGED as error:
        raise damaged(error, str(path)) from None
    except OSError as error:
        raise unreadable(path, error) from None


def open_bytes(path: Path) -> IO[bytes]:
    """Open for reading, through gzip when the content is.

    Raises:
        ReadError: It is no regular file: opening a named pipe would wait for a writer for ever.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise ReadError("not a regular file", expected="a file that can be read twice", where=str(path))
    # the default buffer of 8 KiB costs a system call a line
    stream = path.open("rb", buffering=BLOCK)
    begin = stream.read(2)
    if begin == GZIP:
        stream.close()
        return cast("IO[bytes]", gzip.open(path))
    stream.seek(0)
    return stream


def lines(stream: IO[bytes], where: str) -> Iterator[tuple[int, bytes]]:
    """Number (from 1) and bytes of every line that is not blank.

    Raises:
        BrokenFileError: A line is longer than a log record can be, or a gzip stream is damaged from there on.
    """
    read = partial(stream.readline, MAX_RECORD)
    number = 0
    while True:
        try:
            line = read()
        except DAMAGED as error:
            raise damaged(error, f"{where}, after line {number}") from None
        if not line:
            return
        number += 1
        if len(line) == MAX_RECORD:
            raise BrokenFileError(
                f"line {number} is longer than {MAX_RECORD >> 20} MiB", expected="one JSON object per line", where=where
            )
        if not line.isspace():
            yield number, line


def whole(path: Path, limit: int = MAX_ARRAY) -> bytes:
    """The entire content, for formats that cannot be read in pieces.

    Raises:
        BrokenFileError: It is larger than ``limit``.
    """
    try:
        with open_bytes(path) as stream:
            data = stream.read(limit + 1)
    except DAMAGED as error:
        raise damaged(error, str(path)) from None
    except OSError as error:
        raise unreadable(path, error) from None
    if len(data) > limit:
        raise BrokenFileError(
            f"a JSON document of more than {limit >> 20} MiB has to be held in memory whole",
            expected="one JSON object per line",
            do="convert it: jq -c '.[]' FILE > FILE.jsonl",
            where=str(path),
        )
    return data


def damaged(error: Exception, where: str) -> BrokenFileError:
    """The error for a gzip stream that cannot be unpacked to its end."""
    return BrokenFileError(
        f"cannot be read: the gzip stream is cut off or damaged ({error})",
        do="copy it again from where it was made",
        where=where,
    )


def unreadable(path: Path, error: Exception) -> ReadError:
    """The error for a file that the system would not give."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return ReadError(f"cannot be read ({reason})", do="check the path and its permissions", where=str(path))
