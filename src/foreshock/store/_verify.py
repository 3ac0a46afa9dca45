"""Checking a whole store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from foreshock._base import Progress, StoreError
from foreshock.store._commit import Commit, ScoreEntry, SegmentEntry
from foreshock.store._intact import check, damaged, forget
from foreshock.store._segments import segment_path
from foreshock.store._stream import RECORD, Stream

if TYPE_CHECKING:
    from foreshock.store._snapshot import Snapshot


def verify(snapshot: Snapshot, damage: list[StoreError], progress: Progress) -> list[StoreError]:
    """See :meth:`Store.verify`; ``damage`` is what was found while the commits were read."""
    forget()
    files = sorted(_files(snapshot), key=lambda file: file[0])
    for done, (_, look) in enumerate(files):
        progress("verify", done, len(files))
        try:
            look()
        except StoreError as error:
            damage.append(error)
    return damage + _streams(snapshot.root)


def _files(snapshot: Snapshot) -> Iterator[tuple[tuple[Path, str], Callable[[], None]]]:
    """Path and commit of each file that counts, and how to look at it: two commits may say different things of one."""
    heights = {
        entry.sha256: entry.rows
        for stored in snapshot.commits.values()
        for entry in stored.commit.segments
        if entry.table == "responses"
    }
    for name, stored in snapshot.commits.items():
        for entry in stored.commit.segments:
            path = segment_path(snapshot.root, entry.table, entry.sha256).absolute()
            yield (path, name), partial(_look_at_rows, path, entry, name, stored.commit)
        for score in stored.commit.scores:
            path = segment_path(snapshot.root, "scores", score.sha256).absolute()
            # scores of segments that compact replaced meanwhile are of no use and no harm
            rows = heights.get(score.segment, score.rows)
            yield (path, name), partial(_look_at_scores, path, score, name, rows)


def _look_at_rows(path: Path, entry: SegmentEntry, name: str, commit: Commit) -> None:
    check(path, entry.table, entry.sha256, entry.bytes, entry.rows, name)
    frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    columns = frame.collect_schema().names()
    if "ingest_id" in columns:
        there = set(frame.select(pl.col("ingest_id").unique()).collect().to_series())
        said = {commit.runs[place].ingest_id for place in entry.runs}
        if said - there or (there - said and not entry.stray):
            raise damaged(path, "the file holds rows of other runs than its commit says", name)
    if entry.low:
        keys = frame.select("task", "item_key")
        ends = [list(end.collect().row(0)) for end in (keys.head(1), keys.tail(1))]
        if ends != [entry.low, entry.high]:
            raise damaged(path, "the file begins or ends with other items than its commit says", name)


def _look_at_scores(path: Path, entry: ScoreEntry, name: str, rows: int) -> None:
    check(path, "scores", entry.sha256, entry.bytes, entry.rows, name)
    if entry.rows != rows:
        raise damaged(path, f"scores of {entry.rows} rows for a segment of {rows}", name)


def _streams(root: Path) -> list[StoreError]:
    damage = []
    for folder in sorted(path for path in (root / "state").glob("*") if path.is_dir()):
        try:
            Stream(root, folder.name).read()
        except StoreError as error:
            damage.append(error)
        damage += [
            StoreError(
                "this is no record of the stream",
                expected="only 0.json, 1.json, ... and head.json",
                do="look at it, then move it out of the store; it is not read",
                where=str(path),
            )
            for path in sorted(folder.iterdir())
            if path.name != "head.json" and not RECORD.fullmatch(path.name)
        ]
    return damage
