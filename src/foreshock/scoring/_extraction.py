"""What a log does not say about answers and items must not be taken for a fault of the model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from foreshock.store import Segment, Snapshot

if TYPE_CHECKING:
    import polars as pl


def silent_runs(snapshot: Snapshot, segment: Segment) -> frozenset[str]:
    """Ingests of a segment whose logs hold no extracted answers.

    A run without any answer failed to give one only if its harness scored it and never above 0; otherwise the log just
    does not hold answers. Such a run is looked at in all segments in which it has rows.
    """
    import polars as pl

    silent = _without_answers(snapshot, segment, None)
    for other in snapshot.segments("responses") if silent else ():
        if other.sha256 != segment.sha256 and silent & other.live:
            silent -= (silent & other.live) - _without_answers(snapshot, other, silent)
    if not silent:
        return frozenset()
    runs = {snapshot.ingests[name].run.run_key for name in silent if name in snapshot.ingests}
    harness = snapshot.scan("scores", runs=runs, source="harness", columns=["ingest_id", "value"])
    best = harness.group_by("ingest_id").agg(pl.col("value").max()).collect()
    return frozenset(silent - set(best.filter(pl.col("value") <= 0)["ingest_id"].to_list()))


def _without_answers(snapshot: Snapshot, segment: Segment, ingests: set[str] | None) -> set[str]:
    import polars as pl

    frame = snapshot.frame(segment, ["ingest_id", "answer"]).with_columns(pl.col("answer").is_null())
    if ingests is not None:
        frame = frame.filter(pl.col("ingest_id").is_in(sorted(ingests)))
    return set(frame.group_by("ingest_id").agg(pl.col("answer").all()).filter("answer")["ingest_id"].to_list())


def hide_answers(frame: pl.DataFrame, silent: Collection[str]) -> pl.DataFrame:
    """Hide the output of runs whose logs hold no answers, so that their status becomes ``needs``, not ``unparsed``."""
    import polars as pl

    if not silent:
        return frame
    return frame.with_columns(pl.when(~pl.col("ingest_id").is_in(sorted(silent))).then("output").alias("output"))


def undisputed(snapshot: Snapshot, frame: pl.DataFrame, items: Sequence[str]) -> pl.DataFrame:
    """Leave out what several logs say differently of an item that has no text to tell its versions apart by."""
    import polars as pl

    bare = frame.filter(pl.col("item_key").is_null())
    tasks = bare["task"].unique().to_list()
    segments = snapshot.segments("items") if tasks else []
    if not segments:
        return frame
    asked = bare.select("task", "item_id").unique()
    told = [
        snapshot.frame(segment, ["task", "item_key", "item_id", *items])
        .filter(pl.col("item_key").is_null())
        .join(asked, on=["task", "item_id"], how="semi", nulls_equal=True)
        for segment in segments
        if (segment.low[0] or "") <= max(tasks) and min(tasks) <= (segment.high[0] or "")
    ]
    if not told:
        return frame
    versions = [pl.col(name).filter(pl.col(name).is_not_null()).hash().n_unique() for name in items]
    several = pl.concat(told).group_by("task", "item_id").agg(pl.max_horizontal(versions).alias("versions"))
    disputed = several.filter(pl.col("versions") > 1).select("task", "item_id", disputed=pl.lit(value=True))
    marked = frame.join(disputed, on=["task", "item_id"], how="left", maintain_order="left", nulls_equal=True)
    known = pl.col("disputed").is_null() | pl.col("item_key").is_not_null()
    return marked.with_columns(pl.when(known).then(pl.col(name)).alias(name) for name in items).drop("disputed")
