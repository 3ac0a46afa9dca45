"""Comparisons in a terminal: the answer in the first lines, what stands behind it below."""

from __future__ import annotations

from collections.abc import Sequence

from foreshock.report._compare import (
    MEANING,
    board_note,
    boards,
    details,
    difference,
    interval_head,
    order,
    ranks,
    size_of,
    used_p,
    values,
)
from foreshock.report._console import Page
from foreshock.report._format import plural, probability, quantity
from foreshock.report._rows_compare import BoardRow, CompareRow
from foreshock.report._safe import one_line
from foreshock.report._view import View

_MOST = 30
_DETAILED = 3  # comparisons up to which each one is told in full
_NARROW = 72
_LONG = 1_000


def print_compare(view: View, page: Page) -> None:
    """Print the comparisons and boards of a document, if it has any."""
    rows = order(view.tables.compare)
    if rows:
        page.title("Compared")
    for second in dict.fromkeys(row.second for row in rows):
        _against([row for row in rows if row.second == second], page, len(rows))
    for board in boards(view.tables.board):
        _board(board, page)


def without_compared(view: View) -> View:
    """The view without findings that :func:`print_compare` has told."""
    compared = {row.finding_id for row in view.tables.compare}
    return view.without({told for told in compared | {row.finding_id for row in view.tables.board} if told})


def _against(rows: Sequence[CompareRow], page: Page, looks: int) -> None:
    page.line(f"{one_line(rows[0].second, 120)} against the baseline {one_line(rows[0].first, 120)}", "bold", 2)
    if page.console.width < _NARROW:
        for row in rows[:_MOST]:
            said = f"{one_line(row.task, 60)}: {values(row)}, {difference(row)}, p {probability(used_p(row))}"
            page.rows([[page.badge(row.verdict), page.text(said)]], [15])
    else:
        _table(rows[:_MOST], page, looks)
    page.more(min(_MOST, len(rows)), len(rows), "comparisons")
    if len(rows) <= _DETAILED:
        for row in rows:
            if len(rows) > 1:
                page.line(one_line(f"{row.task}, {row.metric}", 160), "bold", 2)
            for said in details(row, looks):
                page.line("· " + one_line(said, _LONG), indent=4)
    else:
        _short(rows, page)
    for word in dict.fromkeys(row.verdict for row in rows):
        if word in MEANING:
            page.line(f"{word}: {MEANING[word]}", "dim", 2)


def _table(rows: Sequence[CompareRow], page: Page, looks: int) -> None:
    from rich.padding import Padding
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("verdict", no_wrap=True)
    table.add_column("task", overflow="fold")
    table.add_column("scores", justify="right", no_wrap=True)
    table.add_column(interval_head(rows), justify="right", no_wrap=True)
    adjusted = {row.adjust for row in rows}
    table.add_column("p" if looks == 1 else "p, BH" if adjusted == {"bh"} else "p, Holm", justify="right", no_wrap=True)
    several = len({row.metric for row in rows}) > 1
    for row in rows:
        name = f"{row.task}, {row.metric}" if several else row.task
        cells = (values(row), difference(row).removesuffix(" points"), probability(used_p(row)))
        table.add_row(page.badge(row.verdict), page.text(one_line(name, 80)), *(page.text(cell) for cell in cells))
    page.print(Padding(table, (0, 0, 0, 2), expand=False))


def _short(rows: Sequence[CompareRow], page: Page) -> None:
    """What undecided ones would need, and what else has to be known of many comparisons."""
    open_ = [row for row in rows if row.verdict == "undecided" and row.needed is not None]
    for row in open_[:_MOST]:
        has = f"{row.task}: has {plural(row.items or 0, 'item')}"
        said = f"{has}; {size_of(row.margin, row)} would need about {row.needed:,}"
        page.line("· " + one_line(said, _LONG), indent=4)
    for row in rows:
        if row.other_text:
            page.line("· " + one_line(f"{row.task}: {row.other_text}", _LONG), indent=4)


def _board(rows: Sequence[BoardRow], page: Page) -> None:
    from rich.padding import Padding
    from rich.table import Table

    items = plural(rows[0].items or 0, "item")
    page.title("Board")
    page.line(f"{one_line(rows[0].task, 120)}: {items} that all have", "bold", 2)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for head, side in (("rank", "right"), ("model", "left"), ("score", "right"), ("tied", "left"), ("ranks", "right")):
        table.add_column(head, justify="right" if side == "right" else "left", overflow="fold")
    for row in rows[:_MOST]:
        score = quantity(row.value, unit=row.unit)
        cells = (str(row.rank), one_line(row.model, 80), score, row.letters or "", ranks(row))
        table.add_row(*(page.text(cell) for cell in cells))
    page.print(Padding(table, (0, 0, 0, 2), expand=False))
    page.more(min(_MOST, len(rows)), len(rows), "places")
    for said in board_note(rows):
        page.line("· " + one_line(said, _LONG), indent=4)
