"""Look at every series of a store, and keep the look in its ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from foreshock._base import AlarmsConfig, Config, Progress, quiet
from foreshock.alarms._ledger import take_look
from foreshock.alarms._state import read_memory
from foreshock.alarms._watch_lines import idle_patterns, watch_series
from foreshock.alarms._watched import Watch, Watched
from foreshock.alarms._watched_lines import watched_lines
from foreshock.alarms._watched_series import watched_series
from foreshock.records import ModelCard, State
from foreshock.scoring import default_metrics, score
from foreshock.series import Line, model_cards
from foreshock.store import Snapshot, Store


class WatchOptions(NamedTuple):
    """What to look at.

    Attributes:
        tasks, families: Only those that fit one of these patterns; empty means all.
        axis: Force this axis; see :data:`foreshock.series.AXES`.
        corrections: Model cards by logged name (``models.toml``).
        release: What the user calls this batch of runs.
        models: Only lines with a model that fits one of these patterns; such a line is looked at as a whole, since a
            part of it would be another series under the same name.
    """

    tasks: Sequence[str] = ()
    families: Sequence[str] = ()
    axis: str | None = None
    corrections: Mapping[str, ModelCard] | None = None
    release: str | None = None
    models: Sequence[str] = ()

    @property
    def partial(self) -> bool:
        """Whether only a part of the store is looked at."""
        return bool(self.tasks or self.families or self.models or self.axis)


def watch_store(
    store: Store, config: Config | None = None, options: WatchOptions | None = None, *, progress: Progress = quiet
) -> Watch:
    """Score what is not scored yet, look at every series, and keep the look in the ledger.

    Args:
        store: The store; scores and the look are added to it.
        config: Settings; ``config.alarms`` says what is watched.
        options: What to look at.
        progress: Told about scoring and series.

    Raises:
        ConfigError: The axis is unknown.
        StoreError: A stream is damaged.
    """
    config, options = config or Config(), options or WatchOptions()
    score(store, [*default_metrics(), *config.alarms.metrics], progress=progress)
    snapshot = store.snapshot()
    everything = watched_series(snapshot, trails_of(snapshot, options))
    watched = watch_series(everything, config.alarms, read_memory(store), seed=config.seed, progress=progress)
    idle = () if options.partial else idle_patterns(everything, config.alarms.ignore)
    return settle(store, watched, config.alarms, release=options.release, idle=idle)


def trails_of(snapshot: Snapshot, options: WatchOptions, *, alone: bool = False) -> list[Line]:
    """Lines of a store that fit the options; ``alone`` as in :func:`watched_lines`."""
    runs = [run for run in snapshot.runs() if _fits(run.task, options.tasks)]
    found = watched_lines(runs, model_cards(runs, options.corrections), options.axis, alone=alone)
    return [line for line in found if _fits(line.family, options.families) and _has_model(line, options.models)]


def settle(
    store: Store,
    watched: list[Watched],
    settings: AlarmsConfig,
    *,
    release: str | None = None,
    idle: Sequence[str] = (),
) -> Watch:
    """Keep the look in the ledger and say what it means for all series together.

    Args:
        store: Where the ledger is.
        watched: What was looked at.
        settings: The rate that is kept.
        release: What the user calls this batch of runs.
        idle: Patterns of ``settings.ignore`` that fit no series.
    """
    told = [one.seen for one in watched if one.alarm.state is not State.NO_DATA]
    return Watch(watched, take_look(store, told, settings.level, release=release), tuple(idle))


def _has_model(line: Line, patterns: Sequence[str]) -> bool:
    return any(_fits(group[0].model, patterns) for stop in line.stops for group in stop.groups)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
