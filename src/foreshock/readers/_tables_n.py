"""The number of items behind rates, from the rates and their standard errors."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from foreshock.readers._tables_mean import Mean
from foreshock.readers._tables_subject import Subject

# beyond these no such n exists, or rounding has eaten the error
_LEAST, _MOST = 1e-9, 0.5


class Rate(NamedTuple):
    """A share with its standard error; the last two are half a unit of the last digit that was written of each."""

    value: float
    stderr: float
    ulp: float
    stderr_ulp: float
    line: int


class Derived(NamedTuple):
    """What rates tell about n.

    Attributes:
        n: The number that fits all rows; None when there is none.
        clash: Two lines with the numbers that they would need, when they contradict each other.
    """

    n: int | None
    clash: tuple[tuple[int, int], tuple[int, int]] | None = None


def derive(rates: Iterable[Rate]) -> Derived:
    """The number of items that explains every standard error as that of a share.

    The standard error of a share p over n right-or-wrong items is sqrt(p (1 - p) / n), or with n - 1 where a harness
    takes the sample deviation; both are allowed for, and the rounding of what was written. The estimate of the row
    that says most is taken, within what all rows allow.

    Examples:
        >>> derive([Rate(0.25, 0.01936, 0.005, 0.000005, 2)]).n
        501
        >>> derive([Rate(0.5, 0.05, 0.0005, 0.0005, 2), Rate(0.5, 0.01, 0.0005, 0.0005, 3)])
        Derived(n=None, clash=((2, 101), (3, 2501)))
    """
    low, high = (0.0, 0), (math.inf, 0)
    best: tuple[float, int, int] | None = None
    points: dict[int, int] = {}
    for rate in rates:
        if not (0 < rate.value < 1 and _LEAST < rate.stderr <= _MOST):
            continue
        least, most = _bounds(rate)
        # as harnesses do: the sample deviation over sqrt(n)
        point = 1 + round(rate.value * (1 - rate.value) / (rate.stderr * rate.stderr))
        points[rate.line] = point
        low, high = max(low, (least, rate.line)), min(high, (most, rate.line))
        if best is None or most / least < best[0]:
            best = (most / least, point, rate.line)
    if best is None:
        return Derived(None)
    if low[0] > high[0]:
        return Derived(None, ((high[1], points[high[1]]), (low[1], points[low[1]])))
    return Derived(round(min(max(best[1], math.ceil(low[0])), high[0])))


def _bounds(rate: Rate) -> tuple[float, float]:
    """Smallest and largest n that would have been written like this; a hundredth of it is left to other roundings."""
    ends = [min(max(rate.value + s * rate.ulp, 0.0), 1.0) for s in (-1, 0, 1)]
    spread = [p * (1 - p) for p in ends]
    top = 0.25 if ends[0] < 0.5 < ends[2] else max(spread)
    small = rate.stderr - rate.stderr_ulp
    least = max(1.0, 0.99 * min(spread) / (rate.stderr + rate.stderr_ulp) ** 2)
    return least, (math.inf if small <= 0 else 1 + 1.01 * top / small**2)


def fill_n(runs: dict[Subject, list[Mean]]) -> tuple[set[tuple[str | None, str]], list[str]]:
    """Fill in n where it is not stated and the standard errors of a task and metric agree on one."""
    rates: dict[tuple[str | None, str | None, str, str | None], list[Rate]] = defaultdict(list)
    for subject, means in runs.items():
        for mean in means:
            if mean.n is None and mean.stderr is not None and mean.rate:
                key = (subject.task, mean.subset, mean.metric, mean.answer_filter)
                rates[key].append(Rate(mean.value, mean.stderr, mean.ulp, mean.stderr_ulp, mean.line))
    found = {key: derive(rows) for key, rows in rates.items()}
    known: set[tuple[str | None, str]] = set()
    for subject, means in runs.items():
        for place, mean in enumerate(means):
            told = found.get((subject.task, mean.subset, mean.metric, mean.answer_filter))
            usable = told is not None and told.n is not None and mean.n is None
            if usable and told is not None and mean.rate:
                means[place] = mean._replace(n=told.n)
                known.add((subject.task, mean.metric))
    doubts = []
    for (task, _, metric, _), told in found.items():
        if told.clash is not None:
            (one, n), (other, m) = told.clash
            doubts.append(
                f"n of {metric}{f' on {task}' if task else ''} is not derived: the standard errors of lines {one} and "
                f"{other} would need {n:,} and {m:,} items"
            )
    return known, doubts
