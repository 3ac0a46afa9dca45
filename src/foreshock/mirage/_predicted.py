"""Parts that all predictions share: the row, answers from shares and from pooled figures, what would be enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from foreshock.mirage._meta_swap import Swap
from foreshock.stats import Odds, clopper_pearson, normal_quantile, t_quantile

MAJORITY = 0.5
"""A share is a majority when its whole interval lies above."""

_MOST = 10_000


class Row(NamedTuple):
    """One prediction; see :func:`foreshock.mirage.predictions`."""

    name: str
    source: str
    said: str
    answer: str = "cannot tell"
    figure: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    n: int = 0
    why: str = ""
    enough: str = ""


def cannot(row: Row, why: str, enough: str) -> Row:
    """The row of a prediction that the data do not touch."""
    return row._replace(answer="cannot tell", why=why, enough=enough)


def share_row(row: Row, hits: int, n: int, told: str, *, held_back: bool, noun: str) -> Row:
    """Answer from a share that should be a majority.

    Args:
        row: The prediction.
        hits, n: The share.
        told: What was counted.
        held_back: Whether something else speaks against calling a majority support.
        noun: What ``n`` counts.
    """
    low, high = (float(x) for x in clopper_pearson(hits, n))
    row = row._replace(figure=hits / n, low=low, high=high, unit=f"share of {noun}", n=n, why=told)
    if low > MAJORITY and not held_back:
        return row._replace(answer="supported")
    if high < MAJORITY:
        return row._replace(answer="contradicted")
    if low > MAJORITY:
        return row._replace(enough="more pairs: as many may be gained as are removed")
    return row._replace(enough=more_for_share(hits, n, noun))


def more_for_share(hits: int, n: int, noun: str) -> str:
    """How many would decide about a majority, were the share what it is now."""
    share = hits / n
    for many in (*range(n + 1, min(2 * n + 60, _MOST)), *range(2 * n + 60, _MOST, 50)):
        low, high = clopper_pearson(round(share * many), many)
        if low > MAJORITY or high < MAJORITY:
            return f"{many:,} {noun} at the share seen"
    return f"more than {_MOST:,} {noun}: the share seen is close to one half"


def pooled(values: Sequence[float], errors: Sequence[float], level: float = 0.95) -> tuple[float, float, float]:
    """Mean over lines that may differ, with the interval of Hartung and Knapp; one line keeps its own.

    Random effects after DerSimonian and Laird (1986), t quantiles with lines - 1 degrees of freedom (Hartung and Knapp
    2001, Statistics in Medicine 20, 3875-3889), never narrower than the same with a common effect.

    Args:
        values: Estimates.
        errors: Their standard errors.
        level: Coverage.

    Examples:
        >>> [round(x, 2) for x in pooled([1.0, 1.1, 0.9], [0.05, 0.05, 0.05])]
        [1.0, 0.75, 1.25]
    """
    v = np.asarray(values, float)
    variance = np.maximum(np.asarray(errors, float), 1e-6) ** 2
    if v.size == 1:
        half = normal_quantile(0.5 + level / 2) * math.sqrt(variance[0])
        return float(v[0]), float(v[0] - half), float(v[0] + half)
    w = 1 / variance
    centre = (w @ v) / w.sum()
    excess = (w @ (v - centre) ** 2 - (v.size - 1)) / (w.sum() - (w @ w) / w.sum())
    w = 1 / (variance + max(0.0, float(excess)))
    centre = float((w @ v) / w.sum())
    scatter = max(1.0, float(w @ (v - centre) ** 2 / (v.size - 1)))
    half = t_quantile(0.5 + level / 2, v.size - 1) * math.sqrt(scatter / w.sum())
    return centre, centre - half, centre + half


def pooled_answer(row: Row, told: tuple[float, float, float], about: tuple[float, float], lines: int) -> Row:
    """Answer from a figure with its interval (``told``) that should lie within ``about``."""
    figure, low, high = told
    row = row._replace(figure=figure, low=low, high=high)
    if about[0] <= low and high <= about[1]:
        return row._replace(answer="supported")
    if low > about[1] or high < about[0]:
        return row._replace(answer="contradicted")
    room, half = min(abs(figure - about[0]), abs(figure - about[1])), (high - low) / 2
    if lines > 1 or room <= 0:
        return row._replace(enough=f"more lines: the interval is {half:.2g} to each side, {room:.2g} would do")
    return row._replace(enough=f"{math.ceil((half / room) ** 2)} times the items at the figure seen")


def swap_row(row: Row, found: Swap, noun: str) -> Row:
    """Answer of a swap: most of what was emergent no longer is, and more was removed than gained."""
    if not found.before:
        none = f"none of {len(found.pairs)} pairs is emergent under its hard metric"
        why = none if found.pairs else "no pair of a hard and a continuous metric that can be told"
        return cannot(row, why, "tasks that are emergent under a hard metric and have a continuous one beside it")
    told = f"removed {found.removed}, kept {found.both}, gained {found.gained}, never emergent {found.neither}"
    by_chance = False
    if found.test is not None:
        by_chance = found.test.p > 0.05
        told += f"; McNemar p = {found.test.p:.2g}"
    return share_row(row, found.removed, found.before, told, held_back=by_chance, noun=noun)


def more_tables(odds: Odds, n: int) -> str:
    """How many triplets would decide, were the odds ratio what it is now (80% power, normal approximation)."""
    if not (odds.low > 0 and math.isfinite(odds.high) and 0 < odds.ratio < math.inf):
        return "more triplets of both kinds: a cell is empty"
    error = (math.log(odds.high) - math.log(odds.low)) / (2 * normal_quantile(0.975))
    distance = abs(math.log(odds.ratio))
    times = ((normal_quantile(0.975) + normal_quantile(0.8)) * error / max(distance, 1e-9)) ** 2
    if times * n > 1e6:
        return "more than a million triplets: the odds ratio seen is close to 1"
    return f"{math.ceil(max(times, 1) * n):,} triplets at the odds ratio seen"
