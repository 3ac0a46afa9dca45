"""The folder of a store: its marker and its list of commits."""

from __future__ import annotations

from pathlib import Path

import msgspec

from foreshock._base import SchemaVersionError, StoreError, pretty
from foreshock.records import SCHEMA_VERSION
from foreshock.store._files import write_file, writing

_MARKER = "store.json"


def open_folder(folder: str | Path, *, create: bool) -> Path:
    """The absolute path of a store; see :meth:`Store.open`."""
    if "\0" in str(folder):
        raise StoreError(f"{str(folder)!r} is no name of a folder", do="choose another one with --store")
    root = Path(folder).absolute()
    marker = root / _MARKER
    try:
        there = marker.is_file()
    except OSError as error:
        raise StoreError(
            f"the folder cannot be read ({error.strerror})", do="choose another one with --store", where=str(root)
        ) from None
    if not there:
        if not create:
            raise StoreError("there is no store", do="make one: foreshock add LOGS", where=str(root))
        _create(root)
    _check_layout(marker)
    return root


def listing(folder: Path) -> dict[str, Path]:
    """Files of commits by their stems. Git, for one, does not keep an empty folder: an absent one is not told apart."""
    try:
        return {path.stem: path for path in folder.iterdir() if path.suffix == ".json"}
    except OSError as error:
        raise StoreError(
            f"the commits of the store cannot be listed ({error.strerror})",
            expected="the folder commits beside store.json",
            do="restore it from a backup; if the store was empty, make the folder again",
            where=str(folder),
        ) from None


def _create(root: Path) -> None:
    with writing(root):
        (root / "commits").mkdir(parents=True, exist_ok=True)
    # another process may be making the same store at this moment
    if {path.name for path in root.iterdir()} <= {"commits", "tmp"}:
        write_file(root, root / _MARKER, pretty({"schema": SCHEMA_VERSION}).encode())
    elif not (root / _MARKER).is_file():
        (root / "commits").rmdir()
        raise StoreError(
            "the folder holds something that is not a store",
            expected="an empty or new folder",
            do="choose another folder with --store",
            where=str(root),
        )


def _check_layout(marker: Path) -> None:
    try:
        schema = msgspec.json.decode(marker.read_bytes())["schema"]
    except (msgspec.DecodeError, KeyError, TypeError, RecursionError):
        schema = None
    except OSError as error:
        raise StoreError(
            f"the store cannot be read ({error.strerror})", do="ask its owner for access", where=str(marker)
        ) from None
    if type(schema) is not int or schema < 1:
        raise StoreError("not the marker of a store", do="restore it from a backup", where=str(marker))
    if schema > SCHEMA_VERSION:
        raise SchemaVersionError(
            f"the store has schema {schema}",
            expected=f"schema {SCHEMA_VERSION} or older",
            do="upgrade: pip install --upgrade foreshock",
            where=str(marker),
        )
