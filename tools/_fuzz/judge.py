"""One execution: read a folder as a user would, and say what may not have happened."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from foreshock._base import ForeshockError
from foreshock.readers import Candidate, Failure, Reading, ReadOptions, read_paths, readers
from foreshock.readers import _discover as discover
from foreshock.readers._swe_bench_files import submission_of
from foreshock.readers._unknown import DATA_SUFFIXES
from foreshock.records import MAX_ROWS, Batch
from foreshock.store import Store, add_paths
from foreshock.store._frames import build, check

FAULT = re.compile(r"unexpected [A-Z]\w+: .*")
"""How a fault of our own is reported, wherever it was contained."""

MAX_MESSAGE = 12_500
"""Characters of one message at the most, its path included."""

_VARIABLE = re.compile(r"'[^']*'|\"[^\"]*\"|0x[0-9a-f]+|[\d,.]+|\([^)]*\)|/\S+|[^\x20-\x7e]+")
_LOG2 = 2


class Verdict(NamedTuple):
    """What came of one execution.

    Attributes:
        shape: What the outcome looked like, without what varies; a new shape makes a case worth keeping.
        findings: What may not happen.
        reached: Whether the reader at issue gave a reading or a failure of its own.
    """

    shape: frozenset[str]
    findings: list[str]
    reached: bool


def alike(text: str) -> str:
    """A message without what varies from file to file."""
    return _VARIABLE.sub("_", text)[:160]


def judge(folder: Path, reader: str, options: ReadOptions, *, direct: bool = False, frames: bool = True) -> Verdict:
    """Read everything in ``folder``.

    Args:
        folder: Where the case lies.
        reader: The reader at issue.
        options: How to read.
        direct: Hand the files to the reader whether it claims them or not.
        frames: Make frames of the rows as the store does, which takes longer than all the rest.
    """
    shape, findings, named, reached = set[str](), list[str](), set[str](), False
    told: list[str] = []
    try:
        for outcome in _direct(folder, reader, options) if direct else read_paths([folder], options):
            if isinstance(outcome, Failure):
                # a submission that cannot be read is told of by one of its files
                named |= {str(outcome.path), str(submission_of(outcome.path) or outcome.path)}
                reached |= _failed(outcome, shape, findings)
                continue
            named.update(source.path for source in outcome.run.sources)
            reached |= outcome.run.format == reader
            told += [f" {note}," for note in outcome.run.meta.get("notes", [])]
            _read(outcome, shape, findings, frames)
    except MemoryError:
        raise
    except BaseException as error:  # what comes out here is the finding
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        findings.append(f"{type(error).__name__} came out of the reading: {str(error)[:300]}")
    if not direct:
        findings += _silent(folder, named, told)
    return Verdict(frozenset(shape), findings, reached)


def stored(folder: Path, place: Path, options: ReadOptions) -> list[str]:
    """Add the folder to a new store twice; what may not be afterwards."""
    findings = []
    store = Store.open(place, create=True)
    first = add_paths(store, [folder], options)
    for failure in first.failures:
        findings += _said(str(failure.error))
    for run in store.snapshot().runs():
        for warning in run.warnings:
            findings += _said(warning)
    findings += [f"the store is damaged: {error}" for error in store.verify()]
    second = add_paths(store, [folder], options)
    again = [run.run_key for run in second.added]
    if again:
        findings.append("the same files again changed the store")
    return findings


def _direct(folder: Path, reader: str, options: ReadOptions) -> Iterator[Reading | Failure]:
    paths = sorted(p for p in folder.rglob("*") if p.is_file())

    def candidates() -> Iterator[Candidate]:
        for path in paths:
            try:
                yield discover.candidate(path)
            except ForeshockError:
                yield Candidate(path, b"", ())

    yield from readers()[reader].read(candidates(), options)


def _failed(outcome: Failure, shape: set[str], findings: list[str]) -> bool:
    error: BaseException = outcome.error
    if not isinstance(error, ForeshockError):
        findings.append(f"a failure holds a {type(error).__name__}")
        return False
    text = str(error)
    shape.add(f"failure {type(error).__name__} {alike(error.found)}")
    findings += _said(text)
    return "no reader knows this file" not in error.found


def _said(text: str) -> list[str]:
    """What a message should not say."""
    found = [match[0] for match in FAULT.finditer(text)]
    if "correct the reader" in text:
        found.append(f"refused by the store: {text}")
    if len(text) > MAX_MESSAGE:
        found.append(f"a message of more than {MAX_MESSAGE:,} characters: {alike(text)}")
    return found


def _read(outcome: Reading, shape: set[str], findings: list[str], frames: bool) -> None:
    run, rows = outcome.run, Counter[str]()
    shape.add(f"run {run.format} {run.status}")
    for text in (*run.warnings, *run.meta.get("notes", [])):
        shape.add(f"warning {alike(text)}")
        findings += _said(text)
    try:
        for batch in outcome.batches:
            rows[batch.table] += batch.rows
            _batch(batch, run.run_key, shape, findings)
            if frames and batch.table != "runs":
                build(batch.table, batch.columns)
    except ForeshockError as error:
        shape.add(f"late {type(error).__name__} {alike(error.found)}")
        findings += _said(str(error))
    for table, count in rows.items():
        shape.add(f"rows {run.format} {table} {count.bit_length() // _LOG2}")


def _batch(batch: Batch, key: str, shape: set[str], findings: list[str]) -> None:
    if batch.table == "runs":
        for text in batch.columns.get("warnings", [[]])[0]:
            shape.add(f"warning {alike(text)}")
            findings += _said(text)
        return
    if not 0 < batch.rows <= MAX_ROWS:
        findings.append(f"a batch of {batch.rows} rows of {batch.table}")
    check(batch, key)
    for name, values in batch.columns.items():
        shape.add(f"column {batch.table} {name} {_kinds(name, values)}")


def _kinds(name: str, values: list[Any]) -> str:
    if name in ("delivery", "status", "kind", "source"):
        return " ".join(sorted({str(v)[:20] for v in values[:200]}))
    kinds = {v is None for v in values[:200]}
    return "some" if len(kinds) > 1 else "none" if True in kinds else "all"


def _silent(folder: Path, named: set[str], told: list[str]) -> list[str]:
    """Files that look like data and of which nothing was said; below a folder that was read a file may be no part."""
    notes = "".join(told)
    read = {parent for path in map(Path, named) for parent in (path, path.parent)} - {folder}
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or path.suffix.lower() not in DATA_SUFFIXES or not path.is_file():
            continue
        places = [path.name, *(f"{part}/" for part in path.relative_to(folder).parts[:-1])]
        if not ({path, *path.parents} & read or any(f" {place[:80]}," in notes for place in places)):
            return [f"nothing was said of a file {path.suffix}"]
    return []
