"""Many looks are one decision: what all alarms together are worth, within a look and over looks.

Whether a series fires is its own rule's business, at the rate of that one series. The ledger says what is left when all
series and looks are one decision. Inside a look it is Benjamini-Hochberg over the series, by the p-value that each has
for all its looks. Over looks, without end, two rules run side by side, each on what it needs: LORD++ gives each look
the level at which Benjamini-Hochberg finds series by their new points, because p-values of new points are valid given
the looks before; e-LOND runs on the series' e-values of all points, which may hang together in any way, and counts a
series once for a baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from foreshock._base import StoreError, count_of
from foreshock.alarms._account import Account, account
from foreshock.alarms._looks import Look, SeriesLook, cut, now
from foreshock.alarms._online import e_of_p
from foreshock.alarms._state import Memory, append, read_memory
from foreshock.stats import benjamini_hochberg
from foreshock.store import Store

_TRIES = 100
_LARGEST = 1e300


class Seen(NamedTuple):
    """A series as the ledger takes it: what its own rule said, without what was decided about all together.

    Attributes:
        look: The series; ``new_p``, ``e`` and ``q`` are filled by the ledger.
        point_p: Two-sided p-value of each point since the baseline against the trend before it, oldest first; the
            newest one last. Empty where nothing is guaranteed.
        e: e-value of the series over all its looks, where its own rule gives one.
        prefix: Hash of as many of its first points as the look before had; None without a look before.
    """

    look: SeriesLook
    point_p: tuple[float, ...] = ()
    e: float | None = None
    prefix: str | None = None


class Ledger(NamedTuple):
    """What is to be said of all alarms of one look together.

    Attributes:
        memory: Looks and decisions before this look.
        look: The look as it was kept; None where every series had been looked at with the same data before.
        level: False discovery rate that is kept.
        q: p-value of each series for all its looks, by id, adjusted for all series that have one.
    """

    memory: Memory
    look: Look | None
    level: float
    q: Mapping[str, float]

    @property
    def first(self) -> bool:
        """Whether nothing was stated before any of the data came, so that no rate over looks can be claimed."""
        return all(look.first for look in self.looks)

    @property
    def repeated(self) -> bool:
        """Whether all these data were looked at before, so that nothing was spent."""
        return self.look is None and bool(self.memory.looks)

    @property
    def looks(self) -> tuple[Look, ...]:
        """All looks, this one included."""
        return self.memory.looks if self.look is None else (*self.memory.looks, self.look)

    @property
    def account(self) -> Account:
        """Levels and discoveries over all looks."""
        return account(self.looks, self.level)

    def budget(self) -> dict[str, Any]:
        """Row of the table ``budget``: what was spent and what the next look gets."""
        told = self.account
        return {
            "level": told.level,
            "looks": len(self.looks),
            "first_look": self.first,
            "repeated": self.repeated,
            "lord_looks": len(told.tested),
            "lord_discoveries": sum(told.tested),
            "lord_spent": sum(entry.lord or 0.0 for entry in told.entries),
            "lord_next_level": told.lord_next,
            "e_lond_discoveries": len(told.counted),
            "e_lond_spent": told.spent,
            "e_lond_next_level": told.e_lond_next,
            "sentence": self.sentence,
        }

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table ``ledger``: one for each look, oldest first."""
        entries = zip(self.looks, self.account.entries, strict=True)
        return [
            {
                "look": number,
                "at": look.at,
                "release": look.release,
                "first": look.first,
                "series": len(look.series),
                "firing": sum(one.state == "firing" for one in look.series),
                "kept": sum(one.state == "firing" and one.q is not None and one.q <= look.level for one in look.series),
                "p": look.p,
                "lord_level": entry.lord,
                "discovery": entry.discovery,
                "found": list(entry.found),
                "e_lond_share": entry.share,
                "e_lond_series": entry.candidates,
                "counted": list(entry.counted),
            }
            for number, (look, entry) in enumerate(entries, start=1)
        ]

    @property
    def sentence(self) -> str:
        """What is claimed over looks, with its assumptions."""
        if self.first:
            return (
                "first look: nothing was stated before these data came, so no rate over releases is claimed; "
                "keep the state (--state FILE), and the next look has one"
            )
        told = self.account
        looks, found, counted = len(self.looks), len(told.found), len(told.counted)
        return (
            f"over {count_of(looks, 'look')}, LORD++ finds something at {sum(told.tested)} of "
            f"{count_of(len(told.tested), 'look')} with new points ({count_of(found, 'series', 'series')}): on average "
            f"at most {told.level:.0%} of such looks are false, if looks are independent; e-LOND counts "
            f"{count_of(counted, 'series', 'series')} at the same rate, however series and looks hang together. Both "
            "hold as far as the guarantee of each series does"
        )


def take_look(store: Store, seen: Sequence[Seen], level: float, *, release: str | None = None) -> Ledger:
    """Decide about all series together and keep the look, unless it only repeats earlier ones.

    Another process may append meanwhile; then the decision is made anew with what it said.

    Args:
        store: Where the ledger is.
        seen: Every series that was looked at.
        level: False discovery rate to keep, within the look and over looks.
        release: What the user calls this batch of runs.

    Raises:
        StoreError: A stream is damaged or cannot be written.
    """
    for _ in range(_TRIES):
        memory = read_memory(store)
        ledger = decide(memory, seen, level, release=release)
        if ledger.look is None:
            return ledger
        try:
            append(store, ledger.look, after=memory.last)
        except StoreError:
            if read_memory(store).last == memory.last:
                raise  # not overtaken: the disk is full, or the stream is damaged
            continue
        return ledger
    raise StoreError("other processes append to the ledger without end", do="try again", where="state/ledger")


def decide(memory: Memory, seen: Sequence[Seen], level: float, *, release: str | None = None) -> Ledger:
    """The decision about all series of one look, after what is remembered; nothing is kept.

    Args:
        memory: Earlier looks.
        seen: Every series that was looked at.
        level: False discovery rate.
        release: What the user calls this batch of runs.
    """
    keys, latest = memory.keys, memory.latest
    q = adjusted(seen)
    new = sorted((one for one in seen if one.look.key not in keys), key=lambda one: one.look.id)
    if not new:
        return Ledger(memory, None, level, q)
    fresh = {one.look.id: new_p(one, latest.get(one.look.id)) for one in new}
    told = [p for p in fresh.values() if p is not None]
    look = Look(
        seq=memory.next_seq,
        at=now(),
        release=None if release is None else cut(release),
        level=level,
        first=not memory.looks,
        series=[
            msgspec.structs.replace(one.look, new_p=fresh[one.look.id], e=_e(one), q=q.get(one.look.id)) for one in new
        ],
        p=float(benjamini_hochberg(told).min()) if told else None,
    )
    return Ledger(memory, look, level, q)


def adjusted(seen: Sequence[Seen]) -> dict[str, float]:
    """p-values adjusted by Benjamini-Hochberg of the series that have one, by id.

    A p-value for all looks of a series only falls, so whatever is kept at the last look was not kept more readily at an
    earlier one: as long as no series comes or goes, the rate is that of all looks together.
    """
    told = [(one.look.id, one.look.p) for one in seen if one.look.p is not None]
    q = benjamini_hochberg(np.array([p for _, p in told], float))
    return {name: float(value) for (name, _), value in zip(told, q, strict=True)}


def new_p(one: Seen, before: SeriesLook | None) -> float | None:
    """p-value of the points that came since the look before: the smallest, times their number (Bonferroni).

    None at the first look at a series or a baseline; where the look before gave no guarantee, so that it is decided by
    what was known then; and where an earlier point was measured anew: what is new cannot be told from the rest then.
    """
    look = one.look
    if before is None or before.p is None or before.baseline != look.baseline or one.prefix != before.prefix:
        return None
    more = look.points - before.points
    if more < 1 or not one.point_p:
        return None
    values = one.point_p[-more:]
    return min(1.0, len(values) * min(values))


def _e(one: Seen) -> float | None:
    """The e-value that the series' rule gives, else what its p-value is worth: a fixed order, so nothing is chosen."""
    if one.e is not None:
        return min(one.e, _LARGEST)
    return None if one.look.p is None else min(float(e_of_p(one.look.p)), _LARGEST)
