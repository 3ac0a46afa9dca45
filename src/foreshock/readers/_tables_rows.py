"""Rows of a table of aggregates, checked and gathered into runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from foreshock._base import AmbiguousError, BrokenFileError, count_of
from foreshock.readers._items_roles import shown
from foreshock.readers._items_table import Table, cell
from foreshock.readers._items_values import as_text
from foreshock.readers._protocol import ReadOptions
from foreshock.readers._tables_axis import AXES, Axis, axis_of
from foreshock.readers._tables_cells import ValueCells
from foreshock.readers._tables_clash import clash
from foreshock.readers._tables_dates import Order, moment, order_of
from foreshock.readers._tables_layout import Layout
from foreshock.readers._tables_mean import Mean
from foreshock.readers._tables_n import fill_n
from foreshock.readers._tables_numbers import Separators
from foreshock.readers._tables_subject import Subject, Subjects

MAX_ROWS = 2_000_000
_SHOWN = 12


class Gathered(NamedTuple):
    """A whole table.

    Attributes:
        runs: Subject to its aggregates.
        axes: The axes by role.
        order: Whether day or month stands first in its dates.
        notes: What was done with rows that were not read as they are.
        warnings: What the user should worry about.
        derived_n: (task, metric) of which n was derived from standard errors.
    """

    runs: dict[Subject, list[Mean]]
    axes: dict[str, Axis]
    order: Order | None
    notes: list[str]
    warnings: list[str]
    derived_n: set[tuple[str | None, str]]


class _Gathering:
    """The state of going through a table."""

    def __init__(self, table: Table, layout: Layout, options: ReadOptions) -> None:
        self.table, self.layout, self.options = table, layout, options
        self.cells = [ValueCells(value, options) for value in layout.values]
        self.runs: dict[Subject, list[Mean]] = {}
        self.seen: dict[tuple[Any, ...], tuple[int, int]] = {}
        self.blank = self.coded = 0
        self.copies: list[tuple[int, int]] = []
        self.repeats: list[tuple[int, int]] = []
        self.axes: dict[str, Axis] = {}
        self.order: Order | None = None

    def rows(self) -> Iterator[tuple[int, Mapping[str, Any], dict[str, str | None]]]:
        """Line, cells and texts of every row."""
        columns = sorted(self.layout.used)
        for count, (line, row) in enumerate(self.table.data.rows()):
            if count >= MAX_ROWS:
                raise BrokenFileError(
                    f"more than {MAX_ROWS:,} rows", expected="a table of aggregates", where=self.table.where
                )
            # the cells of delimited text are texts already
            yield line, row, {c: v if (v := row.get(c)).__class__ is str else as_text(cell(row, c)) for c in columns}

    def survey(self) -> None:
        """The first pass: how numbers and dates are written."""
        axes = {role: self.layout.roles[role] for role in (*AXES, "x") if role in self.layout.roles}
        texts: dict[str, set[str]] = {role: set() for role in axes}
        separators = {role: Separators(column) for role, column in axes.items()}
        dates: set[str] = set()
        for line, _, row in self.rows():
            where = self.table.at(line)
            metric = row.get(self.layout.roles.get("metric", ""))
            for found in self.cells:
                found.see(row, metric, where)
            for role, column in axes.items():
                text = row[column]
                if text is not None and text not in texts[role]:
                    texts[role].add(text)
                    separators[role].see(text, where)
            dates.add(row.get(self.layout.roles.get("date", "")) or "")
        for found in self.cells:
            found.settle(self.table.where)
        for role, column in axes.items():
            whole = separators[role].decimal(whole=True)
            self.axes[role] = axis_of(column, texts[role], whole)
        self.order = order_of(dates)

    def gather(self) -> None:
        """The second pass: every row."""
        subjects = self.subjects = Subjects(self.table, self.layout, self.axes)
        for line, raw, row in self.rows():
            where = self.table.at(line)
            texts = {role: row.get(column) for role, column in self.layout.roles.items()}
            row |= {"\0n": texts.get("n"), "\0subset": texts.get("subset")}
            subject: Subject | None = None
            any_score = False
            for found in self.cells:
                means = found.means(row, texts.get("metric"), line, where)
                if not means:
                    text = row.get(found.value.column)
                    self.coded += text is not None and found.state(text) is not None
                    continue
                any_score = True
                subject = subject or subjects.of(texts, row, line)
                if subject is None:
                    break
                task = found.value.task or subject.task or self.layout.task
                mine = subject if task == subject.task else subject._replace(task=task)
                self._keep(mine, means, line, raw)
            self.blank += not any_score

    def _keep(self, subject: Subject, means: list[Mean], line: int, row: Mapping[str, Any]) -> None:
        key = (subject, means[0].metric, means[0].answer_filter, means[0].subset)
        content = hash(tuple(map(_plain, row.values())))
        before, other = self.seen.setdefault(key, (line, content))
        if before != line:
            if content == other:
                self.copies.append((before, line))
                return
            if not self.layout.lenient:
                different = self._different(before, row)
                raise clash(self.table, (self.layout, self.options), (before, line), means[0].metric, different)
            self.repeats.append((before, line))
            subject = subject._replace(repeat=line)
        self.runs.setdefault(subject, []).extend(means)

    def _different(self, before: int, row: Mapping[str, Any]) -> list[str]:
        """Columns in which the row at ``before`` is another than ``row``."""
        other = next(found for line, found in self.table.data.rows() if line == before)
        return [c for c in self.table.data.columns if _plain(other.get(c)) != _plain(row.get(c))]


def gather(table: Table, layout: Layout, options: ReadOptions) -> Gathered:
    """Read all rows.

    Raises:
        AmbiguousError: Scores above 1 without a scale, numbers or rows that may be read in two ways.
        BrokenFileError: A cell is not what its role needs.
    """
    state = _Gathering(table, layout, options)
    state.survey()
    try:
        state.gather()
    except AmbiguousError as error:
        above = [f"{c.value.column} {c.largest:g}" for c in state.cells if c.largest > 1]
        if len(above) > 1 and "on the scale" in error.found:
            more = f", ... ({len(above)} columns)" if len(above) > _SHOWN else ""
            listed = ", ".join(above[:_SHOWN]) + more
            error.add_note(f"largest numbers: {listed}; columns that are on another scale are read apart, with --y")
        raise
    if not state.runs:
        raise BrokenFileError("no row has a score", expected="at least one", where=table.where)
    derived, doubts = fill_n(state.runs)
    return Gathered(state.runs, state.axes, state.order, _notes(state), [*_warnings(state), *doubts], derived)


def _plain(value: Any) -> object:
    """A cell as something that can be compared and hashed."""
    if value is None or isinstance(value, str | int | float):
        return value
    return bytes(value) if isinstance(value, msgspec.Raw) else repr(value)


def _notes(state: _Gathering) -> list[str]:
    found = []
    if state.copies:
        one, other = state.copies[0]
        are = "is a copy" if len(state.copies) == 1 else "are copies"
        rows = count_of(len(state.copies), "row")
        found.append(f"{rows} {are} of another (lines {one} and {other}); one of each is kept")
    if state.subjects.filled:
        rows = count_of(state.subjects.filled, "row")
        found.append(
            f"{rows} without a {shown([state.layout.roles['model']])} named by {shown([state.layout.fill or ''])}"
        )
    if state.coded:
        found.append(f"{count_of(state.coded, 'cell')} without a score by --codes")
    return found


def _warnings(state: _Gathering) -> list[str]:
    found = [f"{shown([a.column])} is read as billions of {a.kind}" for a in state.axes.values() if a.guessed]
    if state.blank:
        rows = count_of(state.blank, "row")
        found.append(f"{rows} without a score {'is' if state.blank == 1 else 'are'} left out")
    if state.subjects.nameless:
        rows = count_of(len(state.subjects.nameless), "row")
        are = "is" if len(state.subjects.nameless) == 1 else "are"
        found.append(f"{rows} without a model {are} left out (line {state.subjects.nameless[0]})")
    if state.repeats:
        one, other = state.repeats[0]
        found.append(
            f"{count_of(len(state.repeats), 'row')} for a model that is there already under the same conditions (lines "
            f"{one} and {other}); kept as runs of their own"
        )
    found += [
        f"what stands behind ± in {cells.unexplained!r} is not said and not used; say it: "
        "--interval stderr, or --interval ci95"
        for cells in state.cells
        if cells.unexplained
    ]
    dates = {subject.date for subject in state.runs if subject.date is not None}
    odd = next((date for date in sorted(dates) if moment(date, state.order) is None), None)
    if odd is not None:
        found.append(f"dates such as {odd[:40]!r} are not ISO 8601 or may be read in several ways, and are not used")
    return found
