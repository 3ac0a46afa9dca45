"""Forecasts in a terminal: a few curves in full, many as a table."""

from __future__ import annotations

from collections.abc import Sequence

from foreshock.report._alarms import alarm_count, alarm_facts, alarm_name, pressing, promise_of
from foreshock.report._console import Page
from foreshock.report._forecast import (
    Block,
    backtest_text,
    blocks,
    came_text,
    facts,
    interval_name,
    last_text,
    place,
    place_alone,
    promises,
    refusals,
    spread,
    told_elsewhere,
    value_text,
    whole,
)
from foreshock.report._format import quantity
from foreshock.report._rows_forecast import ForecastRow
from foreshock.report._safe import one_line
from foreshock.report._view import View
from foreshock.report._words import ROUTES, WHY_THERE

_IN_FULL = 3  # curves up to which each is told in full
_MOST = 20
_LONG = 2_000
_LABEL = 17
_NARROW = 72


def told_forecasts(view: View) -> set[str]:
    """Findings that :func:`print_forecasts` tells; refusals of many curves are better told by their reasons."""
    return told_elsewhere(view.tables, refusals=len(view.tables.curves) <= _IN_FULL)


def print_forecasts(view: View, page: Page) -> None:
    """Print what is forecast, and why the rest is not."""
    found = blocks(view.tables)
    if not found:
        return
    if view.trust:  # beside a whole report they need a head of their own
        page.title("How far are the lines of the settings?")
    if len(found) <= _IN_FULL:
        for block in found:
            _full(block, page)
        _promise(found, page)
    else:
        _many(found, page)
    for row in whole(view.tables):
        page.title(f"All curves together, {row.source}")
        page.line(one_line(backtest_text(row), _LONG), indent=2)


def print_alarms(view: View, page: Page) -> None:
    """Print how many metrics were looked at, and what was spent; the alarms themselves are findings."""
    tables = view.tables
    if not tables.alarms:
        return
    page.title("Does every metric keep its trend?")
    page.line(alarm_count(tables), indent=2)
    for row in pressing(tables.alarms)[:_MOST]:
        text = f"{one_line(alarm_name(row), 160)}: {one_line(alarm_facts(row), _LONG)}"
        page.rows([[page.badge(row.state), page.text(text)]], [14])
    page.more(min(_MOST, len(pressing(tables.alarms))), len(pressing(tables.alarms)), "alarms")
    if promise_of(tables):
        page.line(f"promise of each: {one_line(promise_of(tables), _LONG)}", "dim", 2)
    for budget in tables.budget:
        page.line(one_line(budget.sentence or "", _LONG), "dim", 2)


def _full(block: Block, page: Page) -> None:
    page.print()
    page.line(one_line(block.name, 200), "bold")
    if block.crossing is not None:
        badge = page.badge(block.crossing.answer)
        page.rows([[badge, page.text(one_line(block.crossing.why or "", _LONG))]], [14])
    rows = spread(block.rows)
    if any(row.y_hat is not None for row in rows):
        _table(rows, page, names=False)
    else:
        for row in rows:
            if row.persistence is not None:  # the other places are named with their reason
                page.line(f"{place(row)}: no forecast{_last(row)}", indent=2)
    page.more(len(rows), len(block.rows), "places")
    told = facts(block)
    if rows and block.curve.refused is not None:  # each reason with its places says more than the first one
        told = [("no forecast", text) for text in refusals(block)] + [one for one in told if one[0] != "why not"]
    if page.console.width < _NARROW:
        for label, text in told:
            page.line(f"{label}: {one_line(text, _LONG)}", indent=2)
    else:
        page.rows([[page.text(label, "dim"), page.text(one_line(text, _LONG))] for label, text in told], [_LABEL])
    if block.curve.advice:
        page.line("→ " + one_line(block.curve.advice, _LONG), indent=2)


def _carried(row: ForecastRow) -> bool:
    """Whether the last score has an interval."""
    return row.persistence_low is not None and row.persistence_high is not None


def _last(row: ForecastRow) -> str:
    """The last score carried on, which is told where nothing is forecast as well."""
    return "" if row.persistence is None else f"; last score {last_text(row)}"


def _many(found: Sequence[Block], page: Page) -> None:
    page.title("Forecasts")
    told = [block for block in found if block.direct and (block.curve.refused is None or _carried(block.direct[-1]))]
    rows = [row for block in told for row in _shown(block.direct)][:_MOST]
    if rows:
        _table(rows, page, names=True)
        page.line("of each curve the farthest place with a forecast", "dim", 2)
        page.more(len(rows), len(told), "curves")
    beside = [block for block in found if block.crossing is not None]
    if beside:
        page.title("Beside the line")
        for block in beside[:_MOST]:
            assert block.crossing is not None
            text = f"{one_line(block.name, 120)}: {one_line(block.crossing.why or '', _LONG)}"
            page.rows([[page.badge(block.crossing.answer), page.text(text)]], [14])
        page.more(min(_MOST, len(beside)), len(beside), "curves")
    _promise(found, page)
    for note in dict.fromkeys(note for block in found for note in block.curve.notes[:3]):
        if sum(note in block.curve.notes for block in found) == len(found):
            page.line(one_line(note, _LONG), "dim", 2)


def _shown(rows: Sequence[ForecastRow]) -> list[ForecastRow]:
    """Of a curve among many its farthest place; models that are forecast each."""
    return [row for row in rows if row.label is not None] or [_farthest(rows)]


def _farthest(rows: Sequence[ForecastRow]) -> ForecastRow:
    """The farthest place with a forecast; the farthest one where none has."""
    return next((row for row in reversed(rows) if row.y_hat is not None), rows[-1])


def _promise(found: Sequence[Block], page: Page) -> None:
    page.print()
    for label, text in promises(found)[:_MOST]:
        page.line(f"{label}: {one_line(text, _LONG)}", "dim", 2)


def _table(rows: Sequence[ForecastRow], page: Page, *, names: bool) -> None:
    came = any(row.observed is not None for row in rows)
    reasons = {row.why for row in rows}
    heads = [*(["curve"] if names else []), _head(rows), "forecast", "last score", *(["came"] if came else [])]
    if page.console.width < _NARROW:
        for row in rows:
            name = f"{one_line(row.group, 80)}, " if names else ""
            more = f"; came {came_text(row)}" if row.observed is not None else ""
            value = value_text(row) if row.y_hat is not None else "no forecast"
            page.line(f"{name}{place(row)}: {value}; last score {last_text(row)}{more}", indent=2)
        return
    from rich.padding import Padding
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for head in heads:
        table.add_column(head, overflow="fold", no_wrap=head in ("forecast", "last score", "came"))
    for row in rows:
        cells = [*([one_line(row.group, 120)] if names else []), _at(row, told=len(reasons) > 1)]
        value = value_text(row) if row.y_hat is not None else "no forecast"
        # among many the last score needs its interval only where it is all that is told
        last = quantity(row.persistence, unit=row.unit) if names and row.y_hat is not None else last_text(row)
        cells += [value, last, *([came_text(row)] if came else [])]
        table.add_row(*(page.text(cell) for cell in cells))
    page.print(Padding(table, (0, 0, 0, 2), expand=False))
    page.line(f"[ ] is the {interval_name(rows)}; last score: the newest one carried on, the dummy to beat", "dim", 2)


def _head(rows: Sequence[ForecastRow]) -> str:
    """Head of the column of places: the axis, where it is one."""
    axes = {row.axis if row.axis_known else "order of creation" for row in rows}
    return f"at {one_line(axes.pop(), 30)}" if len(axes) == 1 else "at"


def _at(row: ForecastRow, *, told: bool) -> str:
    """A place, with what brought it there where the rows differ in that, and the way of the forecast."""
    why = WHY_THERE.get(row.why or "", row.why or "") if told else ""
    route = "" if row.route == "direct" else ROUTES.get(row.route, row.route)
    more = ", ".join(one_line(part, 40) for part in (why, route) if part)
    return f"{place_alone(row)}{f' ({more})' if more else ''}"
