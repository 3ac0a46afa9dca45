"""First contact: what a table looks like, how it was understood, and the command that says so."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import islice

import msgspec

from foreshock._base import AmbiguousError, ForeshockError
from foreshock.readers import _items_roles
from foreshock.readers._items_table import Table, cell
from foreshock.readers._items_values import as_text
from foreshock.readers._protocol import ReadOptions
from foreshock.readers._tables_clash import given, ready
from foreshock.readers._tables_layout import Layout
from foreshock.readers._tables_wide import benchmarks

_OPTION = re.compile(r"say it: (--(?:scale|codes|interval) [^\s,;]+)")
_SHOWN = 12
_ROWS_LOOKED_AT = 100
_WIDTH = 40


def contact(table: Table, layout: Layout, options: ReadOptions, rows: Sequence[Sequence[str]]) -> list[str]:
    """Header, first row and the explicit command of a table that was understood without being told."""
    if layout.preset is not None:
        return say_so(table, ["--preset", layout.preset], options)
    return [*seen(table.data.columns, rows), f"to say so yourself: {ready(table, layout, options)}"]


def say_so(table: Table, words: Sequence[str], options: ReadOptions) -> list[str]:
    """Header, first row and the explicit command of any other table that was understood without being told.

    Args:
        table: The table.
        words: What says how it was read, as words of a command.
        options: What was said beside.
    """
    columns = table.data.columns
    rows = [[as_text(cell(row, c)) or "" for c in columns[:_SHOWN]] for _, row in islice(table.data.rows(), 1)]
    command = " ".join(["foreshock add", shlex.quote(str(table.path)), *map(shlex.quote, words), *given(options)])
    more = len(columns) - _SHOWN
    return [*seen(columns, [row + [""] * more for row in rows]), f"to say so yourself: {command}"]


def seen(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Header and first row, in bounded length.

    Examples:
        >>> seen(["model", "acc"], [["a", "0.5"]])
        ['header: model | acc', 'first row: a | 0.5']
    """
    found = [f"header: {_line(columns)}"]
    return [*found, f"first row: {_line(rows[0])}"] if rows else found


def introduce(
    error: ForeshockError, table: Table, rows: Sequence[Sequence[str]], guess: tuple[Layout | None, ReadOptions]
) -> None:
    """Add header, first row, the guess and the command that completes it to an error."""
    layout, options = guess
    for line in seen(table.data.columns, rows):
        error.add_note(line)
    if layout is not None:
        error.add_note(f"understood so far: {layout.sentence()}")
    option = _OPTION.match(error.do or "")
    if option is not None:
        if option[1].startswith("--scale"):
            options = msgspec.structs.replace(options, scale=None)  # what was given is what is wrong
        plain = not options.csv and not options.wide
        start = f"foreshock add {shlex.quote(str(table.path))}"
        told = [start, *_asked(options), *given(options)]
        before = " ".join(told) if plain or layout is None else ready(table, layout, options)
        error.add_note(f"ready: {before} {option[1]}")


def _asked(options: ReadOptions) -> list[str]:
    """How a table of responses was asked for, as words of a command."""
    words = ["--preset", shlex.quote(options.preset)] if options.preset else []
    words += ["--wide"] if options.wide else []
    roles = ",".join(f"{role}={column}" for role, column in options.map.items())
    return [*words, "--map", shlex.quote(roles)] if roles else words


def first_rows(table: Table) -> list[list[str]]:
    """Texts of the first rows."""
    columns = table.data.columns
    return [[as_text(cell(row, c)) or "" for c in columns] for _, row in islice(table.data.rows(), _ROWS_LOOKED_AT)]


def explain(error: ForeshockError, table: Table, options: ReadOptions) -> None:
    """Complete the error about a table of responses whose columns are not understood.

    A table without a number that may be a score, an answer or an output is said to hold none.
    """
    if not isinstance(error, AmbiguousError):
        return
    rows, columns = first_rows(table), table.data.columns
    if not any(_items_roles.matches(role, columns) for role in ("output", "answer", "score")):
        told = f"foreshock add --csv {shlex.quote(str(table.path))} --x COLUMN --y COLUMN"
        if benchmarks(columns, rows):
            error.do = f"{error.do}; or, for scores of models: {told}"
        else:
            error.expected = "a column of scores, answers or outputs, and this table seems to have none"
            error.do = (
                f"leave it out; if a column does hold such, {error.do}; or, for scores of models: {told} (the words "
                "COLUMN stand for names of columns)"
            )
    introduce(error, table, rows, (None, options))


def _line(cells: Sequence[str]) -> str:
    shown = [_short(cell) for cell in cells[:_SHOWN]]
    return " | ".join(shown) + (f" | ... ({len(cells)} columns)" if len(cells) > _SHOWN else "")


def _short(cell: str) -> str:
    text = " ".join(cell.split())
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
