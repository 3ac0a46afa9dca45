"""Log files into a store: one commit for everything that was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from foreshock._base import BrokenFileError, ForeshockError, Progress, digest, quiet
from foreshock.readers import Failure, ReadOptions, read_paths, readers
from foreshock.records import Run
from foreshock.store._clock import now
from foreshock.store._commit import Commit, Tombstone, write_commit
from foreshock.store._snapshot import Snapshot
from foreshock.store._store import Store
from foreshock.store._visible import as_good

_READ_WITH = "read_with"
_ENDS = (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError)


class Added(NamedTuple):
    """What became of the files.

    Attributes:
        added: Runs that are new in the store.
        unchanged: Runs that the store held already, from the very same bytes read in the same way.
        removed: Runs that were read but had been removed earlier, and stay removed.
        skipped: Files that were not opened because they have not changed since they were read.
        failures: Files, or parts of files, that could not be read.
        beside: Runs that the store holds of the very same bytes, read in another way under other keys: what they hold
            stands there twice now.
    """

    added: list[Run]
    unchanged: list[Run]
    removed: list[Run]
    skipped: list[Path]
    failures: list[Failure]
    beside: list[Run]


def add_paths(
    store: Store,
    paths: Iterable[Path],
    options: ReadOptions | None = None,
    *,
    again: bool = False,
    progress: Progress = quiet,
) -> Added:
    """Read log files and folders into ``store``.

    One bad file does not stop the others. A file whose size and modification time are those it had when it was last
    read with the same options is not opened again. Where another reading of the same runs has taken the place of that
    one since, and is no better, the one asked for now counts again.

    Args:
        store: Where the runs go.
        paths: Files and folders.
        options: How to read.
        again: Whether runs that were removed come back.
        progress: Told about files and rows.

    Raises:
        ReadError: A path does not exist.
    """
    options = options or ReadOptions()
    read_with = digest(options, 12)
    before = store.snapshot()
    known = {} if again else _known(before, read_with)
    as_before: list[Path] = []
    failures: list[Failure] = []

    def skip(path: Path) -> bool:
        try:
            stat = path.stat()
        except OSError:
            return False  # the reader says what is wrong with it
        unchanged = known.get(str(path.absolute())) == (stat.st_size, stat.st_mtime_ns)
        if unchanged:
            as_before.append(path)
        return unchanged

    with store.writer(progress=progress, again=again) as writer:
        for found in read_paths(paths, options, skip=skip, progress=progress):
            if isinstance(found, Failure):
                failures.append(found)
                continue
            run = msgspec.structs.replace(found.run, meta={**found.run.meta, _READ_WITH: read_with})
            path = Path(run.sources[0].path if run.sources else run.run_key)
            try:
                writer.write(run, found.batches)
            except ForeshockError as error:
                failures.append(Failure(path, error))
            except _ENDS:
                raise
            except BaseException as error:  # noqa: BLE001 - Polars panics are no Exception; one bad file is not the others
                failures.append(Failure(path, _unexpected(error, path)))
    runs = (*writer.added, *writer.unchanged, *writer.removed)
    # files that belong together are read together: an unchanged one is read again with a changed one
    opened = {source.path for run in runs for source in run.sources}
    skipped = [path for path in as_before if str(path.absolute()) not in opened]
    _recall(store, before, read_with, {str(path.absolute()) for path in as_before} | opened)
    beside = _beside(before, read_with, runs)
    return Added(writer.added, writer.unchanged, writer.removed, skipped, failures, beside)


def _beside(snapshot: Snapshot, read_with: str, runs: Sequence[Run]) -> list[Run]:
    """Runs of a store whose files were now read in another way, as other runs."""
    keys = {run.run_key for run in runs}
    same = {(source.sha256, source.member) for run in runs for source in run.sources}
    return [
        run
        for run in snapshot.runs()
        if run.run_key not in keys and run.meta.get(_READ_WITH) != read_with
        if any((source.sha256, source.member) in same for source in run.sources)
    ]


def _recall(store: Store, snapshot: Snapshot, read_with: str, paths: set[str]) -> None:
    """Let readings that were asked for again count again: each is taken out and brought back by one commit.

    Not where the reading that counts was read in the same way: of two copies in one folder each would take turns.
    """
    ingests = snapshot.ingests
    stones = [
        Tombstone(id=digest([name, "asked for again", sorted(snapshot.commits)], 24), run=run, reason="asked for again")
        for name, (run, state, _, by) in ingests.items()
        if state == "superseded" and run.meta.get(_READ_WITH) == read_with
        if ingests[by].run.meta.get(_READ_WITH) != read_with and as_good(run, ingests[by].run)
        if any(source.path in paths for source in run.sources)
    ]
    if stones:
        commit = Commit(kind="remove", removed=stones, lifts=sorted(stone.id for stone in stones))
        write_commit(store.folder, commit, now())


def _unexpected(error: BaseException, path: Path) -> BrokenFileError:
    """A fault of ours met a file; the file is named and the rest goes on."""
    return BrokenFileError(
        f"unexpected {type(error).__name__}: {str(error)[:200]}",
        expected="a log that the reader understands",
        do="please report it with this file; the others were read",
        where=str(path),
    )


def _known(snapshot: Snapshot, read_with: str) -> dict[str, tuple[int, int]]:
    """Size and time of files whose reading still stands: same options, same version of the reader."""
    present = {f"{reader.name}@{reader.version}" for reader in readers().values()}
    return {
        source.path: (source.size, source.mtime_ns)
        for ingest in snapshot.ingests.values()
        if ingest.run.meta.get(_READ_WITH) == read_with and ingest.run.reader in present
        for source in ingest.run.sources
    }
