"""The store: a folder that only ever gains files, until a collector is asked to take the unused ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreshock._base import Progress, StoreError, digest, quiet
from foreshock.records import Batch, Run
from foreshock.store._clock import now
from foreshock.store._commit import Commit, ScoreEntry, StoredCommit, Tombstone, read_commit, write_commit
from foreshock.store._gc import GRACE, Collected, collect
from foreshock.store._layout import listing, open_folder
from foreshock.store._snapshot import Segment, Snapshot
from foreshock.store._stream import Stream
from foreshock.store._writer import Writer

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from foreshock.store._sql import Answer

_LISTINGS = 100


class Store:
    """A store in a folder. Any number of processes may read and write at once; there is no lock.

    Use :meth:`open`; the constructor takes a folder that is known to be a store.

    Examples:
        >>> import tempfile
        >>> from foreshock.records import Batch, Run
        >>> store = Store.open(tempfile.mkdtemp() + "/store", create=True)
        >>> run = Run(run_key="k", format="live", reader="live@1", model="tiny", task="sums", expected=2)
        >>> rows = {"row": [0], "item_id": ["1+1"], "delivery": ["ok"], "output": ["2"], "answer": ["2"]}
        >>> store.write(run, [Batch("responses", rows)]).counts.missing
        1
        >>> store.snapshot().scan("responses", columns=["task", "answer"]).collect().rows()
        [('sums', '2')]
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cache: dict[str, StoredCommit] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.folder,)

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False) -> Store:
        """Open the store in ``folder``.

        Args:
            folder: Where it is, or where it shall be.
            create: Make it when the folder is empty or not there.

        Raises:
            StoreError: There is no store, or something else is in the folder.
            SchemaVersionError: A newer Foreshock made it.
        """
        return cls(open_folder(folder, create=create))

    def snapshot(self, as_of: str | None = None) -> Snapshot:
        """What the store holds now, or held of what was known at ``as_of`` (ISO 8601).

        Raises:
            StoreError: A commit is damaged, or ``as_of`` is not a moment.
        """
        return Snapshot(self.folder, self._commits(), as_of)

    def writer(self, *, progress: Progress = quiet, again: bool = False) -> Writer:
        """A context manager that takes runs and commits them together at its end.

        Args:
            progress: Told how many rows were taken.
            again: Whether runs that were removed come back when they are written again.
        """
        return Writer(self.folder, self.snapshot(), progress=progress, again=again)

    def write(self, run: Run, batches: Iterable[Batch]) -> Run:
        """Write one run with a commit of its own; see :meth:`Writer.write`."""
        with self.writer() as writer:
            return writer.write(run, batches)

    def stage_scores(
        self,
        segment: Segment,
        metric_id: str,
        values: Sequence[float | None] | np.ndarray | pl.Series,
        statuses: Sequence[str] | pl.Series,
        labels: Sequence[str | None] | pl.Series | None = None,
    ) -> ScoreEntry:
        """Write one metric of one responses segment without making it visible; see :meth:`commit_scores`.

        For workers: the file is named by its content, so doing this twice is the same as doing it once.

        Args:
            segment: A responses segment.
            metric_id: The metric.
            values: One float per row of :meth:`Snapshot.frame`; None, NaN or infinite where there is none.
            statuses: One ``ScoreStatus`` per row; ``scored`` without a finite value becomes ``failed``.
            labels: One word per row, or None when the metric has none.

        Raises:
            StoreError: Lengths differ from the segment's rows, or a status is unknown.
        """
        from foreshock.store._scores import write_scores

        return write_scores(self.folder, segment, metric_id, values, statuses, labels)

    def commit_scores(self, entries: Iterable[ScoreEntry]) -> str | None:
        """Make staged scores visible in one commit and return its name; None when there are none."""
        scores = sorted(set(entries), key=lambda entry: (entry.segment, entry.metric_id, entry.sha256))
        return write_commit(self.folder, Commit(kind="scores", scores=scores), now()) if scores else None

    def put_scores(
        self,
        segment: Segment,
        metric_id: str,
        values: Sequence[float | None] | np.ndarray | pl.Series,
        statuses: Sequence[str] | pl.Series,
        labels: Sequence[str | None] | pl.Series | None = None,
    ) -> ScoreEntry:
        """:meth:`stage_scores` and a commit of its own."""
        entry = self.stage_scores(segment, metric_id, values, statuses, labels)
        self.commit_scores([entry])
        return entry

    def remove(self, run: str, reason: str) -> list[Run]:
        """Hide a run. Its rows leave the disk with the next :meth:`compact` and :meth:`gc`.

        Adding the same logs again does not bring it back, unless asked for with ``writer(again=True)``.

        Args:
            run: A run key (every reading of that run goes), or the ingest id of one reading.
            reason: Why, for whoever wonders later.

        Returns:
            What was removed.

        Raises:
            StoreError: There is no such run, or no reason was given.
        """
        snapshot = self.snapshot()
        found = [
            ingest.run
            for ingest in snapshot.ingests.values()
            if run in (ingest.run.run_key, ingest.run.ingest_id) and ingest.state != "removed"
        ]
        if not found:
            raise StoreError(f"no run {run!r}", do="list them: foreshock ls", where=str(self.folder))
        if not reason.strip():
            raise StoreError("no reason for the removal", do="say why with --reason")
        earlier = sorted({name for stored in snapshot.commits.values() for name in stored.commit.lifts})
        stones = [Tombstone(id=digest([r.ingest_id, reason, earlier], 24), run=r, reason=reason) for r in found]
        write_commit(self.folder, Commit(kind="remove", removed=stones), now())
        return found

    def compact(self, *, progress: Progress = quiet) -> str | None:
        """Rewrite many small segments as few large ones; one commit replaces the others.

        Nothing is deleted: snapshots taken before stay readable until :meth:`gc`.

        Returns:
            Name of the commit, or None when there was nothing to gain.
        """
        from foreshock.store._compact import compact

        return compact(self.snapshot(), progress)

    def gc(self, *, grace: float = GRACE) -> Collected:
        """Delete files that have been of no use for ``grace`` seconds (a day).

        With a shorter grace a running ``add`` or an open report may lose files.
        """
        return collect(self.folder, self._commits(), grace)

    def verify(self, *, progress: Progress = quiet) -> list[StoreError]:
        """Check the whole store and return everything that is damaged, without stopping at the first.

        Every commit against its name and for what it may say; every file that an active commit names against its hash,
        its number of rows, its columns and the runs and keys that the commit says are in it; scores against the
        segment they belong to; every state stream against its chain and its head.
        """
        from foreshock.store._verify import verify

        damage: list[StoreError] = []
        try:
            commits = self._commits(damage)
        except StoreError as error:
            damage, commits = [error], {}
        return verify(Snapshot(self.folder, commits), damage, progress)

    def stream(self, name: str) -> Stream:
        """The state stream ``name``; see :class:`Stream`."""
        return Stream(self.folder, name)

    def sql(self, query: str, *, as_of: str | None = None) -> Answer:
        """Ask the tables in SQL (extra ``sql``): views runs, items, responses, trace, scores, aggregates.

        Nothing outside the store can be read, and nothing written.

        Raises:
            StoreError: The query is not one reading statement, or it fails.
            MissingExtraError: DuckDB is not installed.
        """
        from foreshock.store._sql import ask

        return ask(self.snapshot(as_of), query)

    def _commits(self, damage: list[StoreError] | None = None) -> dict[str, StoredCommit]:
        """Every commit by name. With ``damage``, all are read anew, and damaged ones are put there and left out."""
        folder = self.folder / "commits"
        if damage is not None:
            self._cache.clear()
        for _ in range(_LISTINGS):
            names = listing(folder)
            found: list[StoreError] = []
            try:
                for name in sorted(names.keys() - self._cache.keys()):
                    try:
                        self._cache[name] = read_commit(names[name])
                    except StoreError as error:
                        if damage is None:
                            raise
                        found.append(error)
            except FileNotFoundError:
                # replaced and collected between listing and reading: its successor is in the next listing
                continue
            if damage is not None:
                damage += found
            return {name: self._cache[name] for name in names if name in self._cache}
        raise StoreError(
            "commits vanish while they are read", do="end the other process and try again", where=str(folder)
        )
