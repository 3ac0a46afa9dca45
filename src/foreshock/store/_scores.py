"""Scores of stored responses: one file per responses segment and metric, in the order of the segment's rows.

Such a file needs no keys, so a metric of 250,000 responses is a column of floats, and joining it to its responses is
laying the columns side by side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from foreshock._base import StoreError
from foreshock.records import ScoreStatus
from foreshock.store._commit import ScoreEntry
from foreshock.store._frames import LARGEST, SCHEMAS
from foreshock.store._intact import check, damaged
from foreshock.store._scan import RESPONSE, Wanted, asked_rows, may_hold, open_segments
from foreshock.store._segments import ORDER, segment_path, write_parquet

if TYPE_CHECKING:
    import numpy as np

    from foreshock.store._snapshot import Segment, Snapshot

SCORE_FILE = pl.Schema({name: SCHEMAS["scores"][name] for name in ("value", "status", "label")})
"""Columns of a file of scores."""

_MANY = 16
_STATUSES = frozenset(status.value for status in ScoreStatus)


def write_scores(
    root: Path,
    segment: Segment,
    metric_id: str,
    values: Sequence[float | None] | np.ndarray | pl.Series,
    statuses: Sequence[str] | pl.Series,
    labels: Sequence[str | None] | pl.Series | None = None,
) -> ScoreEntry:
    """Write one metric of every row of ``segment``; no commit names the file yet.

    Args:
        root: Folder of the store.
        segment: A responses segment.
        metric_id: The metric.
        values: One float per row of the file, hidden rows included; None or NaN where there is none.
        statuses: One ``ScoreStatus`` per row; ``scored`` without a finite value, or with one that is so large that
            no sum of them is known to be finite, becomes ``failed``.
        labels: One word per row, or None when the metric has none.

    Raises:
        StoreError: Lengths differ from the segment's rows, a status is unknown, or the segment holds no responses.
    """
    if segment.table != "responses":
        raise StoreError(f"scores of a segment of {segment.table}", expected="a segment of responses")
    columns = {"value": values, "status": statuses, "label": [None] * segment.rows if labels is None else labels}
    for name, column in columns.items():
        if len(column) != segment.rows:
            raise StoreError(
                f"{len(column)} values of {name} for {segment.rows} rows",
                expected="one per row of the segment, hidden rows included",
                do="score Snapshot.frame(segment)",
                where=metric_id,
            )
    words = statuses.unique() if isinstance(statuses, pl.Series) else statuses
    if unknown := set(words) - _STATUSES:
        raise StoreError(
            f"unknown status {', '.join(map(repr, sorted(unknown)))}",
            expected=f"only {', '.join(sorted(_STATUSES))}",
            where=metric_id,
        )
    usable = (pl.col("value").is_finite() & (pl.col("value").abs() <= LARGEST)).fill_null(value=False)
    frame = pl.DataFrame(columns, schema=SCORE_FILE).select(
        pl.when(usable & (pl.col("status") == "scored")).then("value").alias("value"),
        pl.when((pl.col("status") == "scored") & ~usable).then(pl.lit("failed")).otherwise("status").alias("status"),
        "label",
    )
    return write_score_frame(root, segment.sha256, metric_id, frame)


def write_score_frame(
    root: Path, segment: str, metric_id: str, frame: pl.DataFrame, *, whole: bool = True
) -> ScoreEntry:
    """Write value, status and label of every row of the segment with that hash."""
    sha256, size = write_parquet(root, "scores", frame)
    return ScoreEntry(
        segment=segment, metric_id=metric_id, sha256=sha256, rows=frame.height, bytes=size, complete=whole
    )


def open_scores(root: Path, entry: ScoreEntry, segment: Segment) -> pl.LazyFrame:
    """Value, status and label of every row of a segment; status is null where nobody scored."""
    path = score_file(root, entry, segment)
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def score_file(root: Path, entry: ScoreEntry, segment: Segment) -> Path:
    """The checked file of scores of a segment.

    Raises:
        StoreError: It is damaged, or made for another number of rows.
    """
    path = segment_path(root, "scores", entry.sha256)
    if entry.rows != segment.rows:
        raise damaged(path, f"scores of {entry.rows} rows for a segment of {segment.rows}", segment.commit)
    check(path, "scores", entry.sha256, entry.bytes, entry.rows, segment.commit)
    return path


def scored(
    snapshot: Snapshot,
    segment: Segment,
    metric_ids: Iterable[str],
    columns: Sequence[str],
    *,
    labels: Collection[str],
    hidden: bool,
) -> pl.DataFrame:
    """See :meth:`Snapshot.scored`."""
    known = snapshot.scores(segment)
    parts = [open_segments([segment]).select(*columns, pl.col("ingest_id").alias("\0ingest"))]
    for metric_id in metric_ids:
        if metric_id not in known:
            raise StoreError(
                f"no scores of {metric_id} for segment {segment.sha256[:12]}",
                expected=f"one of {', '.join(sorted(known)) or '(nothing was scored yet)'}",
                do="run: foreshock score",
            )
        scores = open_scores(snapshot.root, known[metric_id], segment)
        named = [pl.col("value").alias(metric_id), pl.col("status").alias(f"{metric_id}|status")]
        named += [pl.col("label").alias(f"{metric_id}|label")] if metric_id in labels else []
        parts.append(scores.select(named))
    frame = pl.concat(parts, how="horizontal").collect()
    if segment.hidden and not hidden:
        frame = frame.filter(pl.col("\0ingest").is_in(sorted(segment.live)))
    return frame.drop("\0ingest")


def long_scores(snapshot: Snapshot, wanted: Wanted) -> pl.LazyFrame:
    """Scores of the harness and of Foreshock in one long frame, with any columns of the responses asked for."""
    extra = _response_columns(wanted)
    parts = [] if wanted.source == "foreshock" else [_harness(snapshot, wanted, extra)]
    if wanted.source != "harness":
        parts += _positional(snapshot, wanted, extra)
    schema = {**SCHEMAS["scores"], **{name: SCHEMAS["responses"][name] for name in extra}}
    parts = [part.select(list(schema)) for part in parts]
    frame = pl.concat([pl.LazyFrame(schema=schema), *parts])
    if wanted.items is not None:
        frame = frame.filter(pl.col("item_key").is_in(sorted(wanted.items)))
    return frame.sort(ORDER["scores"], maintain_order=True)


def _response_columns(wanted: Wanted) -> list[str]:
    asked = dict.fromkeys(wanted.columns or ())
    if wanted.items is not None:
        asked["item_key"] = None
    return [name for name in asked if name in SCHEMAS["responses"] and name not in SCHEMAS["scores"]]


def _harness(snapshot: Snapshot, wanted: Wanted, extra: list[str]) -> pl.LazyFrame:
    if wanted.items is not None:
        return _harness_of_items(snapshot, wanted, extra)
    frame = asked_rows(snapshot, "scores", wanted)
    if not extra:
        return frame
    responses = asked_rows(snapshot, "responses", wanted).select(*RESPONSE, *extra)
    return frame.join(responses, on=RESPONSE, how="left")


def _harness_of_items(snapshot: Snapshot, wanted: Wanted, extra: list[str]) -> pl.LazyFrame:
    """The harness's scores lie by run and row, so the rows of some items are looked up first.

    Comparing row numbers before ingests spares reading most of the ingests: one item of 10,000 runs of 1,000 rows costs
    a third of what joining the names does.
    """
    responses = asked_rows(snapshot, "responses", wanted).select(*RESPONSE, *extra).collect()
    ingests = frozenset(responses["ingest_id"].unique())
    here = pl.col("row").is_in(responses["row"].unique().sort().to_list())
    frame = asked_rows(snapshot, "scores", wanted._replace(items=None), among=ingests, only=here, ordered=False)
    scores = frame.join(responses.lazy(), on=RESPONSE, how="inner")
    return scores if wanted.columns is None else _narrow(scores, [*wanted.columns, *extra])


def _narrow(scores: pl.LazyFrame, asked: Sequence[str]) -> pl.LazyFrame:
    """The scores with only the columns that are asked for read, the others null, where these decide the order.

    Metric and source tell several scores of a response apart; where each has one, not reading them saves a third.
    """
    schema = SCHEMAS["scores"]
    kept = [name for name in dict.fromkeys((*RESPONSE, *schema, *asked)) if name in (*RESPONSE, *asked)]
    found = scores.select(kept).collect()
    if found.select(RESPONSE).is_duplicated().any():
        return scores
    return found.lazy().with_columns(
        pl.lit(None, kind).alias(name) for name, kind in schema.items() if name not in kept
    )


def _positional(snapshot: Snapshot, wanted: Wanted, extra: list[str]) -> list[pl.LazyFrame]:
    ingests = wanted.ingests(snapshot)
    found = {
        segment: {m: e for m, e in snapshot.scores(segment).items() if wanted.metrics is None or m in wanted.metrics}
        for segment in snapshot.segments("responses")
        if may_hold(segment, ingests, wanted)
    }
    # one plan over 64 small files takes 0.4 CPU s, 64 plans over a file each 0.2, 8 over a segment each less than 0.1
    together = ingests is not None and sum(map(len, found.values())) > _MANY
    parts = []
    for segment, entries in found.items():
        keep = segment.live if ingests is None else segment.live & ingests
        for group in [entries] if together else [{m: e} for m, e in entries.items()]:
            wide = _side_by_side(snapshot, segment, group, extra)
            if segment.hidden or ingests is not None:
                wide = wide.filter(pl.col("ingest_id").is_in(sorted(keep)))
            if together:
                wide = wide.collect().lazy()
            parts += [_part(wide, number, *one, extra) for number, one in enumerate(group.items())]
    return [pl.concat([part.collect() for part in parts]).lazy()] if together else parts


def _side_by_side(
    snapshot: Snapshot, segment: Segment, entries: Mapping[str, ScoreEntry], extra: list[str]
) -> pl.LazyFrame:
    """Rows of a segment beside their scores; the columns of the n-th file of scores are named n|value and so on."""
    rows = open_segments([segment]).select(*RESPONSE, *extra)
    files = [
        open_scores(snapshot.root, entry, segment).select(pl.all().name.prefix(f"{number}|"))
        for number, entry in enumerate(entries.values())
    ]
    return pl.concat([rows, *files], how="horizontal")


def _part(wide: pl.LazyFrame, number: int, metric_id: str, entry: ScoreEntry, extra: list[str]) -> pl.LazyFrame:
    """One metric of :func:`_side_by_side` as rows of scores."""
    own = [pl.col(f"{number}|{name}").alias(name) for name in SCORE_FILE]
    part = wide.select(*RESPONSE, *extra, *own, metric_id=pl.lit(metric_id), source=pl.lit("foreshock"))
    return part if entry.complete else part.filter(pl.col("status").is_not_null())
