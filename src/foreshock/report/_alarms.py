"""Alarms in words: what left its trend, how many did not, and what was spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from foreshock.report._format import equals, number, plural
from foreshock.report._rows import Tables
from foreshock.report._rows_alarms import AlarmRow

_STATES = ("firing", "pending", "muted", "ok", "no-data")
_WORDS = {"ok": "on the trend", "no-data": "too short to tell", "muted": "muted"}


def pressing(rows: Sequence[AlarmRow]) -> list[AlarmRow]:
    """Alarms that a person should see: those that fire, wait or are muted, in this order."""
    shown = [row for row in rows if row.state in ("firing", "pending", "muted")]
    return sorted(shown, key=lambda row: (_STATES.index(row.state), not row.guaranteed, row.p if row.p else 1.0))


def alarm_count(tables: Tables) -> str:
    """How many series were looked at, and what became of them."""
    states = Counter(row.state for row in tables.alarms)
    order = [*(s for s in _STATES if s in states), *sorted(s for s in states if s not in _STATES)]
    parts = [f"{states[state]:,} {_WORDS.get(state, state)}" for state in order]
    return f"{plural(len(tables.alarms), 'metric')} of lines of models looked at: {', '.join(parts)}."


def alarm_name(row: AlarmRow) -> str:
    """What is watched."""
    return " · ".join(part for part in (row.task, row.family, row.metric) if part) or row.id


def alarm_facts(row: AlarmRow) -> str:
    """What stands behind an alarm, in one line."""
    parts = []
    if row.since is not None:
        parts.append(f"since {row.since}")
    if row.size is not None:
        parts.append(f"{number(abs(row.size))} times the noise {row.direction or ''}".strip())
    parts += [equals(name, value) for name, value in (("p", row.p), ("q", row.q)) if value is not None]
    if row.e is not None:
        parts.append(f"e = {number(row.e)}")
    if row.ledger:
        parts.append(f"ledger: {row.ledger}")
    if row.twin:
        parts.append(f"read against {row.twin}")
    if not row.guaranteed and row.unguaranteed:
        parts.append(f"without guarantee: {row.unguaranteed}")
    return ", ".join(parts)


def promise_of(tables: Tables) -> str:
    """What is promised of each series, where some keep it, and of all looks together."""
    kept = next((row.sentence for row in tables.alarms if row.guaranteed and row.sentence), "")
    return kept or ""
