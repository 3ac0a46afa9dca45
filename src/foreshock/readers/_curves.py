"""Tables of curves: a row for each point, without runs and responses, as people keep losses and scores by size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import AmbiguousError, BrokenFileError, ConfigError, count_of
from foreshock.readers._items_roles import shown
from foreshock.readers._items_table import Table, cell, tables
from foreshock.readers._items_values import as_text
from foreshock.readers._tables_axis import axis_of
from foreshock.readers._tables_dates import moment, order_of
from foreshock.readers._tables_numbers import Decimal, Separators, figure, is_blank

MOST_ROWS = 2_000_000
"""Rows that are read of one table: more than any record of training runs has, and half a gigabyte of memory."""
LONGEST_NAME = 500
_TRUE = frozenset({"1", "true", "t", "yes", "y", "train", "training"})
_FALSE = frozenset({"0", "false", "f", "no", "n", "test", "validation", "val", "held-out", "heldout", "holdout"})


class CurveColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Which column of a table of curves is what.

    Attributes:
        x: What orders the points: a number such as ``1.4B``, or a date.
        y: The score or loss.
        group: Columns whose values together name a curve; empty makes the table one curve.
        train: Column that says which points are known (1, true, yes, train) and which are to be forecast; None: all are
            known.
        n: Items behind each score: a number, or a column.
        twin: Column of a continuous score of the same outputs.
        family: Column of what belongs together (a data set, a model family).
        codes: Cells of ``y`` that are no score, such as ``-100``.
    """

    x: str
    y: str
    group: list[str] = []
    train: str | None = None
    n: str | None = None
    twin: str | None = None
    family: str | None = None
    codes: list[str] = []


class CurveRows(NamedTuple):
    """The rows of a table of curves, column by column, in the order of the file.

    Attributes:
        group: Name of each row's curve.
        family: What it belongs to; empty without such a column.
        x: Place on the axis; days since 1970-01-01 (UTC) where ``dates``.
        y: Score; NaN where the cell is empty, which is what a point to be forecast may be.
        train: Whether the point is known.
        n: Items behind it; NaN where that is not known.
        twin: Continuous score of the same outputs; NaN where there is none.
        kind: What the axis is (``parameters``, ``tokens``, ``flops``, ``step``, ``date``), or the column's name.
        percent: Whether the scores are written with percent signs; they are parts of 1 here.
        notes: What a reader should know of how the table was read.
        unit: What numbers without a unit among the places were multiplied with, such as 1e9 of sizes in billions.
    """

    group: list[str]
    family: list[str]
    x: list[float]
    y: list[float]
    train: list[bool]
    n: list[float]
    twin: list[float]
    kind: str
    percent: bool
    notes: list[str]
    unit: float = 1.0

    @property
    def dates(self) -> bool:
        """Whether places are dates."""
        return self.kind == "date"


class _Column(NamedTuple):
    """Cells of one column as text, with where each stands."""

    name: str
    cells: list[str | None]
    at: Callable[[int], str]


def read_curves(path: Path, columns: CurveColumns) -> CurveRows:
    """Read a table of curves from delimited text, JSON Lines, a JSON array, Parquet or an archive of one of these.

    Args:
        path: The file.
        columns: Which column is what.

    Raises:
        ReadError: The file is no table, or a cell holds no number where one belongs.
        ConfigError: A column is not there.
    """
    table = _only(path)
    cells = _cells(table, columns)
    x, kind, unit, notes = _places(cells[columns.x])
    scores = _scores(cells[columns.y], frozenset(columns.codes))
    size = len(x)
    n = _sizes(columns, cells, size)
    family = [_name(text) for text in cells[columns.family].cells] if columns.family else [""] * size
    twins = _scores(cells[columns.twin], frozenset()) if columns.twin else _Scores([math.nan] * size, False)
    return CurveRows(
        group=_groups([cells[name] for name in columns.group], size),
        family=family,
        x=x,
        y=scores.values,
        train=_flags(cells[columns.train]) if columns.train else [True] * size,
        n=n,
        twin=twins.values,
        kind=kind,
        unit=unit,
        percent=scores.percent,
        notes=[*notes, *(["scores are written with percent signs: 85% is read as 0.85"] if scores.percent else [])],
    )


def _only(path: Path) -> Table:
    """The one table of a file."""
    if path.is_dir():
        raise ConfigError("a folder", expected="one file with a table of curves", do="name the file", where=str(path))
    if not path.is_file():
        raise ConfigError("there is no such file", expected="a table of curves", do="correct --csv", where=str(path))
    found = list(tables(path))
    if len(found) > 1:
        raise AmbiguousError(
            f"an archive of {len(found)} tables", expected="one table of curves", do="unpack it", where=str(path)
        )
    if not isinstance(found[0], Table):
        raise found[0]
    return found[0]


def _cells(table: Table, columns: CurveColumns) -> dict[str, _Column]:
    """The cells of every column that is wanted, bounded in number."""
    wanted = [columns.x, columns.y, *columns.group, columns.train, columns.twin, columns.family]
    names = list(dict.fromkeys(name for name in wanted if name is not None))
    if columns.n is not None and not columns.n.isdecimal():
        names.append(columns.n)
    missing = [name for name in names if name not in table.data.columns]
    if missing:
        raise ConfigError(
            f"no column {shown(missing)}",
            expected=f"one of {shown(table.data.columns)}",
            do="correct the options that name columns",
            where=table.where,
        )
    found: dict[str, list[str | None]] = {name: [] for name in names}
    numbers: list[int] = []
    for number, row in table.data.rows():
        if len(numbers) == MOST_ROWS:
            raise BrokenFileError(
                f"more than {MOST_ROWS:,} rows", expected="fewer", do="split the table", where=table.where
            )
        numbers.append(number)
        for name in names:
            found[name].append(_text(row, name))
    if not numbers:
        raise BrokenFileError("no row below the header", expected="a row for each point", where=table.where)
    return {name: _Column(name, column, lambda i: table.at(numbers[i])) for name, column in found.items()}


def _text(row: Mapping[str, Any], name: str) -> str | None:
    value = cell(row, name)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return as_text(value)


class _Places(NamedTuple):
    values: list[float]
    kind: str
    unit: float
    notes: list[str]


def _places(column: _Column) -> _Places:
    """Places on the axis, what the axis is, the unit of bare numbers, and what to know of it."""
    texts = _complete(column)
    marks = Separators(column.name)
    for i, text in enumerate(texts):
        marks.see(text, column.at(i))
    axis = axis_of(column.name, texts[:10_000], marks.decimal())
    values = [axis.value(text) for text in texts]
    dated = sum(moment(text) is not None for text in texts[:1_000])
    if dated == 0 and None in values and any(value is not None for value in values):
        odd = values.index(None)
        raise _wrong(texts[odd], "a finite number such as 1.4B", column.at(odd), column.name)
    if None not in values and not (axis.kind is None and dated == len(texts[:1_000])):
        notes = [f"{column.name} is read in billions, as its numbers are small"] if axis.guessed else []
        places = [float(value) for value in values if value is not None]
        return _Places(places, axis.kind or column.name, axis.unit, notes)
    return _days(column, texts)


def _days(column: _Column, texts: list[str]) -> _Places:
    order = order_of(texts)
    found: list[float] = []
    for i, text in enumerate(texts):
        when = moment(text, order)
        if when is None:
            raise _wrong(text, "a number such as 1.4B, or a date such as 2026-03-01", column.at(i), column.name)
        at = datetime.fromisoformat(when)
        found.append((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() / 86_400)
    return _Places(found, "date", 1.0, [])


def _complete(column: _Column) -> list[str]:
    texts = []
    for i, text in enumerate(column.cells):
        if text is None or is_blank(text):
            raise _wrong(text, "a number, or a date", column.at(i), column.name)
        texts.append(text)
    return texts


class _Scores(NamedTuple):
    values: list[float]
    percent: bool


def _scores(column: _Column, codes: frozenset[str]) -> _Scores:
    """Numbers of a column; NaN where a cell is blank or stands for no score."""
    marks = Separators(column.name)
    for i, text in enumerate(column.cells):
        if text is not None:
            marks.see(text, column.at(i))
    decimal: Decimal = marks.decimal()
    values, percents = [], 0
    for i, text in enumerate(column.cells):
        if text is None or is_blank(text) or text.strip() in codes:
            values.append(math.nan)
            continue
        found = figure(text, decimal)
        if found is None:
            raise _wrong(text, "a number, or an empty cell", column.at(i), column.name)
        percents += found.percent
        values.append(found.value / 100 if found.percent else found.value)
    known = sum(not math.isnan(value) for value in values)
    if 0 < percents < known:
        raise AmbiguousError(
            f"{count_of(percents, 'score')} of {known:,} with a percent sign (column {column.name!r})",
            expected="all of them, or none",
            do="write them alike",
        )
    return _Scores(values, percents > 0)


def _sizes(columns: CurveColumns, cells: Mapping[str, _Column], size: int) -> list[float]:
    """Items behind each score."""
    if columns.n is None:
        return [math.nan] * size
    if columns.n.isdecimal():
        return [float(columns.n)] * size
    column = cells[columns.n]
    found = _scores(column, frozenset()).values
    for i, value in enumerate(found):
        if value < 1:
            raise _wrong(column.cells[i], "a number of items, from 1", column.at(i), column.name)
    return found


def _flags(column: _Column) -> list[bool]:
    found = []
    for i, text in enumerate(column.cells):
        word = (text or "").strip().casefold()
        if word not in _TRUE and word not in _FALSE:
            raise _wrong(text, "1, true, yes or train; or 0, false, no or test", column.at(i), column.name)
        found.append(word in _TRUE)
    return found


def _groups(columns: list[_Column], size: int) -> list[str]:
    """Name of each row's curve: its cells, joined."""
    if not columns:
        return [""] * size
    return [" / ".join(names) for names in zip(*([_name(t) for t in c.cells] for c in columns), strict=True)]


def _name(text: str | None) -> str:
    if text is None or not text.strip():
        return "–"
    return text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}…"


def _wrong(text: str | None, expected: str, where: str, column: str) -> BrokenFileError:
    found = "an empty cell" if text is None or not text.strip() else repr(text[:80])
    return BrokenFileError(f"{found} in column {column!r}", expected=expected, do="correct it", where=where)
