"""The first pass over a table of responses: everything that would stop the reading is found before anything is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from foreshock._base import AmbiguousError, BrokenFileError
from foreshock.readers._items_chat import chat, is_chat
from foreshock.readers._items_repeats import Repeats
from foreshock.readers._items_roles import Roles, command, parts_of, series_role, shown
from foreshock.readers._items_table import Table, cell
from foreshock.readers._items_values import as_int, as_list, as_score, as_text, scale_of, scores_of
from foreshock.readers._tables_axis import number as quantity
from foreshock.readers._tables_subject import shots_of

# Interleaved runs are held in memory; sorted files are not.
MAX_HELD = 2_000_000


class Group(NamedTuple):
    """What makes rows belong to one run; None where the table has no such column.

    Attributes:
        model, task, date: As they stand in the table.
        seed: Seed of the training or the sampling.
        step: Step of the training.
        conditions: Name and value of every condition that the row states, shots among them.
    """

    model: str | None
    task: str | None
    date: str | None
    seed: str | None = None
    step: int | None = None
    conditions: tuple[tuple[str, str], ...] = ()

    @property
    def apart(self) -> list[str]:
        """What else than model, task and date tells the run from others, as texts."""
        told = [] if self.seed is None else ["seed", self.seed]
        told += [] if self.step is None else ["step", str(self.step)]
        return [*told, *(text for pair in self.conditions for text in pair)]


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
        repeats: What is known about repeated items, for each run.
        graded: Places of those among several columns of scores that hold something else than right and wrong.
    """

    def __init__(self, table: Table, roles: Roles, scale: float | None) -> None:
        self.table, self.roles = table, roles
        both = {r: parts_of(r, column, table.data.columns) for r, column in roles.columns.items()}
        self._parts = {role: parts for role, parts in both.items() if len(parts) > 1}
        self.groups: dict[Group, int] = {}
        self.contiguous = True
        self.first_epoch = 1
        self.repeats: dict[Group, Repeats] = {}
        self.graded: set[int] = set()
        last: Group | None = None
        for record in self.records():
            if record.group != last:
                self.contiguous &= record.group not in self.groups
                last = record.group
            self.groups[record.group] = self.groups.get(record.group, 0) + 1
            self._check(record, scale)
        self._refuse_pooled()

    def records(self) -> Iterator[Record]:
        """Every row; a pass over the file."""
        for number, row in self.table.data.rows():
            yield self._record(number, row)

    def _record(self, number: int, row: Mapping[str, Any]) -> Record:
        try:
            values = {role: self._value(row, role, column) for role, column in self.roles.columns.items()}
            group = self._group(values)
        except BrokenFileError as error:
            error.where = self.table.at(number)
            raise
        return Record(number, group, values)

    def _value(self, row: Mapping[str, Any], role: str, column: str) -> Any:
        """A cell; the text of an item that is made of several columns; a tuple where several hold scores."""
        parts = self._parts.get(role)
        if parts is None:
            return cell(row, column)
        if role in ("score", "condition"):
            return tuple(cell(row, part) for part in parts)
        texts = [as_text(cell(row, part)) for part in parts]
        return "/".join(text or "" for text in texts) if any(texts) else None

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
        seed = (as_text(values.get("seed")) or "").strip() or None
        own = as_text(values.get("task")), as_text(values.get("date")) or None
        return Group(model, *own, seed, self._step(values), self._conditions(values))

    def _step(self, values: Mapping[str, Any]) -> int | None:
        text = (as_text(values.get("step")) or "").strip()
        if not text:
            return None
        found = quantity(text)
        if found is None or found[0] < 0 or not found[0].is_integer():
            raise BrokenFileError(
                f"the step is {text[:40]!r} (column {self.roles.columns['step']!r})",
                expected="a whole number",
                do="correct it, or use the column as a condition: --map condition=COLUMN",
            )
        return int(found[0])

    def _conditions(self, values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        columns = self.roles.columns
        found = [("shots", shots_of(text))] if (text := (as_text(values.get("shots")) or "").strip()) else []
        if "condition" in columns:
            names = self._parts.get("condition", [columns["condition"]])
            cells = values["condition"] if "condition" in self._parts else (values["condition"],)
            texts = ((name, (as_text(each) or "").strip()) for name, each in zip(names, cells, strict=True))
            found += [(name, text) for name, text in texts if text]
        return tuple(found)

    def _check(self, record: Record, scale: float | None) -> None:
        values, where = record.values, self.table.at(record.number)
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
            self._check_scores(scores_of(values), scale_of(values, scale, where), where)
        epoch = as_int(values.get("epoch"))
        if epoch is not None:
            self.first_epoch = min(self.first_epoch, epoch)
        if record.group not in self.repeats:
            self.repeats[record.group] = Repeats(self.table.data.unit)
        self.repeats[record.group].see(record.number, values)

    def _check_scores(self, cells: tuple[Any, ...], scale: float | None, where: str) -> None:
        for place, value in enumerate(cells):
            if len(cells) > 1 and place not in self.graded:
                try:
                    as_score(value, None, where)
                except AmbiguousError:
                    self.graded.add(place)
                else:
                    continue
            as_score(value, scale, where)

    def _refuse_pooled(self) -> None:
        """Several models, or numbered repetitions, under a column whose name does not say so are not put together."""
        columns = self.roles.columns
        if "epoch" in columns:
            return
        roles = [r for r in ("model", "task") if r not in columns] + ["epoch"]
        for group, repeats in self.repeats.items():
            found = repeats.told_apart(self._cells(group), self._unused()) if repeats.numbered else []
            if found:
                plain = series_role(found[0])
                offered = [*([plain] if plain and plain not in columns else []), *roles]
                offered += [r for r in ("seed", "condition") if r not in columns and r not in offered]
                raise AmbiguousError(
                    f"items occur up to {repeats.most:,} times with other content, told apart by {shown(found)}",
                    expected=f"to be told whether that is the {' or the '.join(offered)}",
                    do=command(self.table.where, {**columns, offered[0]: found[0]})
                    + "".join(f", or {r}={found[0]}" for r in offered[1:])
                    + (f", or a part of the item: item={columns['item']}+{found[0]}" if "item" in columns else ""),
                    where=self.table.where,
                )

    def _cells(self, group: Group) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        unused = self._unused()
        for number, row in self.table.data.rows():
            record = self._record(number, row)
            if record.group == group:
                yield record.values, {c: cell(row, c) for c in unused}

    def _unused(self) -> list[str]:
        used = {c for role, whole in self.roles.columns.items() for c in self._parts.get(role, [whole])}
        used |= {c.partition(".")[0] for c in used}
        return [c for c in self.table.data.columns if c not in used]
