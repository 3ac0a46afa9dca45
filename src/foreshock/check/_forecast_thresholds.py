"""Lines of the settings: which curves they are about, and which are about none."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import msgspec

from foreshock._base import AlarmsConfig, ConfigError, Threshold, nearest
from foreshock.alarms import WatchedSeries, watched_series
from foreshock.check._alarm_idle import Idle
from foreshock.check._forecast_judge import ForecastOptions
from foreshock.check._forecast_lines import ForecastLine, lines_of_store
from foreshock.check._forecast_targets import Wanted
from foreshock.series import Line
from foreshock.store import Snapshot

_SHOWN = 10


class AskedOf(NamedTuple):
    """What the lines of the settings ask.

    Attributes:
        curves: Every curve that one of them is about, with what is asked of it.
        idle: Those that are about no curve.
    """

    curves: list[tuple[ForecastLine, ForecastOptions]]
    idle: list[Idle]


def asked_of(
    snapshot: Snapshot, trails: Sequence[Line], settings: AlarmsConfig, seed: int, *, partial: bool = False
) -> AskedOf:
    """Every curve that a line of the settings is about, with what is asked of it, and the lines about none.

    Args:
        snapshot: Where scores come from.
        trails: Lines of models.
        settings: The table ``alarms``; only tasks that a threshold names are looked at.
        seed: Seed of the fits.
        partial: Whether the lines of models are a part of those of the store. Then a threshold is about nothing only
            where no task of the whole store fits it.

    Raises:
        ConfigError: A threshold names no side, or two.
    """
    found = AskedOf([], [])
    tasks = sorted({run.task for run in snapshot.runs()})
    for pattern, said in settings.thresholds.items():
        mine = [line for line in trails if fnmatchcase(line.task, pattern)]
        watched = watched_series(snapshot, mine, least=1)
        whole = _as_threshold(pattern, said)
        fitting = [one for one in watched if fnmatchcase(one.line.family, whole.family)]
        lines = lines_of_store(fitting, [] if whole.metric is None else [whole.metric])
        found.curves.extend((line, options_of(side, seed)) for side in _sides(whole) for line in lines)
        if not lines and not (partial and any(fnmatchcase(task, pattern) for task in tasks)):
            found.idle.append(Idle("thresholds", pattern, _why(pattern, whole, tasks, watched), whole))
    return found._replace(curves=_once(found.curves))


def _once(curves: Sequence[tuple[ForecastLine, ForecastOptions]]) -> list[tuple[ForecastLine, ForecastOptions]]:
    """The same line asked of the same curve by two patterns is one line; the first says how certain it must be."""
    first: dict[tuple[object, ...], tuple[ForecastLine, ForecastOptions]] = {}
    for line, asked in curves:
        first.setdefault((line.group, line.axis, asked.threshold, asked.side), (line, asked))
    return list(first.values())


def _why(pattern: str, said: Threshold, tasks: Sequence[str], watched: Sequence[WatchedSeries]) -> str:
    """Why no score is held against a line."""
    fitting = [task for task in tasks if fnmatchcase(task, pattern)]
    if not fitting:
        alike = nearest(pattern, tasks)
        return f"no task fits it{f'; did you mean {alike[0]}?' if alike else ''}"
    where = _some(fitting)
    families = sorted({one.line.family for one in watched})
    if not families:
        return f"no model of {where} has a score and a place on an axis"
    if not any(fnmatchcase(family, said.family) for family in families):
        return f"no family of {where} fits {said.family!r:.80}: there {_are(families)}"
    metrics = sorted({one.series.metric for one in watched if fnmatchcase(one.line.family, said.family)})
    return f"no metric of {where} fits {said.metric!r:.80}: there {_are(metrics)}"


def _are(names: Sequence[str]) -> str:
    return f"{'is' if len(names) == 1 else 'are'} {_some(names)}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _as_threshold(pattern: str, said: float | Threshold) -> Threshold:
    """A number is a line that is crossed from below."""
    whole = said if isinstance(said, Threshold) else Threshold(above=float(said))
    if whole.above is None and whole.below is None:
        raise ConfigError(
            f"alarms.thresholds.{pattern!r:.80} names no side",
            expected="above or below, or both",
            do="for example { above = 0.2 }",
        )
    return whole


def _sides(whole: Threshold) -> list[Threshold]:
    """One threshold for each side that is named."""
    return [
        msgspec.structs.replace(whole, **{name: None})
        for name in ("below", "above")
        if getattr(whole, "above" if name == "below" else "below") is not None
    ]


def options_of(said: Threshold, seed: int) -> ForecastOptions:
    """What is asked of a curve beside one line: the next place."""
    upper = said.above is not None
    return ForecastOptions(
        wanted=Wanted(next=True),
        threshold=said.above if upper else said.below,
        side="above" if upper else "below",
        level=said.probability,
        draw=True,
        seed=seed,
    )
