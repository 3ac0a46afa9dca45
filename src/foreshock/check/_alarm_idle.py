"""Settings of alarms that fit nothing: a typing error in one would otherwise leave a line unwatched, unseen."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from foreshock._base import AlarmsConfig, Threshold, digest
from foreshock.alarms import today
from foreshock.records import Finding, Need, State, Subject


class Idle(NamedTuple):
    """One entry of the settings that fits nothing.

    Attributes:
        setting: ``thresholds``, ``ignore`` or ``muted``.
        name: The entry.
        why: What there is instead.
        said: The line, where it is one.
    """

    setting: str
    name: str
    why: str
    said: Threshold | None = None

    def row(self) -> dict[str, Any]:
        """Row of the table ``idle_settings``."""
        return {"setting": f"alarms.{self.setting}", "name": self.name, "message": self.why}

    def finding(self) -> Finding | None:
        """Finding FS404: a line that no score is held against; None for other settings."""
        said = self.said
        if said is None:
            return None
        ends = [said.above, said.below, said.metric, said.family]
        return Finding(
            id=digest(["FS404", "alarms.thresholds", self.name, *ends], 12),
            code="FS404",
            subject=Subject(
                task=self.name, model_family=None if said.family == "*" else said.family, metric=said.metric
            ),
            state=State.NO_DATA,
            title=f"no score is held against the line {self.name!r:.80} of the settings: {self.why}",
            needs=[Need(what=f"a score that alarms.thresholds.{self.name!r:.80} is about", have=0, enough=1)],
            advice="Correct alarms.thresholds, or add runs of it: as it is, nobody watches this line.",
        )


def idle_ignored(patterns: Iterable[str]) -> list[Idle]:
    """Patterns of ``alarms.ignore`` that fit no series."""
    return [Idle("ignore", pattern, "no task, and no task:metric, fits it: nothing is ignored") for pattern in patterns]


def idle_muted(settings: AlarmsConfig, known: Iterable[str]) -> list[Idle]:
    """Entries of ``alarms.muted`` that would hold today and are the beginning of no id.

    Args:
        settings: What is muted.
        known: Ids of all series and lines that were ever looked at.
    """
    ids, day = list(known), today()
    return [
        Idle("muted", name, "no alarm has an id that begins so: nothing is muted")
        for name, until in settings.muted.items()
        if datetime.fromisoformat(until).date() >= day
        and not (len(name) >= 4 and any(one.startswith(name) for one in ids))
    ]
