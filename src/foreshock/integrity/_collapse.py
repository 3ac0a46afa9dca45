"""FS107: several tasks fall to chance together along a line of models."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from foreshock._base import count_of
from foreshock.integrity._together import FEWEST, Together, fell_together
from foreshock.integrity._told import possible, some
from foreshock.integrity._totals import Total
from foreshock.records import Evidence, Finding, Need, Rate, Run, State, Subject
from foreshock.series import Line
from foreshock.stats import holm

LEVEL = 0.05
"""Chance of any false FS107 in one look at a store; Holm's rule over the steps that are tested."""


class _Step(NamedTuple):
    """One step along the lines of one family: the same two places on several tasks."""

    family: str
    axis: str
    before: str
    after: str


def collapses(lines: Iterable[Line], found: Iterable[Total], chance: Mapping[str, float]) -> list[Finding]:
    """FS107 for every step at which most tasks fell to chance.

    Args:
        lines: Lines of all tasks; those in mere order of creation are left out: nothing says that their models are
            related.
        found: Totals of the runs.
        chance: Score of guessing, by task.
    """
    best = _main(found)
    steps: dict[_Step, dict[str, tuple[Run, Run]]] = defaultdict(dict)
    for line in lines:
        if line.axis_known:
            for one, two in pairwise(line.stops):
                step = _Step(line.family, line.axis, one.label, two.label)
                steps[step].setdefault(line.task, (one.groups[0][0], two.groups[0][0]))
    tested = [(step, tasks, _test(tasks, best, chance)) for step, tasks in sorted(steps.items())]
    told = [(step, tasks, names, test) for step, tasks, (names, test) in tested if test.p is not None]
    adjusted = holm([test.p for *_, test in told if test.p is not None])
    return [
        _finding(step, tasks, names, test, float(q))
        for (step, tasks, names, test), q in zip(told, adjusted, strict=True)
        if q <= LEVEL
    ]


def _main(found: Iterable[Total]) -> dict[str, Total]:
    """The total that speaks for a run: a hard one of the whole task before any other, with an error before without."""
    best: dict[str, Total] = {}
    for total in found:
        old = best.get(total.run.run_key)
        if total.whole and total.rising and (old is None or _rank(total) > _rank(old)):
            best[total.run.run_key] = total
    return best


def _rank(total: Total) -> tuple[bool, bool, bool]:
    return bool(total.hard), _error(total) > 0, not total.logged


def _error(total: Total) -> float:
    """Standard error with the binomial's own at the ends of the scale, where the sample's is 0 (Agresti and Coull)."""
    logged = total.stderr or 0.0
    if total.n and total.hard:
        share = (total.value * total.n + 2) / (total.n + 4)
        return max(logged, math.sqrt(share * (1 - share) / (total.n + 4))) if 0 <= share <= 1 else logged
    return logged


def _test(
    tasks: Mapping[str, tuple[Run, Run]], best: Mapping[str, Total], chance: Mapping[str, float]
) -> tuple[list[str], Together]:
    names = [name for name, runs in sorted(tasks.items()) if all(run.run_key in best for run in runs)]
    pairs = [tuple(best[run.run_key] for run in tasks[name]) for name in names]
    names = [name for name, (one, two) in zip(names, pairs, strict=True) if one.metric == two.metric]
    pairs = [(one, two) for one, two in pairs if one.metric == two.metric]
    before = np.array([one.value for one, _ in pairs])
    after = np.array([two.value for _, two in pairs])
    errors = np.array([[_error(one), _error(two)] for one, two in pairs]).reshape(-1, 2)
    level = np.array([chance.get(name, np.nan) for name in names])
    return names, fell_together(before, errors[:, 0], after, errors[:, 1], level)


def _finding(
    step: _Step, tasks: Mapping[str, tuple[Run, Run]], names: Sequence[str], test: Together, q: float
) -> Finding:
    fallen = [name for name, fell in zip(names, test.fallen.tolist(), strict=True) if fell]
    able = int(test.able.sum())
    return Finding(
        code="FS107",
        subject=Subject(
            model_family=step.family,
            model=step.after,
            axis=step.axis,
            runs=sorted(tasks[name][1].run_key for name in fallen),
        ),
        state=State.FIRING,
        verdict="suspect-harness",
        title=(
            f"from {step.before} to {step.after} {len(fallen):,} of {count_of(able, 'task')} fell to chance together "
            f"({some(fallen)}): suspect the harness before the model"
        ),
        p=test.p,
        q=q,
        null=(
            f"fewer than {test.at_least} of {able} tasks lost half of their height above chance "
            "(exchangeable unit: the task; valid under any dependence between tasks)"
        ),
        rate=Rate(stated=LEVEL),
        needs=[Need(what="tasks above chance", have=able, enough=FEWEST)],
        alternatives=[
            possible("harness or format fault", "one cause explains all: template, tokenizer, packing, stop words"),
            possible("the model collapsed", "a training run can diverge; its loss would show it"),
        ],
        evidence=[
            Evidence(run=tasks[name][1].run_key, item=None, epoch=None, what=f"{name} is at chance") for name in fallen
        ],
        evidence_total=len(fallen),
        advice="run one of these tasks with another harness, or read ten of its outputs, before believing any of them",
    )
