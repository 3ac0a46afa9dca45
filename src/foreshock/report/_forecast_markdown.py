"""Forecasts and alarms as Markdown."""

from __future__ import annotations

from foreshock.report._alarms import alarm_count, alarm_facts, alarm_name, pressing
from foreshock.report._forecast import (
    Block,
    backtest_text,
    blocks,
    came_text,
    last_text,
    place,
    promises,
    value_text,
    whole,
)
from foreshock.report._format import count
from foreshock.report._markdown_text import safe, table
from foreshock.report._rows import Tables
from foreshock.report._words import mark

_MOST = 50
_LONG = 2_000


def forecast_parts(tables: Tables) -> list[str]:
    """A table of the farthest place of each curve, what stands beside a line, and what intervals promise."""
    found = blocks(tables)
    if not found:
        return []
    came = any(row.observed is not None for row in tables.forecast)
    head = ["curve", "at", "forecast", "last score", *(["came"] if came else [])]
    told = [block for block in found if block.rows]
    rows = [_row(block, came=came) for block in told[:_MOST]]
    more = f"\n\n{_MOST} of {count(len(told))} curves shown." if len(told) > _MOST else ""
    parts = ["### What comes next", table(head, rows) + more] if rows else []
    for block in found[:_MOST]:
        if block.crossing is not None:
            badge = mark(block.crossing.answer)
            advice = f" {safe(block.curve.advice, _LONG)}" if block.curve.advice else ""
            why = safe(block.crossing.why or "", _LONG)
            parts.append(f"{badge.glyph} **{safe(badge.word, 40)}** {safe(block.name, 200)}: {why}.{advice}")
    parts += [
        f"All curves together, {safe(row.source, 40)}: {safe(backtest_text(row), _LONG)}" for row in whole(tables)
    ]
    return [*parts, *(f"{safe(label, 60)}: {safe(text, _LONG)}" for label, text in promises(found)[:_MOST])]


def _row(block: Block, *, came: bool) -> list[str]:
    row = block.rows[-1]
    cells = [safe(block.name, 120), safe(place(row), 80), safe(value_text(row), 200), safe(last_text(row), 80)]
    return [*cells, *([safe(came_text(row), 80)] if came else [])]


def alarm_parts(tables: Tables) -> list[str]:
    """How many metrics were looked at, and those that left their trend."""
    if not tables.alarms:
        return []
    lines = [
        f"- {mark(row.state).glyph} {safe(mark(row.state).word, 40)}: {safe(alarm_name(row), 160)}, "
        f"{safe(alarm_facts(row), _LONG)}"
        for row in pressing(tables.alarms)[:_MOST]
    ]
    parts = ["### Does every metric keep its trend?", safe(alarm_count(tables), _LONG)]
    return [*parts, *(["\n".join(lines)] if lines else [])]
