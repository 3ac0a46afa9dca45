"""Tables of responses in every container: delimited text, JSON Lines, a JSON array, Parquet, members of a zip."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any, Protocol

import msgspec

from foreshock._base import BrokenFileError, ForeshockError, UnknownFormatError
from foreshock.readers._contain import reported
from foreshock.readers._files import MAX_ARRAY, lines, open_bytes, source
from foreshock.readers._items_csv import CsvRows
from foreshock.readers._json import (
    UTF8_BOM,
    check_encoding,
    check_members,
    fields,
    records,
    repeated_keys,
    text,
    tolerant,
)
from foreshock.readers._parquet import MAGIC, Parquet
from foreshock.records import Source

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
_SHOWN_COLUMNS = 20


class Rows(Protocol):
    """Rows that can be gone through more than once.

    Attributes:
        columns: Names; for JSON those of the first record.
        unit: What the number of a row counts: line, element or row.
    """

    columns: list[str]
    unit: str

    def rows(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Number and cells of every row."""


class Table:
    """One table with where it came from.

    Args:
        path: The file.
        member: Member of the archive, when it is one.
        opener: Opens the content.
        origin: The file's identity.
    """

    def __init__(self, path: Path, member: str | None, opener: Callable[[], IO[bytes]], origin: Source) -> None:
        self.path, self.member, self.source = path, member, origin
        self.where = str(path) if member is None else f"{path}, member {member}"
        self.data: Rows = _rows(opener, self.where)

    @property
    def stem(self) -> str:
        """Name of the file (of the archive's member when it has several) without its suffixes."""
        name = PurePosixPath(self.member).name if self.member else self.path.name
        for suffix in (".gz", *SUFFIXES):
            name = name.removesuffix(suffix)
        return text(name)

    def at(self, number: int) -> str:
        """Where a row is, for messages."""
        return f"{self.where}, {self.data.unit} {number}"


def tables(path: Path) -> Iterator[Table | ForeshockError]:
    """The table of a file, or one for each member of an archive; an error for a member that holds none.

    Raises:
        ReadError: The file cannot be read at all.
    """
    origin = source(path)
    with path.open("rb") as stream:
        packed = stream.read(4) == b"PK\x03\x04"
    if not packed:
        yield Table(path, None, lambda: open_bytes(path), origin)
        return
    yield from _members(path, origin)


def _members(path: Path, origin: Source) -> Iterator[Table | ForeshockError]:
    from foreshock.readers._zip import Archive, latest, shown

    with Archive(path) as archive:
        if archive.salvage is not None:
            # a table that ends somewhere is no table; single responses can be rescued, rows of a file cannot
            raise BrokenFileError(
                archive.salvage.why,
                expected="a whole archive",
                do="copy it again from where it was made",
                where=str(path),
            )
        found = [m for m in latest(archive.members) if m.name.lower().endswith(SUFFIXES) and not _hidden(m.name)]
        if not found:
            raise UnknownFormatError(
                "no member of the archive is a table",
                expected="a member such as results.jsonl",
                do="unpack it and add what is inside",
                where=str(path),
            )
        for member in found:
            try:
                data = archive.read(member)
                # bytes that are not UTF-8 are kept as lone surrogates until here
                name = text(member.name)
                place = msgspec.structs.replace(origin, member=name)
                yield Table(path, name, lambda data=data: io.BytesIO(data), place)  # type: ignore[misc]
            except BaseException as error:  # noqa: BLE001 - one bad member is not the others
                yield reported(error, path, f"{path}, member {shown(member.name)}")


def _hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts)


def _rows(opener: Callable[[], IO[bytes]], where: str) -> Rows:
    with opener() as stream:
        head = stream.read(4096)
    if not head.strip():
        raise BrokenFileError("the file is empty", expected="a table", do="remove it or copy it again", where=where)
    check_encoding(head, where)
    if head.startswith(MAGIC):
        return ParquetRows(opener, where)
    begin = head.removeprefix(UTF8_BOM).lstrip()
    if begin.startswith(b"["):
        return ArrayRows(opener, where)
    if begin.startswith(b"{"):
        return LineRows(opener, where)
    return CsvRows(opener, where)


class LineRows:
    """JSON Lines. A last line that was cut off is left out and counted in ``cut``."""

    unit = "line"

    def __init__(self, opener: Callable[[], IO[bytes]], where: str) -> None:
        self._open, self._where = opener, where
        self.cut: str | None = None
        self._checked = False
        first = next(iter(self.rows()), None)
        if first is None:
            found = f"no whole line: {self.cut}" if self.cut else "no line that is not blank"
            raise BrokenFileError(found, expected="one JSON object per line", where=where)
        self.columns = list(first[1])

    def rows(self) -> Iterator[tuple[int, dict[str, msgspec.Raw]]]:
        """Line number and members of every object.

        Raises:
            BrokenFileError: A line is no JSON object, repeats a key, or is not UTF-8.
        """
        with self._open() as stream:
            for number, data in lines(stream, self._where):
                try:
                    yield number, _record(data, f"{self._where}, line {number}", self._checked)
                except BrokenFileError as error:
                    if number == 1 or data.endswith(b"\n") or data.rstrip().endswith(b"}"):
                        raise
                    self.cut = f"line {number}, the last, is cut off and left out ({error.found})"
        self._checked = True


class ArrayRows:
    """A JSON array of objects, which has to be parsed whole: up to 1 GiB."""

    unit = "element"

    def __init__(self, opener: Callable[[], IO[bytes]], where: str) -> None:
        with opener() as stream:
            data = stream.read(MAX_ARRAY + 1)
        if len(data) > MAX_ARRAY:
            raise BrokenFileError(
                f"a JSON array of more than {MAX_ARRAY >> 20} MiB",
                expected="one JSON object per line",
                do="convert it: jq -c '.[]' FILE > FILE.jsonl",
                where=where,
            )
        self._where, self._records = where, records(data, where)
        if not self._records:
            raise BrokenFileError("the array is empty", expected="one object per response", where=where)
        self._checked = False
        self.columns = list(_record(bytes(self._records[0]), f"{where}, element 1", False))

    def rows(self) -> Iterator[tuple[int, dict[str, msgspec.Raw]]]:
        """Position and members of every object."""
        for number, raw in enumerate(self._records, 1):
            yield number, _record(bytes(raw), f"{self._where}, element {number}", self._checked)
        self._checked = True


class ParquetRows:
    """A Parquet file, read in slices."""

    unit = "row"

    def __init__(self, opener: Callable[[], IO[bytes]], where: str) -> None:
        with opener() as stream:
            # a path is read lazily; the bytes of an archive's member are in memory already
            self._file = Parquet(stream.read() if isinstance(stream, io.BytesIO) else stream.name, where)
        self.columns = list(self._file.schema)

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and cells of every row."""
        parts = self._file.parts(4_096)
        yield from enumerate((row for part in parts for row in part.iter_rows(named=True)), 1)


def _record(data: bytes, where: str, checked: bool) -> dict[str, msgspec.Raw]:
    check_members(data, where)
    found = fields(data, where)
    twice = [] if checked else repeated_keys(data, found)
    if twice:
        raise BrokenFileError(
            f"the key {twice[0]!r} occurs twice", expected="each key once", do="correct the record", where=where
        )
    return found


def cell(row: Mapping[str, Any], column: str) -> Any:
    """One value; ``a.b`` goes into a nested object when no column has that very name."""
    value = row.get(column)
    if value is None and "." in column and column not in row:
        first, _, rest = column.partition(".")
        outer = cell(row, first)
        return cell(outer, rest) if isinstance(outer, dict) else None
    if not isinstance(value, msgspec.Raw):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # skipping a value, as done so far, does not look into its texts
        return tolerant(bytes(value), "")
