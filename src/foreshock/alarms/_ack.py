"""A person takes note of an alarm: the reason is kept, and the trend is learned anew from there on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from foreshock._base import ConfigError, nearest
from foreshock.alarms._looks import Ack, LineState, SeriesLook, cut, now
from foreshock.alarms._state import append, read_memory
from foreshock.store import Store

_SHORTEST = 4
Named = TypeVar("Named", bound=SeriesLook | LineState)


def acknowledge(store: Store, name: str, reason: str) -> Ack:
    """Begin a new baseline at the point at which the change of an alarm began, as far as can be told.

    A bend is acknowledged in the same way, from the look at which it had left its line. The trend is then learned from
    that point on, with all its looks ahead of it again. What had been counted stays counted. A second acknowledgement
    of the same look changes nothing.

    Args:
        store: Where the ledger is.
        name: Id of the alarm, or its beginning.
        reason: Why, for whoever wonders later.

    Raises:
        ConfigError: There is no such alarm, it neither fires nor bends, or there is no reason.
        StoreError: A stream is damaged.
    """
    if not reason.strip():
        raise ConfigError("no reason for the acknowledgement", do="say why with --reason")
    memory = read_memory(store)
    found = find_alarm(memory.known, name)
    if isinstance(found, LineState):
        raise ConfigError(
            f"alarm {found.id} ({found.metric} on {found.task}) is a line of the settings, which has no trend",
            expected="an alarm of a trend",
            do=f"set alarms.thresholds elsewhere, or: foreshock alarms mute {found.id} --until DATE",
        )
    before = memory.ack(found.id)
    if before is not None and before.key == found.key:
        return before
    if found.at is None:
        raise ConfigError(
            f"alarm {found.id} ({found.metric} on {found.task}) does not fire, so there is nothing to acknowledge",
            expected="an alarm that fires, or a bend",
            do="list them: foreshock alarms",
        )
    ack = Ack(
        seq=memory.next_seq,
        at=now(),
        id=found.id,
        baseline=found.at,
        label=found.label or "",
        key=found.key,
        reason=cut(reason),
    )
    append(store, ack)
    return ack


def find_alarm(known: Iterable[Named], name: str) -> Named:
    """The series or line with this id, or whose id alone begins so.

    Raises:
        ConfigError: There is none, or there are several.
    """
    ids = {one.id: one for one in known}
    if name in ids:
        return ids[name]
    near = [one for one in ids if len(name) >= _SHORTEST and one.startswith(name)]
    if len(near) == 1:
        return ids[near[0]]
    if near:
        raise ConfigError(f"{name!r} is the beginning of {len(near)} ids", expected="one", do="write more of it")
    alike = nearest(name, ids)
    meant = f"; did you mean {alike[0]}?" if alike else ""
    raise ConfigError(
        f"there is no alarm {name!r:.80} among {len(ids)} series that were looked at{meant}",
        expected="the id in the first column of foreshock alarms",
        do="list them: foreshock alarms",
    )
