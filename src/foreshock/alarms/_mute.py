"""An alarm that is known and waits for something else: it stays in sight, is never green, and stops nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

import msgspec

from foreshock._base import ConfigError
from foreshock.alarms._ack import find_alarm
from foreshock.alarms._looks import Mute, cut, now
from foreshock.alarms._state import Memory, append, read_memory
from foreshock.records import Finding, State
from foreshock.store import Store


def mute(store: Store, name: str, until: str, reason: str | None = None) -> Mute:
    """Mute an alarm up to and including a day; a day that is past takes the mute away.

    Args:
        store: Where the ledger is.
        name: Id of the alarm, or its beginning.
        until: The last day, such as ``2027-01-31``.
        reason: Why.

    Raises:
        ConfigError: There is no such alarm, or ``until`` is no day.
        StoreError: A stream is damaged.
    """
    day = _day(until)
    memory = read_memory(store)
    found = find_alarm(memory.known, name)
    event = Mute(
        seq=memory.next_seq,
        at=now(),
        id=found.id,
        until=day.isoformat(),
        reason=None if reason is None else cut(reason),
    )
    append(store, event)
    return event


def muted_until(memory: Memory, configured: Mapping[str, str], series_id: str, today: date) -> str | None:
    """The day up to which a series is muted; None where it is not.

    Args:
        memory: What was decided.
        configured: Id of an alarm, or its beginning, to the last day (``alarms.muted`` of the settings).
        series_id: The series.
        today: The present day.
    """
    own = memory.mute(series_id)
    days = [] if own is None else [own.until]
    days += [until for name, until in configured.items() if len(name) >= 4 and series_id.startswith(name)]
    still = sorted(day for day in days if _day(day) >= today)
    return still[-1] if still else None


def as_muted(finding: Finding, until: str) -> Finding:
    """A finding that is muted: it is told, and neither fires nor is green."""
    return msgspec.structs.replace(
        finding,
        state=State.WITHHELD,
        title=f"muted until {until}: {finding.title}",
        advice=f"nothing until {until}; to take the mute away: foreshock alarms mute {finding.id} --until 2000-01-01",
    )


def today() -> date:
    """The present day in UTC."""
    return datetime.fromisoformat(now()).date()


def _day(text: str) -> date:
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        raise ConfigError(f"{text!r:.80} is no day", expected="a day such as 2027-01-31", do="give it so") from None
