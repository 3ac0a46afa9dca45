"""Which runs form a line, and what orders them.

A *line* is one task and one model family along one axis, before any score is looked at. The axis is chosen by a fixed
order that does not look at scores: the axis that the user of a table named, if every run has a place on it; else sizes
if the family has several, else the checkpoints of a training run, else training tokens, compute, release date; a task
without any of these is shown in the order of creation, marked so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from foreshock._base import ConfigError, canonical
from foreshock.records import ModelCard, Run, RunStatus
from foreshock.series._cards import family_label

AXES = ("parameters", "active_parameters", "tokens", "flops", "step", "released", "created")
"""What can order models, in the order in which it is tried (``step`` also makes a line of its own for every size)."""

WIDE = 100.0
"""Ratio of the largest to the smallest value above which an axis of another kind is read on a log scale."""

LOG_AXES = frozenset({"parameters", "active_parameters", "tokens", "flops", "step"})
"""Axes that count something and are read on a log scale whatever they span."""


class Stop(NamedTuple):
    """One point of a line before its scores are known.

    Attributes:
        label: Step along a training run; else the model, or its size where several seeds share the point.
        x: Axis value.
        groups: One tuple of runs per seed; in each the newest run first, the others are repeats of it.
        mixed: Whether these are several models that share the place, and not seeds of one.
    """

    label: str
    x: float
    groups: tuple[tuple[Run, ...], ...]
    mixed: bool = False


class Line(NamedTuple):
    """One task and one model family along one axis.

    Attributes:
        task, family, axis: As in :class:`Panel`.
        axis_known: False when the runs are only in order of creation.
        trajectory: Whether the points are checkpoints of one training run.
        conditions: The conditions by which this line differs from others of its task and family, as text.
        stops: Points in ascending order of ``x``.
        left_out: Runs that did not complete and are therefore not part of a trend.
    """

    task: str
    family: str
    axis: str
    axis_known: bool
    trajectory: bool
    conditions: str
    stops: tuple[Stop, ...]
    left_out: int

    @property
    def log_axis(self) -> bool:
        """Whether the axis is read on a log scale: counts are, other quantities when they span over two decades."""
        if self.axis in AXES:
            return self.axis in LOG_AXES
        low, high = (self.stops[0].x, self.stops[-1].x) if self.stops else (0.0, 0.0)
        return low > 0 and high > WIDE * low


def lines(runs: Iterable[Run], cards: Mapping[str, ModelCard], axis: str | None = None) -> list[Line]:
    """Group runs into lines.

    Args:
        runs: Runs of a snapshot.
        cards: Card of each run, by run key.
        axis: Force this axis instead of the fixed order.

    Returns:
        Lines in order of task, family and axis. Without ``axis``, every task and family has at least one line. Runs of
        one family under different conditions (shots, reasoning effort, ...) are on different lines.

    Raises:
        ConfigError: ``axis`` is not one of :data:`AXES`.
    """
    if axis is not None and axis not in AXES:
        raise ConfigError(f"unknown axis {axis!r}", expected=f"one of {', '.join(AXES)}", do="choose one of them")
    families: dict[tuple[str, str], list[Run]] = defaultdict(list)
    by_date = axis in ("released", "created")
    for run in runs:
        # along dates the question is about the field, not about one family
        families[run.task, "all models" if by_date else family_label(cards[run.run_key])].append(run)
    return [
        line
        for (task, family), members in sorted(families.items())
        for conditions, alike in _by_condition(members)
        for line in _lines_of(_Group(task, family, conditions, alike, cards), axis)
    ]


def conditions_text(run: Run) -> str:
    """The conditions of a run as one comparable text, ``shots=5, limit=100``."""
    return ", ".join(f"{key}={run.conditions[key]}" for key in sorted(run.conditions))


def _by_condition(runs: Sequence[Run]) -> list[tuple[str, list[Run]]]:
    """Runs under the same conditions, named by those conditions that are not the same for all."""
    names = {name for run in runs for name in run.conditions}
    varying = {name for name in names if len({run.conditions.get(name) for run in runs}) > 1}
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        told = [f"{name}={run.conditions[name]}" for name in sorted(varying) if name in run.conditions]
        groups[", ".join(told)].append(run)
    return sorted(groups.items())


class _Group(NamedTuple):
    """Runs of one task, family and set of conditions, with the cards of all runs."""

    task: str
    family: str
    conditions: str
    members: list[Run]
    cards: Mapping[str, ModelCard]

    def line(self, runs: Sequence[Run], axis: str, label: str) -> Line:
        complete = sum(run.status is RunStatus.COMPLETE for run in self.members)
        stops = _stops(runs, self.cards, axis)
        known, trajectory = axis != "created", axis == "step"
        return Line(self.task, label, axis, known, trajectory, self.conditions, stops, len(self.members) - complete)

    def values(self, runs: Sequence[Run], axis: str) -> set[float]:
        found = (axis_value(run, self.cards[run.run_key], axis) for run in runs)
        return {value for value in found if value is not None}


def _lines_of(group: _Group, axis: str | None) -> list[Line]:
    complete = [run for run in group.members if run.status is RunStatus.COMPLETE]
    if axis is not None:
        return [group.line(complete, axis, group.family)] if group.values(complete, axis) else []
    own = {_own_axis(run) for run in complete}
    if len(own) == 1 and (name := own.pop()) and len(group.values(complete, name)) > 1:
        return [group.line(complete, name, group.family)]
    found = []
    if len(group.values(complete, "parameters")) > 1:
        found.append(group.line(_last_steps(complete, group.cards), "parameters", group.family))
    found += [
        group.line(runs, "step", label)
        for size, members in _by_size(group.family, complete, group.cards)
        for label, runs in _by_schedule(size, members, group.cards)
        if len(group.values(runs, "step")) > 1
    ]
    if found:
        return found
    for name in ("tokens", "flops", "released"):
        if len(group.values(complete, name)) > 1:
            return [group.line(complete, name, group.family)]
    return [group.line(complete, "created", group.family)]


def _last_steps(runs: list[Run], cards: Mapping[str, ModelCard]) -> list[Run]:
    """Runs with a known size, and of each size only those at its last checkpoint."""
    sized = [run for run in runs if cards[run.run_key].parameters is not None]
    last: dict[float | None, int] = {}
    for run in sized:
        card = cards[run.run_key]
        last[card.parameters] = max(last.get(card.parameters, -1), -1 if card.step is None else card.step)
    return [r for r in sized if _step(cards[r.run_key]) == last[cards[r.run_key].parameters]]


def _step(card: ModelCard) -> int:
    return -1 if card.step is None else card.step


def _by_size(family: str, runs: list[Run], cards: Mapping[str, ModelCard]) -> list[tuple[str, list[Run]]]:
    groups: dict[float | None, list[Run]] = defaultdict(list)
    for run in runs:
        groups[cards[run.run_key].parameters].append(run)
    ordered = sorted(groups.items(), key=lambda kv: (kv[0] is None, kv[0] or 0.0))
    return [(family if size is None else f"{family} {size_text(size)}", members) for size, members in ordered]


def _by_schedule(size: str, runs: list[Run], cards: Mapping[str, ModelCard]) -> list[tuple[str, list[Run]]]:
    """Runs of one size by seed; seeds that were logged at the same steps stay together.

    A seed of which only the last checkpoint was logged must not be averaged into that one point of another's training:
    the change of company would look like a change of the model.
    """
    steps: dict[int | None, set[int]] = defaultdict(set)
    for run in runs:
        steps[_seed(run, cards[run.run_key])].add(_step(cards[run.run_key]))
    alike: dict[tuple[int, ...], list[int | None]] = defaultdict(list)
    for seed, seen in steps.items():
        alike[tuple(sorted(seen))].append(seed)
    if len(alike) == 1:
        return [(size, runs)]
    groups = sorted(alike.values(), key=lambda seeds: min(-1 if seed is None else seed for seed in seeds))
    return [
        (_seeds_text(size, seeds), [run for run in runs if _seed(run, cards[run.run_key]) in seeds]) for seeds in groups
    ]


def _seeds_text(size: str, seeds: list[int | None]) -> str:
    known = sorted(seed for seed in seeds if seed is not None)
    return f"{size} seed {', '.join(map(str, known))}" if known else size


def size_text(parameters: float) -> str:
    """``1.4B``, ``70M``, ``3,888``: a parameter count as people write it.

    Examples:
        >>> size_text(1.4e9), size_text(70e6), size_text(3888)
        ('1.4B', '70M', '3,888')
    """
    for unit, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if parameters >= unit:
            return f"{parameters / unit:.3g}{letter}"
    return f"{parameters:,.0f}"


def axis_value(run: Run, card: ModelCard, axis: str) -> float | None:
    """Value of a run on an axis: a count, days since 1970 for dates, or the value of its own; None when unknown."""
    if axis not in AXES:
        return float(run.meta["axis"]["value"]) if _own_axis(run) == axis else None
    if axis == "created":
        return _days(run.created)
    if axis == "released":
        return _days(card.released)
    value = card.compute if axis == "flops" else getattr(card, axis)
    if axis == "active_parameters" and value is None:
        value = card.parameters
    return None if value is None else float(value)


def _own_axis(run: Run) -> str | None:
    """Name of the quantity that the user of a table named as axis, when it is none of :data:`AXES`."""
    own = run.meta.get("axis")
    if not isinstance(own, dict) or not isinstance(own.get("value"), int | float):
        return None
    name = own.get("name")
    if not isinstance(name, str) or name in AXES:
        return None
    return name


def _days(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds() / 86_400


def _stops(runs: Sequence[Run], cards: Mapping[str, ModelCard], axis: str) -> tuple[Stop, ...]:
    """Points of a line. In order of creation every model is a point; elsewhere every axis value is one."""
    if axis == "created":
        return _stops_in_order(runs)
    at: dict[float, list[Run]] = defaultdict(list)
    for run in runs:
        x = axis_value(run, cards[run.run_key], axis)
        if x is not None:
            at[x].append(run)
    return tuple(_stop(x, at[x], axis, lambda run: _replicate(run, cards[run.run_key])) for x in sorted(at))


def _stops_in_order(runs: Sequence[Run]) -> tuple[Stop, ...]:
    models: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        models[run.model].append(run)
    ordered = sorted(models.values(), key=lambda group: (min(r.created or "9999" for r in group), group[0].model))
    return tuple(_stop(float(i), group, "created", lambda _: ("", "")) for i, group in enumerate(ordered))


def _replicate(run: Run, card: ModelCard) -> tuple[str, str]:
    """What sets runs at one place apart: the seed, and the model. Two models of one size are no repeats of each other.

    The same model may be logged under several addresses (``EleutherAI/pythia-70m`` and ``pythia-70m``).
    """
    return str(_seed(run, card)), run.model.rstrip("/").rpartition("/")[2].casefold()


def _seed(run: Run, card: ModelCard) -> int | None:
    return card.seed if card.seed is not None else run.seed


def _stop(x: float, runs: Sequence[Run], axis: str, replicate: Callable[[Run], tuple[str, str]]) -> Stop:
    groups: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        groups[replicate(run)].append(run)
    newest_first = [
        tuple(sorted(groups[name], key=lambda r: (r.created or "", r.run_key), reverse=True)) for name in sorted(groups)
    ]
    word = "seeds" if len({seed for seed, _ in groups}) == len(groups) else "models"
    label = _label(x, axis, [group[0].model for group in newest_first], word)
    return Stop(label, x, tuple(newest_first), mixed=word == "models")


def _label(x: float, axis: str, models: Sequence[str], word: str) -> str:
    """What a point is called in a sentence: the step along a training run, else the model or what its seeds share."""
    place = f"step {x:,.0f}" if axis == "step" else size_text(x) if axis in LOG_AXES else None
    if len(models) == 1:
        return place if place and axis == "step" else models[0]
    return f"{place or models[0]} ({len(models)} {word})"


def fingerprint(line: Line) -> bytes:
    """Identity of a line's data: which ingests stand at which point."""
    return canonical([[stop.x, [[run.ingest_id for run in group] for group in stop.groups]] for stop in line.stops])
