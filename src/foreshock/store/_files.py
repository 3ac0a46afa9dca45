"""Files that are either wholly there or not there at all.

Every file of a store is written under a temporary name, flushed to the disk and renamed; the folder is flushed too, as
a rename that only the page cache knows is lost with the power.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foreshock._base import StoreError

_SYSTEM = re.compile(r"([^:\n]+) \(os error \d+\)")


@contextmanager
def writing(where: Path) -> Iterator[None]:
    """Turn a full disk or a folder that may not be written into a message.

    Raises:
        StoreError: In place of the OSError, or of the error in which Polars wraps one.
    """
    try:
        yield
    except Exception as error:
        what = _words(error)
        if what is None:
            raise
        raise StoreError(
            f"cannot write ({what})",
            expected="a folder with room that may be written",
            do="make room, or choose another folder with --store; what was reported as added is safe",
            where=str(where),
        ) from None


def _words(error: Exception) -> str | None:
    """What went wrong, or None when the error is not one of writing."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    # the system's words come through Polars as they are ("No space left on device (os error 28)") or, where the disk
    # was full at the footer, not at all ("transport error"): whatever Polars cannot write is told in its own words
    polars = sys.modules.get("polars")
    if polars is None or not isinstance(error, polars.exceptions.PolarsError):
        return None
    said = _SYSTEM.search(str(error))
    return said[1].strip() if said else str(error)


@contextmanager
def drafting(root: Path) -> Iterator[Path]:
    """A fresh name inside the store's own ``tmp`` folder (same file system, so that a rename is atomic).

    Whatever is left under that name at the end goes: a draft on a full disk would keep it full.
    """
    folder = root / "tmp"
    folder.mkdir(exist_ok=True)
    draft = folder / f"{os.getpid()}-{secrets.token_hex(8)}"
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def publish(source: Path, target: Path) -> None:
    """Flush ``source``, then give it its final name; ``target`` names its content, so replacing it changes nothing."""
    with source.open("rb+") as file:
        os.fsync(file.fileno())
    target.parent.mkdir(exist_ok=True)
    source.replace(target)
    sync_folder(target.parent)


def write_file(root: Path, target: Path, data: bytes) -> None:
    """Write ``data`` so that a kill at any instant leaves either the whole file or none."""
    with writing(target), drafting(root) as source:
        source.write_bytes(data)
        publish(source, target)


def write_new(root: Path, target: Path, data: bytes) -> bool:
    """Like :func:`write_file`, but False when ``target`` exists already: of two writers exactly one gets the name.

    Raises:
        OSError: The file system has no hard links.
    """
    with drafting(root) as source:
        source.write_bytes(data)
        with source.open("rb+") as file:
            os.fsync(file.fileno())
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target)
        except FileExistsError:
            return False
    sync_folder(target.parent)
    return True


def sync_folder(folder: Path) -> None:
    """Flush the names in ``folder``; a no-op where folders cannot be opened (Windows)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file in 64 hexadecimal digits, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
