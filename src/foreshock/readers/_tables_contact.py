"""First contact: what a table looks like, how it was understood, and the command that says so."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from foreshock._base import ForeshockError
from foreshock.readers._items_table import Table
from foreshock.readers._tables_clash import ready
from foreshock.readers._tables_layout import Layout

_OPTION = re.compile(r"--(?:scale|codes|interval) [^\s,;]+")
_SHOWN = 12
_WIDTH = 40


def contact(table: Table, layout: Layout, rows: Sequence[Sequence[str]]) -> list[str]:
    """Header, first row and the explicit command of a table that was understood without being told."""
    return [*seen(table.data.columns, rows), f"to say so yourself: {ready(table, layout)}"]


def seen(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Header and first row, in bounded length.

    Examples:
        >>> seen(["model", "acc"], [["a", "0.5"]])
        ['header: model | acc', 'first row: a | 0.5']
    """
    found = [f"header: {_line(columns)}"]
    return [*found, f"first row: {_line(rows[0])}"] if rows else found


def introduce(error: ForeshockError, table: Table, rows: Sequence[Sequence[str]], layout: Layout | None) -> None:
    """Add header, first row, the guess and the command that completes it to an error."""
    for line in seen(table.data.columns, rows):
        error.add_note(line)
    if layout is not None:
        error.add_note(f"understood so far: {layout.sentence()}")
    option = _OPTION.search(error.do or "")
    if option is not None:
        error.add_note(f"ready: foreshock add {shlex.quote(str(table.path))} {option[0]}")


def _line(cells: Sequence[str]) -> str:
    shown = [_short(cell) for cell in cells[:_SHOWN]]
    return " | ".join(shown) + (f" | ... ({len(cells)} columns)" if len(cells) > _SHOWN else "")


def _short(cell: str) -> str:
    text = " ".join(cell.split())
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
