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
from foreshock.stats import benjamini_hochberg


class Entry(NamedTuple):
    """What the online rules make of one look.

    Attributes:
        lord: LORD++'s level for its new points; None where it has none, and at a first look.
        discovery: Whether their p-value is at most that level.
        found: Series that Benjamini-Hochberg finds at that level, by their new points; some where it is a discovery.
        share: e-LOND's share of the budget; None where no series is a candidate.
        candidates: Series that e-LOND decided about.
        counted: Those of them that it counts.
    """

    lord: float | None
    discovery: bool
    found: tuple[str, ...]
    share: float | None
    candidates: int
    counted: tuple[str, ...]


class Account(NamedTuple):
    """The account of some looks.

    Attributes:
        entries: One for each look.
        level: The largest rate that any of them was to keep.
        found: Series with their baselines that LORD++ with Benjamini-Hochberg found at some look.
        counted: Series with their baselines that e-LOND counted.
        tested: LORD++'s decisions in order.
        shares: e-LOND's shares so far.
    """

    entries: tuple[Entry, ...]
    level: float
    found: frozenset[tuple[str, float | None]]
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
    found: set[tuple[str, float | None]] = set()
    counted: set[tuple[str, float | None]] = set()
    known: set[str] = set()
    tested: list[bool] = []
    shares = 0
    for look in looks:
        lord, held = None, list[SeriesLook]()
        if look.p is not None and not look.first:
            lord = lord_level(look.level, tested)
            held = _held(look, lord)
            tested.append(bool(held))
            found |= {(one.id, one.baseline) for one in held}
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
        entries.append(Entry(lord, bool(held), tuple(one.id for one in held), share, len(candidates), names))
    top = max([level, *(look.level for look in looks)])
    return Account(tuple(entries), top, frozenset(found), frozenset(counted), tuple(tested), shares)


def _held(look: Look, level: float) -> list[SeriesLook]:
    """Series that Benjamini-Hochberg finds by their new points; at least one exactly when Simes' p is small enough."""
    new = [one for one in look.series if one.new_p is not None]
    adjusted = benjamini_hochberg(np.array([one.new_p for one in new], float))
    return [one for one, q in zip(new, adjusted, strict=True) if q <= level]


def _is_candidate(one: SeriesLook, known: set[str], counted: set[tuple[str, float | None]]) -> bool:
    return one.e is not None and one.id in known and (one.id, one.baseline) not in counted
