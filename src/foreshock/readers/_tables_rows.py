"""Rows of a table of aggregates, checked and gathered into runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from foreshock._base import BrokenFileError, count_of
from foreshock.readers._items_table import Table, cell
from foreshock.readers._items_values import as_text
from foreshock.readers._protocol import ReadOptions
from foreshock.readers._tables_axis import AXES, Axis, axis_of
from foreshock.readers._tables_cells import Mean, ValueCells
from foreshock.readers._tables_clash import clash
from foreshock.readers._tables_dates import Order, moment, order_of
from foreshock.readers._tables_layout import Layout, parts_of
from foreshock.readers._tables_n import Rate, derive
from foreshock.readers._tables_numbers import Separators, figure, is_blank

MAX_ROWS = 2_000_000


class Subject(NamedTuple):
    """What makes rows belong to one run; texts as they stand in the table."""

    model: str | None
    axes: tuple[tuple[str, float | None], ...]
    task: str | None
    family: str | None
    date: str | None
    shots: str | None
    seed: str | None
    conditions: tuple[tuple[str, str], ...]
    version: str | None
    organisation: str | None
    repeat: int = 0


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
        self.seen: dict[tuple[Any, ...], tuple[int, Mapping[str, Any]]] = {}
        self.blank = self.coded = self.filled = 0
        self.nameless: list[int] = []
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
            yield line, row, {c: as_text(cell(row, c)) for c in columns}

    def survey(self) -> None:
        """The first pass: how numbers and dates are written."""
        axes = {role: self.layout.roles[role] for role in (*AXES, "x") if role in self.layout.roles}
        texts: dict[str, list[str]] = {role: [] for role in axes}
        separators = {role: Separators(column) for role, column in axes.items()}
        dates: set[str] = set()
        for line, _, row in self.rows():
            where = self.table.at(line)
            metric = row.get(self.layout.roles.get("metric", ""))
            for found in self.cells:
                found.see(row, metric, where)
            for role, column in axes.items():
                text = row[column]
                if text is not None:
                    texts[role].append(text)
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
        for line, raw, row in self.rows():
            where = self.table.at(line)
            texts = {role: row.get(column) for role, column in self.layout.roles.items()}
            known = {**row, "\0n": texts.get("n"), "\0subset": texts.get("subset")}
            subject: Subject | None = None
            any_score = False
            for found in self.cells:
                means = found.means(known, texts.get("metric"), line, where)
                if not means:
                    text = row.get(found.value.column)
                    self.coded += text is not None and found.state(text) is not None
                    continue
                any_score = True
                subject = subject or self._subject(texts, row, line)
                if subject is None:
                    break
                mine = subject._replace(task=found.value.task or subject.task or self.layout.task)
                self._keep(mine, means, line, raw)
            self.blank += not any_score

    def _keep(self, subject: Subject, means: list[Mean], line: int, row: Mapping[str, Any]) -> None:
        key = (subject, means[0].metric, means[0].answer_filter, means[0].subset)
        before, other = self.seen.setdefault(key, (line, row))
        if before != line:
            different = [c for c in self.table.data.columns if other.get(c) != row.get(c)]
            if not different:
                self.copies.append((before, line))
                return
            if not self.layout.lenient:
                raise clash(self.table, (self.layout, self.options), (before, line), means[0].metric, different)
            self.repeats.append((before, line))
            subject = subject._replace(repeat=line)
        self.runs.setdefault(subject, []).extend(means)

    def _subject(self, texts: Mapping[str, str | None], row: Mapping[str, str | None], line: int) -> Subject | None:
        model, where = texts.get("model"), self.table.at(line)
        if self.layout.fill is not None and is_blank(model):
            model = row.get(self.layout.fill)
            self.filled += model is not None
        model = None if model is None or not model.strip() else model.strip()
        places, named = self._places(texts, where)
        model = model or named
        if model is None and all(place is None for _, place in places):
            if self.layout.lenient:
                self.nameless.append(line)
                return None
            raise BrokenFileError(
                "no model and no place on the axis",
                expected="one of them in every row",
                do="fill it in, or remove the row",
                where=where,
            )
        column = self.layout.roles.get("condition")
        parts = [] if column is None else [column] if column in row else parts_of("condition", column)
        conditions = tuple((c, text) for c in parts if (text := row.get(c)) is not None)
        shots = texts.get("shots")
        return Subject(
            *(model, tuple(places), _clean(texts.get("task")), _clean(texts.get("family")), texts.get("date")),
            *(None if shots is None else _shots(shots), texts.get("seed"), conditions),
            *(texts.get("version"), texts.get("organisation")),
        )

    def _places(self, texts: Mapping[str, str | None], where: str) -> tuple[list[tuple[str, float | None]], str | None]:
        """Places on the axes, and the name of the model when the x axis holds names."""
        places: list[tuple[str, float | None]] = []
        named = None
        for role, axis in self.axes.items():
            text = texts.get(role)
            place = None if text is None or is_blank(text) else axis.value(text)
            if text is not None and not is_blank(text) and place is None:
                if role != "x" or "model" in self.layout.roles:
                    raise BrokenFileError(
                        f"{text[:40]!r} is no number (column {axis.column!r})",
                        expected="a number such as 1.4e9 or 1.4B",
                        where=where,
                    )
                named = text
            places.append((role, place))
        return places, named


def gather(table: Table, layout: Layout, options: ReadOptions) -> Gathered:
    """Read all rows.

    Raises:
        AmbiguousError: Scores above 1 without a scale, numbers or rows that may be read in two ways.
        BrokenFileError: A cell is not what its role needs.
    """
    state = _Gathering(table, layout, options)
    state.survey()
    state.gather()
    if not state.runs:
        raise BrokenFileError("no row has a score", expected="at least one", where=table.where)
    derived, doubts = _derive_n(state.runs)
    return Gathered(state.runs, state.axes, state.order, _notes(state), [*_warnings(state), *doubts], derived)


def _derive_n(runs: dict[Subject, list[Mean]]) -> tuple[set[tuple[str | None, str]], list[str]]:
    """Fill in n where it is not stated and the standard errors of a task and metric agree on one."""
    rates: dict[tuple[str | None, str | None, str, str | None], list[Rate]] = defaultdict(list)
    for subject, means in runs.items():
        for mean in means:
            if mean.n is None and mean.stderr is not None and mean.rate:
                key = (subject.task, mean.subset, mean.metric, mean.answer_filter)
                rates[key].append(Rate(mean.value, mean.stderr, mean.ulp, mean.stderr_ulp, mean.line))
    found = {key: derive(rows) for key, rows in rates.items()}
    known: set[tuple[str | None, str]] = set()
    for subject, means in runs.items():
        for place, mean in enumerate(means):
            told = found.get((subject.task, mean.subset, mean.metric, mean.answer_filter))
            usable = told is not None and told.n is not None and mean.n is None
            if usable and told is not None and mean.rate:
                means[place] = mean._replace(n=told.n)
                known.add((subject.task, mean.metric))
    doubts = []
    for (task, _, metric, _), told in found.items():
        if told.clash is not None:
            (one, n), (other, m) = told.clash
            doubts.append(
                f"n of {metric}{f' on {task}' if task else ''} is not derived: the standard errors of lines {one} and "
                f"{other} would need {n:,} and {m:,} items"
            )
    return known, doubts


def _notes(state: _Gathering) -> list[str]:
    found = []
    if state.copies:
        one, other = state.copies[0]
        are = "is a copy" if len(state.copies) == 1 else "are copies"
        rows = count_of(len(state.copies), "row")
        found.append(f"{rows} {are} of another (lines {one} and {other}); one of each is kept")
    if state.filled:
        found.append(
            f"{count_of(state.filled, 'row')} without a {state.layout.roles['model']} named by {state.layout.fill}"
        )
    if state.coded:
        found.append(f"{count_of(state.coded, 'cell')} without a score by --codes")
    return found


def _warnings(state: _Gathering) -> list[str]:
    found = [f"{a.column} is read as billions of {a.kind}" for a in state.axes.values() if a.guessed]
    if state.blank:
        rows = count_of(state.blank, "row")
        found.append(f"{rows} without a score {'is' if state.blank == 1 else 'are'} left out")
    if state.nameless:
        rows = count_of(len(state.nameless), "row")
        are = "is" if len(state.nameless) == 1 else "are"
        found.append(f"{rows} without a model {are} left out (line {state.nameless[0]})")
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


def _shots(text: str) -> str:
    """The number of examples in ``25-shot``; other words as they are.

    Examples:
        >>> _shots("25-shot"), _shots("few "), _shots("0.0")
        ('25', 'few', '0')
    """
    plain = text.strip().lower()
    for ending in ("-shots", "-shot", " shots", " shot", "shots", "shot"):
        plain = plain.removesuffix(ending)
    number = figure(plain)
    return f"{number.value:g}" if number and number.value.is_integer() else plain or text.strip()


def _clean(text: str | None) -> str | None:
    return None if text is None else text.strip() or None
