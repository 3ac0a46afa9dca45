"""FS107: several tasks fall to chance together along a line of models."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from foreshock._base import count_of
from foreshock.integrity._together import FEWEST, Together, dropped_together, fell_together
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


class _Found(NamedTuple):
    """A step with its runs by task, the tasks that were tested, and the test."""

    step: _Step
    tasks: Mapping[str, tuple[Run, Run]]
    names: Sequence[str]
    test: Together

    @property
    def fallen(self) -> list[str]:
        """Tasks that fell."""
        return [name for name, fell in zip(self.names, self.test.fallen.tolist(), strict=True) if fell]

    @property
    def subject(self) -> Subject:
        """What a finding about it is about."""
        runs = sorted(self.tasks[name][1].run_key for name in self.fallen)
        return Subject(model_family=self.step.family, model=self.step.after, axis=self.step.axis, runs=runs)


def collapses(lines: Iterable[Line], found: Iterable[Total], chance: Mapping[str, float]) -> list[Finding]:
    """FS107 for every step at which most tasks fell to chance, or fell together with their score of guessing unknown.

    Args:
        lines: Lines of all tasks; those in mere order of creation are left out: nothing says that their models are
            related.
        found: Totals of the runs.
        chance: Score of guessing, by task; tasks without it are only asked whether they fell, which is pending.
    """
    best = _main(found)
    steps: dict[_Step, dict[str, tuple[Run, Run]]] = defaultdict(dict)
    for line in lines:
        if line.axis_known:
            for one, two in pairwise(line.stops):
                step = _Step(line.family, line.axis, one.label, two.label)
                steps[step].setdefault(line.task, (one.groups[0][0], two.groups[0][0]))
    lit = [_Found(step, steps[step], *_test(steps[step], best, chance)) for step in sorted(steps)]
    dark = [_Found(step, steps[step], *_drop(steps[step], best, chance)) for step in sorted(steps)]
    beyond = _beyond_chance([*lit, *dark])
    fallen = [(one, q) for one, q in beyond if any(one is other for other in lit)]
    told = {one.step for one, _ in fallen}
    unknown = [(one, q) for one, q in beyond if any(one is other for other in dark) and one.step not in told]
    known = {one.step: sum(name in chance for name in one.tasks) for one, _ in unknown}
    return [*(_finding(*one) for one in fallen), *(_unknown(*one, known[one[0].step]) for one in unknown)]


def _beyond_chance(found: Sequence[_Found]) -> list[tuple[_Found, float]]:
    """Steps whose test holds after Holm's rule over all tests of both kinds, with their adjusted p-values."""
    tested = [one for one in found if one.test.p is not None]
    adjusted = holm([one.test.p for one in tested if one.test.p is not None])
    return [(one, float(q)) for one, q in zip(tested, adjusted, strict=True) if q <= LEVEL]


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


def _pairs(
    tasks: Mapping[str, tuple[Run, Run]], best: Mapping[str, Total], names: Iterable[str]
) -> tuple[list[str], list[tuple[Total, Total]]]:
    """Tasks of which both runs have a total by one metric, with both totals."""
    there = [name for name in sorted(names) if all(run.run_key in best for run in tasks[name])]
    pairs = {name: (best[tasks[name][0].run_key], best[tasks[name][1].run_key]) for name in there}
    same = {name: pair for name, pair in pairs.items() if pair[0].metric == pair[1].metric}
    return list(same), list(same.values())


def _test(
    tasks: Mapping[str, tuple[Run, Run]], best: Mapping[str, Total], chance: Mapping[str, float]
) -> tuple[list[str], Together]:
    names, pairs = _pairs(tasks, best, tasks)
    before = np.array([one.value for one, _ in pairs])
    after = np.array([two.value for _, two in pairs])
    errors = np.array([[_error(one), _error(two)] for one, two in pairs]).reshape(-1, 2)
    level = np.array([chance.get(name, np.nan) for name in names])
    return names, fell_together(before, errors[:, 0], after, errors[:, 1], level)


def _drop(
    tasks: Mapping[str, tuple[Run, Run]], best: Mapping[str, Total], chance: Mapping[str, float]
) -> tuple[list[str], Together]:
    """The same of right-or-wrong tasks whose score of guessing is not known: whether they fell."""
    names, pairs = _pairs(tasks, best, [name for name in tasks if name not in chance])
    hard = [place for place, (one, _) in enumerate(pairs) if one.hard]
    names, pairs = [names[place] for place in hard], [pairs[place] for place in hard]
    values = np.array([[one.value, two.value] for one, two in pairs]).reshape(-1, 2)
    errors = np.array([[_error(one), _error(two)] for one, two in pairs]).reshape(-1, 2)
    return names, dropped_together(values[:, 0], errors[:, 0], values[:, 1], errors[:, 1])


def _finding(found: _Found, q: float) -> Finding:
    step, test, fallen, able = found.step, found.test, found.fallen, int(found.test.able.sum())
    return Finding(
        code="FS107",
        subject=found.subject,
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
            Evidence(run=found.tasks[name][1].run_key, item=None, epoch=None, what=f"{name} is at chance")
            for name in fallen
        ],
        evidence_total=len(fallen),
        advice="run one of these tasks with another harness, or read ten of its outputs, before believing any of them",
    )


def _unknown(found: _Found, q: float, known: int) -> Finding:
    """Most tasks fell, and whether to chance cannot be seen; of ``known`` tasks the score of guessing is known."""
    step, test, fallen, able = found.step, found.test, found.fallen, int(found.test.able.sum())
    return Finding(
        code="FS107",
        subject=found.subject,
        state=State.PENDING,
        verdict="chance-unknown",
        title=(
            f"from {step.before} to {step.after} {len(fallen):,} of {count_of(able, 'task')} fell together "
            f"({some(fallen)}); whether to chance was not looked at: their score of guessing is not known"
        ),
        p=test.p,
        q=q,
        null=(
            f"fewer than {test.at_least} of {able} tasks scored less "
            "(exchangeable unit: the task; valid under any dependence between tasks)"
        ),
        rate=Rate(stated=LEVEL),
        needs=[Need(what="tasks whose score of guessing is known", have=known, enough=FEWEST)],
        alternatives=[
            possible("harness or format fault", "one cause explains all: template, tokenizer, packing, stop words"),
            possible("the model is worse", "a model may be worse at many tasks without a fault"),
        ],
        evidence=[
            Evidence(run=found.tasks[name][1].run_key, item=None, epoch=None, what=f"{name} fell") for name in fallen
        ],
        evidence_total=len(fallen),
        advice="keep the responses (lm-eval: --log_samples): their options tell the score of guessing; or say --chance",
    )
