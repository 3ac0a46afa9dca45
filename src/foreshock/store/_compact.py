"""Few large segments instead of many small ones, in one commit that replaces the others.

The segments of a table are sorted, so the whole table is cut into ranges of the sort order, and each range is read from
every segment as a slice, merged and written. Memory is one range, whatever the size of the store.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from foreshock._base import Progress
from foreshock.records import TABLES
from foreshock.store._clock import now
from foreshock.store._commit import Commit, ScoreEntry, write_commit
from foreshock.store._scan import open_segments
from foreshock.store._scores import SCORE_FILE, open_scores, write_score_frame
from foreshock.store._segments import ORDER, SEGMENT_ROWS, Written, write_sorted
from foreshock.store._visible import written

if TYPE_CHECKING:
    from foreshock.store._snapshot import Segment, Snapshot

SEGMENT_BYTES = 128 * 2**20
_STRIDE = 256
_PLACE = "\0place"

_Key = tuple[tuple[bool, Any], ...]


class _Slice(NamedTuple):
    segment: Segment
    start: int
    stop: int


def compact(snapshot: Snapshot, progress: Progress) -> str | None:
    """Rewrite what ``snapshot`` holds and commit it; None when there is nothing to gain.

    Superseded runs keep their rows, since they are what was known at some earlier time; removed runs lose them.
    """
    if len(snapshot.commits) < 2 and not any(_overlap(snapshot.kept_segments(table)) for table in TABLES):
        return None
    files: list[Written] = []
    scores: list[ScoreEntry] = []
    for done, table in enumerate(TABLES):
        progress("compact", done, len(TABLES))
        for part in _parts(snapshot.kept_segments(table), table):
            segment, entries = _write_part(snapshot, table, part)
            files += segment
            scores += entries
    commit = _commit(snapshot, files, scores)
    return write_commit(snapshot.root, commit, now(), written(snapshot.commits))


def _overlap(segments: Sequence[Segment]) -> bool:
    """Whether rows of one item lie in several files, so that looking it up reads them all."""
    spans = sorted((_key(s.low), _key(s.high)) for s in segments if s.low)
    return any(after[0] < before[1] for before, after in pairwise(spans))


def _commit(snapshot: Snapshot, written: Sequence[Written], scores: Sequence[ScoreEntry]) -> Commit:
    runs = [ingest.run for _, ingest in sorted(snapshot.ingests.items()) if ingest.state != "removed"]
    places = {run.ingest_id: place for place, run in enumerate(runs)}
    old = [stored.commit for stored in snapshot.commits.values()]
    return Commit(
        kind="compact",
        runs=runs,
        segments=[segment.entry(places) for segment in sorted(written)],
        scores=sorted(scores, key=lambda entry: (entry.segment, entry.metric_id, entry.sha256)),
        removed=sorted(snapshot.tombstones.values(), key=lambda stone: stone.id),
        lifts=sorted({name for commit in old for name in commit.lifts}),
        # commits that these replaced are named again: whatever order a collector deletes in, none comes back to life
        replaces=sorted({*snapshot.commits, *(name for commit in old for name in commit.replaces)}),
    )


def _parts(segments: Sequence[Segment], table: str) -> Iterator[list[_Slice]]:
    """Ranges of the sort order as slices of the segments, each about one segment large."""
    cuts = _cuts(segments, table)
    bounds = [[0, *_positions(segment, table, cuts), segment.rows] for segment in segments]
    for part in range(len(cuts) + 1):
        slices = [_Slice(s, own[part], own[part + 1]) for s, own in zip(segments, bounds, strict=True)]
        yield [piece for piece in slices if piece.stop > piece.start]


def _cuts(segments: Sequence[Segment], table: str) -> list[_Key]:
    samples: list[tuple[_Key, int, float]] = []
    for segment in segments:
        width = segment.memory / segment.rows
        rows = open_segments([segment]).select(ORDER[table]).gather_every(_STRIDE).collect().rows()
        samples += [(_key(row), min(_STRIDE, segment.rows - i * _STRIDE), width) for i, row in enumerate(rows)]
    cuts: list[_Key] = []
    filled, size = 0, 0.0
    for key, n, width in sorted(samples):
        if filled and (filled + n > SEGMENT_ROWS or size + n * width > SEGMENT_BYTES):
            cuts.append(key)
            filled, size = 0, 0.0
        filled += n
        size += n * width
    return cuts


def _positions(segment: Segment, table: str, cuts: Sequence[_Key]) -> list[int]:
    """First row of ``segment`` at or after each cut; equal keys of all segments end up in one part."""
    if not cuts:
        return []
    keys = open_segments([segment]).select(ORDER[table]).collect()
    places = range(segment.rows)
    return [bisect_left(places, cut, key=lambda place: _key(keys.row(place))) for cut in cuts]


def _write_part(snapshot: Snapshot, table: str, part: Sequence[_Slice]) -> tuple[list[Written], list[ScoreEntry]]:
    masks = [_kept(piece) for piece in part]
    frames = [
        open_segments([piece.segment]).slice(piece.start, piece.stop - piece.start).collect().filter(mask)
        for piece, mask in zip(part, masks, strict=True)
    ]
    frame = pl.concat(frames) if frames else pl.DataFrame()
    if frame.is_empty():
        return [], []
    if table == "items":
        frame = frame.unique(maintain_order=True)
    order = frame.with_row_index(_PLACE).sort(ORDER[table], maintain_order=True)
    written = write_sorted(snapshot.root, table, order.drop(_PLACE))
    if table != "responses":
        return [written], []
    return [written], _write_part_scores(snapshot, part, masks, order[_PLACE], written)


def _kept(piece: _Slice) -> pl.Series:
    n = piece.stop - piece.start
    if not piece.segment.hidden:
        return pl.repeat(True, n, eager=True)
    ingests = open_segments([piece.segment]).select("ingest_id").slice(piece.start, n).collect().to_series()
    return ingests.is_in(sorted(piece.segment.live))


def _write_part_scores(
    snapshot: Snapshot, part: Sequence[_Slice], masks: Sequence[pl.Series], order: pl.Series, written: Written
) -> list[ScoreEntry]:
    found = []
    for metric_id in sorted({name for piece in part for name in snapshot.scores(piece.segment)}):
        frames = []
        whole = True
        for piece, mask in zip(part, masks, strict=True):
            entry = snapshot.scores(piece.segment).get(metric_id)
            whole = whole and entry is not None and entry.complete
            frames.append(_score_slice(snapshot, piece, entry).filter(mask))
        frame = pl.concat(frames)[order]
        found.append(write_score_frame(snapshot.root, written.sha256, metric_id, frame, whole=whole))
    return found


def _score_slice(snapshot: Snapshot, piece: _Slice, entry: ScoreEntry | None) -> pl.DataFrame:
    n = piece.stop - piece.start
    if entry is None:
        return pl.DataFrame({name: [None] * n for name in SCORE_FILE}, schema=SCORE_FILE)
    return open_scores(snapshot.root, entry, piece.segment).slice(piece.start, n).collect()


def _key(row: tuple[Any, ...]) -> _Key:
    # nulls first, as Polars sorts; Python and Polars order text alike, since UTF-8 keeps the order of code points
    return tuple((value is not None, "" if value is None else value) for value in row)
