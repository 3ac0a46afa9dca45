"""What to say about a file that no reader knows: what was tried, what it looks like, the command that would read it."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Sequence

from foreshock._base import BrokenFileError, ForeshockError, UnknownFormatError
from foreshock.readers._json import UTF8_BOM
from foreshock.readers._protocol import Candidate

DATA_SUFFIXES = frozenset(
    {
        *(".json", ".jsonl", ".jsonlines", ".ndjson", ".eval", ".csv", ".tsv", ".parquet", ".zip"),
        *(".arrow", ".feather", ".xlsx", ".tar", ".tgz"),
    }
)
PACKED = frozenset({".gz", ".bz2", ".xz", ".zst"})
# of files with these, the content decides
PLAIN_SUFFIXES = frozenset({"", ".txt", ".text", ".log", ".out", ".dat", ".data", ".tab"})
_MAX_TABLE_ROWS = 20
_JSON = re.compile(rb'\{\s*["}]|\[\s*[\[{"]')
_MAX_SHOWN = 12
_MAX_TRIED = 32 * 2**20


def looks_like_data(candidate: Candidate) -> bool:
    """Whether an unknown file met in a folder should be reported.

    Files with the suffix of data should, and plain ones (``.txt``, ``.log``, none, ...) that begin like JSON, a zip or
    Parquet, or are delimited text whose rows have equally many fields. Prose, code and pictures should not.
    """
    suffixes = [s.lower() for s in candidate.path.suffixes]
    while len(suffixes) > 1 and suffixes[-1] in PACKED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    if last in DATA_SUFFIXES or last in PACKED:
        return True
    # the suffix of log.2024-05-01 means nothing
    if last not in PLAIN_SUFFIXES and not last[1:2].isdigit():
        return False
    begin = candidate.head.removeprefix(UTF8_BOM).lstrip()
    return bool(_JSON.match(begin)) or begin.startswith((b"PK\x03\x04", b"PAR1")) or _is_delimited(candidate)


def _is_delimited(candidate: Candidate) -> bool:
    header, rows = head_rows(candidate)
    # the lines of Python's logging hold one comma each, after a date
    named = len(header) > 1 and all(0 < len(c) < 80 and c.isprintable() and not c[0].isdigit() for c in header)
    return named and len(rows) > 1 and all(len(row) == len(header) for row in rows[:_MAX_TABLE_ROWS])


def unknown(candidate: Candidate, tried: Sequence[str]) -> ForeshockError:
    """The error for a file that no reader claimed."""
    where = str(candidate.path)
    if not candidate.head:
        return BrokenFileError("the file is empty", expected="a log", do="remove it or copy it again", where=where)
    if candidate.head.startswith(b"PK") and (reason := _broken_zip(candidate)):
        return BrokenFileError(
            reason, expected="a whole archive", do="copy it again from where it was made", where=where
        )
    begin = candidate.head.removeprefix(UTF8_BOM).lstrip()[:1]
    if (error := _misnamed(candidate, begin)) is not None:
        return error
    broken = _broken_json(candidate) if begin in (b"{", b"[") else None
    columns = columns_of(candidate)
    found = broken or ("no reader knows this file" + (f" (it begins with {', '.join(columns)})" if columns else ""))
    do = map_command(candidate, columns) if columns and not broken else "see docs/readers for what each format is"
    return UnknownFormatError(found, expected=f"one of {', '.join(tried)}", do=do, where=where)


def _misnamed(candidate: Candidate, begin: bytes) -> ForeshockError | None:
    """The error about a file that is not what its suffix says; None where that says nothing or is right."""
    suffix = candidate.path.suffix.lower()
    kind = {".eval": "zip archive", ".zip": "zip archive", ".parquet": "Parquet file"}.get(suffix)
    if kind is None or candidate.head.startswith((b"PK", b"PAR1")) or begin in (b"{", b"["):
        return None
    return BrokenFileError(
        f"the file is called {suffix} and is no {kind}: it begins with {ascii(candidate.head[:16])[2:-1]!r}",
        expected=f"a whole {kind}" + (", as Inspect writes .eval logs" if suffix == ".eval" else ""),
        do="copy it again from where it was made; what it holds may be a message about a download that failed",
        where=str(candidate.path),
    )


def map_command(candidate: Candidate, columns: Sequence[str]) -> str:
    """The command to fill in when columns have to be named."""
    known = ", ".join(columns[:_MAX_SHOWN]) + (", ..." if len(columns) > _MAX_SHOWN else "")
    name = shlex.quote(str(candidate.path))
    return f"say what the columns are: foreshock add {name} --map item=COLUMN,output=COLUMN (columns: {known})"


def _broken_zip(candidate: Candidate) -> str | None:
    """In words why an archive is damaged; None when it is whole and merely unknown."""
    from foreshock.readers._zip import Archive

    try:
        with Archive(candidate.path) as archive:
            return None if archive.salvage is None else f"{archive.salvage.why}, and what is left is of no known format"
    except ForeshockError as error:
        return error.found
    except OSError as error:
        return str(error)


def _broken_json(candidate: Candidate) -> str | None:
    """In words why a file that begins like JSON is not; None when it is sound or too long to try."""
    from foreshock.readers._files import HEAD, whole
    from foreshock.readers._json import tolerant

    try:
        data = candidate.head if len(candidate.head) < HEAD else whole(candidate.path, _MAX_TRIED)
    except ForeshockError:
        return None
    try:
        tolerant(data.removeprefix(UTF8_BOM), "")
    except ForeshockError as error:
        lines = candidate.head.strip().split(b"\n")
        if len(lines) > 1 and all(_is_json(line) for line in lines[:5]):
            return None  # JSON Lines
        return error.found
    return None


def _is_json(line: bytes) -> bool:
    from foreshock.readers._json import tolerant

    try:
        tolerant(line, "")
    except ForeshockError:
        return False
    return True


def columns_of(candidate: Candidate) -> list[str]:
    """Names in the first row or record, when it has such."""
    from foreshock.readers._json import fields, records

    data = candidate.head.removeprefix(UTF8_BOM).lstrip()
    first = data.split(b"\n", 1)[0].strip()
    try:
        if data.startswith(b"["):
            return list(fields(bytes(records(data, "")[0]), ""))
        if first.startswith(b"{"):
            return list(fields(first, ""))
    except (ForeshockError, IndexError):
        return []
    row, _ = head_rows(candidate)
    return row if len(row) > 1 and all(len(c) < 80 and c.isprintable() for c in row) else []


def head_rows(candidate: Candidate) -> tuple[list[str], list[list[str]]]:
    """Header and whole rows in the first bytes of a delimited text; nothing when it is none."""
    text = candidate.head.removeprefix(UTF8_BOM).decode("utf-8", "replace")
    whole, _, _ = text.rpartition("\n") if "\n" in text else (text, "", "")
    first = whole.partition("\n")[0]
    delimiter = max(",\t;", key=first.count)
    try:
        rows = [row for row in csv.reader(whole.splitlines(keepends=True), delimiter=delimiter) if row]
    except csv.Error:
        return [], []
    return (rows[0], rows[1:]) if rows else ([], [])
