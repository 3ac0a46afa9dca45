"""The first pass over a table of responses: everything that would stop the reading is found before anything is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from foreshock._base import AmbiguousError, BrokenFileError
from foreshock.readers._items_chat import chat, is_chat
from foreshock.readers._items_roles import Roles, shown
from foreshock.readers._items_table import Table, cell
from foreshock.readers._items_values import as_int, as_list, as_score, as_text

SHOWN = 3
# Interleaved runs are held in memory; sorted files are not.
MAX_HELD = 2_000_000


class Group(NamedTuple):
    """What makes rows belong to one run; None where the table has no such column."""

    model: str | None
    task: str | None
    date: str | None


class Record(NamedTuple):
    """One row with the values of its roles."""

    number: int
    group: Group
    values: Mapping[str, Any]


class Survey:
    """Facts about a table that are needed before its rows are given out.

    Attributes:
        groups: Runs in order of appearance with their numbers of rows.
        contiguous: No run is interrupted by another.
        first_epoch: Smallest epoch; counting from 0 is corrected.
        warnings: Duplicate ids that disagree, targets that disagree.
    """

    def __init__(self, table: Table, roles: Roles, scale: float | None) -> None:
        self.table, self.roles = table, roles
        self.groups: dict[Group, int] = {}
        self.contiguous = True
        self.first_epoch = 1
        self._seen: dict[int, tuple[int, int]] = {}
        self._disagree: list[str] = []
        self._disagreeing = 0
        last: Group | None = None
        for record in self.records():
            if record.group != last:
                self.contiguous &= record.group not in self.groups
                last = record.group
            self.groups[record.group] = self.groups.get(record.group, 0) + 1
            self._check(record, scale)

    @property
    def warnings(self) -> list[str]:
        """What the user should know before using the rows."""
        if not self._disagreeing:
            return []
        more = ", ..." if self._disagreeing > SHOWN else ""
        return [
            f"{self._disagreeing} rows repeat an item with other content ({', '.join(self._disagree)}{more}); "
            "all are kept"
        ]

    def records(self) -> Iterator[Record]:
        """Every row; a pass over the file."""
        columns = self.roles.columns
        for number, row in self.table.data.rows():
            try:
                values = {role: cell(row, column) for role, column in columns.items()}
            except BrokenFileError as error:
                error.where = self.table.at(number)
                raise
            yield Record(number, self._group(values), values)

    def runs(self) -> Iterator[tuple[Group, Iterator[Record]]]:
        """Rows by run.

        Raises:
            BrokenFileError: Runs are interleaved in a table too large to be sorted in memory.
        """
        if self.contiguous:
            yield from groupby(self.records(), lambda record: record.group)
            return
        rows = sum(self.groups.values())
        if rows > MAX_HELD:
            raise BrokenFileError(
                f"{rows:,} rows of {len(self.groups)} runs are interleaved",
                expected=f"at most {MAX_HELD:,} rows, or the rows of each run together",
                do="sort the table by model and task",
                where=self.table.where,
            )
        held: dict[Group, list[Record]] = {group: [] for group in self.groups}
        for record in self.records():
            held[record.group].append(record)
        for group in self.groups:
            yield group, iter(held.pop(group))

    def _group(self, values: Mapping[str, Any]) -> Group:
        model = as_text(values.get("model"))
        output = values.get("output")
        if model is None and is_chat(output):
            model = chat(output).model
        return Group(model, as_text(values.get("task")), as_text(values.get("date")))

    def _check(self, record: Record, scale: float | None) -> None:
        values, where = record.values, self.table.at(record.number)
        item = as_text(values.get("item"))
        for role in ("item", "model", "task"):
            if role in self.roles.columns and not (as_text(values.get(role)) or "").strip():
                raise BrokenFileError(
                    f"no {role} (column {self.roles.columns[role]!r} is blank)",
                    expected="a value in every row",
                    do="fill it in, or remove the row",
                    where=where,
                )
        for role in ("input", "output", "answer", "target"):
            value = values.get(role)
            if isinstance(value, dict) and not is_chat(value):
                column = self.roles.columns[role]
                raise AmbiguousError(
                    f"the {role} (column {column!r}) is an object with {shown(list(value))}",
                    expected="a text, a list or a chat completion",
                    do=f"name a part of it: --map {role}={column}.PART",
                    where=where,
                )
        as_list(values.get("choices"), where)
        if "score" in self.roles.columns:
            as_score(values.get("score"), scale, where)
        epoch = as_int(values.get("epoch"))
        if epoch is not None:
            self.first_epoch = min(self.first_epoch, epoch)
        if item is not None:
            self._repeats(record, item, epoch, values)

    def _repeats(self, record: Record, item: str, epoch: int | None, values: Mapping[str, Any]) -> None:
        key = hash((record.group, item, epoch, as_text(values.get("metric"))))
        content = hash(tuple(as_text(values.get(r)) for r in ("output", "answer", "score", "target", "input")))
        number, before = self._seen.setdefault(key, (record.number, content))
        if before != content:
            self._disagreeing += 1
            if len(self._disagree) < SHOWN:
                self._disagree.append(f"{item[:40]!r} in {self.table.data.unit}s {number} and {record.number}")
