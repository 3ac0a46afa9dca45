"""Bounded reading of files that a person names: designs are small, and nothing in them is run."""

from __future__ import annotations

from pathlib import Path

from foreshock._base import BrokenFileError, ReadError

MAX_BYTES = 1_000_000
"""Largest design file; those of lm-evaluation-harness have at most some 100 kB."""
MAX_DATA = 512 * 2**20
"""Largest local data set whose rows are counted."""


def read_text(path: Path) -> str:
    """Text of a design file.

    Raises:
        ReadError: It cannot be read, or is too large.
        BrokenFileError: It is not UTF-8.
    """
    try:
        if not path.is_file():
            raise ReadError("no such file", expected="a design file", where=str(path))
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror})", expected="a file", where=str(path)) from None
    if len(data) > MAX_BYTES:
        raise ReadError(
            f"larger than {MAX_BYTES:,} bytes", expected="a design, not the data of a task", where=str(path)
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BrokenFileError("not UTF-8 text", expected="a text file in UTF-8", where=str(path)) from None


def count_rows(path: Path, *, header: bool = False) -> int | None:
    """Lines with something on them, of a local JSONL or CSV file; None where it cannot be counted.

    Args:
        path: The file.
        header: Whether the first line names columns.
    """
    try:
        if not path.is_file() or path.stat().st_size > MAX_DATA:
            return None
        with path.open("rb") as file:
            found = sum(1 for line in file if line.strip())
    except OSError:
        return None
    return max(0, found - 1) if header else found


def data_rows(name: str, folder: Path) -> int | None:
    """Rows of a data set that lies in a local file beside the design; None for any other kind of name."""
    if "\0" in name or "://" in name:
        return None
    path = folder / name
    if path.suffix in (".jsonl", ".ndjson"):
        return count_rows(path)
    if path.suffix in (".csv", ".tsv"):
        return _count_table(path)
    return None


def _count_table(path: Path) -> int | None:
    """Records of a CSV file, whose cells may hold line breaks."""
    import csv

    try:
        if not path.is_file() or path.stat().st_size > MAX_DATA:
            return None
        with path.open(encoding="utf-8-sig", newline="") as file:
            return max(0, sum(1 for row in csv.reader(file) if row) - 1)
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
