"""Delimited text read strictly: what does not fit is refused with its line, never repaired."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator
from typing import IO

from foreshock._base import BrokenFileError, count_of
from foreshock.readers._files import DAMAGED, MAX_RECORD, damaged

DELIMITERS = (",", "\t", ";")
MAX_FIELD = 16 * 2**20
# the module's own limit of 128 KiB is shorter than a long model output
csv.field_size_limit(MAX_FIELD)


class CsvRows:
    """Rows of one delimited file.

    Args:
        opener: Opens the bytes; called once per pass.
        where: File (and member) for messages.

    Attributes:
        columns: The header.

    Raises:
        BrokenFileError: The header is blank or repeats a name.
    """

    unit = "line"

    def __init__(self, opener: Callable[[], IO[bytes]], where: str) -> None:
        self._open, self._where = opener, where
        with opener() as stream:
            first = next(_decoded(stream, where), "")
            self._delimiter = _delimiter(first)
        with opener() as stream:
            self.columns = next((row for _, row in self._records(stream)), [])
        self._check_header()

    def rows(self) -> Iterator[tuple[int, dict[str, str | None]]]:
        """Line number and cells of every row; an empty cell is None.

        Raises:
            BrokenFileError: A row has too many or too few cells, a quote is not closed, a byte is not UTF-8.
        """
        width = len(self.columns)
        with self._open() as stream:
            records = self._records(stream)
            next(records, None)
            for line, cells in records:
                if len(cells) != width:
                    raise BrokenFileError(
                        f"{count_of(len(cells), 'field')} where the header has {width:,}",
                        expected="the same number in every line",
                        do="quote fields that contain the delimiter, or correct the line",
                        where=f"{self._where}, line {line}",
                    )
                yield line, dict(zip(self.columns, [c or None for c in cells], strict=True))

    def _records(self, stream: IO[bytes]) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(_decoded(stream, self._where), delimiter=self._delimiter, strict=True)
        start = 1
        try:
            for cells in reader:
                if cells:
                    yield start, cells
                start = reader.line_num + 1
        except csv.Error as error:
            raise self._broken(str(error), start, reader.line_num) from None

    def _broken(self, reason: str, start: int, end: int) -> BrokenFileError:
        if "field larger" in reason and end <= start:
            return BrokenFileError(
                f"a field of more than {MAX_FIELD >> 20} MiB",
                expected="shorter fields",
                do="cut it, or write the table as JSON Lines",
                where=f"{self._where}, line {start}",
            )
        if "unexpected end" in reason or "expected after" in reason or "field larger" in reason:
            lines = f"line {start}" if end <= start else f"lines {start} to {end}"
            reason = f"a quote opened in {lines} is not closed where a field ends"
        return BrokenFileError(
            reason,
            expected='quoted fields with quotes inside doubled ("")',
            do="correct the quotes there",
            where=f"{self._where}, line {start}",
        )

    def _check_header(self) -> None:
        twice = sorted(c for c, times in Counter(self.columns).items() if times > 1)
        if twice:
            raise BrokenFileError(
                f"the header names {', '.join(map(repr, twice))} twice",
                expected="different names",
                do="rename one of them",
                where=f"{self._where}, line 1",
            )
        if not any(c.strip() for c in self.columns):
            raise BrokenFileError("there is no header", expected="column names", where=f"{self._where}, line 1")


def _delimiter(header: str) -> str:
    counts = {d: header.count(d) for d in DELIMITERS}
    return max(DELIMITERS, key=lambda d: counts[d])


def _decoded(stream: IO[bytes], where: str) -> Iterator[str]:
    number = 0
    while raw := _line(stream, where, number):
        number += 1
        data = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BrokenFileError(
                f"byte 0x{data[error.start]:02x} at position {error.start + 1} is not UTF-8",
                expected="one encoding, UTF-8, in the whole file",
                do="convert it: iconv -f LATIN1 -t UTF-8 FILE > NEW",
                where=f"{where}, line {number}",
            ) from None
        if "\x00" in text:
            raise BrokenFileError("a NUL character", expected="text", where=f"{where}, line {number}")
        yield text


def _line(stream: IO[bytes], where: str, number: int) -> bytes:
    try:
        return stream.readline(MAX_RECORD)
    except DAMAGED as error:
        raise damaged(error, f"{where}, after line {number}") from None
