"""The account of a ledger: levels and discoveries, worked out from what its looks found, in their order.

Nothing of it is stored. So a ledger that two machines continued apart and that is laid together again has one account,
the one of all looks in their common order; what one of them had counted before may then not be counted any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from foreshock.alarms._looks import Look, SeriesLook
from foreshock.alarms._online import e_lond_batch, early, lord_level


class Entry(NamedTuple):
    """What the online rules make of one look.

    Attributes:
        lord: LORD++'s level for its new points; None where it has none, and at a first look.
        discovery: Whether their p-value is at most that level.
        share: e-LOND's share of the budget; None where no series is a candidate.
        candidates: Series that e-LOND decided about.
        counted: Those of them that it counts.
    """

    lord: float | None
    discovery: bool
    share: float | None
    candidates: int
    counted: tuple[str, ...]


class Account(NamedTuple):
    """The account of some looks.

    Attributes:
        entries: One for each look.
        level: The largest rate that any of them was to keep.
        counted: Series with the baseline since which they are counted.
        tested: LORD++'s decisions in order.
        shares: e-LOND's shares so far.
    """

    entries: tuple[Entry, ...]
    level: float
    counted: frozenset[tuple[str, float | None]]
    tested: tuple[bool, ...]
    shares: int

    @property
    def lord_next(self) -> float:
        """LORD++'s level for the next look."""
        return lord_level(self.level, self.tested)

    @property
    def e_lond_next(self) -> float:
        """e-LOND's level for the next look with one series: its e-value must be at least 1 over this."""
        return self.level * early(self.shares + 1) * (len(self.counted) + 1)

    @property
    def spent(self) -> float:
        """Share of e-LOND's budget that is gone."""
        return sum(early(place) for place in range(1, self.shares + 1))


def account(looks: Sequence[Look], level: float) -> Account:
    """Work out the account of looks in their order.

    A first look is not tested: nothing had been stated before its data came. Nor is a series at its own first look. A
    series is counted once for each baseline.

    Args:
        looks: Looks, oldest first.
        level: Rate to keep from now on; each look keeps its own.
    """
    entries: list[Entry] = []
    counted: set[tuple[str, float | None]] = set()
    known: set[str] = set()
    tested: list[bool] = []
    shares = 0
    for look in looks:
        lord = None
        if look.p is not None and not look.first:
            lord = lord_level(look.level, tested)
            tested.append(look.p <= lord)
        candidates = [] if look.first else [one for one in look.series if _is_candidate(one, known, counted)]
        share, names = None, tuple[str, ...]()
        if candidates:
            shares += 1
            share = early(shares)
            e = np.array([one.e for one in candidates], float)
            chosen = e_lond_batch(e, look.level, share, len(counted))
            won = [one for one, wins in zip(candidates, chosen, strict=True) if wins]
            names = tuple(one.id for one in won)
            counted |= {(one.id, one.baseline) for one in won}
        known |= {one.id for one in look.series}
        entries.append(Entry(lord, lord is not None and tested[-1], share, len(candidates), names))
    top = max([level, *(look.level for look in looks)])
    return Account(tuple(entries), top, frozenset(counted), tuple(tested), shares)


def _is_candidate(one: SeriesLook, known: set[str], counted: set[tuple[str, float | None]]) -> bool:
    return one.e is not None and one.id in known and (one.id, one.baseline) not in counted
