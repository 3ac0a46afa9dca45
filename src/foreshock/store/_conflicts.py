"""Rows that disagree under one key. Both sides are kept; somebody has to look."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from foreshock.records import Run
from foreshock.store._frames import SCHEMAS
from foreshock.store._scan import ITEM, open_segments
from foreshock.store._visible import Conflict

if TYPE_CHECKING:
    from foreshock.store._snapshot import Snapshot

_RESPONSE = ("item_key", "item_id", "epoch", "sample", "filter", "perturbation")
_CONTENT = ("delivery", "output", "answer", "choice_logprobs")
_QUESTION = ("input", "choices", "targets", "gold_index")


def find_conflicts(snapshot: Snapshot) -> list[Conflict]:
    """Runs read from different files whose common responses differ, and items of one id whose questions differ."""
    return [*_runs(snapshot), *_items(snapshot)]


def _runs(snapshot: Snapshot) -> Iterator[Conflict]:
    readings: dict[str, list[Run]] = {}
    for _, ingest in sorted(snapshot.ingests.items()):
        if ingest.state in ("live", "superseded"):
            readings.setdefault(ingest.run.run_key, []).append(ingest.run)
    for key, runs in sorted(readings.items()):
        for first, second in combinations(runs, 2):
            if {s.sha256 for s in first.sources} == {s.sha256 for s in second.sources} != set():
                continue  # one file read in two ways
            if differing := _differing(snapshot, first, second):
                text = (
                    f"{differing} responses differ between two readings of this run; the fuller or later one is shown"
                )
                yield Conflict("responses", first.task, key, differing, text)


def _differing(snapshot: Snapshot, first: Run, second: Run) -> int:
    sides = [_responses(snapshot, run) for run in (first, second)]
    both = sides[0].join(sides[1], on=_RESPONSE, how="inner", nulls_equal=True, suffix="_other")
    same = pl.all_horizontal(pl.col(name).eq_missing(pl.col(f"{name}_other")) for name in _CONTENT)
    return both.filter(~same).height


def _responses(snapshot: Snapshot, run: Run) -> pl.DataFrame:
    segments = [s for s in snapshot.kept_segments("responses") if run.ingest_id in s.live]
    columns = [*_RESPONSE, *_CONTENT]
    if not segments:
        return pl.DataFrame(schema={name: SCHEMAS["responses"][name] for name in columns})
    mine = open_segments(segments).filter(pl.col("ingest_id") == run.ingest_id).select(columns)
    # a row that stands twice in one run is that run's own trouble, told in its warnings
    return mine.collect().unique(_RESPONSE, keep="first", maintain_order=True)


def _items(snapshot: Snapshot) -> Iterator[Conflict]:
    segments = snapshot.segments("items")
    if not segments:
        return
    rows = open_segments(segments).select(*ITEM, *_QUESTION).filter(pl.col("item_id").is_not_null())
    counts = [pl.col(name).drop_nulls().n_unique().alias(name) for name in _QUESTION]
    groups = rows.group_by(ITEM).agg(*counts, pl.len().alias("rows")).filter(pl.max_horizontal(_QUESTION) > 1)
    for row in groups.sort(ITEM).collect().iter_rows(named=True):
        names = ", ".join(name for name in _QUESTION if row[name] > 1)
        text = f"{row['rows']} logs give this item with different {names}"
        yield Conflict("items", row["task"], row["item_id"], row["rows"], text)
