"""The swap: on the same outputs, is a task still emergent when the hard metric is exchanged for a continuous one?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foreshock.mirage._meta_emergent import Triplet, rank
from foreshock.stats import McNemar, clopper_pearson, mcnemar

RULE = (
    "one pair for each task and family: right or wrong before overlaps, the first by the fixed order of twins, then by "
    "name"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """One task and family under a hard and a continuous metric."""

    hard: Triplet
    continuous: Triplet


@dataclass(frozen=True, slots=True)
class Swap:
    """Emergent before and after the exchange.

    Attributes:
        both: Emergent under either metric.
        removed: Emergent under the hard metric only.
        gained: Emergent under the continuous metric only.
        neither: Under none.
        test: McNemar's exact test of removed against gained; None where the rule of emergence leaves no room for
            ``gained``.
        pairs: The pairs.
        by: What made a triplet emergent.
        level: Coverage.
        by_group: Removed and gained in each family.
        silent: Pairs of which one side could not be told.
        rule: How pairs were made.
    """

    both: int
    removed: int
    gained: int
    neither: int
    test: McNemar | None
    pairs: tuple[Pair, ...]
    by: str
    level: float
    by_group: tuple[tuple[str, int, int], ...]
    silent: int
    rule: str = RULE

    @property
    def before(self) -> int:
        """Pairs that are emergent under the hard metric."""
        return self.both + self.removed

    def row(self) -> dict[str, Any]:
        """Row of the table ``swap``."""
        ends = clopper_pearson(self.removed, self.before, self.level)
        return {
            "by": self.by,
            "pairs": len(self.pairs),
            "both": self.both,
            "removed": self.removed,
            "gained": self.gained,
            "neither": self.neither,
            "share_removed": self.removed / self.before if self.before else None,
            "share_removed_low": float(ends[0]),
            "share_removed_high": float(ends[1]),
            "level": self.level,
            "p": self.test.p if self.test else None,
            "families": len(self.by_group),
            "families_removed": sum(removed > gained for _, removed, gained in self.by_group),
            "families_gained": sum(gained > removed for _, removed, gained in self.by_group),
            "p_families": self.p_families,
            "not_told": self.silent,
            "rule": self.rule,
            "note": "" if self.test else _no_test(self),
        }

    @property
    def p_families(self) -> float | None:
        """Sign test with the family as the unit: models of one family move together."""
        more = sum(removed > gained for _, removed, gained in self.by_group)
        less = sum(gained > removed for _, removed, gained in self.by_group)
        return mcnemar(more, less).p if self.test and more + less else None


def _no_test(swap: Swap) -> str:
    if not swap.pairs:
        return "no task and family has both a hard and a continuous metric that can be told"
    return "no test: by verdict nothing can be emergent under the continuous metric only"


def swap(triplets: Iterable[Triplet], *, pairs: Mapping[str, str] | None = None, level: float = 0.95) -> Swap:
    """Exchange the hard metric of every task and family for a continuous one of the same outputs.

    The null of the test is that a pair of which one side is emergent is as likely to be emergent under either metric;
    pairs are independent, which tasks of one family are not: the sign test over families stands beside it.

    Args:
        triplets: Triplets of both kinds, by the same rule.
        pairs: Hard metric to the continuous one that it is exchanged for; None takes the first of each kind.
        level: Coverage of the interval of the share that is removed.

    Examples:
        >>> told = [Triplet(f"t{i}", m, "f", k, None, m == "acc", by="score")
        ...         for i in range(6) for m, k in (("acc", "hard"), ("nll", "continuous"))]
        >>> found = swap(told)
        >>> found.removed, found.test.p
        (6, 0.03125)
    """
    cells: dict[tuple[str, str | None], list[Triplet]] = defaultdict(list)
    for one in triplets:
        cells[one.task, one.family].append(one)
    made = [pair for mine in cells.values() if (pair := _pair(mine, pairs or {})) is not None]
    told = tuple(p for p in made if p.hard.emergent is not None and p.continuous.emergent is not None)
    counts = {(h, c): 0 for h in (True, False) for c in (True, False)}
    groups: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for pair in told:
        state = bool(pair.hard.emergent), bool(pair.continuous.emergent)
        counts[state] += 1
        groups[pair.hard.cluster or ""][0] += state == (True, False)
        groups[pair.hard.cluster or ""][1] += state == (False, True)
    by = told[0].hard.by if told else "score"
    removed, gained = counts[True, False], counts[False, True]
    return Swap(
        both=counts[True, True],
        removed=removed,
        gained=gained,
        neither=counts[False, False],
        test=mcnemar(gained, removed) if told and by != "verdict" else None,
        pairs=told,
        by=by,
        level=level,
        by_group=tuple((name, less, more) for name, (less, more) in sorted(groups.items())),
        silent=len(made) - len(told),
        rule=f"pairs as named: {', '.join(f'{a} for {b}' for b, a in pairs.items())}" if pairs else RULE,
    )


def _pair(mine: Sequence[Triplet], pairs: Mapping[str, str]) -> Pair | None:
    """The pair of one task and family."""
    by_name = {one.metric: one for one in mine}
    for hard, continuous in pairs.items():
        if hard in by_name and continuous in by_name:
            return Pair(by_name[hard], by_name[continuous])
    if pairs:
        return None
    first = {
        kind: min((one for one in mine if one.kind == kind), key=lambda one: rank(one.metric, one.kind), default=None)
        for kind in ("hard", "continuous")
    }
    hard_one, other = first["hard"], first["continuous"]
    return Pair(hard_one, other) if hard_one is not None and other is not None else None
