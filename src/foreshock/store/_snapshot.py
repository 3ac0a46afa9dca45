"""A snapshot: the store as it was when its commits were listed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from foreshock.records import Run
from foreshock.store._commit import StoredCommit, Tombstone
from foreshock.store._visible import Ingest, active_commits, judge, tombstones

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
        found = [ingest.run for ingest in self.ingests.values() if all or ingest.state == "live"]
        return sorted(found, key=lambda run: (run.task, run.model, run.created or "", run.run_key, run.ingest_id))

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

    def scan(  # noqa: PLR0913 - keyword-only restrictions, each of which is None most of the time
        self,
        table: str,
        *,
        runs: Iterable[str] | None = None,
        tasks: Iterable[str] | None = None,
        items: Iterable[str] | None = None,
        metrics: Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
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

        Raises:
            StoreError: The table or a column is unknown, or a file is damaged.
        """
        from foreshock.store._scan import Wanted, scan

        wanted = Wanted.of(runs=runs, tasks=tasks, items=items, metrics=metrics, columns=columns)
        return scan(self, table, wanted)

    @cached_property
    def _segments(self) -> dict[str, list[Segment]]:
        found: dict[str, dict[str, Segment]] = {}
        for name, stored in self.commits.items():
            mine = [self._lives_in(run, name) for run in stored.commit.runs]
            for entry in stored.commit.segments:
                live = frozenset(stored.commit.runs[i].ingest_id for i in entry.runs if mine[i])
                if entry.table != "items" and not live:
                    continue
                segment = Segment(
                    table=entry.table,
                    sha256=entry.sha256,
                    path=(self.root / entry.table / f"{entry.sha256}.parquet").absolute(),
                    rows=entry.rows,
                    bytes=entry.bytes,
                    commit=name,
                    tasks=frozenset(stored.commit.runs[i].task for i in entry.runs if mine[i]),
                    live=live,
                    hidden=entry.stray or len(live) < len(entry.runs),
                    low=tuple(entry.low),
                    high=tuple(entry.high),
                )
                table = found.setdefault(entry.table, {})
                table[entry.sha256] = _merge(table.get(entry.sha256), segment)
        return {table: [segments[key] for key in sorted(segments)] for table, segments in found.items()}

    def _lives_in(self, run: Run, commit: str) -> bool:
        ingest = self.ingests[run.ingest_id]
        return ingest.state == "live" and ingest.commit == commit


def _merge(first: Segment | None, second: Segment) -> Segment:
    """Two commits may name the same file, each for its own runs."""
    if first is None:
        return second
    return second._replace(
        tasks=first.tasks | second.tasks,
        live=first.live | second.live,
        hidden=first.hidden and second.hidden,
    )
