"""What varies among the runs of a task, and how each of these is put together: nothing is averaged in silence."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from foreshock.records import ModelCard, Run
from foreshock.series._cards import family_label
from foreshock.store import Snapshot

APART, MEAN, NEWEST = "apart", "mean", "newest"
"""How the values of a dimension are put together: never, as their mean, or as the newest of them."""

_SHOWN = 6


class Dimension(NamedTuple):
    """One thing in which runs or responses of a task differ besides the model.

    Attributes:
        task: Task.
        name: ``step``, ``seed``, ``repeat``, ``epoch``, ``sample``, ``filter``, ``perturbation``, or a condition.
        values: How many values there are; of repeats, how many models have them.
        examples: Some of them, in order.
        treatment: :data:`APART`, :data:`MEAN` or :data:`NEWEST`.
        how: The same in words.
    """

    task: str
    name: str
    values: int
    examples: tuple[str, ...]
    treatment: str
    how: str


_HOW: dict[str, tuple[str, str]] = {
    "step": (APART, "checkpoints are points of their own line; a line of sizes takes the last one"),
    "seed": (MEAN, "seeds share a point, which is their mean; their spread is the noise between models"),
    "repeat": (NEWEST, "the newest run of a model counts; older ones are listed and otherwise unused"),
    "epoch": (MEAN, "epochs are averaged within an item first; errors are over items"),
    "sample": (MEAN, "samples are averaged within an item first; errors are over items"),
    "filter": (APART, "each answer filter is judged by itself"),
    "perturbation": (APART, "perturbed items are judged by themselves"),
}
_CONDITION = (APART, "runs under different conditions are on different lines")


def dimensions(snapshot: Snapshot, runs: Iterable[Run], cards: Mapping[str, ModelCard]) -> list[Dimension]:
    """What varies within each task, in the order of task and name; dimensions with one value are left out.

    Args:
        snapshot: Where the runs are.
        runs: Runs to look at.
        cards: Card of each run, by run key.
    """
    by_task: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    found = [d for task, members in sorted(by_task.items()) for d in _of_runs(task, members, cards)]
    keys = sorted(run.run_key for members in by_task.values() for run in members if run.counts.delivered)
    found += _of_responses(snapshot, keys) if keys else []
    return sorted(found, key=lambda d: (d.task, d.name))


def _of_runs(task: str, runs: Sequence[Run], cards: Mapping[str, ModelCard]) -> list[Dimension]:
    facts: dict[str, Callable[[Run], object]] = {
        "step": lambda run: cards[run.run_key].step,
        "seed": lambda run: cards[run.run_key].seed if cards[run.run_key].seed is not None else run.seed,
    }
    found = [_dimension(task, name, {fact(run) for run in runs}) for name, fact in facts.items()]
    conditions = sorted({name for run in runs for name in run.conditions})
    found += [_dimension(task, name, {run.conditions.get(name) for run in runs}, unknown=True) for name in conditions]
    alike: dict[tuple[object, ...], int] = defaultdict(int)
    for run in runs:
        card = cards[run.run_key]
        alike[run.model, family_label(card), card.step, card.seed, run.seed, *sorted(run.conditions.items())] += 1
    again = sorted({f"{model} ({n} runs)" for (model, *_), n in alike.items() if n > 1})
    if again:
        found.append(Dimension(task, "repeat", len(again), tuple(again[:_SHOWN]), *_HOW["repeat"]))
    return [dimension for dimension in found if dimension is not None]


def _dimension(task: str, name: str, seen: set[object], *, unknown: bool = False) -> Dimension | None:
    """A condition that some runs do not state differs from those that do; an unknown seed or step does not."""
    known = seen - {None}
    if len(seen if unknown else known) < 2:
        return None
    told = sorted(known, key=_order)
    examples = [f"{value}" for value in told] + (["not stated"] if unknown and None in seen else [])
    return Dimension(task, name, len(examples), tuple(examples[:_SHOWN]), *_HOW.get(name, _CONDITION))


def _order(value: object) -> tuple[float, str]:
    """Numbers by size, words by name; ``10`` after ``5`` although both are text in a condition."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.inf
    return (math.inf if math.isnan(number) else number), str(value)


def _of_responses(snapshot: Snapshot, keys: Sequence[str]) -> list[Dimension]:
    import polars as pl

    names = ["epoch", "sample", "filter", "perturbation"]
    frame = snapshot.scan("responses", runs=keys, columns=["task", *names])
    # an item as it is stands beside its perturbations, an answer without a filter beside those with one
    seen = frame.group_by("task").agg(pl.col(name).unique().sort(nulls_last=False) for name in names).collect()
    found = []
    for row in seen.sort("task").iter_rows(named=True):
        for name in names:
            known = [value for value in row[name] if value is not None]
            own = name in ("filter", "perturbation") and len(known) < len(row[name])
            told = (["none"] if own else []) + [f"{value}" for value in known]
            if len(told) > 1:
                found.append(Dimension(row["task"], name, len(told), tuple(told[:_SHOWN]), *_HOW[name]))
    return found
