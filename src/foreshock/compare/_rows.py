"""Responses of the runs of one match with every score that may be compared, read once and by position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from foreshock.compare._match import Match
from foreshock.metrics import MetricSpec
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = (
    "ingest_id",
    "row",
    "run_key",
    "task",
    "item_key",
    "item_id",
    "epoch",
    "sample",
    "filter",
    "perturbation",
    "delivery",
)
_ARRIVED = ("ok", "truncated")


class Rows(NamedTuple):
    """What a match is compared on.

    Attributes:
        task: Task.
        sides: How many sides there are.
        responses: One row per response, with the columns side and arrived, and for each of our metrics a column of
            values, named by its id, and one of statuses, ``id|status``.
        harness: The harness's scores: ingest_id, row, metric_id, value, status.
        formats: Log format of each side, or formats where its runs have several.
    """

    task: str
    sides: int
    responses: pl.DataFrame
    harness: pl.DataFrame
    formats: list[str]


def load_rows(snapshot: Snapshot, match: Match, specs: Sequence[MetricSpec], *, meta: bool) -> Rows:
    """Read the responses of a match and their scores.

    Args:
        snapshot: What to look at.
        match: Runs.
        specs: Our metrics to look for.
        meta: Whether the responses' meta is needed.
    """
    import polars as pl

    side_of = {run.run_key: place for place, runs in enumerate(match.runs) for run in runs}
    live = {run.ingest_id for runs in match.runs for run in runs}
    wanted = {spec.id for spec in specs}
    columns = (*_COLUMNS, "meta") if meta else _COLUMNS
    parts = []
    for segment in snapshot.segments("responses"):
        if segment.live & live:
            there = [metric_id for metric_id in snapshot.scores(segment) if metric_id in wanted]
            frame = snapshot.scored(segment, there, columns)
            parts.append(frame.filter(pl.col("ingest_id").is_in(sorted(live))))
    none = snapshot.scan("responses", runs=[], columns=columns).collect()
    responses = pl.concat([none, *parts], how="diagonal_relaxed")
    keys = pl.DataFrame({"run_key": list(side_of), "side": list(side_of.values())})
    arrived = pl.col("delivery").is_in(_ARRIVED)
    responses = responses.join(keys, on="run_key", how="inner", maintain_order="left").with_columns(arrived=arrived)
    names = ["ingest_id", "row", "metric_id", "value", "status"]
    harness = snapshot.scan("scores", tasks=[match.task], runs=side_of, source="harness", columns=names).collect()
    formats = [" ".join(sorted({run.format for run in runs})) for runs in match.runs]
    return Rows(match.task, len(match.runs), responses, harness, formats)
