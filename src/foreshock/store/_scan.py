"""Lazy frames over the named files of a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import polars as pl

from foreshock._base import StoreError
from foreshock.store._frames import SCHEMAS
from foreshock.store._intact import check
from foreshock.store._segments import ORDER

if TYPE_CHECKING:
    from foreshock.store._snapshot import Segment, Snapshot

ITEM = ("task", "item_key", "item_id")
RESPONSE = ("ingest_id", "row")
Source = Literal["harness", "foreshock"]


class Wanted(NamedTuple):
    """What a scan asks for; None means everything."""

    runs: frozenset[str] | None
    tasks: frozenset[str] | None
    items: frozenset[str] | None
    metrics: frozenset[str] | None
    columns: tuple[str, ...] | None
    source: Source | None

    @classmethod
    def of(
        cls,
        *,
        runs: Iterable[str] | None = None,
        tasks: Iterable[str] | None = None,
        items: Iterable[str] | None = None,
        metrics: Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
        source: Source | None = None,
    ) -> Wanted:
        """From any iterables; a single string is a mistake that would otherwise mean its letters."""
        for name, value in (("runs", runs), ("tasks", tasks), ("items", items), ("metrics", metrics)):
            if isinstance(value, str):
                raise StoreError(f"{name}={value!r}", expected=f"a list of {name}", do=f"write {name}=[{value!r}]")
        return cls(
            runs=None if runs is None else frozenset(runs),
            tasks=None if tasks is None else frozenset(tasks),
            items=None if items is None else frozenset(items),
            metrics=None if metrics is None else frozenset(metrics),
            columns=None if columns is None else tuple(columns),
            source=source,
        )

    def ingests(self, snapshot: Snapshot) -> frozenset[str] | None:
        """Ingests of the asked runs and tasks, or None when neither is restricted."""
        if self.runs is None and self.tasks is None:
            return None
        return frozenset(run.ingest_id for run in snapshot.runs_among(keys=self.runs, tasks=self.tasks))


def scan(snapshot: Snapshot, table: str, wanted: Wanted) -> pl.LazyFrame:
    """See :meth:`Snapshot.scan`."""
    if table == "runs":
        from foreshock.store._runs import runs_frame

        return _select(_only_runs(runs_frame(snapshot).lazy(), wanted), table, wanted)
    if table not in SCHEMAS:
        raise StoreError(f"no table {table!r}", expected=f"one of runs, {', '.join(SCHEMAS)}", do="correct the name")
    if table == "scores":
        from foreshock.store._scores import long_scores

        return _select(long_scores(snapshot, wanted), table, wanted)
    if table == "items":
        return _select(_items(snapshot, wanted), table, wanted)
    return _select(asked_rows(snapshot, table, wanted), table, wanted)


def open_segments(segments: Sequence[Segment]) -> pl.LazyFrame:
    """Every row of some segments of one table, in the order of the files, hidden rows included."""
    for segment in segments:
        check(segment.path, segment.table, segment.sha256, segment.bytes, segment.rows, segment.commit)
    return pl.scan_parquet(
        [segment.path for segment in segments],
        schema=SCHEMAS[segments[0].table],
        missing_columns="insert",
        glob=False,
        hive_partitioning=False,
    )


def open_columns(segment: Segment, columns: Sequence[str] | None) -> pl.LazyFrame:
    """See :meth:`Snapshot.lazy`."""
    frame = open_segments([segment])
    if columns is None:
        return frame
    if unknown := [name for name in columns if name not in SCHEMAS[segment.table]]:
        raise _unknown(unknown, segment.table, SCHEMAS[segment.table].names())
    return frame.select(columns)


def read_segment(segment: Segment, columns: Sequence[str] | None, start: int, rows: int | None) -> pl.DataFrame:
    """See :meth:`Snapshot.frame`."""
    frame = open_columns(segment, columns)
    return (frame.slice(start, rows) if start or rows is not None else frame).collect()


def asked_rows(
    snapshot: Snapshot,
    table: str,
    wanted: Wanted,
    *,
    among: frozenset[str] | None = None,
    only: pl.Expr | None = None,
    ordered: bool = True,
) -> pl.LazyFrame:
    """Visible rows of a table of runs, restricted and in order.

    Args:
        snapshot: The snapshot.
        table: The table.
        wanted: What is asked for.
        among: Ingests outside of which no segment need be opened.
        only: A further condition on the columns of the table.
        ordered: Whether the order matters; where it does not, its columns need not be read.
    """
    ingests = wanted.ingests(snapshot)
    segments = [s for s in snapshot.segments(table) if may_hold(s, ingests, wanted) and may_hold(s, among, wanted)]
    parts = []
    whole = [s for s in segments if not s.hidden]
    if whole:
        parts.append(open_segments(whole))
    parts += [open_segments([s]).filter(pl.col("ingest_id").is_in(sorted(s.live))) for s in segments if s.hidden]
    if not parts:
        return pl.LazyFrame(schema=SCHEMAS[table])
    frame = pl.concat(parts)
    if conditions := _conditions(table, wanted, ingests, only):
        frame = frame.filter(conditions)
    return frame.sort(ORDER[table], maintain_order=True) if ordered and len(segments) > 1 else frame


def _conditions(table: str, wanted: Wanted, ingests: frozenset[str] | None, only: pl.Expr | None) -> list[pl.Expr]:
    found = [] if only is None else [only]
    for name, values in (("ingest_id", ingests), ("item_key", wanted.items), ("metric_id", wanted.metrics)):
        if values is not None and name in SCHEMAS[table]:
            found.append(pl.col(name).is_in(sorted(values)))
    return found


def may_hold(segment: Segment, ingests: frozenset[str] | None, wanted: Wanted) -> bool:
    """Whether a segment can hold rows of these ingests and items, by what its commit says."""
    if ingests is not None and segment.live and not (segment.live & ingests):
        return False
    if wanted.items is None or not segment.low or segment.low[0] != segment.high[0]:
        return True
    low, high = segment.low[1], segment.high[1]
    # nulls sort first, so a null first key means "from the start" and a null last key means "only nulls"
    return high is not None and any((low or "") <= key <= high for key in wanted.items)


def _items(snapshot: Snapshot, wanted: Wanted) -> pl.LazyFrame:
    segments = [s for s in snapshot.segments("items") if may_hold(s, None, wanted)]
    if not segments:
        return pl.LazyFrame(schema=SCHEMAS["items"])
    frame = open_segments(segments)
    if wanted.tasks is not None:
        frame = frame.filter(pl.col("task").is_in(sorted(wanted.tasks)))
    if wanted.items is not None:
        frame = frame.filter(pl.col("item_key").is_in(sorted(wanted.items)))
    if wanted.runs is not None:
        asked = asked_rows(snapshot, "responses", wanted._replace(items=None)).select(ITEM).unique()
        frame = frame.join(asked, on=ITEM, how="semi", nulls_equal=True)
    return fullest(frame)


def fullest(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Items once per task, key and id: the row that says most comes first and is the one that stays."""
    return frame.sort(*ITEM, _unknowns(), maintain_order=True).unique(ITEM, keep="first", maintain_order=True)


def _unknowns() -> pl.Expr:
    rest = [name for name in SCHEMAS["items"] if name not in ITEM]
    return pl.sum_horizontal(pl.col(name).is_null() for name in rest)


def _only_runs(frame: pl.LazyFrame, wanted: Wanted) -> pl.LazyFrame:
    if wanted.runs is not None:
        frame = frame.filter(pl.col("run_key").is_in(sorted(wanted.runs)))
    if wanted.tasks is not None:
        frame = frame.filter(pl.col("task").is_in(sorted(wanted.tasks)))
    return frame


def _select(frame: pl.LazyFrame, table: str, wanted: Wanted) -> pl.LazyFrame:
    if wanted.columns is None:
        return frame
    known = frame.collect_schema().names()
    if unknown := [name for name in wanted.columns if name not in known]:
        raise _unknown(unknown, table, known)
    return frame.select(wanted.columns)


def _unknown(names: Sequence[str], table: str, known: Sequence[str]) -> StoreError:
    return StoreError(
        f"no column {', '.join(names)} in {table}", expected=f"some of {', '.join(known)}", do="correct the name"
    )
