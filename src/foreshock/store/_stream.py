"""State streams: numbered records that several processes append to, each vouching for the one before it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import StoreError, canonical, utc_now
from foreshock.store._files import write_new

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


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


class Stream:
    """An append-only list in ``state/<name>/``: the ledger, alarms, calibrations, generations, cards.

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
                return Entry(record.n, record.created, value, hashlib.sha256(data).hexdigest())

    def read(self) -> list[Entry]:
        """Every record in order, each checked against the hash that its successor holds.

        Raises:
            StoreError: A record is missing or was altered.
        """
        numbers = sorted(int(path.stem) for path in self._folder.glob("*.json") if path.stem.isdecimal())
        entries: list[Entry] = []
        previous: str | None = None
        for expected, n in enumerate(numbers):
            path = self._folder / f"{n}.json"
            data = path.read_bytes()
            record = _decode(path, data)
            if n != expected or record.n != n or record.previous != previous:
                raise _broken(path, f"does not follow record {expected - 1}")
            previous = hashlib.sha256(data).hexdigest()
            entries.append(Entry(n, record.created, record.value, previous))
        return entries

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


def _decode(path: Path, data: bytes) -> _Record:
    try:
        return msgspec.json.decode(data, type=_Record)
    except msgspec.DecodeError as error:
        raise _broken(path, f"is not a record ({error})") from None


def _broken(path: Path, what: str) -> StoreError:
    return StoreError(
        f"the record {what}",
        expected="an unbroken chain of records",
        do="restore the folder from a backup, or move it away to begin the stream anew",
        where=str(path),
    )
