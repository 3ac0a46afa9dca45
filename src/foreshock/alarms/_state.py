"""The memory of alarms: two state streams of a store, and a file that carries them from one machine to the next.

The stream ``ledger`` holds looks, the stream ``alarms`` what people decided (acknowledged, muted). Both are append-only
and may hold events of several stores: events are told apart by their hash, ordered by a clock that every writer sets
past what it has seen, and looks at the same data count once, the earliest. So laying two states together is the same
whichever comes first and however often.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import ConfigError, StoreError, digest, pretty
from foreshock.alarms._looks import LAST_SEQUENCE, Ack, Event, LineLook, LineState, Look, Mute, SeriesLook, event_id
from foreshock.store import Store, Stream

LEDGER, ALARMS = "ledger", "alarms"
FORMAT = "foreshock alarm state"
MOST_BYTES = 256 * 1024 * 1024
"""A state file that is larger is not opened: a look at 1,000 series is some 400 kB."""


class Memory(NamedTuple):
    """What is known of earlier looks.

    Attributes:
        looks: Looks in order, each with only those series whose data had not been looked at before.
        acks: Acknowledgements in order.
        mutes: Mutes in order.
        last: Number of the last record of the stream ``ledger``; -1 where it is empty.
        clock: Largest place in the order of events.
        line_looks: What was seen of lines of the user's, in order.
    """

    looks: tuple[Look, ...] = ()
    acks: tuple[Ack, ...] = ()
    mutes: tuple[Mute, ...] = ()
    last: int = -1
    clock: int = -1
    line_looks: tuple[LineLook, ...] = ()

    @property
    def next_seq(self) -> int:
        """Place of the next event in the order. A file can bring the last place there is; then the moment decides."""
        return min(self.clock + 1, LAST_SEQUENCE)

    @property
    def keys(self) -> set[str]:
        """Keys of all looks at series."""
        return {one.key for look in self.looks for one in look.series}

    @property
    def latest(self) -> dict[str, SeriesLook]:
        """The newest look at each series, by id."""
        return {one.id: one for look in self.looks for one in look.series}

    @property
    def lines(self) -> dict[str, LineState]:
        """Where each line of the user's stood last, by id."""
        return {one.id: one for look in self.line_looks for one in look.lines}

    @property
    def known(self) -> list[SeriesLook | LineState]:
        """Everything that has an id: series that were looked at, and lines."""
        return [*self.latest.values(), *self.lines.values()]

    def ack(self, series_id: str) -> Ack | None:
        """The acknowledgement from which a series' trend is learned."""
        return next((ack for ack in reversed(self.acks) if ack.id == series_id), None)

    def mute(self, series_id: str) -> Mute | None:
        """The mute of a series that was set last, whether it still holds or not."""
        return next((mute for mute in reversed(self.mutes) if mute.id == series_id), None)


def memory_of(events: Iterable[Event], last: int = -1) -> Memory:
    """Order events and leave out looks at data that were looked at before.

    The result depends on which events there are, and on nothing else.
    """
    ordered = in_order(events)
    looks: list[Look] = []
    seen: set[str] = set()
    for event in ordered:
        if isinstance(event, Look):
            new = [one for one in event.series if one.key not in seen]
            seen |= {one.key for one in new}
            if new:
                looks.append(event if len(new) == len(event.series) else msgspec.structs.replace(event, series=new))
    return Memory(
        looks=tuple(looks),
        acks=tuple(event for event in ordered if isinstance(event, Ack)),
        mutes=tuple(event for event in ordered if isinstance(event, Mute)),
        last=last,
        clock=max((event.seq for event in ordered), default=-1),
        line_looks=tuple(event for event in ordered if isinstance(event, LineLook)),
    )


def in_order(events: Iterable[Event]) -> list[Event]:
    """Events once each, in the order that is the same in every store that has them."""
    by_id = {event_id(event): event for event in events}
    return [by_id[name] for _, _, name in sorted((event.seq, event.at, name) for name, event in by_id.items())]


def read_memory(store: Store) -> Memory:
    """What a store remembers.

    Raises:
        StoreError: A stream is damaged, or holds what is no event.
    """
    entries = store.stream(LEDGER).read()
    return memory_of(events_of(store), entries[-1].n if entries else -1)


def events_of(store: Store) -> list[Event]:
    """Every event of both streams, as often as it is there.

    Raises:
        StoreError: A stream is damaged, or holds what is no event.
    """
    return [_event(entry.value, store.stream(name)) for name in (LEDGER, ALARMS) for entry in store.stream(name).read()]


def _event(value: Any, stream: Stream) -> Event:
    try:
        return _decoded(value)
    except msgspec.ValidationError as error:
        raise StoreError(
            f"a record of the stream {stream.name} is no event of an alarm ({error})",
            expected="what this version or an older one wrote",
            do="upgrade Foreshock, or move the folder away to begin the stream anew",
            where=f"state/{stream.name}",
        ) from None


def append(store: Store, event: Event, *, after: int | None = None) -> None:
    """Append one event to its stream; ``after`` as in :meth:`Stream.append`."""
    name = LEDGER if isinstance(event, Look | LineLook) else ALARMS
    store.stream(name).append(msgspec.to_builtins(event), after=after)


def export_state(store: Store, path: Path) -> int:
    """Write every event to a file, whole or not at all, and return how many there are.

    The file is the same for every store that has the same events. One that is there already is laid together with the
    store's events first: what another process put into it meanwhile stays.

    Raises:
        ConfigError: It cannot be written.
        StoreError: A stream is damaged.
        BrokenFileError: There is a file, and it is none of these.
    """
    if path.exists():
        import_state(store, path)
    events = [msgspec.to_builtins(event) for event in in_order(events_of(store))]
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        draft.write_text(pretty({"format": FORMAT, "version": 1, "sha256": digest(events), "events": events}), "utf-8")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ConfigError(
            f"cannot write it ({error.strerror})", expected="a file in a folder that exists", where=str(path)
        ) from None
    return len(events)


def import_state(store: Store, path: Path) -> int:
    """Append the events of a file that the store does not have, and return how many there were.

    Nothing that is there changes. The same file twice brings nothing.

    Raises:
        ConfigError: It cannot be read.
        BrokenFileError: It is no state file, or was altered.
        StoreError: A stream is damaged.
    """
    from foreshock.alarms._state_file import read_state_file

    known = {event_id(event) for event in events_of(store)}
    new = [event for event in read_state_file(path) if event_id(event) not in known]
    for event in new:
        append(store, event)
    return len(new)


def _decoded(value: Any) -> Event:
    event: Event = msgspec.convert(value, Look | Ack | Mute | LineLook)
    return event
