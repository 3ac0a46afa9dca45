"""`foreshock sql`: ask the tables anything."""

from __future__ import annotations

import csv
import io
import sys
from enum import StrEnum
from typing import Annotated

import msgspec
import typer

from foreshock._base import pretty
from foreshock._cli import _options as o
from foreshock._cli._out import console
from foreshock._cli._places import open_store, places
from foreshock.report import clean, one_line


class Format(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def sql(
    query: Annotated[str, typer.Argument(help="A SELECT over runs, items, responses, trace, scores, aggregates.")],
    store: o.StoreOption = None,
    form: Annotated[Format, typer.Option("--format", help="table, csv or json.")] = Format.TABLE,
) -> None:
    """Run a SQL query (DuckDB) over the store; nothing outside the store can be reached.

    Examples:

      foreshock sql "select model, count(*) from runs group by model"

      foreshock sql "select * from scores limit 5" --format json
    """
    result = open_store(places(store)).sql(query)
    if form is Format.JSON:
        rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
        sys.stdout.write(_for_eyes(pretty(msgspec.to_builtins(rows, str_keys=True))))
    elif form is Format.CSV:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(result.columns)
        writer.writerows(result.rows)
        sys.stdout.write(_for_eyes(text.getvalue()))
    else:
        _table(list(result.columns), [list(row) for row in result.rows])


_NARROWEST = 12


def _for_eyes(text: str) -> str:
    """``text`` as it is for a file or a program; on a terminal without what moves the cursor or reorders a line."""
    return clean(text) if sys.stdout.isatty() else text


def _table(columns: list[str], rows: list[list[object]]) -> None:
    from rich.table import Table

    out = console()
    cells = [["" if value is None else one_line(str(value), 200) for value in row] for row in rows]
    if len(columns) * _NARROWEST > out.width:  # one record below the other, as psql does with \x
        for number, row in enumerate(cells, 1):
            out.print(f"row {number}", style="bold")
            for name, cell in zip(columns, row, strict=True):
                if cell:
                    out.print(f"  {one_line(name)}: {cell}", soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(one_line(name), overflow="fold")
    for row in cells:
        table.add_row(*row)
    out.print(table)
