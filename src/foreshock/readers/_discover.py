"""From paths to readings: walk, recognise, hand over to readers, report what nobody could read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from foreshock._base import ForeshockError, Progress, ReadError, digest, quiet
from foreshock.readers import _helm_files, _swe_bench_files
from foreshock.readers._builtin import readers
from foreshock.readers._companions import BRINGING, beside, group
from foreshock.readers._contain import reported
from foreshock.readers._files import head
from foreshock.readers._json import check_encoding
from foreshock.readers._protocol import Candidate, Failure, Reader, Reading, ReadOptions
from foreshock.readers._tables_run import chance_of
from foreshock.readers._unknown import looks_like_data, unknown
from foreshock.records import ingest_id

STORE_FILE = "store.json"
# readers of any table there is; what the others do not know may still be of a known origin
TAKE_ANYTHING = ("table", "items")


class Found(NamedTuple):
    """A file to read.

    Attributes:
        path: Where it is.
        named: The user gave its own path rather than a folder's.
        beside: It belongs to one that was named.
    """

    path: Path
    named: bool
    beside: bool = False


def read_paths(
    paths: Iterable[Path],
    options: ReadOptions | None = None,
    *,
    skip: Callable[[Path], bool] | None = None,
    progress: Progress = quiet,
) -> Iterator[Reading | Failure]:
    """Read every log among ``paths``, searching folders.

    Files are recognised by content. In folders, hidden files and files without the look of data are passed over; a
    file that looks like data and is no known format is a :class:`Failure`, as is every unknown file named itself. A
    file that is named brings those that the same call of its harness wrote beside it: results their samples, samples
    the results of their task.

    Args:
        paths: Files and folders.
        options: What the user said about how to read.
        skip: Whether a file is known already. Files that are read together (results and samples of one call of
            lm-evaluation-harness) are skipped only together.
        progress: Told how many files were recognised and read.

    Yields:
        Readings, each to be used up before the next is asked for, and failures, grouped by format; within one format
        in the order of the paths.
    """
    options = options or ReadOptions()
    claimed: dict[str, list[Found]] = {}
    known = readers()
    files = [*find(paths)]
    files += _brought(files)
    wanted = _not_skipped(files, skip) if skip else files
    bringing: set[tuple[str, tuple[str, str]]] = set()
    for done, item in enumerate(wanted, 1):
        outcome = _recognise(item, options, known)
        if item.beside and (not isinstance(outcome, str) or (outcome, group(item.path)) not in bringing):
            outcome = None  # of nothing that was named; its reader tells of one that is broken
        if isinstance(outcome, Failure):
            yield outcome
        elif outcome is not None:
            claimed.setdefault(outcome, []).append(item)
            if item.named and outcome in BRINGING:
                bringing.add((outcome, group(item.path)))
        progress("recognise", done, len(wanted))
    total = sum(map(len, claimed.values()))
    done = 0
    for name, reader in known.items():
        if name in claimed:
            counted = _Counted(progress, done, total)
            for found in reader.read(_candidates(claimed[name], counted), options):
                yield _with_chance(found, options) if isinstance(found, Reading) else found
            done += len(claimed[name])


def _with_chance(found: Reading, options: ReadOptions) -> Reading:
    """A reading with the score of guessing that the user said, which counts before what a log says of itself."""
    chance = chance_of(options)
    if chance is None or found.run.format in TAKE_ANYTHING:  # those say it themselves
        return found
    run = found.run
    before = run.ingest_id or ingest_id(run.run_key, run.sources, run.reader)
    name = digest([before, "chance", chance], 24)  # another reading of it
    return found._replace(run=msgspec.structs.replace(run, chance=chance, ingest_id=name))


def holds_logs(paths: Iterable[Path], options: ReadOptions | None = None) -> bool:
    """Whether there is anything among ``paths`` to read or to report: a log, or a file with the look of data.

    It looks no further than to the first one.
    """
    known = readers()
    return any(_recognise(item, options or ReadOptions(), known) is not None for item in find(paths))


def find(paths: Iterable[Path]) -> Iterator[Found]:
    """Files among ``paths``, each once, folders in sorted order; links that lead back are followed only once."""
    seen: set[str] = set()
    for path in paths:
        # the functions of os.path say no where those of Path raise: names that are too long, links in circles
        if os.path.isdir(path):  # noqa: PTH112
            for file in _walk(path):
                if (real := os.path.realpath(file)) not in seen:
                    seen.add(real)
                    yield Found(file, False)
        elif (real := os.path.realpath(path)) not in seen:
            seen.add(real)
            yield Found(path, True)


def candidate(path: Path) -> Candidate:
    """A file with the bytes that tell what it is.

    Raises:
        ReadError: It cannot be opened.
    """
    begin = head(path)
    return Candidate(path, begin, _members(path) if begin.startswith(b"PK") else ())


def _walk(folder: Path) -> Iterator[Path]:
    visited: set[str] = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        visited.add(os.path.realpath(place))
        if STORE_FILE in names and "commits" in folders:
            folders.clear()  # a store of our own is not a log
            continue
        folders[:] = sorted(
            f for f in folders if not f.startswith(".") and os.path.realpath(Path(place, f)) not in visited
        )
        yield from (Path(place, name) for name in sorted(names) if not name.startswith("."))


def _members(path: Path) -> tuple[str, ...]:
    from foreshock.readers._zip import Archive

    try:
        with Archive(path) as archive:
            return tuple(m.name for m in archive.members)
    except BaseException as error:  # noqa: BLE001
        reported(error, path)
        return ()  # its reader, or the message about an unknown file, says what is wrong with it


def _brought(files: list[Found]) -> list[Found]:
    """What belongs to files that were named and is not among them."""
    there = {os.path.realpath(item.path) for item in files}
    more = beside(item.path for item in files if item.named)
    return [Found(path, False, True) for path in more if os.path.realpath(path) not in there]


def _not_skipped(files: list[Found], skip: Callable[[Path], bool]) -> list[Found]:
    groups: dict[tuple[str, str], list[Found]] = {}
    for item in files:
        groups.setdefault(group(item.path), []).append(item)
    kept = {id(f) for members in groups.values() if not all(skip(f.path) for f in members) for f in members}
    return [f for f in files if id(f) in kept]


def _passed_over(path: Path) -> bool:
    """Whether a harness wrote ``path`` beside the files of a run that are read, for something else than its results."""
    return _helm_files.passed_over(path) or _swe_bench_files.passed_over(path)


def _recognise(item: Found, options: ReadOptions, known: dict[str, Reader]) -> str | Failure | None:
    """Name of the reader that knows the file; None for a file that is passed over."""
    path = item.path
    try:
        if not _is_regular(path):
            if not item.named and not looks_like_data(Candidate(path, b"", ())):
                return None
            raise ReadError(
                "not a regular file", expected="a file that can be read twice", do="write it to a file", where=str(path)
            )
        found = candidate(path)
        claimed = _claimed(found, options, known)
        told = item.named or options.map or options.preset or options.csv
        if claimed in (None, *TAKE_ANYTHING) and not told and _passed_over(path):
            return None
        if isinstance(claimed, str):
            return claimed
        if claimed is not None:
            raise claimed
        if not item.named and not looks_like_data(found):
            return None
        check_encoding(found.head, str(path))
        return Failure(path, unknown(found, list(known)))
    except BaseException as error:  # noqa: BLE001 - whatever one file does, the others are read
        return Failure(path, reported(error, path))


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        if path.is_symlink():
            raise ReadError("a link to a file that is not there", do="remove it", where=str(path)) from None
        raise ReadError("no such file or folder", do="check the path", where=str(path)) from None


def _claimed(found: Candidate, options: ReadOptions, known: dict[str, Reader]) -> str | ForeshockError | None:
    """Name of the first reader that claims the file; when none does, what stopped one from looking at it."""
    trouble: ForeshockError | None = None
    for name, reader in known.items():
        try:
            if reader.claims(found, options):
                return name
        except BaseException as error:  # noqa: BLE001 - a fault of one reader is not the others'
            trouble = trouble or reported(error, found.path)
    return trouble


class _Counted(NamedTuple):
    """Progress over the files of all readers."""

    progress: Progress
    before: int
    total: int

    def __call__(self, done: int) -> None:
        self.progress("read", self.before + done, self.total)


def _candidates(files: list[Found], counted: _Counted) -> Iterator[Candidate]:
    # made again one at a time: 64 KiB of each of 10,000 files would be 640 MB
    for number, (path, _, brought) in enumerate(files, 1):
        try:
            found = candidate(path)
        except BaseException as error:  # noqa: BLE001
            reported(error, path)
            found = Candidate(path, b"", ())  # gone since it was recognised; the reader reports it
        yield found._replace(beside=True) if brought else found
        counted(number)
