"""Scores in a terminal: a short table for each task, or a line for each where tasks are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from foreshock.report._console import Page
from foreshock.report._format import count, level, quantity, share
from foreshock.report._rows import ModelRow
from foreshock.report._safe import one_line
from foreshock.report._scores import by_task, chosen, prefix, summarised
from foreshock.report._sentences import incomplete, two_values
from foreshock.report._view import View

if TYPE_CHECKING:
    from rich.table import Table

_NOTES = 5  # remarks on the scores of one task
_GROUPS = 200  # tasks that get a line of their scores
_TABLES = 8  # more tasks than this, and each gets one line of its lowest and highest score


def print_scores(view: View, page: Page) -> None:
    """The part about scores: every task has its own."""
    groups = by_task(view.tables.models)
    if not groups:
        return
    page.title("Scores")
    if len(groups) > _TABLES:
        _ranges(groups, page)
    else:
        common = prefix([row.model for row in view.tables.models])
        if common:
            page.line(f"All names of models begin with {one_line(common, 80)}; it is left out here.", "dim", 2)
        for rows in groups:
            _score_table(rows, len(common), page)
    notes = {row.note for row in view.tables.models}
    if len(notes) == 1 and (note := notes.pop()):
        page.line(f"All scores: {one_line(note)}", indent=2)


def _ranges(groups: Sequence[Sequence[ModelRow]], page: Page) -> None:
    """One line a task: its lowest and its highest score."""
    table = _table(("task", "metric"), ("models", "lowest", "highest"))
    for rows in groups[:_GROUPS]:
        known = [row.value for row in rows if row.value is not None]
        ends = (min(known), max(known)) if known else (None, None)
        names = (one_line(rows[0].task, 80), one_line(rows[0].metric or "score", 60))
        numbers = (count(len(rows)), *(quantity(value, unit=rows[0].unit) for value in ends))
        table.add_row(*(page.text(text) for text in (*names, *numbers)))
    _put(table, page)
    page.more(min(_GROUPS, len(groups)), len(groups), "tasks and metrics")
    page.line("Every score with its interval is in --html and --json.", "dim", 2)


def _score_table(rows: Sequence[ModelRow], skip: int, page: Page) -> None:
    """The scores of one task by one metric."""
    page.line(f"{one_line(rows[0].task)} · {one_line(rows[0].metric or 'score', 80)}", "bold", 2)
    shown = chosen(rows)
    table = _table(("model",), ("value [95% interval]", "no answer", "items"))
    for row in shown:
        said = (one_line(row.model[skip:]), _value(row), share(row.unparsed_share), count(row.n))
        table.add_row(*(page.text(text) for text in said))
    _put(table, page)
    if len(shown) < len(rows):
        page.more(len(shown), len(rows), "scores")
        if summarised(rows):
            page.line("Of a training run: first, last, and the two checkpoints around its largest change.", "dim", 2)
    alike = len(rows) > 1 and len({row.note for row in rows}) == 1  # said once, below
    notes = [note for row in rows for note in _notes(row, own=not alike)]
    for note in notes[:_NOTES]:
        page.line(note, indent=4)
    page.more(min(_NOTES, len(notes)), len(notes), "remarks on these scores")


def _table(names: Sequence[str], numbers: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for head in names:
        table.add_column(head, overflow="fold")
    for head in numbers:
        table.add_column(head, justify="right", overflow="fold")
    return table


def _put(table: Table, page: Page) -> None:
    from rich.padding import Padding

    page.print(Padding(table, (0, 0, 0, 4), expand=False))


def _value(row: ModelRow) -> str:
    text = quantity(row.value, row.low, row.high, row.unit)
    return text if row.level in (None, 0.95) else f"{text} at {level(row.level or 0.0)}"


def _notes(row: ModelRow, own: bool) -> list[str]:
    """What changes how a score is read: the other denominator, a harness that disagrees, the row's own note."""
    name, notes = one_line(row.model, 80), []
    if two_values(row):
        over_all = quantity(row.value_expected, unit=row.unit)
        delivered = f"{count(row.delivered)} of {count(row.expected)} delivered"
        lacking = "" if incomplete(row) else ", not all with a score"
        notes.append(f"{name}: {delivered}{lacking}; {over_all} over all expected")
    if row.harness_value is not None and row.value is not None and abs(row.harness_value - row.value) > 1e-9:
        notes.append(f"{name}: the harness says {quantity(row.harness_value, unit=row.unit)}")
    return [*notes, f"{name}: {one_line(row.note)}"] if row.note and own else notes
