"""The store: a folder that only ever gains files, until a collector is asked to take the unused ones."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from foreshock._base import Progress, SchemaVersionError, StoreError, pretty, quiet
from foreshock.records import SCHEMA_VERSION, Batch, Run
from foreshock.store._commit import StoredCommit, read_commit
from foreshock.store._files import write_file
from foreshock.store._snapshot import Snapshot
from foreshock.store._writer import Writer

_MARKER = "store.json"


class Store:
    """A store in a folder. Any number of processes may read and write at once; there is no lock.

    Use :meth:`open`; the constructor takes a folder that is known to be a store.

    Examples:
        >>> import tempfile
        >>> from foreshock.records import Batch, Run
        >>> store = Store.open(tempfile.mkdtemp() + "/store", create=True)
        >>> run = Run(run_key="k", format="live", reader="live@1", model="tiny", task="sums", expected=2)
        >>> rows = {"row": [0], "item_id": ["1+1"], "delivery": ["ok"], "output": ["2"], "answer": ["2"]}
        >>> store.write(run, [Batch("responses", rows)]).counts.missing
        1
        >>> store.snapshot().scan("responses", columns=["task", "answer"]).collect().rows()
        [('sums', '2')]
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cache: dict[str, StoredCommit] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.folder,)

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False) -> Store:
        """Open the store in ``folder``.

        Args:
            folder: Where it is, or where it shall be.
            create: Make it when the folder is empty or not there.

        Raises:
            StoreError: There is no store, or something else is in the folder.
            SchemaVersionError: A newer Foreshock made it.
        """
        root = Path(folder).absolute()
        marker = root / _MARKER
        if not marker.is_file():
            if not create:
                raise StoreError("there is no store", do="make one: foreshock add LOGS", where=str(root))
            _create(root)
        _check_layout(marker)
        return cls(root)

    def snapshot(self, as_of: str | None = None) -> Snapshot:
        """What the store holds now, or held of what was known at ``as_of`` (ISO 8601).

        Raises:
            StoreError: A commit is damaged, or ``as_of`` is not a moment.
        """
        return Snapshot(self.folder, self._commits(), as_of)

    def writer(self, *, progress: Progress = quiet, again: bool = False) -> Writer:
        """A context manager that takes runs and commits them together at its end.

        Args:
            progress: Told how many rows were taken.
            again: Whether runs that were removed come back when they are written again.
        """
        return Writer(self.folder, self.snapshot(), progress=progress, again=again)

    def write(self, run: Run, batches: Iterable[Batch]) -> Run:
        """Write one run with a commit of its own; see :meth:`Writer.write`."""
        with self.writer() as writer:
            return writer.write(run, batches)

    def _commits(self) -> dict[str, StoredCommit]:
        folder = self.folder / "commits"
        while True:
            names = {path.stem: path for path in folder.glob("*.json")}
            try:
                for name in names.keys() - self._cache.keys():
                    self._cache[name] = read_commit(names[name])
            except FileNotFoundError:
                # replaced and collected between listing and reading: its successor is in the next listing
                continue
            return {name: self._cache[name] for name in names}


def _create(root: Path) -> None:
    if root.exists() and (not root.is_dir() or any(p.name not in ("commits", "tmp") for p in root.iterdir())):
        raise StoreError(
            "the folder holds something that is not a store",
            expected="an empty or new folder",
            do="choose another folder with --store",
            where=str(root),
        )
    (root / "commits").mkdir(parents=True, exist_ok=True)
    write_file(root, root / _MARKER, pretty({"schema": SCHEMA_VERSION}).encode())


def _check_layout(marker: Path) -> None:
    try:
        schema = msgspec.json.decode(marker.read_bytes())["schema"]
    except (msgspec.DecodeError, KeyError, TypeError):
        schema = None
    if not isinstance(schema, int):
        raise StoreError("not the marker of a store", do="restore it from a backup", where=str(marker))
    if schema > SCHEMA_VERSION:
        raise SchemaVersionError(
            f"the store has schema {schema}",
            expected=f"schema {SCHEMA_VERSION} or older",
            do="upgrade: pip install --upgrade foreshock",
            where=str(marker),
        )
