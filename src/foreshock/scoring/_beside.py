"""What stands beside the responses of a segment: their traces, the harness's scores, and epochs in other segments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foreshock.metrics import Step
from foreshock.records import ScoreStatus
from foreshock.store import Segment, Snapshot

if TYPE_CHECKING:
    import polars as pl

_KEY = ["ingest_id", "row"]
_TABLES = {
    "trace": ("trace", [*_KEY, *Step._fields]),
    "harness_scores": ("scores", [*_KEY, "metric_id", "value", "source", "status"]),
}

ATTACHED = frozenset(_TABLES)
"""Columns of a response that other tables hold, by ingest and row."""

_STEP_BYTES = 400
"""A step as a Python object, with its texts short."""


def attach(snapshot: Snapshot, frame: pl.DataFrame, name: str) -> list[Any]:
    """One list of steps, or one mapping of harness scores, per row of ``frame``; None where there is none."""
    rows = _rows_of(snapshot, frame, name).collect()
    found: dict[tuple[str, int], Any] = {}
    if rows.is_empty():
        return [None] * frame.height
    if name == "trace":
        for ingest, row, *step in rows.sort([*_KEY, "seq"]).select(*_KEY, *Step._fields).iter_rows():
            found.setdefault((ingest, row), []).append(Step(*step))
    else:
        for ingest, row, metric_id, value in rows.sort([*_KEY, "metric_id"]).iter_rows():
            found.setdefault((ingest, row), {})[metric_id] = value
    return [found.get(key) for key in frame.select(_KEY).iter_rows()]


def weights(snapshot: Snapshot, frame: pl.DataFrame, attached: Iterable[str]) -> np.ndarray:
    """About how many bytes of Python objects each row of ``frame`` becomes, shape (rows,)."""
    import polars as pl

    sizes = [_size(pl.col(name), kind) for name, kind in frame.schema.items()]
    total = frame.select(pl.sum_horizontal(sizes).alias("size"))["size"].cast(pl.Float64).to_numpy().copy()
    for name in sorted(attached):
        steps = _rows_of(snapshot, frame, name).group_by(_KEY).len().collect()
        counts = frame.select(_KEY).join(steps, on=_KEY, how="left", maintain_order="left")["len"].fill_null(0)
        total += counts.to_numpy() * _STEP_BYTES
    return total


def _size(column: pl.Expr, kind: pl.DataType) -> pl.Expr:
    import polars as pl

    if kind == pl.List(pl.String):
        return column.list.eval(pl.element().str.len_bytes().cast(pl.Int64)).list.sum().fill_null(0)
    if isinstance(kind, pl.List):
        return column.list.len().cast(pl.Int64).fill_null(0) * 32
    return column.str.len_bytes().cast(pl.Int64).fill_null(0) if kind == pl.String else pl.lit(8, pl.Int64)


def _rows_of(snapshot: Snapshot, frame: pl.DataFrame, name: str) -> pl.LazyFrame:
    """Steps, or harness scores with a value, of the rows of ``frame``; superseded runs have theirs as well."""
    import polars as pl

    there = set(frame["ingest_id"].unique())
    table, columns = _TABLES[name]
    parts = [
        snapshot.lazy(segment, columns).filter(pl.col("ingest_id").is_in(sorted(segment.live & there)))
        for segment in snapshot.kept_segments(table)
        if segment.live & there
    ]
    if not parts:
        return frame.lazy().select(_KEY).clear()
    rows = pl.concat(parts).join(frame.select(_KEY).lazy(), on=_KEY, how="semi")
    if name == "trace":
        return rows
    ours = (pl.col("source") == "harness") & (pl.col("status") == ScoreStatus.SCORED.value)
    return rows.filter(ours).drop("source", "status")


def rest_of(
    snapshot: Snapshot, segment: Segment, others: Sequence[Segment], keys: pl.DataFrame, columns: Sequence[str]
) -> pl.DataFrame:
    """Rows of ``others`` that answer the same items in the same runs as ``keys``."""
    import polars as pl

    parts = []
    for other in others:
        shared = sorted(segment.live & other.live & set(keys["ingest_id"].unique()))
        part = snapshot.lazy(other, columns).filter(pl.col("ingest_id").is_in(shared))
        parts.append(part.join(keys.lazy(), on=keys.columns, how="semi", nulls_equal=True, maintain_order="left"))
    return pl.concat(parts).collect()


def sharing(snapshot: Snapshot, segments: Collection[Segment], columns: Sequence[str]) -> dict[str, list[Segment]]:
    """For each segment, the others in which some run has more responses to an item of it.

    A run's items are compared by 64-bit hashes, 12 bytes a response; a segment too many costs time only. Runs that lie
    in one segment are not looked at.
    """
    import polars as pl

    ordered = sorted(segments, key=lambda segment: segment.sha256)
    homes: dict[str, list[int]] = {}
    for place, segment in enumerate(ordered):
        for ingest in segment.live:
            homes.setdefault(ingest, []).append(place)
    straddling = {ingest: places for ingest, places in homes.items() if len(places) > 1}
    there: dict[int, list[str]] = {}
    for ingest, places in straddling.items():
        for place in places:
            there.setdefault(place, []).append(ingest)
    parts = [
        snapshot.lazy(ordered[place], columns)
        .filter(
            pl.col("ingest_id").is_in(sorted(ingests)),
            pl.any_horizontal(pl.col("item_key", "item_id").is_not_null()),
        )
        .select(item=pl.struct(columns).hash(), segment=pl.lit(place, pl.UInt32))
        .unique()
        .collect()
        for place, ingests in sorted(there.items())
    ]
    found: dict[str, list[Segment]] = {segment.sha256: [] for segment in ordered}
    if not parts:
        return found
    several = pl.concat(parts).group_by("item").agg("segment").filter(pl.col("segment").list.len() > 1)
    groups = several.select(pl.col("segment").list.sort()).unique()["segment"].to_list()
    pairs = {(a, b) for group in groups for a in group for b in group if a != b}
    for a, b in sorted(pairs):
        found[ordered[a].sha256].append(ordered[b])
    return found
