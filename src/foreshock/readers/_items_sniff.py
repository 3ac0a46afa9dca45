"""Whether a file holds a table at all."""

from __future__ import annotations

from collections.abc import Sequence

from foreshock._base import ForeshockError
from foreshock.readers._files import HEAD
from foreshock.readers._items_table import SUFFIXES
from foreshock.readers._json import UTF8_BOM, fields
from foreshock.readers._parquet import MAGIC
from foreshock.readers._protocol import Candidate

DELIMITED = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


def is_table(candidate: Candidate, told: Sequence[str]) -> bool:
    """Whether the content is rows of something.

    Args:
        candidate: The file.
        told: Columns that the user named; a text that begins with them is a table whatever its suffix.
    """
    name = candidate.path.name.lower()
    if candidate.members:
        return any(m.lower().endswith(SUFFIXES) for m in candidate.members)
    if candidate.head.startswith(b"PK"):
        return bool(told)  # a damaged archive: the reader says what is wrong with it
    if candidate.head.startswith(MAGIC):
        return True
    told = [part for column in told for part in column.split("+") if part]
    begin = candidate.head.removeprefix(UTF8_BOM).lstrip()
    if begin.startswith(b"["):
        return begin[1:].lstrip().startswith(b"{")
    if begin.startswith(b"{"):
        return name.endswith(LINES) or _is_record(begin)
    header = begin.partition(b"\n")[0]
    return bool(begin) and (name.endswith(DELIMITED) or (bool(told) and all(c.encode() in header for c in told)))


def is_delimited(candidate: Candidate) -> bool:
    """Whether the content is delimited text."""
    return is_table(candidate, ()) and candidate.path.name.lower().endswith(DELIMITED)


def _is_record(begin: bytes) -> bool:
    """Whether a whole object stands on the first line, and more follow."""
    first, newline, rest = begin.partition(b"\n")
    if not newline or len(first) >= HEAD or not rest.lstrip().startswith(b"{"):
        return False
    try:
        fields(first, "")
    except ForeshockError:
        return False
    return True
