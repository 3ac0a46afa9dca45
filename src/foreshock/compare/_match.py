"""Which runs are compared with which: same task, same conditions, the newest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from foreshock._base import count_of
from foreshock.compare._options import CompareOptions, Side
from foreshock.records import Run
from foreshock.series import WHICH_ITEMS

OWN = "chat_template"
"""Condition of which only the presence must be equal: which template it is belongs to the model."""

_IN_NAME = re.compile(r"\d{4}-\d{2}-\d{2}[T_]\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?")


class Match(NamedTuple):
    """Runs of one task that may be compared.

    Attributes:
        task: Task.
        conditions: Conditions of each side, in the order of ``sides``.
        sides: Places of the sides that have runs here; the first is always 0, the baseline.
        runs: Runs used of each of them: one, or several that are pooled as repeats.
        unused: Sentences about runs that are not used.
    """

    task: str
    conditions: list[str]
    sides: list[int]
    runs: list[list[Run]]
    unused: list[str]


class Refusal(NamedTuple):
    """Something that is not compared, why, and what would help.

    Attributes:
        task: Task.
        side: Place of the side.
        why: Reason.
        do: What would help.
        lack: ``absent`` where the side has no run of the task, ``lost`` where it has one of which nothing arrived.
    """

    task: str
    side: int
    why: str
    do: str
    lack: str = ""


def match_runs(sides: Sequence[Side], options: CompareOptions) -> tuple[list[Match], list[Refusal]]:
    """Pair the runs of the first side with those of each other, task by task and condition by condition."""
    by_task = [_by_task(side, options) for side in sides]
    matches: list[Match] = []
    refused: list[Refusal] = []
    for task in sorted(set().union(*by_task)):
        base = by_task[0].get(task)
        others = [place for place in range(1, len(sides)) if task in by_task[place]]
        if base is None:
            refused += [Refusal(task, place, f"{sides[0].label} has no run of it", "") for place in others]
            continue
        missing = [place for place in range(1, len(sides)) if task not in by_task[place]]
        refused += [Refusal(task, place, f"{sides[place].label} has no run of it", "", "absent") for place in missing]
        found, left = _by_condition(task, by_task, others, sides, options)
        matches += found
        refused += left
    return matches, refused


def condition_of(run: Run) -> str:
    """The conditions of a run that must be equal: all but those that only say which items were asked, and how often."""
    told = _stated(run)
    return ", ".join(f"{key}={told[key]}" for key in sorted(told))


def _stated(run: Run) -> dict[str, str]:
    """Conditions that must be equal."""
    return {key: "yes" if key == OWN else value for key, value in run.conditions.items() if key not in WHICH_ITEMS}


def moment_of(run: Run) -> tuple[str, str]:
    """When a run was made: what the log says, then the moment in the name of its file, as harnesses write it there."""
    names = (_IN_NAME.search(source.path.replace("\\", "/").rpartition("/")[2]) for source in run.sources)
    return run.created or "", max((found[0] for found in names if found), default="")


def _by_task(side: Side, options: CompareOptions) -> dict[str, dict[str, list[Run]]]:
    """Runs of a side by task and conditions, newest first."""
    found: dict[str, dict[str, list[Run]]] = {}
    newest = sorted(side.runs, key=lambda run: (*moment_of(run), run.run_key), reverse=True)
    for run in newest:
        if not options.tasks or any(fnmatchcase(run.task, pattern) for pattern in options.tasks):
            found.setdefault(run.task, {}).setdefault(condition_of(run), []).append(run)
    return found


def _by_condition(
    task: str,
    by_task: Sequence[dict[str, dict[str, list[Run]]]],
    others: Sequence[int],
    sides: Sequence[Side],
    options: CompareOptions,
) -> tuple[list[Match], list[Refusal]]:
    base = by_task[0][task]
    matches, refused = [], []
    lonely = [place for place in others if not set(base) & set(by_task[place][task])]
    for condition in sorted(base):
        here = [place for place in others if condition in by_task[place][task]]
        if here:
            chosen = dict.fromkeys((0, *here), condition)
            matches.append(_match(task, chosen, by_task, sides, options))
    if lonely and options.across_conditions:
        chosen = {place: _latest(by_task[place][task]) for place in (0, *lonely)}
        matches.append(_match(task, chosen, by_task, sides, options))
    elif lonely:
        refused = [_different(task, place, base, by_task[place][task], sides) for place in lonely]
    return matches, refused


def _latest(by_condition: dict[str, list[Run]]) -> str:
    return max(by_condition, key=lambda condition: (by_condition[condition][0].created or "", condition))


def _match(
    task: str,
    chosen: dict[int, str],
    by_task: Sequence[dict[str, dict[str, list[Run]]]],
    sides: Sequence[Side],
    options: CompareOptions,
) -> Match:
    runs, unused = [], []
    for place, condition in chosen.items():
        there = by_task[place][task][condition]
        used = there if options.repeats == "pool" else there[:1]
        runs.append(used)
        if len(there) > 1:
            unused.append(_several(sides[place].label, there, options))
    return Match(task, list(chosen.values()), list(chosen), runs, unused)


def _several(label: str, runs: Sequence[Run], options: CompareOptions) -> str:
    if options.repeats == "pool":
        return f"{label}: {len(runs)} runs are pooled as repeats of every item; runs are not a sample of training seeds"
    rest = count_of(len(runs) - 1, "other run")
    equal = sum(moment_of(run) == moment_of(runs[0]) for run in runs)
    if equal > 1:
        when = f"all of {runs[0].created[:10]}" if runs[0].created else "without a date"
        return (
            f"{label}: {equal} runs are equally new ({when}); {runs[0].run_key[:8]} is compared, which is no choice by "
            f"time: name the run that you mean by its key (--repeats pool takes all as repeats)"
        )
    kept = f"{runs[0].run_key[:8]}" + (f" of {runs[0].created[:10]}" if runs[0].created else "")
    return f"{label}: the newest run ({kept}) is compared; {rest} not used (--repeats pool takes all as repeats)"


def _different(
    task: str, place: int, base: dict[str, list[Run]], other: dict[str, list[Run]], sides: Sequence[Side]
) -> Refusal:
    """Only what differs is said, of the newest run of each."""
    first, second = (_stated(found[_latest(found)][0]) for found in (base, other))
    keys = sorted(first.keys() | second.keys())
    told = [
        f"{key} is {first.get(key, 'not stated')} in {sides[0].label}, {second.get(key, 'not stated')} in "
        f"{sides[place].label}"
        for key in keys
        if first.get(key) != second.get(key)
    ]
    return Refusal(task, place, f"conditions differ: {'; '.join(told)}", "compare all the same: --across-conditions")
