"""Differences between conditions: what more examples, a chain of thought or a larger budget adds, model by model.

In-context learning and chain of thought are said to emerge. Each is a difference between two conditions of the same
models on the same items, so it is made into a panel of its own and followed along the axis like any score. Where items
exist each item is its own control; totals are subtracted as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from foreshock.records import Run
from foreshock.series._block import Block
from foreshock.series._lines import Line, Stop
from foreshock.series._panel import panel
from foreshock.series._types import Floats, Panel

WHICH_ITEMS = frozenset({"limit", "epochs", "epochs_reducer", "sample_id", "sample_shuffle"})
"""Conditions that only say which items were asked, in which order and how often; pairing items settles them."""

# least to most, for conditions that are words; others come after these, the shorter first
_DEGREES = ("none off no false disabled", "minimal", "low", "medium", "high", "max on yes true enabled")
_RANK = {word: rank for rank, words in enumerate(_DEGREES) for word in words.split()}


class ConditionPair(NamedTuple):
    """Two lines of the same task, family and axis whose runs differ in exactly one stated condition.

    Attributes:
        name: The condition.
        before, after: Its values; ``before`` is the baseline.
        first: Line under ``before``, with the points that both have.
        second: Line under ``after``, with the same points in the same order.
    """

    name: str
    before: str
    after: str
    first: Line
    second: Line

    @property
    def task(self) -> str:
        """Name under which the difference is judged: ``sums [shots 5 - 0]``."""
        return f"{self.first.task} [{self.name} {self.after} - {self.before}]"

    @property
    def family(self) -> str:
        """Family, with the other conditions by which its lines differ."""
        told = _stated(self.first)
        rest = [f"{k}={v}" for k, v in sorted(told.items()) if k != self.name and f"{k}={v}" in self.first.conditions]
        return f"{self.first.family} ({', '.join(rest)})" if rest else self.first.family


class Difference(NamedTuple):
    """Scores under one condition less those under the baseline.

    Attributes:
        panel: Differences, in [-1, 1] for shares; items answered under both conditions at every point.
        baseline: Mean of the first metric under the baseline, shape (points,).
    """

    panel: Panel
    baseline: Floats


def condition_pairs(lines: Iterable[Line]) -> list[ConditionPair]:
    """Pairs of lines that differ in exactly one condition, in order of task, family, axis and condition.

    Of several values the least is the baseline of all others: numbers by size, degrees from none to on, other words by
    length (``generate`` before ``chain_of_thought > generate``). A condition that one of the lines does not state makes
    no pair, because what was not stated is not known; nor do :data:`WHICH_ITEMS`. Points are those places that both
    lines have with the same models; a pair without any is left out.
    """
    groups: dict[tuple[str, str, str], list[Line]] = defaultdict(list)
    for line in lines:
        if line.stops:
            groups[line.task, line.family, line.axis].append(line)
    return [pair for _, alike in sorted(groups.items()) for pair in _of_group(alike)]


def _of_group(lines: Sequence[Line]) -> list[ConditionPair]:
    told = [(_stated(line), line) for line in lines]
    pairs = []
    for name in sorted({name for stated, _ in told for name in stated}):
        alike: dict[tuple[tuple[str, str], ...], list[tuple[str, Line]]] = defaultdict(list)
        for stated, line in told:
            if name in stated:
                rest = tuple(sorted((k, v) for k, v in stated.items() if k != name))
                alike[rest].append((stated[name], line))
        for _, members in sorted(alike.items()):
            (before, base), *others = sorted(members, key=lambda one: (_degree(one[0]), one[0]))
            made = [_pair(name, (before, after), base, line) for after, line in others if after != before]
            pairs += [pair for pair in made if pair.first.stops]
    return pairs


def _stated(line: Line) -> Mapping[str, str]:
    """Conditions of a line's runs: a line holds runs under the same ones only."""
    run: Run = line.stops[0].groups[0][0]
    return {name: value for name, value in run.conditions.items() if name not in WHICH_ITEMS}


def _degree(value: str) -> tuple[int, float, int]:
    try:
        return 0, float(value), 0
    except ValueError:
        rank = _RANK.get(value.casefold())
        # "none" stands before every number (no budget, a budget of 1024), other words after
        return (-1, 0.0, 0) if rank == 0 else (1, float(len(_DEGREES) if rank is None else rank), len(value))


def _pair(name: str, values: tuple[str, str], first: Line, second: Line) -> ConditionPair:
    known = first.axis_known
    there = {_place(stop, known): stop for stop in second.stops}
    common = [(stop, there[place]) for stop in first.stops if (place := _place(stop, known)) in there]
    one = first._replace(stops=tuple(stop for stop, _ in common))
    other = second._replace(stops=tuple(stop for _, stop in common))
    return ConditionPair(name, *values, one, other)


def _place(stop: Stop, known: bool) -> tuple[float | None, frozenset[tuple[str, int | None]]]:
    """What must be equal for two points to be of the same models and seeds; an order of creation is no place."""
    models = frozenset(
        (group[0].model.rstrip("/").rpartition("/")[2].casefold(), group[0].seed) for group in stop.groups
    )
    return (stop.x if known else None), models


def condition_panel(pair: ConditionPair, block: Block, metrics: Sequence[str]) -> Difference | None:
    """Item by item, scores under the second condition less those under the first.

    Args:
        pair: Which lines.
        block: Scores of the runs of both under one answer filter.
        metrics: Metric ids, the hard one first; those that either line cannot be followed by are left out.

    Returns:
        None when no point or no item is shared.
    """
    kept = [i for i, stops in enumerate(zip(pair.first.stops, pair.second.stops, strict=True)) if _there(*stops, block)]
    lines = [line._replace(stops=tuple(line.stops[i] for i in kept)) for line in (pair.first, pair.second)]
    sides = [panel(line, block, metrics) for line in lines]
    if len(sides[0].points) != len(sides[1].points) or not sides[0].points:
        return None
    shared = sorted(set(sides[0].items) & set(sides[1].items))
    names = [name for name in sides[0].values if name in sides[1].values]
    if not shared or not names:
        return None
    before, after = ({n: _columns(side, n, shared) for n in names} for side in sides)
    with np.errstate(invalid="ignore"):
        values = {n: after[n] - before[n] for n in names}
    made = replace(
        sides[0],
        task=pair.task,
        family=pair.family,
        items=tuple(shared),
        values=values,
        replicates={n: _replicates(sides, n, set(shared)) for n in names},
        positions=None,
        runs=tuple(one + other for one, other in zip(sides[0].runs, sides[1].runs, strict=True)),
    )
    return Difference(made, np.nanmean(before[names[0]], axis=1))


def _there(one: Stop, other: Stop, block: Block) -> bool:
    return all(group[0].run_key in block.runs for stop in (one, other) for group in stop.groups)


def _columns(side: Panel, metric: str, items: Sequence[str]) -> Floats:
    place = {item: i for i, item in enumerate(side.items)}
    values: Floats = side.values[metric][:, [place[item] for item in items]]
    return values


def _replicates(sides: Sequence[Panel], metric: str, shared: set[str]) -> list[Floats]:
    """Differences of each training seed, where both conditions have the same ones on the same items."""
    same = all(set(side.items) == shared for side in sides)
    pairs = list(zip(*(side.replicates[metric] for side in sides), strict=True))
    if same and all(one.size == other.size for one, other in pairs):
        return [np.asarray(other - one) for one, other in pairs]
    return [np.array([other.mean() - one.mean()]) for one, other in pairs]
