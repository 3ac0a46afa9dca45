"""State streams: numbered records that several processes append to, each vouching for the one before it."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from foreshock._base import StoreError, canonical, utc_now
from foreshock.store._files import write_file, write_new

RECORD = re.compile(r"(0|[1-9][0-9]{0,17})\.json")
"""Names of records."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_HEAD = "head.json"


_T = TypeVar("_T")


class Entry(NamedTuple):
    """One record of a stream.

    Attributes:
        n: Its number, from 0.
        created: When it was appended.
        value: What was appended.
        sha256: Hash of its file; the next record holds it.
    """

    n: int
    created: str
    value: Any
    sha256: str


class _Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    n: int
    previous: str | None
    created: str
    value: Any


class _Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    n: int
    sha256: str


class Stream:
    """An append-only list in ``state/<name>/``: the ledger, alarms, calibrations, generations, cards.

    Every record holds the hash of the one before; ``head.json`` holds the number and the hash of the last one, so that
    its loss or alteration is seen as well. Whoever rewrites both, or takes the whole folder, is not seen.

    Args:
        root: Folder of the store.
        name: Lower-case letters, digits, ``-`` and ``_``.

    Raises:
        StoreError: The name is none.
    """

    def __init__(self, root: Path, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise StoreError(
                f"{name!r} is no name of a stream", expected="lower-case letters, digits, - and _", do="choose another"
            )
        self.name = name
        self._root = root
        self._folder = root / "state" / name

    def append(self, value: Any, *, after: int | None = None) -> Entry:
        """Append a JSON-compatible value; of several processes each gets a number of its own.

        Args:
            value: What to keep.
            after: Append only if the last record is still this one (-1: the stream is empty), so that a decision read
                from the stream cannot be overtaken.

        Raises:
            StoreError: Another record came after ``after``, the stream is damaged, or the file system has no hard
                links.
        """
        while True:
            entries = self.read()
            last = entries[-1].n if entries else -1
            if after is not None and last != after:
                raise StoreError(
                    f"record {last} of stream {self.name} came in between",
                    expected=f"{after} as the last one",
                    do="read the stream and decide again",
                )
            previous = entries[-1].sha256 if entries else None
            record = _Record(n=last + 1, previous=previous, created=utc_now(), value=value)
            data = canonical(record)
            if self._write(last + 1, data):
                sha256 = hashlib.sha256(data).hexdigest()
                self._point_at(record.n, sha256)
                return Entry(record.n, record.created, value, sha256)

    def read(self) -> list[Entry]:
        """Every record in order, each checked against the hash that its successor holds.

        Raises:
            StoreError: A record is missing or was altered.
        """
        # before the listing: a head names a record that is there already
        head = self._head()
        entries: list[Entry] = []
        previous: str | None = None
        for expected, n in enumerate(self._numbers()):
            path = self._folder / f"{n}.json"
            data = _bytes(path)
            record = _decode(path, data, _Record)
            if n != expected or record.n != n or record.previous != previous:
                raise _broken(path, f"does not follow record {expected - 1}")
            previous = hashlib.sha256(data).hexdigest()
            entries.append(Entry(n, record.created, record.value, previous))
        if head is not None and head.n >= len(entries):
            raise _broken(self._folder / f"{head.n}.json", f"is not there, though {_HEAD} names it")
        if head is not None and (head.n < 0 or entries[head.n].sha256 != head.sha256):
            raise _broken(self._folder / f"{head.n}.json", f"is not the one that {_HEAD} names")
        return entries

    def _numbers(self) -> list[int]:
        try:
            names = [path.name for path in self._folder.iterdir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _broken(self._folder, f"folder cannot be read ({error.strerror})") from None
        return sorted(int(name.removesuffix(".json")) for name in names if RECORD.fullmatch(name))

    def _head(self) -> _Head | None:
        path = self._folder / _HEAD
        return _decode(path, _bytes(path), _Head) if os.path.lexists(path) else None

    def _point_at(self, n: int, sha256: str) -> None:
        """Name the last record. Of two appends at once the earlier may write last: a head is a lower bound."""
        # the record is there already; an error now would make the caller append it a second time
        with suppress(StoreError):
            write_file(self._root, self._folder / _HEAD, canonical(_Head(n=n, sha256=sha256)))

    def _write(self, n: int, data: bytes) -> bool:
        try:
            return write_new(self._root, self._folder / f"{n}.json", data)
        except OSError as error:
            raise StoreError(
                f"the record could not be written ({error.strerror})",
                expected="a file system with hard links and room",
                do="keep the store on a local disk",
                where=str(self._folder),
            ) from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _broken(path, f"cannot be read ({error.strerror})") from None


def _decode(path: Path, data: bytes, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _broken(path, f"is not a record ({error})") from None


def _broken(path: Path, what: str) -> StoreError:
    return StoreError(
        f"the record {what}",
        expected="an unbroken chain of records",
        do="restore the folder from a backup, or move it away to begin the stream anew",
        where=str(path),
    )
