"""What varied and how it was put together, in one line for each way, whatever the number of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from foreshock.report._format import plural
from foreshock.report._rows import DimensionRow
from foreshock.report._safe import one_line

if TYPE_CHECKING:
    from foreshock.report._console import Page
    from foreshock.report._view import View

_MOST = 12  # ways that a terminal prints


class Together(NamedTuple):
    """One dimension over all tasks in which it varies in the same way."""

    name: str
    values: str
    tasks: str
    treatment: str
    how: str


def grouped(rows: Sequence[DimensionRow]) -> list[Together]:
    """Rows by name, values and treatment, in the order in which they first come."""
    groups: dict[tuple[str, tuple[str, ...], int, str, str], list[str]] = {}
    for row in rows:
        groups.setdefault((row.name, tuple(row.examples), row.values, row.treatment, row.how), []).append(row.task)
    return [
        Together(name, _values(examples, values), _tasks(tasks), treatment, how)
        for (name, examples, values, treatment, how), tasks in groups.items()
    ]


def _values(examples: Sequence[str], values: int) -> str:
    return ", ".join(one_line(e, 40) for e in examples) + (f", … ({values:,} in all)" if values > len(examples) else "")


def _tasks(tasks: Sequence[str]) -> str:
    return one_line(tasks[0], 60) if len(tasks) == 1 else plural(len(tasks), "task")


def print_dimensions(view: View, page: Page) -> None:
    """The part of the terminal report."""
    found = grouped(view.tables.dimensions)
    if not found:
        return
    page.title("How runs were put together")
    for way in found[:_MOST]:
        page.line(f"{one_line(way.name, 40)} ({way.values}) in {way.tasks}: {one_line(way.how)}", indent=2)
    page.more(min(_MOST, len(found)), len(found), "dimensions")
