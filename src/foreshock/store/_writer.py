"""Writing runs: rows go to segments as they come, and one commit at the end makes them all visible."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from foreshock._base import Progress, StoreError, quiet
from foreshock.records import TABLES, Batch, Run, RunStatus
from foreshock.records import ingest_id as make_ingest_id
from foreshock.store._clock import now
from foreshock.store._commit import Commit, write_commit
from foreshock.store._tally import Tally

if TYPE_CHECKING:
    import polars as pl

    from foreshock.store._segments import Buffer
    from foreshock.store._snapshot import Snapshot

_LATE = frozenset({"warnings", "status", "expected", "meta", "created", "known_at", "guesses", "writer", "conditions"})


class Writer:
    """Takes runs and commits them together when its ``with`` block ends.

    The block that ends in an error commits nothing; one that is interrupted by Ctrl-C commits the runs that were
    complete. Memory is bounded: about 16 MiB of rows wait, the rest is on disk already.

    Attributes:
        added: Runs of this batch.
        unchanged: Runs that the store had before, from the very same files read in the same way.
        removed: Runs that were read but had been removed earlier; ``again`` brings them back.
    """

    def __init__(self, root: Path, snapshot: Snapshot, *, progress: Progress = quiet, again: bool = False) -> None:
        self.added: list[Run] = []
        self.unchanged: list[Run] = []
        self.removed: list[Run] = []
        self._root = root
        self._snapshot = snapshot
        self._progress = progress
        self._again = again
        self._lifts: set[str] = set()
        self._mine: dict[str, Run] = {}
        self._met: set[tuple[str, ...]] = set()
        self._buffer: Buffer | None = None
        self._rows = 0
        self._open = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, KeyboardInterrupt):
            self.commit()
        self._open = False

    def write(self, run: Run, batches: Iterable[Batch]) -> Run:
        """Take one run with its rows.

        Args:
            run: What its log says. Without an ``ingest_id`` it gets one from its key, sources, reader and time.
            batches: Rows, used up in any case. A batch of the table ``runs`` holds facts known only at the end.

        Returns:
            The run as the store will hold it, with counts; or as the store held it already.

        Raises:
            StoreError: The rows are not what the tables say, or the same files gave another run under this
                ``ingest_id``; nothing of this run will be visible, others go on.
        """
        if not self._open:
            raise StoreError("this writer is closed", do="open another one with store.writer()")
        run = _identified(run)
        refusal = self._twice(run)
        known = None if refusal else self._before(run)
        if refusal or known is not None:
            for _ in batches:
                pass
        if refusal:
            raise refusal
        if known is not None:
            return known
        buffer = self._rows_buffer()
        if run.ingest_id in buffer.dropped:
            raise StoreError(
                "this run failed before in the same batch", do="write it with another writer", where=run.task
            )
        try:
            run = self._take(run, batches, buffer)
        except BaseException:
            buffer.dropped.add(run.ingest_id)
            raise
        self.added.append(run)
        self._mine[run.ingest_id] = run
        self._met.add(_file(run))
        return run

    def commit(self) -> str | None:
        """Make everything taken so far visible and return the commit's name; None when there is nothing new."""
        if not self.added:
            return None
        self._open = False
        written = self._rows_buffer().finish()
        runs = sorted(self.added, key=lambda run: run.ingest_id)
        places = {run.ingest_id: place for place, run in enumerate(runs)}
        commit = Commit(
            kind="add",
            runs=runs,
            segments=[segment.entry(places) for segment in written],
            lifts=sorted(self._lifts),
        )
        return write_commit(self._root, commit, now())

    def _twice(self, run: Run) -> StoreError | None:
        """The refusal of a second run under the identity of another one of the same files.

        A copy of a file elsewhere is the same run, and so is what a program gives twice without naming a file.
        """
        if not run.sources or _file(run) not in self._met:
            return None
        return StoreError(
            "two runs of it have one identity, and the second is not taken",
            expected="an ingest_id of its own for every run of a file",
            do="please report it with this file; the others were read",
            where=f"{run.sources[0].path}, {run.task} of {run.model}",
        )

    def _before(self, run: Run) -> Run | None:
        found = self._known(run)
        if found is not None:
            self._met.add(_file(run))
        return found

    def _known(self, run: Run) -> Run | None:
        if (mine := self._mine.get(run.ingest_id)) is not None:
            self.unchanged.append(mine)
            return mine
        known = self._snapshot.ingests.get(run.ingest_id)
        if known is None:
            return None
        if known.state != "removed":
            self.unchanged.append(known.run)
            return known.run
        if not self._again:
            self.removed.append(known.run)
            return known.run
        self._lifts.add(self._snapshot.tombstones[run.ingest_id].id)
        return None

    def _take(self, run: Run, batches: Iterable[Batch], buffer: Buffer) -> Run:
        from foreshock.store._frames import check

        where = f"{run.task} of {run.model}"
        tally = Tally(where)
        late: dict[str, Any] = {}
        for batch in batches:
            if batch.table == "runs":
                _learn(late, batch, where)
            elif batch.rows:
                check(batch, where)
                tally.see(batch)
                columns = {**batch.columns, **_fixed(run, batch)}
                buffer.add(batch.table, columns, batch.rows)
                self._rows += batch.rows
                self._progress("write", self._rows, None)
        return _settle(run, late, tally)

    def _rows_buffer(self) -> Buffer:
        if self._buffer is None:
            from foreshock.store._segments import Buffer

            self._buffer = Buffer(self._root, self._news)
        return self._buffer

    def _news(self, items: pl.DataFrame) -> pl.DataFrame:
        from foreshock.store._items import not_in_store

        return not_in_store(self._snapshot, items)


def _identified(run: Run) -> Run:
    if run.ingest_id:
        return run
    return msgspec.structs.replace(run, ingest_id=make_ingest_id(run.run_key, run.sources, run.reader, run.created))


def _file(run: Run) -> tuple[str, ...]:
    """The files of a run, with its identity."""
    return (run.ingest_id, *sorted(f"{source.path}\0{source.member or ''}" for source in run.sources))


def _fixed(run: Run, batch: Batch) -> dict[str, list[Any]]:
    """Columns that the store fills, as far as the table has them."""
    own: dict[str, str] = {"ingest_id": run.ingest_id, "run_key": run.run_key, "task": run.task}
    names = {column.name for column in TABLES[batch.table]}
    fixed: dict[str, list[Any]] = {name: [value] * batch.rows for name, value in own.items() if name in names}
    stated = batch.columns.get("task")
    if stated is not None and batch.table in ("items", "aggregates"):
        fixed["task"] = [run.task if task is None else task for task in stated]
    return fixed


def _learn(late: dict[str, Any], batch: Batch, where: str) -> None:
    unknown = batch.columns.keys() - _LATE
    if unknown or any(len(values) != 1 for values in batch.columns.values()):
        raise StoreError(
            f"late facts {', '.join(sorted(batch.columns))} of a run",
            expected=f"one value each of some of {', '.join(sorted(_LATE))}",
            do="correct the reader that made the batch",
            where=where,
        )
    for name, (value,) in batch.columns.items():
        late[name] = [*late.get(name, []), *value] if name in ("warnings", "guesses") else value


def _settle(run: Run, late: dict[str, Any], tally: Tally) -> Run:
    """Join the header with what showed up later; a run with responses missing is partial whatever its log says."""
    expected = late.pop("expected", run.expected)
    status = RunStatus(late.pop("status", run.status))
    # a run that ended well and whose log has totals and no response did not log them: they are not missing
    unlogged = status is RunStatus.COMPLETE and tally.only_totals
    counts = tally.counts(None if unlogged else expected)
    guesses = list(dict.fromkeys([*run.guesses, *late.pop("guesses", [])]))
    meta = {**run.meta, **(late.pop("meta", None) or {})}
    said = [*run.warnings, *late.pop("warnings", [])]
    # a reader that counted absent or repeated responses has said so in its own words
    repeats = any("duplicates (FS104)" in warning for warning in said)
    told = [*said, *tally.warnings(counts, absent_told="absent" in meta, repeats_told=repeats)]
    warnings = list(dict.fromkeys(told))  # an exported run that comes back brings what the store said of it before
    if status is RunStatus.COMPLETE and counts.missing and counts.delivered + counts.refused + counts.error:
        status = RunStatus.PARTIAL
    return msgspec.structs.replace(
        run, expected=expected, counts=counts, warnings=warnings, guesses=guesses, status=status, meta=meta, **late
    )
