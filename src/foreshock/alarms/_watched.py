"""Every series of a store against its own trend: what each rule says, and what is left of it among all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from foreshock.alarms._account import Account
from foreshock.alarms._alarm import TrendAlarm
from foreshock.alarms._ledger import Ledger, Seen
from foreshock.alarms._looks import Ack, SeriesLook
from foreshock.alarms._watched_series import WatchedSeries
from foreshock.records import Finding, State


class Watched(NamedTuple):
    """One series with what its own rule says.

    Attributes:
        one: The series.
        alarm: What the trend alarm said of it.
        seen: The same as the ledger takes it.
        also: Other metrics of the same line with the very same values: they are watched with this one.
        twin: Name of the metric that it was read against.
        ack: The acknowledgement from which its trend is learned.
        muted: The day up to which it is muted.
        remeasured: Whether points that an earlier look saw have other values now.
    """

    one: WatchedSeries
    alarm: TrendAlarm
    seen: Seen
    also: tuple[str, ...] = ()
    twin: str | None = None
    ack: Ack | None = None
    muted: str | None = None
    remeasured: bool = False


@dataclass(frozen=True)
class Watch:
    """All series of one look, and the ledger after it.

    Attributes:
        watched: The series.
        ledger: What is said of them together.
        idle: Patterns of ``alarms.ignore`` that fit no series.
    """

    watched: list[Watched]
    ledger: Ledger
    idle: tuple[str, ...] = ()

    def state(self, one: Watched) -> str:
        """``firing``, ``pending``, ``ok``, ``no-data``, or ``muted`` (which is never green)."""
        if one.muted is not None:
            return "muted"
        return one.alarm.state.value

    def standing(self, one: Watched) -> str | None:
        """What the ledger makes of a series that fires: the rules that keep it, or ``not kept``.

        ``BH`` among all series, by its p-value for all looks; ``LORD++`` at some look since its baseline, by the points
        that were new then; ``e-LOND``. None where it does not fire, and where nothing is guaranteed.
        """
        if one.alarm.state is not State.FIRING or not one.alarm.guaranteed:
            return None
        key, q = (one.one.id, one.seen.look.baseline), self.ledger.q.get(one.one.id)
        rules = {
            "BH": q is not None and q <= self.ledger.level,
            "LORD++": key in self.account.found,
            "e-LOND": key in self.account.counted,
        }
        return ", ".join(rule for rule, keeps in rules.items() if keeps) or "not kept"

    @cached_property
    def account(self) -> Account:
        """Levels and discoveries over all looks."""
        return self.ledger.account

    @property
    def changed(self) -> list[Watched]:
        """Series that fire now and did not at the look before."""
        before = self.ledger.memory.latest
        return [one for one in self.watched if self.state(one) == "firing" and not _fired(before.get(one.one.id), one)]

    def findings(self) -> list[Finding]:
        """One finding for each series, in the order of the series."""
        from foreshock.alarms._alarm_rows import finding_of

        return [finding_of(self, one) for one in self.watched]

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table ``alarms``."""
        from foreshock.alarms._alarm_rows import row_of

        return [row_of(self, one) for one in self.watched]

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The tables ``alarms``, ``ledger`` and ``budget``."""
        return {"alarms": self.rows(), "ledger": self.ledger.rows(), "budget": [self.ledger.budget()]}


def _fired(before: SeriesLook | None, one: Watched) -> bool:
    """Whether an earlier look told the same alarm."""
    return before is not None and before.state == "firing" and before.baseline == one.seen.look.baseline
