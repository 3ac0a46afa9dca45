"""Checking a whole store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from foreshock._base import Progress, StoreError
from foreshock.store._scan import check, forget
from foreshock.store._segments import segment_path
from foreshock.store._stream import Stream

if TYPE_CHECKING:
    from foreshock.store._snapshot import Snapshot


def verify(snapshot: Snapshot, progress: Progress) -> list[StoreError]:
    """See :meth:`Store.verify`."""
    files: dict[Path, tuple[str, str, int, str]] = {}
    for name, stored in snapshot.commits.items():
        for entry in stored.commit.segments:
            path = segment_path(snapshot.root, entry.table, entry.sha256).absolute()
            files[path] = (entry.table, entry.sha256, entry.bytes, name)
        for score in stored.commit.scores:
            path = segment_path(snapshot.root, "scores", score.sha256).absolute()
            files[path] = ("scores", score.sha256, score.bytes, name)
    damage = []
    forget()
    for done, (path, facts) in enumerate(sorted(files.items())):
        progress("verify", done, len(files))
        try:
            check(path, *facts)
        except StoreError as error:
            damage.append(error)
    return damage + _streams(snapshot.root)


def _streams(root: Path) -> list[StoreError]:
    damage = []
    for folder in sorted((root / "state").glob("*/")):
        try:
            Stream(root, folder.name).read()
        except StoreError as error:
            damage.append(error)
    return damage
