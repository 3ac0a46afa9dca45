"""Alarms in words: what left its trend, how many did not, and what was spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from foreshock.report._format import count, equals, number, plural, share
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
    """What is promised of each series, where some keep it, and what was measured where nothing can be promised."""
    return " ".join(_promises(tables.alarms))


def promises_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The same for rows of the table ``alarms`` as a document has them: each sentence once, word for word."""
    return _promises([msgspec.convert(row, AlarmRow) for row in rows])


def _promises(rows: Sequence[AlarmRow]) -> list[str]:
    kept = [row.sentence for row in rows if row.guaranteed and row.sentence]
    rates = {(row.measured, row.measured_n) for row in rows if row.rule == "training" and row.measured is not None}
    told = [
        f"Checkpoints of one run are promised nothing: of {count(n)} simulated runs without a break, whatever the "
        f"correlation of neighbours, up to {share(rate)} fired (at a level of 5%)."
        for rate, n in sorted(rates, key=str)
    ]
    return list(dict.fromkeys([*kept, *told]))
