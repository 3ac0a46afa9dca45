"""One look of `foreshock alarms` and `watch`: every series against its trend, every line of the settings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import msgspec

from foreshock._base import AlarmsConfig, Config, Progress, quiet, utc_now
from foreshock._version import __version__
from foreshock.alarms import Watch, WatchOptions, trails_of, watch_store
from foreshock.check._alarm_idle import Idle, idle_ignored, idle_muted
from foreshock.check._alarm_lines import LineScope, LinesLook, look_at_lines
from foreshock.records import Counts, Document
from foreshock.store import Store


class AlarmLook(NamedTuple):
    """What one look says.

    Attributes:
        watch: Every series against its own trend, with the ledger.
        lines: Where the lines of the settings stand.
        idle: Entries of the settings that fit nothing.
    """

    watch: Watch
    lines: LinesLook
    idle: list[Idle]

    def changed(self, waiting: Collection[str] = ()) -> list[dict[str, Any]]:
        """Rows of what newly fires: series as in the table ``alarms``, then lines.

        Args:
            waiting: Ids of series of which nobody was told yet at an earlier look; those that still fire count as new.
        """
        watch = self.watch
        fires = {one.one.id for one in watch.watched if watch.state(one) == "firing"}
        new = {one.one.id for one in watch.changed} | (fires & set(waiting))
        return [*(row for row in watch.rows() if row["id"] in new), *self.lines.changed()]

    def document(self, command: Sequence[str], **tables: list[dict[str, Any]]) -> Document:
        """The document of this look; ``tables`` are further ones."""
        return Document(
            foreshock=__version__,
            command=list(command),
            generated_at=utc_now(),
            counts=msgspec.to_builtins(Counts()),
            findings=[*self.watch.findings(), *self.lines.findings],
            tables={**self.watch.tables(), **self.lines.tables, **idle_table(self.idle), **tables},
        )


def look_at_alarms(
    store: Store, config: Config | None = None, options: WatchOptions | None = None, *, progress: Progress = quiet
) -> AlarmLook:
    """Look at every series and at every line of the settings, and keep the look in the ledger.

    Args:
        store: The store; scores and the look are added to it.
        config: Settings; ``config.alarms`` says what is watched, and which lines must not be crossed.
        options: What to look at.
        progress: Told about scoring, series and curves.

    Raises:
        ConfigError: The axis is unknown, or a line lies outside the scale of its scores.
        StoreError: A stream is damaged.
    """
    config, options = config or Config(), options or WatchOptions()
    watch = watch_store(store, config, options, progress=progress)
    snapshot = store.snapshot()
    trails = trails_of(snapshot, options, alone=True) if config.alarms.thresholds else []
    scope = LineScope(partial=options.partial)
    lines = look_at_lines(store, snapshot, trails, config.alarms, scope=scope, seed=config.seed, progress=progress)
    return AlarmLook(watch, lines, idle_of(watch, lines, config.alarms, partial=options.partial))


def idle_of(watch: Watch | None, lines: LinesLook, settings: AlarmsConfig, *, partial: bool) -> list[Idle]:
    """Entries of the settings that fit nothing; of a part of a store only lines whose tasks are nowhere."""
    if watch is None or partial:
        return lines.idle
    known = {one.id for one in watch.ledger.memory.known}
    known |= {one.one.id for one in watch.watched} | set(lines.kept)
    return [*lines.idle, *idle_ignored(watch.idle), *idle_muted(settings, known)]


def idle_table(idle: Sequence[Idle]) -> dict[str, list[dict[str, Any]]]:
    """The table ``idle_settings``, where there is something to say."""
    return {"idle_settings": [one.row() for one in idle]} if idle else {}
