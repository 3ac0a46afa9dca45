"""Scores of the runs of one task, laid side by side: item by item, never by position."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreshock.compare._clusters import cluster_labels
from foreshock.compare._labels import Labelled, label_items
from foreshock.compare._match import Match
from foreshock.compare._measure import Chosen, Measure
from foreshock.compare._options import CompareOptions
from foreshock.compare._rows import Rows
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_DIGITS = 12  # means of the same repeats in another order differ in the sixteenth, and would count as a change


class SideCounts(NamedTuple):
    """Responses of one side: how many there are, and how many of them lack what.

    Attributes:
        responses: Responses in the log.
        unparsed: Arrived without an answer, which counts as wrong.
        undelivered: Did not arrive.
        unscored: Arrived and have no score.
    """

    responses: int
    unparsed: int
    undelivered: int
    unscored: int


class Sheet(NamedTuple):
    """Scores of several runs on the items of one task under one answer filter.

    Attributes:
        labels: Name of each item: its key, its key and id where a key stands for several, or ``id:`` and its id.
        scores: Shape (sides, items); means over the repeats of an item; NaN where nothing that arrived was scored.
        filled: The same with what did not arrive, or has no score, as the worst value; NaN where the item was not
            asked, or nobody has a score for it.
        there: Whether the item has a response in the log, or is one of those that the log announces and does not list.
        twin: The same as ``scores`` for the twin; None without one.
        clusters: One number per item, or None when every item is a unit of its own.
        cluster_kind: What makes the clusters, in words; empty without.
        repeated: Whether some item has several responses in one run.
        repeats: Responses with a score behind each of ``scores``; 0 where there is none.
        asked: The same of ``filled``.
        counts: Responses of each side.
        paired_by: ``text``, ``id`` or ``text and id``.
        refused: Items that could not be paired without guessing, with the reason, by reason.

    """

    labels: list[str]
    scores: Floats
    filled: Floats
    there: NDArray[np.bool_]
    twin: Floats | None
    clusters: NDArray[np.int64] | None
    cluster_kind: str
    repeated: bool
    repeats: Counts
    asked: Counts
    counts: list[SideCounts]
    paired_by: str
    refused: dict[str, int]


def load_sheet(snapshot: Snapshot, match: Match, rows: Rows, chosen: Chosen, options: CompareOptions) -> Sheet:
    """Pair the scores of a match on one measure."""
    import polars as pl

    responses = rows.responses.filter(pl.col("filter").eq_missing(pl.lit(chosen.filter)))
    labelled = label_items(responses, by_id=options.pair == "id")
    frame = _with_scores(labelled.frame, rows, chosen.measure, "main")
    if chosen.twin is not None:
        frame = _with_scores(frame, rows, chosen.twin, "twin")
    frame = _with_lost(frame)
    items = _per_item(frame, chosen)
    names = items.get_column("label").unique().sort()
    shape = (len(match.sides), len(names))
    places = (items.get_column("side").to_numpy(), names.search_sorted(items.get_column("label")).to_numpy())
    scores, filled = _grid(items, "main", shape, places), _grid(items, "filled", shape, places)
    there = _whole(items, "rows", shape, places) > 0
    absent = _absent(there, match, frame)
    there |= absent
    if chosen.measure.worst is not None:
        filled[absent] = chosen.measure.worst
    clusters, kind = cluster_labels(snapshot, match.task, labelled.frame, options)
    return Sheet(
        labels=names.to_list(),
        scores=scores,
        filled=filled,
        there=there,
        twin=_grid(items, "twin", shape, places) if chosen.twin is not None else None,
        clusters=clusters,
        cluster_kind=kind,
        repeated=bool((items.get_column("rows") > 1).any()),
        repeats=_whole(items, "main_rows", shape, places),
        asked=np.maximum(_whole(items, "filled_rows", shape, places), ~np.isnan(filled)),
        counts=_counts(frame, len(match.sides), hard=chosen.measure.hard),
        paired_by=_paired_by(labelled),
        refused=labelled.refused,
    )


def _with_scores(frame: pl.DataFrame, rows: Rows, measure: Measure, name: str) -> pl.DataFrame:
    """Add a column of values and one of statuses; a response without a row of this metric has null in both."""
    import polars as pl

    if measure.source == "harness":
        scores = rows.harness.filter(pl.col("metric_id") == measure.id).drop("metric_id")
        scores = scores.unique(["ingest_id", "row"], keep="first", maintain_order=True)
        scores = scores.rename({"value": name, "status": f"{name}_status"})
        frame = frame.join(scores, on=["ingest_id", "row"], how="left", maintain_order="left")
    else:
        frame = frame.with_columns(
            pl.col(measure.id).alias(name), pl.col(f"{measure.id}|status").alias(f"{name}_status")
        )
    unparsed = pl.col(f"{name}_status") == "unparsed"
    zero = pl.lit(measure.worst, pl.Float64) if measure.hard else pl.lit(None, pl.Float64)
    value = pl.when(unparsed).then(zero).otherwise(pl.col(name))
    return frame.with_columns(pl.when(pl.col("arrived")).then(value).alias(name))


def _with_lost(frame: pl.DataFrame) -> pl.DataFrame:
    """Mark responses that arrived and have no score (``unscored``), and those that count as lost (``lost``).

    A score of which no response of one sample or perturbation has any is not made for these: HELM scores the first of
    several completions. An item that no side has a score for cannot be scored, whoever answers it.
    """
    import polars as pl

    scored = pl.col("main").is_not_null()
    made = scored.any().over(pl.col("sample").fill_null(0), pl.col("perturbation").fill_null(""))
    unscored = pl.col("arrived") & ~scored & made
    lost = ~pl.col("arrived") | (unscored & scored.any().over("label"))
    return frame.with_columns(unscored=unscored, lost=lost)


def _per_item(frame: pl.DataFrame, chosen: Chosen) -> pl.DataFrame:
    import polars as pl

    worst = pl.lit(chosen.measure.worst, pl.Float64)
    filled = pl.when(pl.col("lost")).then(worst).otherwise(pl.col("main"))
    behind = [pl.col("main").count().alias("main_rows"), filled.count().alias("filled_rows")]
    means = [pl.col("main").mean().round(_DIGITS), filled.mean().round(_DIGITS).alias("filled")]
    if chosen.twin is not None:
        means.append(pl.col("twin").mean().round(_DIGITS))
    return frame.group_by("side", "label", maintain_order=True).agg(*means, *behind, pl.len().alias("rows"))


def _grid(
    items: pl.DataFrame, column: str, shape: tuple[int, int], places: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> Floats:
    grid = np.full(shape, np.nan)
    grid[places] = items.get_column(column).fill_null(np.nan).to_numpy()
    return grid


def _whole(
    items: pl.DataFrame, column: str, shape: tuple[int, int], places: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> Counts:
    grid = np.zeros(shape, np.int64)
    grid[places] = items.get_column(column).to_numpy()
    return grid


def _absent(there: NDArray[np.bool_], match: Match, frame: pl.DataFrame) -> NDArray[np.bool_]:
    """Items that a run should have had but its log does not list: they did not arrive either.

    Only where the log says that at least so many are missing: a run that asked fewer items lacks nothing.
    """
    listed = frame.filter(frame.get_column("delivery") == "missing").group_by("side").len()
    known = dict(zip(listed.get_column("side").to_list(), listed.get_column("len").to_list(), strict=True))
    found = np.zeros_like(there)
    for place, runs in enumerate(match.runs):
        absent = ~there[place]
        lost = sum(run.counts.missing for run in runs) - known.get(place, 0)
        if 0 < absent.sum() <= lost:
            found[place] = absent
    return found


def _counts(frame: pl.DataFrame, sides: int, *, hard: bool) -> list[SideCounts]:
    import polars as pl

    unparsed = pl.col("arrived") & (pl.col("main_status") == "unparsed").fill_null(value=False) & hard
    told = frame.group_by("side").agg(
        pl.len().alias("responses"),
        unparsed.sum().alias("unparsed"),
        (~pl.col("arrived")).sum().alias("undelivered"),
        pl.col("unscored").sum(),
    )
    rows = {row["side"]: row for row in told.iter_rows(named=True)}
    found = []
    for place in range(sides):
        row = rows.get(place, dict.fromkeys(SideCounts._fields, 0))
        found.append(SideCounts(*(int(row[name]) for name in SideCounts._fields)))
    return found


def _paired_by(labelled: Labelled) -> str:
    return {(True, False): "text", (False, True): "id"}.get((labelled.by_text, labelled.by_id), "text and id")
