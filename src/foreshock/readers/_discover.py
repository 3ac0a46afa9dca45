"""From paths to readings: walk, recognise, hand over to readers, report what nobody could read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from foreshock._base import ForeshockError, Progress, ReadError, quiet
from foreshock.readers._builtin import readers
from foreshock.readers._files import head
from foreshock.readers._json import check_encoding
from foreshock.readers._protocol import Candidate, Failure, Reader, Reading, ReadOptions
from foreshock.readers._unknown import looks_like_data, unknown

STORE_FILE = "store.json"
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d+)?")


class Found(NamedTuple):
    """A file to read; ``named`` when the user gave its own path rather than a folder's."""

    path: Path
    named: bool


def read_paths(
    paths: Iterable[Path],
    options: ReadOptions | None = None,
    *,
    skip: Callable[[Path], bool] | None = None,
    progress: Progress = quiet,
) -> Iterator[Reading | Failure]:
    """Read every log among ``paths``, searching folders.

    Files are recognised by content. In folders, hidden files and files without the look of data are passed over; a
    file that looks like data and is no known format is a :class:`Failure`, as is every unknown file named itself.

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
    claimed: dict[str, list[Path]] = {}
    known = readers()
    files = list(find(paths))
    wanted = _not_skipped(files, skip) if skip else files
    for done, item in enumerate(wanted, 1):
        outcome = _recognise(item, options, known)
        if isinstance(outcome, Failure):
            yield outcome
        elif outcome is not None:
            claimed.setdefault(outcome, []).append(item.path)
        progress("recognise", done, len(wanted))
    total = sum(map(len, claimed.values()))
    done = 0
    for name, reader in known.items():
        if name in claimed:
            counted = _Counted(progress, done, total)
            yield from reader.read(_candidates(claimed[name], counted), options)
            done += len(claimed[name])


def find(paths: Iterable[Path]) -> Iterator[Found]:
    """Files among ``paths``, each once, folders in sorted order; links that lead back are followed only once."""
    seen: set[Path] = set()
    for path in paths:
        if path.is_dir():
            for file in _walk(path):
                if (real := file.resolve()) not in seen:
                    seen.add(real)
                    yield Found(file, False)
        elif (real := path.resolve()) not in seen:
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
    except (ForeshockError, OSError):
        return ()  # its reader, or the message about an unknown file, says what is wrong with it


def _not_skipped(files: list[Found], skip: Callable[[Path], bool]) -> list[Found]:
    groups: dict[tuple[str, str], list[Found]] = {}
    for item in files:
        groups.setdefault(_group(item.path), []).append(item)
    kept = {id(f) for group in groups.values() if not all(skip(f.path) for f in group) for f in group}
    return [f for f in files if id(f) in kept]


def _group(path: Path) -> tuple[str, str]:
    moment = _MOMENT.search(path.name)
    if moment:
        return str(path.parent), moment[0]
    if (path.suffix == ".jsonl" and (path.parent / "results.json").exists()) or path.name == "results.json":
        return str(path.parent), "results"
    return str(path.parent), path.name


def _recognise(item: Found, options: ReadOptions, known: dict[str, Reader]) -> str | Failure | None:
    """Name of the reader that knows the file; None for a file that is passed over."""
    path = item.path
    try:
        if not path.exists():
            raise ReadError("no such file or folder", do="check the path", where=str(path))
        found = candidate(path)
        for name, reader in known.items():
            if reader.claims(found, options):
                return name
        if not item.named and not looks_like_data(found):
            return None
        check_encoding(found.head, str(path))
        return Failure(path, unknown(found, list(known)))
    except ForeshockError as error:
        return Failure(path, error)


class _Counted(NamedTuple):
    """Progress over the files of all readers."""

    progress: Progress
    before: int
    total: int

    def __call__(self, done: int) -> None:
        self.progress("read", self.before + done, self.total)


def _candidates(paths: list[Path], counted: _Counted) -> Iterator[Candidate]:
    # made again one at a time: 64 KiB of each of 10,000 files would be 640 MB
    for number, path in enumerate(paths, 1):
        try:
            found = candidate(path)
        except ReadError:
            found = Candidate(path, b"", ())  # gone since it was recognised; the reader reports it
        yield found
        counted(number)
