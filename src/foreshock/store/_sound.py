"""Whether a commit says only what a commit can say.

The hash in its name shows that a commit is as it was written; it does not show who wrote it. Hashes become paths and
positions become indices, so both are looked at before anything is done with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from foreshock.records import SCHEMA_VERSION, TABLES

if TYPE_CHECKING:
    from foreshock.store._commit import Commit, ScoreEntry, SegmentEntry

_HASH = re.compile(r"[0-9a-f]{64}")


def newest_schema(commit: Commit) -> int:
    """The newest schema that anything in the commit was written with."""
    runs = [*commit.runs, *(stone.run for stone in commit.removed)]
    schemas = (*(run.schema for run in runs), *(entry.schema for entry in commit.segments))
    return max(schemas, default=SCHEMA_VERSION)


def faults(commit: Commit) -> Iterator[str]:
    """What the commit says that cannot be, each as a clause that follows "the file"."""
    for entry in commit.segments:
        yield from _segment(entry, len(commit.runs))
    for score in commit.scores:
        yield from _score(score)
    for name in commit.replaces:
        if not _HASH.fullmatch(name):
            yield f"replaces {name[:80]!r}, which is not a commit"


def _segment(entry: SegmentEntry, runs: int) -> Iterator[str]:
    if entry.table not in TABLES:
        yield f"names a segment of the unknown table {entry.table[:80]!r}"
    if not _HASH.fullmatch(entry.sha256):
        yield f"names a segment {entry.sha256[:80]!r}, which is not a SHA-256"
    if entry.rows < 1 or entry.bytes < 1 or entry.memory < 0:
        yield f"names a segment of {entry.rows} rows, {entry.bytes} bytes on disk and {entry.memory} in memory"
    if odd := [place for place in entry.runs if not 0 <= place < runs]:
        yield f"names run {odd[0]} of {runs}"
    if len(entry.low) != len(entry.high) or len(entry.low) not in (0, 2):
        yield "names a segment without a proper first and last key"


def _score(entry: ScoreEntry) -> Iterator[str]:
    for sha256 in (entry.segment, entry.sha256):
        if not _HASH.fullmatch(sha256):
            yield f"names scores {sha256[:80]!r}, which is not a SHA-256"
    if entry.rows < 1 or entry.bytes < 1:
        yield f"names scores of {entry.rows} rows and {entry.bytes} bytes"
