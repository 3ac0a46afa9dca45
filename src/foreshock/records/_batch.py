"""What a reader hands on: columns, in pieces small enough to hold."""

from __future__ import annotations

from typing import Any, NamedTuple

MAX_ROWS = 4_096
"""Rows of a batch at the most."""

MAX_BYTES = 8 * 2**20
"""Bytes of text in a batch at the most; one longer row is a batch of its own."""


class Batch(NamedTuple):
    """Some rows of one table, column by column.

    Attributes:
        table: ``items``, ``responses``, ``trace``, ``scores`` or ``aggregates``; or ``runs`` for facts about the run
            that only show at the end of its log (one row; the columns are fields of :class:`Run`).
        columns: Lists of equal length; None is missing. Columns left out are null.
    """

    table: str
    columns: dict[str, list[Any]]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()), []))
