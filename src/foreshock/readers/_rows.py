"""Rows in, batches out: a reader appends tuples, the store gets columns in pieces small enough to hold."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from foreshock.records import MAX_BYTES, MAX_ROWS, Batch

Row = tuple[object, ...]

MAX_ID = 1_000
"""Longest id of an item that is kept as it is."""


def item_name(found: str) -> str:
    """An id as a column holds it: an endless one as its beginning and a hash, so that different ones stay different.

    Examples:
        >>> item_name("q7"), len(item_name("q" * 10**6))
        ('q7', 273)
    """
    if len(found) <= MAX_ID:
        return found
    return f"{found[:200]}… sha256:{hashlib.sha256(found.encode()).hexdigest()}"


class Rows:
    """Rows of several tables on their way into batches.

    Args:
        tables: Table name to the columns of its tuples; batches are given out in this order.

    Attributes:
        full: It is time to :meth:`flush`.
    """

    def __init__(self, tables: Mapping[str, Sequence[str]]) -> None:
        self._columns = tables
        self._rows: dict[str, list[Row]] = {name: [] for name in tables}
        self._records = self._bytes = 0
        self.full = False

    def appender(self, table: str) -> Callable[[Row], None]:
        """The function that appends a row to ``table``."""
        return self._rows[table].append

    def grow(self, size: int) -> None:
        """Note that the rows of one more record, with about ``size`` characters of text, were appended."""
        self._records += 1
        self._bytes += size
        self.full = self._records >= MAX_ROWS or self._bytes >= MAX_BYTES

    def undo(self, number: int) -> None:
        """Take back the rows of the responses from ``number`` on; their items stay."""
        for name, rows in self._rows.items():
            if self._columns[name][0] == "row":
                while rows and cast("int", rows[-1][0]) >= number:
                    rows.pop()

    def flush(self) -> Iterator[Batch]:
        """Give out what was gathered and start again."""
        for name, rows in self._rows.items():
            for start in range(0, len(rows), MAX_ROWS):
                columns = zip(*rows[start : start + MAX_ROWS], strict=True)
                yield Batch(name, dict(zip(self._columns[name], map(list, columns), strict=True)))
            rows.clear()
        self._records = self._bytes = 0
        self.full = False
