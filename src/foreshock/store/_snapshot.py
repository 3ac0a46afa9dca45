"""A snapshot: the store as it was when its commits were listed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from foreshock.records import Run
from foreshock.store._commit import ScoreEntry, SegmentEntry, StoredCommit, Tombstone
from foreshock.store._visible import Conflict, Ingest, active_commits, judge, tombstones

if TYPE_CHECKING:
    import polars as pl


class Segment(NamedTuple):
    """A file of rows; picklable, so that it can be sent to a worker.

    Attributes:
        table: Table of the rows.
        sha256: Hash of the file, its identity.
        path: Where it lies.
        rows: Number of rows in the file, hidden ones included.
        bytes: Size of the file.
        memory: Size of its rows in memory.
        commit: Name of the commit it belongs to.
        tasks: Tasks of its visible runs; empty for items.
        live: Ingests whose rows are visible.
        hidden: Whether the file also holds rows that do not count (superseded, removed, ...).
        low: Task and item key of the first row, for tables sorted by them.
        high: Task and item key of the last row.
    """

    table: str
    sha256: str
    path: Path
    rows: int
    bytes: int
    memory: int
    commit: str
    tasks: frozenset[str]
    live: frozenset[str]
    hidden: bool
    low: tuple[str | None, ...]
    high: tuple[str | None, ...]


class Snapshot:
    """What a store held at one moment; later commits do not change it.

    Args:
        root: Folder of the store.
        commits: Every commit, by name.
        as_of: When given, only what was known then counts (``known_at`` of the run, else ``created``).
    """

    def __init__(self, root: Path, commits: Mapping[str, StoredCommit], as_of: str | None = None) -> None:
        self.root = root
        self.as_of = as_of
        self.commits = active_commits(commits)
        self.tombstones: dict[str, Tombstone] = tombstones(self.commits)
        self.ingests: dict[str, Ingest] = judge(self.commits, as_of)

    def runs(self, *, all: bool = False) -> list[Run]:  # noqa: A002 - the word that `ls --all` uses
        """Runs that count, by task, model and time; with ``all`` also superseded and removed ones.

        :attr:`ingests` says which is which and why.
        """
        return list(self._runs if not all else _in_order(ingest.run for ingest in self.ingests.values()))

    @cached_property
    def _runs(self) -> list[Run]:
        return _in_order(ingest.run for ingest in self.ingests.values() if ingest.state == "live")

    def runs_among(self, *, keys: Iterable[str] | None = None, tasks: Iterable[str] | None = None) -> list[Run]:
        """Runs that count and have one of these keys and one of these tasks; a store may hold thousands of others.

        Args:
            keys: Run keys; None means all.
            tasks: Tasks; None means all.
        """
        if keys is None and tasks is None:
            return self.runs()
        if keys is None:
            return [run for task in dict.fromkeys(tasks or ()) for run in self._by_task.get(task, ())]
        mine = [run for key in dict.fromkeys(keys) for run in self._by_key.get(key, ())]
        among = None if tasks is None else frozenset(tasks)
        return [run for run in mine if among is None or run.task in among]

    @cached_property
    def _by_task(self) -> dict[str, list[Run]]:
        return _grouped(self._runs, "task")

    @cached_property
    def _by_key(self) -> dict[str, list[Run]]:
        return _grouped(self._runs, "run_key")

    def sources(self, readers: Collection[str] | None = None) -> dict[str, tuple[int, int]]:
        """Size in bytes and modification time in nanoseconds of every file that was read, by path.

        Removed runs are included: an unchanged file is not read again only because its run was taken out.

        Args:
            readers: ``name@version`` of readers whose work still counts; None means all.
        """
        return {
            source.path: (source.size, source.mtime_ns)
            for ingest in self.ingests.values()
            if readers is None or ingest.run.reader in readers
            for source in ingest.run.sources
        }

    def segments(self, table: str = "responses") -> list[Segment]:
        """Segments of ``table`` that hold something visible, in a fixed order."""
        return self._segments.get(table, [])

    def segment(self, table: str, sha256: str) -> Segment | None:
        """The segment of ``table`` with this hash, when it is among :meth:`segments`."""
        return self._by_hash.get((table, sha256))

    @cached_property
    def _by_hash(self) -> dict[tuple[str, str], Segment]:
        return {(table, found.sha256): found for table, segments in self._segments.items() for found in segments}

    def scan(
        self,
        table: str,
        *,
        runs: Iterable[str] | None = None,
        tasks: Iterable[str] | None = None,
        items: Iterable[str] | None = None,
        metrics: Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
        source: Literal["harness", "foreshock"] | None = None,
    ) -> pl.LazyFrame:
        """Visible rows of a table as a lazy frame, sorted by task, item and run as far as the table has them.

        The order does not depend on how the rows are spread over segments. Items are given once per task, key and id.

        Args:
            table: ``runs``, ``items``, ``responses``, ``trace``, ``scores`` or ``aggregates``.
            runs: Only these run keys.
            tasks: Only these tasks.
            items: Only these item keys; segments that cannot hold them are not opened.
            metrics: Only these metric ids (``scores`` and ``aggregates``).
            columns: Only these columns, in this order. Scores may also ask for columns of their responses.
            source: Only the harness's own scores, or only those of Foreshock (``scores``).

        Raises:
            StoreError: The table or a column is unknown, or a file is damaged.
        """
        from foreshock.store._scan import Wanted, scan

        wanted = Wanted.of(runs=runs, tasks=tasks, items=items, metrics=metrics, columns=columns, source=source)
        return scan(self, table, wanted)

    def frame(
        self, segment: Segment, columns: Sequence[str] | None = None, *, start: int = 0, rows: int | None = None
    ) -> pl.DataFrame:
        """Rows of one segment in the order of its file, hidden rows included.

        Scores are written for exactly these rows; see :meth:`Store.put_scores`.

        Args:
            segment: A segment.
            columns: Only these columns.
            start: First row; what lies before it is not read.
            rows: Number of rows; None means up to the end.

        Raises:
            StoreError: The file is damaged, or a column is unknown.
        """
        from foreshock.store._scan import read_segment

        return read_segment(segment, columns, start, rows)

    def lazy(self, segment: Segment, columns: Sequence[str] | None = None) -> pl.LazyFrame:
        """Like :meth:`frame`, as a lazy frame: what is filtered by the columns of the sort order is not read."""
        from foreshock.store._scan import open_columns

        return open_columns(segment, columns)

    def with_items(self, responses: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        """Join responses with columns of their items; rows and their order stay as they are.

        Args:
            responses: Rows with the columns task, item_key and item_id.
            columns: Columns of the items; they are null where the log had no item.
        """
        from foreshock.store._items import with_items

        return with_items(self, responses, columns)

    def scores(self, segment: Segment) -> dict[str, ScoreEntry]:
        """Score files of a responses segment, by metric id in alphabetical order."""
        return self._scores.get(segment.sha256, {})

    def has_scores(self, segment: Segment, metric_id: str) -> bool:
        """Whether every row of ``segment`` was scored by the metric."""
        entry = self.scores(segment).get(metric_id)
        return entry is not None and entry.complete

    def scored(
        self,
        segment: Segment,
        metric_ids: Iterable[str],
        columns: Sequence[str] = ("ingest_id", "row", "task", "item_key", "item_id", "epoch", "delivery"),
        *,
        labels: Collection[str] = (),
        hidden: bool = False,
    ) -> pl.DataFrame:
        """Responses of one segment beside Foreshock's scores of them, joined by position.

        Args:
            segment: A responses segment.
            metric_ids: Metrics; each gives a column of values with its id as name, and one of statuses, ``id|status``.
            columns: Columns of the responses.
            labels: Those of the metrics that also give a column of labels, ``id|label``.
            hidden: Whether to keep rows that do not count.

        Raises:
            StoreError: A metric was not scored for this segment.
        """
        from foreshock.store._scores import scored

        return scored(self, segment, metric_ids, columns, labels=labels, hidden=hidden)

    def conflicts(self) -> list[Conflict]:
        """Keys under which rows disagree: readings of one run, and items of one id."""
        from foreshock.store._conflicts import find_conflicts

        return find_conflicts(self)

    @cached_property
    def _scores(self) -> dict[str, dict[str, ScoreEntry]]:
        found: dict[str, dict[str, ScoreEntry]] = {}
        entries = [entry for stored in self.commits.values() for entry in stored.commit.scores]
        # the last one in this order is kept: whole files before partial ones, else by hash
        for entry in sorted(entries, key=lambda e: (e.metric_id, e.complete, e.sha256)):
            found.setdefault(entry.segment, {})[entry.metric_id] = entry
        return found

    def kept_segments(self, table: str) -> list[Segment]:
        """Segments as ``compact`` sees them: superseded runs count as well, removed ones do not."""
        return self._kept.get(table, [])

    @cached_property
    def _kept(self) -> dict[str, list[Segment]]:
        return self._find_segments({"live", "superseded"})

    @cached_property
    def _segments(self) -> dict[str, list[Segment]]:
        return self._find_segments({"live"})

    def _find_segments(self, states: Collection[str]) -> dict[str, list[Segment]]:
        found: dict[str, dict[str, Segment]] = {}
        for name, stored in self.commits.items():
            share = _Share(stored.commit.runs, [self._counts(run, name, states) for run in stored.commit.runs])
            for entry in stored.commit.segments:
                tasks, live = share.of(entry.runs)
                if live or entry.table == "items":
                    segment = _segment(self.root, name, entry, tasks, live)
                    table = found.setdefault(entry.table, {})
                    table[entry.sha256] = _merge(table.get(entry.sha256), segment)
        return {table: [segments[key] for key in sorted(segments)] for table, segments in found.items()}

    def _counts(self, run: Run, commit: str, states: Collection[str]) -> bool:
        ingest = self.ingests[run.ingest_id]
        return ingest.state in states and ingest.commit == commit


def _in_order(runs: Iterable[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: (run.task, run.model, run.created or "", run.run_key, run.ingest_id))


def _grouped(runs: Iterable[Run], name: str) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(getattr(run, name), []).append(run)
    return found


class _Share:
    """Tasks and ingests of segments. After ``compact`` each segment holds thousands of runs, the same as the others."""

    def __init__(self, runs: Sequence[Run], counts: Sequence[bool]) -> None:
        self._runs, self._counts = runs, counts
        self._known: dict[tuple[int, ...], tuple[frozenset[str], frozenset[str]]] = {}

    def of(self, places: Sequence[int]) -> tuple[frozenset[str], frozenset[str]]:
        key = tuple(places)
        if key not in self._known:
            runs = [self._runs[place] for place in places if self._counts[place]]
            self._known[key] = frozenset(run.task for run in runs), frozenset(run.ingest_id for run in runs)
        return self._known[key]


def _segment(root: Path, commit: str, entry: SegmentEntry, tasks: frozenset[str], live: frozenset[str]) -> Segment:
    return Segment(
        table=entry.table,
        sha256=entry.sha256,
        path=(root / entry.table / f"{entry.sha256}.parquet").absolute(),
        rows=entry.rows,
        bytes=entry.bytes,
        memory=entry.memory,
        commit=commit,
        tasks=tasks,
        live=live,
        hidden=entry.stray or len(live) < len(entry.runs),
        low=tuple(entry.low),
        high=tuple(entry.high),
    )


def _merge(first: Segment | None, second: Segment) -> Segment:
    """Two commits may name the same file, each for its own runs."""
    if first is None:
        return second
    return second._replace(
        tasks=first.tasks | second.tasks,
        live=first.live | second.live,
        hidden=first.hidden and second.hidden,
    )
