"""Matrices of models and items: a cell for each response, 0 or 1 or a code."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from foreshock._base import AmbiguousError, BrokenFileError, ConfigError
from foreshock.readers import _items_roles
from foreshock.readers._items_table import Table, cell
from foreshock.readers._items_values import as_score, as_text
from foreshock.readers._protocol import ReadOptions
from foreshock.records import Delivery, ScoreStatus

MAX_CELLS = 200_000_000
_LOOKED_AT = 200
_MANY = 40
_MODEL = frozenset({"model", "model_name", "submission", "submission_name", "system", "run", "team", "agent", "entry"})
_ITEM = frozenset(
    {
        *("item", "item_id", "question_id", "question", "task_id", "problem", "problem_id", "instance_id", "sample_id"),
        *("example_id", "doc_id", "qid", "test", "test_name", "check"),
    }
)
_SUBSET = frozenset({"category", "subject", "subset", "domain", "topic"})
_WORDS = frozenset({"true", "false", "pass", "fail", "passed", "failed", "correct", "incorrect", "yes", "no"})
_STATES = frozenset({"unparsed", *(state.value for state in Delivery)})
UNPARSED = "unparsed"


class Matrix(NamedTuple):
    """How a matrix lies in a table.

    Attributes:
        label: Column with the names of its rows.
        rows: What a row is: ``model`` or ``item``.
        columns: The columns that are items, or models.
        subset: Column with the category of the items, where rows are items.
        codes: Cell to what it stands for.
    """

    label: str
    rows: str
    columns: tuple[str, ...]
    subset: str | None
    codes: Mapping[str, str]

    def sentence(self) -> str:
        """How the table was understood."""
        other = "item" if self.rows == "model" else "model"
        shown = _items_roles.shown
        codes = f", {shown([f'{code}={word}' for code, word in self.codes.items()])}" if self.codes else ""
        subset = f", subset={shown([self.subset])}" if self.subset else ""
        label, first, last = (shown([name]) for name in (self.label, self.columns[0], self.columns[-1]))
        return (
            f"read as {self.rows}={label}{subset}, and {len(self.columns):,} columns each of one {other}, "
            f"{first} to {last}{codes}"
        )


class Cell(NamedTuple):
    """One response: how it arrived, and its score."""

    delivery: Delivery
    value: float | None
    status: ScoreStatus | None
    label: str | None


def find_matrix(table: Table, options: ReadOptions, codes: Mapping[str, str]) -> Matrix | None:
    """The matrix that a table is, by its cells or because the user says so; None when it is none.

    Args:
        table: The table.
        options: What the user said: ``map`` names the column of labels as ``model`` or as ``item``.
        codes: What cells stand for that are no score.

    Raises:
        AmbiguousError: It is one, and either rows or columns may be the models.
        ConfigError: A code stands for no state.
    """
    unknown = sorted(set(codes.values()) - _STATES)
    if unknown:
        raise ConfigError(
            f"--codes: {unknown[0]!r} is no state", expected=f"one of {', '.join(sorted(_STATES))}", do="correct it"
        )
    told = {role: column for role, column in options.map.items() if role in ("model", "item", "subset")}
    if options.map and not options.wide:
        return None
    cells = _binary_columns(table, codes)
    binary = {*cells}
    rest = [c for c in table.data.columns if c not in binary]
    subset = told.get("subset") or next((c for c in rest if _items_roles.plain(c) in _SUBSET), None)
    label = told.get("model") or told.get("item")
    columns = tuple(c for c in cells if c not in (label, subset))
    if len(columns) < 2 or (not options.wide and (_named(table) or len(rest) > 2)):
        return None
    if label is not None:
        return Matrix(label, "model" if "model" in told else "item", columns, subset, codes)
    free = [c for c in rest if c != subset]
    return _oriented(table, free, columns, subset, codes)


def _named(table: Table) -> bool:
    """Whether columns have roles of a long table of responses."""
    columns = table.data.columns
    return any(_items_roles.matches(role, columns) for role in ("output", "answer", "target", "score", "choices"))


def _oriented(
    table: Table, free: Sequence[str], columns: tuple[str, ...], subset: str | None, codes: Mapping[str, str]
) -> Matrix | None:
    plain = {_items_roles.plain(c): c for c in free}
    models = [c for name, c in plain.items() if name in _MODEL]
    items = [c for name, c in plain.items() if name in _ITEM]
    if len(models) == 1 and not items and subset is None and len(free) == 1:
        return Matrix(models[0], "model", columns, None, codes)
    if len(items) == 1 and not models:
        return Matrix(items[0], "item", columns, subset, codes)
    if len(free) > 1 and not (models or items):
        return None
    label = (items or models or list(free) or [table.data.columns[0]])[0]
    path = shlex.quote(str(table.path))
    raise AmbiguousError(
        f"{len(columns):,} columns of 0 and 1 ({_items_roles.shown(columns[:3])}, ...) beside the column {label!r}: a "
        "matrix whose rows may be models or items",
        expected="to be told what a row is",
        do=f"say it: foreshock add {path} --wide --map item={shlex.quote(label)} when each row is an item, "
        f"--map model={shlex.quote(label)} when each row is a model",
        where=table.where,
    )


def _binary_columns(table: Table, codes: Mapping[str, str]) -> list[str]:
    """Columns that hold only 0, 1, words for right and wrong, codes and blanks in the first rows."""
    labels = _MODEL | _ITEM | {"id", "idx", "index", "uid", "answer"}
    alive = {column: False for column in table.data.columns if _items_roles.plain(column) not in labels}
    for _, row in islice(table.data.rows(), _LOOKED_AT):
        for column in list(alive):
            text = (as_text(cell(row, column)) or "").strip()
            if not text:
                continue
            if text in ("0", "1", "0.0", "1.0") or text in codes or text.lower() in _WORDS:
                alive[column] = True
            else:
                del alive[column]
    return [column for column, seen in alive.items() if seen]


def cells_of(table: Table, matrix: Matrix) -> Iterator[tuple[str, list[tuple[str, str | None, str | None]]]]:
    """Every model with its (item, subset, text of the cell), in the order of the table.

    Raises:
        BrokenFileError: A label is blank, or stands twice with different cells; the matrix is too large to be turned.
    """
    if matrix.rows == "model":
        for label, _, texts in _labelled(table, matrix):
            yield label, [(item, None, text) for item, text in zip(matrix.columns, texts, strict=True)]
        return
    labels: list[tuple[str, str | None]] = []
    held: dict[str, list[str | None]] = {column: [] for column in matrix.columns}
    same: dict[str | None, str | None] = {}
    for label, subset, texts in _labelled(table, matrix):
        labels.append((label, subset))
        if len(labels) * len(matrix.columns) > MAX_CELLS:
            raise BrokenFileError(
                f"more than {MAX_CELLS:,} cells", expected="fewer, or a row for each model", where=table.where
            )
        for column, text in zip(matrix.columns, texts, strict=True):
            held[column].append(same.setdefault(text, text))  # one object for all equal texts
    for column in matrix.columns:
        cells = held.pop(column)
        yield column, [(label, subset, text) for (label, subset), text in zip(labels, cells, strict=True)]


def _labelled(table: Table, matrix: Matrix) -> Iterator[tuple[str, str | None, list[str | None]]]:
    """Label, subset and cells of every row; a row that stands twice is given once."""
    seen: dict[str, tuple[int, int]] = {}
    for line, row in table.data.rows():
        label = (as_text(cell(row, matrix.label)) or "").strip()
        if not label:
            raise BrokenFileError(
                f"no {matrix.rows} (column {matrix.label!r} is blank)",
                expected="a name in every row",
                do="fill it in, or remove the row",
                where=table.at(line),
            )
        texts = [as_text(cell(row, column)) for column in matrix.columns]
        content = hash(tuple(texts))
        before = seen.setdefault(label, (line, content))
        if before[0] == line:
            yield label, as_text(cell(row, matrix.subset)) if matrix.subset else None, texts
        elif before[1] != content:
            raise BrokenFileError(
                f"{table.data.unit}s {before[0]} and {line} are both {matrix.rows} {label[:60]!r}, with other cells",
                expected=f"one row for each {matrix.rows}",
                do="remove or rename one of them",
                where=table.where,
            )


def copies_of(table: Table, matrix: Matrix) -> int:
    """Rows that repeat the label of another; those that are given have equal cells."""
    labels = [as_text(cell(row, matrix.label)) for _, row in table.data.rows()]
    return len(labels) - len(set(labels))


def read_cell(text: str | None, matrix: Matrix, scale: float | None, where: str) -> Cell:
    """What one cell says.

    Raises:
        AmbiguousError, BrokenFileError: It is neither a score nor a code.
    """
    plain = (text or "").strip()
    if not plain:
        return Cell(Delivery.MISSING, None, None, None)
    state = matrix.codes.get(plain)
    if state == UNPARSED:
        return Cell(Delivery.OK, None, ScoreStatus.UNPARSED, plain)
    if state is not None:
        return Cell(Delivery(state), None, None, None)
    try:
        value, label = as_score(plain if not plain.isdecimal() else float(plain), scale, where)
    except AmbiguousError as error:
        error.do = f"say it: --codes {plain[:20]}=missing (or unparsed, refused, error) if it is a state; {error.do}"
        raise
    return Cell(Delivery.OK, value, ScoreStatus.FAILED if value is None else ScoreStatus.SCORED, label)
