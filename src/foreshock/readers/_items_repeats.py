"""Rows of one run that repeat an item: copies, contradictions, repetitions to be numbered, or several runs in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from foreshock._base import count_of
from foreshock.readers._items_values import as_int, as_text

SHOWN = 3


class _First(NamedTuple):
    """The first row of an item: its number, hashes of its question and of its content, and how many rows there are."""

    number: int
    question: int
    content: int
    rows: int


class Repeats:
    """What is known about the repeated items of one run; 100 bytes a row.

    Args:
        unit: What the number of a row counts, for messages.

    Attributes:
        most: Rows of the item with most of them.
    """

    def __init__(self, unit: str) -> None:
        self.most = 1
        self._again = False
        self._rows = 0
        self._unit = unit
        self._seen: dict[int, _First] = {}
        self._disagree: list[str] = []
        self._disagreeing = self._copies = 0
        self._copy = (0, 0)

    def see(self, number: int, values: Mapping[str, Any]) -> None:
        """Take note of a row."""
        if _name(values) is None:
            return
        self._rows += 1
        epoch = as_int(values.get("epoch"))
        key = hash((_name(values), epoch, as_text(values.get("metric"))))
        content = hash(tuple(as_text(values.get(r)) for r in ("output", "answer", "score", "target", "input")))
        question = question_of(values)
        before = self._seen.get(key)
        if before is None:
            self._seen[key] = _First(number, question, content, 1)
            return
        self._seen[key] = before._replace(rows=before.rows + 1)
        self.most = max(self.most, before.rows + 1)
        if before.content == content:
            self._copies += 1
            self._copy = self._copy if self._copies > 1 else (before.number, number)
            return
        self._again |= epoch is None and before.question == question
        self._disagreeing += 1
        if len(self._disagree) < SHOWN:
            self._disagree.append(f"{(_name(values) or '')[:40]!r} in {self._unit}s {before.number} and {number}")

    @property
    def numbered(self) -> bool:
        """Whether the rows are to be numbered as epochs in the order of the table.

        The same questions were answered again, differently, no column numbers the repetitions, and they are of most
        items rather than here and there: then they are meant. A few rows that contradict others are duplicates.
        """
        items = len(self._seen)
        return self._again and 2 * (self._rows - items) > (self.most - 1) * items

    @property
    def warnings(self) -> list[str]:
        """What the user should know before using the rows."""
        if self.numbered:
            return [
                f"{self._told()} and no column numbers them: they are read as epochs 1 to {self.most:,} of one model; "
                "if they come from several models, tasks or settings, add a column that says which and name it with "
                "--map"
            ]
        found = []
        if self._disagreeing:
            found.append(
                f"{self._told()}; all are kept, as duplicates (FS104): remove those that are wrong, or if they are "
                "meant, name the column that tells them apart: --map epoch=COLUMN"
            )
        if self._copies:
            are = "is a copy" if self._copies == 1 else "are copies"
            one, other = self._copy
            found.append(
                f"{count_of(self._copies, 'row')} {are} of another ({self._unit}s {one} and {other}); all are kept, as "
                "duplicates (FS104)"
            )
        return found

    def _told(self) -> str:
        more = ", ..." if self._disagreeing > SHOWN else ""
        return (
            f"{count_of(self._disagreeing, 'row')} {'repeats' if self._disagreeing == 1 else 'repeat'} an item with "
            f"other content ({', '.join(self._disagree)}{more})"
        )

    def told_apart(
        self, rows: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]], columns: Sequence[str]
    ) -> list[str]:
        """Columns that look like the name of a model or the number of a repetition.

        They have as many values as the most repeated item has rows, and no item has one of them twice.

        Args:
            rows: Values of the roles and cells of ``columns`` of every row of the run.
            columns: Columns without a role.
        """
        values: dict[str, set[int]] = {c: set() for c in columns}
        pairs: dict[str, set[int]] = {c: set() for c in columns}
        for roles, cells in rows:
            key = hash((_name(roles), as_text(roles.get("metric"))))
            for column in list(values):
                text = as_text(cells.get(column))
                values[column].add(hash(text))
                pair = hash((key, text))
                if text is None or pair in pairs[column] or len(values[column]) > self.most:
                    del values[column], pairs[column]
                else:
                    pairs[column].add(pair)
        return [c for c, found in values.items() if len(found) == self.most]


class Numbering:
    """Numbers the repetitions of each item from 1, in the order of the rows."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}

    def next(self, values: Mapping[str, Any]) -> int:
        """Number of this row among those of its item."""
        key = hash((_name(values), as_text(values.get("metric")), question_of(values)))
        self._rows[key] = number = self._rows.get(key, 0) + 1
        return number


def question_of(values: Mapping[str, Any]) -> int:
    """Hash of what was asked: two questions under one id are no repetition of each other."""
    return hash((as_text(values.get("input")), as_text(values.get("target"))))


def _name(values: Mapping[str, Any]) -> str | None:
    """The item's id, or its text where the table has no ids."""
    return as_text(values.get("item")) or as_text(values.get("input"))
