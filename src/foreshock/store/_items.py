"""Items are stored once, whatever the number of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from foreshock.store._frames import SCHEMAS
from foreshock.store._scan import ITEM, fullest, open_segments

if TYPE_CHECKING:
    from foreshock.store._snapshot import Snapshot

_FACTS = ("gold_index", "subset", "item_date", "generator", "seed", "truth", "status")


def not_in_store(snapshot: Snapshot, items: pl.DataFrame) -> pl.DataFrame:
    """Rows of ``items`` that a snapshot lacks.

    The key is a hash of question, choices and targets, so comparing it and the short columns is enough; rows without a
    key have no text to compare by and are kept (a scan gives one of them).
    """
    tasks = set(items["task"].unique())
    segments = [s for s in snapshot.segments("items") if _may_share(s.low[0], s.high[0], tasks)]
    if not segments:
        return items
    columns = [*ITEM, *_FACTS]
    stored = open_segments(segments).select(columns).filter(pl.col("task").is_in(sorted(tasks)))
    keyed = stored.filter(pl.col("item_key").is_not_null()).collect()
    return items.join(keyed, on=columns, how="anti", nulls_equal=True, maintain_order="left")


def with_items(snapshot: Snapshot, responses: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """See :meth:`Snapshot.with_items`."""
    items = _named(snapshot, responses.select(ITEM), columns)
    return responses.join(items, on=ITEM, how="left", nulls_equal=True, maintain_order="left")


def _named(snapshot: Snapshot, asked: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The items of some responses, each once; only the part of the files in which they can be is read."""
    low, high = asked["item_key"].min(), asked["item_key"].max()
    tasks = asked["task"].unique().drop_nulls().sort().to_list()
    segments = [s for s in snapshot.segments("items") if tasks and _may_share(s.low[0], s.high[0], set(tasks))]
    if not segments:
        return pl.DataFrame(schema={name: SCHEMAS["items"][name] for name in (*ITEM, *columns)})
    place = pl.col("item_key").is_between(pl.lit(low), pl.lit(high)) if low is not None else pl.lit(value=False)
    if asked["item_key"].null_count():
        place |= pl.col("item_key").is_null()
    there = open_segments(segments).filter(pl.col("task").is_in(tasks), place)
    wanted = asked.unique().lazy()
    items = there.select(*ITEM, *columns).join(wanted, on=ITEM, how="semi", nulls_equal=True).collect()
    if items.select(ITEM).is_duplicated().any():
        return fullest(there.join(wanted, on=ITEM, how="semi", nulls_equal=True)).select(*ITEM, *columns).collect()
    return items


def _may_share(low: str | None, high: str | None, tasks: set[str | None]) -> bool:
    return any(task is not None and (low or "") <= task <= (high or "") for task in tasks)
