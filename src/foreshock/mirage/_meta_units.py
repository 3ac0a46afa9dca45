"""Emergent or not, hard or not: tables by family, and what it does that triplets of a task or a family move together.

A triplet is a task, a metric and a model family. Two triplets of one task rest on the same items, two of one family on
the same models, so neither are independent observations. Families are strata: each has its own share of emergent tasks,
and one model that jumps everywhere only raises that share. Tasks are the exchangeable unit: whole tasks change places,
with all their families.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreshock.stats import mcnemar, permutation_p

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Labels = NDArray[np.intp]

_TIE = 1e-9
_CELLS = 5_000_000  # units x draws held at once


@dataclass(frozen=True, slots=True)
class WholeTasks:
    """Permutation of kinds among whole tasks.

    Attributes:
        p: Two-sided Monte-Carlo p-value; None when no exchange is possible.
        effect: Variance of the count over exchanges of whole tasks, over its variance were triplets independent. Above
            1 the triplets say less than their number, below 1 the pairing inside tasks makes them say more.
        units: Tasks, or metrics inside tasks, that change places.
    """

    p: float | None
    effect: float | None
    units: int


def tables_by_family(kind: Flags, emergent: Flags, family: Labels) -> NDArray[np.int64]:
    """One table per family: rows emergent or not, columns of the kind in question or not.

    Args:
        kind: Whether the metric is of the kind in question, shape (triplets,).
        emergent: Whether the triplet is emergent, shape (triplets,).
        family: Family of each triplet, 0 .. families - 1.

    Returns:
        Counts, shape (families, 2, 2).

    Examples:
        >>> yes, no = True, False
        >>> tables_by_family(np.array([yes, yes, no]), np.array([yes, no, no]), np.array([0, 0, 0])).tolist()
        [[[1, 0], [1, 1]]]
    """
    counts = np.zeros((int(family.max()) + 1 if family.size else 0, 2, 2), np.int64)
    np.add.at(counts, (family, 1 - emergent.astype(int), 1 - kind.astype(int)), 1)
    return counts


def whole_tasks(
    kind: Flags, emergent: Flags, labels: tuple[Labels, Labels, Labels], rng: np.random.Generator, draws: int
) -> WholeTasks:
    """Test whether kind and emergence go together when whole tasks change places.

    Null: which kind a task is measured with says nothing of whether it is emergent. A task that has metrics of both
    kinds exchanges the kinds of its own metrics; the others exchange kinds among themselves. Every exchange moves all
    families of a unit together. The statistic is the number of emergent triplets of the kind, less what each family's
    own share of emergent triplets would give.

    Args:
        kind: Shape (triplets,).
        emergent: Shape (triplets,).
        labels: Task, metric and family of each triplet, whole numbers from 0, each of shape (triplets,).
        rng: Source of randomness.
        draws: Exchanges drawn.
    """
    task, metric, family = labels
    weight, flag, block = _units(kind, emergent, task, metric, family)
    blocks = [mine for one in np.unique(block) if np.ptp(flag[mine := np.flatnonzero(block == one)]) > 0]
    if not blocks:
        return WholeTasks(None, None, 0)
    moved = np.concatenate(blocks)
    seen = float(flag[moved] @ weight[moved])
    centre = sum(float(flag[mine].mean() * weight[mine].sum()) for mine in blocks)
    step = max(1, _CELLS // moved.size)
    sizes = [min(step, draws - start) for start in range(0, draws, step)]
    null = np.concatenate([_exchanged(flag, weight, blocks, rng, size) for size in sizes])
    apart = _independent(kind, emergent, family)
    p = permutation_p(abs(seen - centre) - _TIE, np.abs(null - centre))
    return WholeTasks(p, float(null.var() / apart) if apart > 0 else None, moved.size)


def _exchanged(flag: Floats, weight: Floats, blocks: list[Labels], rng: np.random.Generator, draws: int) -> Floats:
    """The statistic after kinds changed places inside each block, shape (draws,)."""
    total = np.zeros(draws)
    for mine in blocks:
        total += rng.permuted(np.tile(flag[mine], (draws, 1)), axis=1) @ weight[mine]
    return total


def _units(kind: Flags, emergent: Flags, task: Labels, metric: Labels, family: Labels) -> tuple[Floats, Floats, Labels]:
    """Weight, kind and block of each unit that may change places."""
    hard = np.bincount(task, kind, minlength=task.max() + 1 if task.size else 0)
    every = np.bincount(task, minlength=hard.size)
    both = (hard > 0) & (hard < every)
    # inside a task with both kinds each metric is a unit; else the task is one, whatever the number of its metrics
    name = np.stack([task, np.where(both[task], metric, -1)], axis=1)
    units, inverse = np.unique(name, axis=0, return_inverse=True)
    unit = inverse.reshape(-1).astype(np.intp)
    rate = np.bincount(family, emergent) / np.maximum(np.bincount(family), 1)
    weight = np.bincount(unit, emergent - rate[family], minlength=len(units))
    flag = np.bincount(unit, kind, minlength=len(units)) / np.bincount(unit, minlength=len(units))
    block = np.where(both[units[:, 0]], units[:, 0], -1)
    return np.asarray(weight, float), np.asarray(flag, float), np.asarray(block, np.intp)


def _independent(kind: Flags, emergent: Flags, family: Labels) -> float:
    """Variance of the statistic, were triplets exchangeable within families."""
    total = 0.0
    for (a, b), (c, d) in tables_by_family(kind, emergent, family).tolist():
        n = a + b + c + d
        if n > 1:
            total += (a + c) * (b + d) * (a + b) * (c + d) / (n**2 * (n - 1))
    return total


@dataclass(frozen=True, slots=True)
class Families:
    """The odds ratio with whole families as the unit.

    Attributes:
        told: Families whose table says anything about it.
        above: Families whose own odds ratio is above 1.
        p: Exact two-sided sign test over these families.
        low, high: Range of the common odds ratio with each family left out in turn; None with fewer than two.
    """

    told: int
    above: int
    p: float | None
    low: float | None
    high: float | None


def over_families(tables: NDArray[np.int64]) -> Families:
    """Do the families agree, and does the odds ratio hang on one of them?

    Args:
        tables: One table per family, shape (families, 2, 2); see :func:`tables_by_family`.

    Examples:
        >>> over_families(np.array([[[3, 1], [1, 3]], [[4, 1], [2, 5]]])).above
        2
    """
    t = tables.astype(float)
    n = np.maximum(t.sum(axis=(1, 2)), 1)
    up, down = t[:, 0, 0] * t[:, 1, 1] / n, t[:, 0, 1] * t[:, 1, 0] / n
    informed = up + down > 0
    above, below = int((up > down).sum()), int((up < down).sum())
    p = mcnemar(above, below).p if above + below else None
    if informed.sum() < 2:
        return Families(int(informed.sum()), above, p, None, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = (up.sum() - up[informed]) / (down.sum() - down[informed])
    return Families(int(informed.sum()), above, p, float(np.nanmin(without)), float(np.nanmax(without)))
