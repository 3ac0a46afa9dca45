"""Emergence over many tasks: the share of hard metrics among what is emergent, against the base rate of that kind.

"Most emergent abilities appear under two metrics" says nothing as long as most tasks are measured with these two. The
question is an odds ratio: how much more often is a triplet emergent when its metric is of the kind in question?
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foreshock.mirage._meta_emergent import ALPHA, Triplet
from foreshock.mirage._meta_units import Families, Flags, Labels, WholeTasks, over_families, tables_by_family
from foreshock.mirage._meta_units import whole_tasks as exchange
from foreshock.stats import Odds, clopper_pearson, exact_odds, holm

DRAWS = 4000

_UNIT = {
    "list": "task; families of models move together: each family's list against the same other tasks",
    "score": "task, with all its families; families are strata, each with its own share of emergent triplets",
    "verdict": "task, with all its families; families are strata, each with its own share of emergent triplets",
}


@dataclass(frozen=True, slots=True)
class Contrast:
    """One kind of metric against all others.

    Attributes:
        name: The kind.
        table: Counts, summed over families: ``[[emergent of the kind, emergent of others], [the rest of the kind, the
            rest of others]]``.
        odds: Odds ratio with exact interval and p-value, were triplets independent (within families, where these are
            strata).
        adjusted: Holm's p-value over the contrasts that were looked at together.
        tasks: The same question with whole tasks changing places.
        families: The same question with whole families as the unit.
        by_family: Odds ratio of each family.
    """

    name: str
    table: tuple[tuple[int, int], tuple[int, int]]
    odds: Odds | None
    adjusted: float | None
    tasks: WholeTasks
    families: Families
    by_family: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Meta:
    """What :func:`meta` found.

    Attributes:
        contrasts: One for each kind asked for, the first being what was asked first.
        by: What made a triplet emergent.
        told: Triplets that could be told.
        silent: Triplets that could not, by reason.
        by_chance: Triplets that would be emergent by chance alone; None where that is not known.
        level: Coverage of the intervals.
    """

    contrasts: tuple[Contrast, ...]
    by: str
    told: int
    silent: dict[str, int]
    by_chance: float | None
    level: float

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table ``meta``."""
        return [self._row(one) for one in self.contrasts]

    def _row(self, one: Contrast) -> dict[str, Any]:
        (a, b), (c, d) = one.table
        odds, ends = one.odds, clopper_pearson([a, c], [a + b, c + d], self.level)
        return {
            "kind": one.name,
            "by": self.by,
            "unit": _UNIT[self.by],
            "told": self.told,
            "by_chance": self.by_chance,
            "emergent_of_kind": a,
            "emergent": a + b,
            "share_emergent": _share(a, a + b),
            "share_emergent_low": float(ends[0][0]),
            "share_emergent_high": float(ends[1][0]),
            "others_of_kind": c,
            "others": c + d,
            "share_others": _share(c, c + d),
            "share_all": _share(a + c, a + b + c + d),
            "rate_in_kind": _share(a, a + c),
            "rate_elsewhere": _share(b, b + d),
            "odds_ratio": _plain(odds.ratio) if odds else None,
            "odds_ratio_conditional": _plain(odds.conditional) if odds else None,
            "odds_ratio_low": _plain(odds.low) if odds else None,
            "odds_ratio_high": _plain(odds.high) if odds else None,
            "odds_ratio_infinite": bool(odds and math.isinf(odds.ratio)),
            "level": self.level,
            "p": odds.p if odds else None,
            "p_adjusted": one.adjusted,
            "looks": sum(other.odds is not None for other in self.contrasts),
            "p_tasks": one.tasks.p,
            "design_effect": one.tasks.effect,
            "units": one.tasks.units,
            "families": one.families.told,
            "families_above": one.families.above,
            "p_families": one.families.p,
            "without_one_low": _plain(one.families.low),
            "without_one_high": _plain(one.families.high),
            "by_family": {name: _plain(ratio) for name, ratio in one.by_family},
            "note": "" if odds else "one kind only, or nothing (or everything) emergent: there is nothing to compare",
        }


def meta(
    triplets: Iterable[Triplet],
    *,
    named: Sequence[Sequence[str]] = (),
    level: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
) -> Meta:
    """Compare how often triplets of one kind of metric are emergent with how often all others are.

    Args:
        triplets: Emergent ones and the base that they are to be read against; all by the same rule.
        named: Sets of metrics that are each looked at as one kind, before hard metrics as such and each link.
        level: Coverage of the exact intervals.
        seed: Seed of the exchanges.
        draws: Exchanges of whole tasks.

    Raises:
        ValueError: Triplets are by different rules.

    Examples:
        >>> listed = [Triplet(f"t{i}", "acc", None, "hard", "argmax", i < 9) for i in range(12)]
        >>> others = [Triplet(f"u{i}", "nll", None, "continuous", None, i < 1) for i in range(8)]
        >>> meta([*listed, *others], named=[["acc"]]).contrasts[0].odds.ratio
        21.0
    """
    every = list(triplets)
    rules = sorted({one.by for one in every}) or ["list"]
    if len(rules) > 1:
        raise ValueError(f"triplets by several rules: {', '.join(rules)}")
    told = [one for one in every if one.emergent is not None]
    silent: dict[str, int] = {}
    for one in every:
        if one.emergent is None:
            silent[one.why] = silent.get(one.why, 0) + 1
    rng = np.random.default_rng(seed)
    made = [_contrast(name, flags, among, rules[0], (level, rng, draws)) for name, among, flags in _kinds(told, named)]
    p = [one.odds.p for one in made if one.odds is not None]
    adjusted = iter(holm(p).tolist())
    contrasts = tuple(_adjusted(one, next(adjusted) if one.odds is not None else None) for one in made)
    chance = ALPHA * len(told) if rules[0] == "score" else None
    return Meta(contrasts, rules[0], len(told), silent, chance, level)


def _kinds(told: Sequence[Triplet], named: Sequence[Sequence[str]]) -> list[tuple[str, list[Triplet], Flags]]:
    """Kinds to look at, each with the triplets it is looked for among: named sets, hard metrics, each link.

    A kind that picks the same triplets as one before it is one look, not two.
    """
    found: list[tuple[str, list[Triplet], list[bool]]] = []
    for names in named:
        wanted = {name.casefold() for name in names}
        found.append((" + ".join(names), list(told), [one.metric.casefold() in wanted for one in told]))
    known = [one for one in told if one.kind != "unknown"]
    found.append(("hard", known, [one.kind == "hard" for one in known]))
    for link in sorted({one.link for one in known if one.link and one.kind == "hard"}):
        flags = [one.kind == "hard" and one.link == link for one in known]
        found.append((f"hard, link {link}", known, flags))
    kept: list[tuple[str, list[Triplet], Flags]] = []
    for name, among, flags in found:
        if not any(len(other) == len(among) and list(same) == flags for _, other, same in kept):
            kept.append((name, among, np.array(flags, bool)))
    return kept


def _contrast(
    name: str, kind: Flags, told: Sequence[Triplet], by: str, how: tuple[float, np.random.Generator, int]
) -> Contrast:
    level, rng, draws = how
    emergent = np.array([bool(one.emergent) for one in told], bool)
    strata = np.zeros(len(told), np.intp) if by == "list" else _labels([one.cluster or "" for one in told])
    tables = tables_by_family(kind, emergent, strata)
    (a, b), (c, d) = tables.sum(axis=0).tolist() if len(tables) else ((0, 0), (0, 0))
    odds = exact_odds(tables, level) if min(a + b, c + d, a + c, b + d) else None
    if odds is not None and math.isnan(odds.conditional):
        odds = None  # every family is all emergent or none of it, or has one kind only
    places = _labels([one.task for one in told]), _labels([one.metric for one in told]), strata
    tasks = exchange(kind, emergent, places, rng, draws) if odds else WholeTasks(None, None, 0)
    names = sorted({one.cluster or "" for one in told})
    own = _against_the_rest(kind, emergent, told) if by == "list" else dict(zip(names, tables, strict=True))
    families = over_families(np.stack(list(own.values()))) if own else Families(0, 0, None, None, None)
    by_family = tuple((key, exact_odds(table).ratio) for key, table in own.items()) if len(own) > 1 else ()
    return Contrast(name, ((a, b), (c, d)), odds, None, tasks, families, by_family)


def _against_the_rest(kind: Flags, emergent: Flags, told: Sequence[Triplet]) -> dict[str, np.ndarray[Any, Any]]:
    """Of a list: what each family contributed to it, against the tasks that are not on it."""
    rest = [int((kind & ~emergent).sum()), int((~kind & ~emergent).sum())]
    found = {}
    for name in sorted({one.cluster for one in told if one.emergent and one.cluster}):
        mine = np.array([one.cluster == name for one in told]) & emergent
        found[name] = np.array([[int((kind & mine).sum()), int((~kind & mine).sum())], rest])
    return found


def _adjusted(one: Contrast, p: float | None) -> Contrast:
    return Contrast(one.name, one.table, one.odds, p, one.tasks, one.families, one.by_family)


def _labels(names: Sequence[str]) -> Labels:
    if not names:
        return np.zeros(0, np.intp)
    return np.asarray(np.unique(np.array(names, object).astype(str), return_inverse=True)[1], np.intp)


def _share(k: int, n: int) -> float | None:
    return k / n if n else None


def _plain(x: float | None) -> float | None:
    return None if x is None or not math.isfinite(x) else float(x)
