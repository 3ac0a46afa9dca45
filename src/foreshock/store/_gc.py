"""Taking away files that nothing needs any more."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from foreshock.records import TABLES
from foreshock.store._commit import StoredCommit

GRACE = 86_400.0
"""Seconds for which an unused file stays: longer than any add, and than any report that still reads it."""


class Collected(NamedTuple):
    """What was taken away: number of files and their bytes."""

    files: int
    bytes: int


def collect(root: Path, commits: Mapping[str, StoredCommit], grace: float) -> Collected:
    """Delete replaced commits, files that no commit names, and left-over drafts, once each is older than ``grace``.

    A replaced commit counts from the moment at which it was replaced, so that a snapshot taken before stays readable.
    """
    limit = time.time() - grace
    expired = {name for name, since in _replaced(root, commits).items() if since < limit}
    kept = [stored for name, stored in commits.items() if name not in expired]
    named = {(entry.table, entry.sha256) for stored in kept for entry in stored.commit.segments}
    named |= {("scores", entry.sha256) for stored in kept for entry in stored.commit.scores}
    # commits first: one without its segments would be damage, a segment without its commit is only waste
    doomed = [root / "commits" / f"{name}.json" for name in sorted(expired)]
    # files of a commit that expires now were in use until then, however old they are
    doomed += [path for path, key in _segment_files(root) if key not in named and path.stat().st_mtime < limit]
    doomed += [path for path in sorted((root / "tmp").glob("*")) if path.is_file() and path.stat().st_mtime < limit]
    size = 0
    for path in doomed:
        size += path.stat().st_size
        path.unlink()
    return Collected(len(doomed), size)


def _replaced(root: Path, commits: Mapping[str, StoredCommit]) -> dict[str, float]:
    """When each replaced commit was replaced for the first time."""
    since: dict[str, float] = {}
    for name, stored in commits.items():
        if not stored.commit.replaces:
            continue
        written = (root / "commits" / f"{name}.json").stat().st_mtime
        for old in stored.commit.replaces:
            if old in commits:
                since[old] = min(since.get(old, written), written)
    return since


def _segment_files(root: Path) -> Iterator[tuple[Path, tuple[str, str]]]:
    for table in TABLES:
        for path in sorted((root / table).glob("*.parquet")):
            if path.is_file():
                yield path, (table, path.stem)
