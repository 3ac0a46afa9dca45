"""Lines of the settings: which curves they are about, and where these stand."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import msgspec

from foreshock._base import AlarmsConfig, ConfigError, Threshold
from foreshock.alarms import watched_series
from foreshock.check._forecast_judge import ForecastOptions
from foreshock.check._forecast_lines import ForecastLine, lines_of_store
from foreshock.check._forecast_targets import Wanted
from foreshock.series import Line
from foreshock.store import Snapshot


def asked_of(
    snapshot: Snapshot, trails: Sequence[Line], settings: AlarmsConfig, seed: int
) -> list[tuple[ForecastLine, ForecastOptions]]:
    """Every curve that a line of the settings is about, with what is asked of it.

    Args:
        snapshot: Where scores come from.
        trails: Lines of models.
        settings: The table ``alarms``; only tasks that a threshold names are looked at.
        seed: Seed of the fits.

    Raises:
        ConfigError: A threshold names no side, or two.
    """
    found: list[tuple[ForecastLine, ForecastOptions]] = []
    for pattern, said in settings.thresholds.items():
        mine = [line for line in trails if fnmatchcase(line.task, pattern)]
        for threshold in _lines(pattern, said):
            found += [(line, options_of(threshold, seed)) for line in _curves(snapshot, mine, threshold)]
    return found


def _curves(snapshot: Snapshot, trails: Sequence[Line], said: Threshold) -> list[ForecastLine]:
    mine = [line for line in trails if fnmatchcase(line.family, said.family)]
    watched = watched_series(snapshot, mine, least=1)
    return lines_of_store(watched, [] if said.metric is None else [said.metric])


def _lines(pattern: str, said: float | Threshold) -> list[Threshold]:
    """One threshold for each side that is named; a number is the upper one."""
    whole = said if isinstance(said, Threshold) else Threshold(above=float(said))
    if whole.above is None and whole.below is None:
        raise ConfigError(
            f"alarms.thresholds.{pattern!r:.80} names no side",
            expected="above or below, or both",
            do="for example { above = 0.2 }",
        )
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
