"""Lines of models that wait to be judged with the others of their family, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from foreshock.check._asked import Judgeable
from foreshock.check._measures import Measure, Measures
from foreshock.check._pass_rate import pass_rate_of
from foreshock.check._tables import unit_of
from foreshock.check._task import Task
from foreshock.check._twin_command import How, how_to_get_a_twin
from foreshock.metrics import get_metric, harness_metric
from foreshock.mirage import (
    Entry,
    EntryFacts,
    Hard,
    Judgement,
    Trend,
    Twin,
    entry_facts,
    trend_of,
)
from foreshock.records import Finding, Light, Run
from foreshock.series import Block, Line, Panel, Shelf, panel

Floats = np.ndarray
ROUNDING = 1e-9
LIGHTS = {"break": Light.FIRING, "mirage": Light.WARN, "smooth": Light.OK, "unresolved": Light.NO_DATA}


class Place(NamedTuple):
    """What is judged together: the tasks of one model family along one axis, under one answer filter.

    Attributes:
        family: Model family, with the conditions by which its line differs from others of the family.
        axis: What orders the models.
        variant: Answer filter and perturbation; None for each task's primary one, so that no task counts twice.
        source: ``items`` or ``totals``: their noise is not of one kind.
    """

    family: str
    axis: str
    variant: str | None
    source: str


class Judged(NamedTuple):
    """One line with its answer.

    Attributes:
        finding: The answer.
        verdict: Row of the table ``verdicts``.
        series: Rows of the table ``series``.
        panel: What was looked at, without the scores; None for totals.
        judgement: What the mirage room said; None for totals without a twin.
        how: How a twin, or a better one, would come to be.
        difference: Whether it is a difference between two conditions.
        beside: Rows of further tables, by name of the table.
    """

    finding: Finding
    verdict: dict[str, Any]
    series: list[dict[str, Any]]
    panel: Panel | None
    judgement: Judgement | None
    how: How | None = None
    difference: bool = False
    beside: Mapping[str, list[dict[str, Any]]] = MappingProxyType({})

    @property
    def trend(self) -> tuple[Light, str]:
        """The line's light on the trust card."""
        subject = self.finding.subject
        word = self.finding.verdict or "unresolved"
        return LIGHTS[word], f"{subject.model_family} along {subject.axis}: {self.finding.title}"


class Held(NamedTuple):
    """What is kept of an entry when its item scores are let go.

    Attributes:
        labels: The panel without its scores.
        hard: The metric in question.
        twins: Its twins.
        items: Items behind each score.
        trend: What the forecast across the onset needs.
        facts: What the table of predictions needs.
    """

    labels: Panel
    hard: Hard
    twins: tuple[Twin, ...]
    items: int
    trend: Trend
    facts: EntryFacts

    @classmethod
    def of(cls, entry: Entry, seed: int) -> Held:
        """Keep what is small of an entry."""
        items = len(entry.panel.items) if entry.items is None else entry.items
        labels = replace(entry.panel, items=(), values={}, replicates={}, positions=None)
        return cls(labels, entry.hard, entry.twins, items, trend_of(entry), entry_facts(entry, seed=seed))


class Plan(NamedTuple):
    """What is known of a task before the scores of its lines are looked at.

    Attributes:
        measures: Its metrics.
        chance: Score of guessing on the main metric.
        choices: Whether its items offer options.
    """

    measures: Measures
    chance: float | None
    choices: bool

    @property
    def judged(self) -> list[Measure]:
        """Metrics that a verdict looks at, the hard one first."""
        main = self.measures.main
        return [*([main] if main is not None else []), *(twin for twin in self.measures.twins if not self._own(twin))]

    @property
    def ids(self) -> list[str]:
        """Their ids."""
        return [measure.id for measure in self.judged]

    @property
    def as_zero(self) -> dict[str, bool]:
        """Their ids, and whether an answer that could not be extracted counts as 0."""
        return {measure.id: measure.kind == "hard" for measure in self.judged}

    def metrics(self, made: Panel, block: Block) -> tuple[Hard, tuple[Twin, ...]]:
        """The hard metric as it is judged, and the twins with scores that are not its own."""
        main = self.measures.main
        assert main is not None
        hard = _hard(main, self.chance)
        twins = [_twin(measure, block) for measure in self.measures.twins if not self._own(measure)]
        return hard, tuple(_apart(made, hard, twins))

    def with_rate(self, made: Panel, block: Block) -> tuple[Panel, tuple[Twin, ...]]:
        """The panel with the pass rate of the hard metric itself beside it, and that as a twin, where there is one."""
        main, rate = self.measures.main, next(filter(self._own, self.measures.twins), None)
        found = pass_rate_of(main, rate, made, block) if main is not None and rate is not None else None
        return (found[0], (found[1],)) if found is not None else (made, ())

    def _own(self, twin: Measure) -> bool:
        """Whether a twin has no scores of its own: it is the mean of the hard metric over repeats."""
        return self.measures.main is not None and twin.id == self.measures.main.id


class ItemLine(NamedTuple):
    """A line with item scores that waits to be judged.

    Its scores are taken from the shelf when its family is judged and not before: a suite of thousands of tasks is never
    in memory with all its metrics and models at once.

    Attributes:
        line: Which runs stand where.
        plan: What is known of the task.
        filter, perturbation: Which of the task's blocks.
        variant: The same as text, where the task has several blocks; it then stands behind the task's name.
        first: Whether this is the task's primary block.
        metric: The metric, where the task is judged on several and this is not the first of them.
    """

    line: Line
    plan: Plan
    filter: str | None
    perturbation: str | None
    variant: str | None
    first: bool
    metric: str | None = None

    @property
    def place(self) -> Place:
        """What it is judged together with."""
        name = self.line.family if not self.line.conditions else f"{self.line.family} ({self.line.conditions})"
        apart = [text for text in (None if self.first else self.variant, self.metric) if text]
        return Place(name, self.line.axis, " · ".join(apart) or None, "items")

    def entry(self, shelf: Shelf) -> Entry | None:
        """Load the line; None when no point of it has a score."""
        block = self.block(shelf, runs_of(self.line))
        if block is None:
            return None
        place = self.plan.measures.position
        correct = shelf.scores(self.line.task).positions(block, place.id) if place else None
        made = panel(self.line, block, self.plan.ids, correct)
        if not made.points:
            return None
        made = named(made, self.plan, self.variant)
        hard, twins = self.plan.metrics(made, block)
        made, rate = self.plan.with_rate(made, block)
        main = self.plan.measures.main
        assert main is not None
        return Entry(
            made,
            hard,
            (*twins, *rate),
            _checks(self.line, main, self.plan.chance),
            how_twin=self.how.sentence.removesuffix("."),
        )

    def block(self, shelf: Shelf, runs: Sequence[Run]) -> Block | None:
        """Scores of some runs of the task on what is judged, under the line's answer filter."""
        blocks = shelf.scores(self.line.task).blocks(self.plan.as_zero, {run.run_key for run in runs})
        mine = (block for block in blocks if (block.filter, block.perturbation) == (self.filter, self.perturbation))
        return next(mine, None)

    @property
    def how(self) -> How:
        """How a twin, or a better one, would come to be."""
        return self.how_of(rates=True)

    def how_of(self, *, rates: bool) -> How:
        """The same; ``rates`` is whether the pass rate over repeats would be a twin."""
        return how_to_get_a_twin(newest(self.line), totals=False, choices=self.plan.choices, rates=rates)

    def told(self, held: Held, judgement: Judgement) -> Judged:
        """The line with its answer."""
        main = self.plan.measures.main
        rows = [
            {
                **row,
                "unit": _unit(row["role"], row["unit"], main),
                "chance": self.plan.chance if row["role"] == "hard" else None,
            }
            for row in series_rows(held, judgement)
        ]
        verdict = verdict_row(held, judgement, self.how)
        return Judged(judgement.finding, verdict, rows, held.labels, judgement, self.how)


def series_rows(held: Held, judgement: Judgement) -> list[dict[str, Any]]:
    """Rows of ``series``: the curves of a judgement."""
    made = held.labels
    return [
        {
            "finding_id": judgement.finding.id,
            "task": made.task,
            "family": made.family,
            "axis": made.axis,
            "axis_known": made.axis_known,
            "log_axis": made.log_axis,
            "metric": line.metric,
            "role": line.role,
            "unit": line.unit,
            "chance": None,
            "points": line.points(),
        }
        for line in judgement.lines
    ]


def verdict_row(held: Held, judgement: Judgement, how: How) -> dict[str, Any]:
    """Row of ``verdicts``: the verdict with what was fixed before any score was looked at.

    ``command`` is there where a twin, or one that is not made of decoded text, would help.
    """
    used = next((twin for twin in held.twins if twin.name == judgement.twin), None)
    lacking = judgement.verdict == "unresolved" and (used is None or used.decoded)
    return {
        **judgement.row(held.items, len(held.labels.points)),
        "level": judgement.finding.effect.level if judgement.finding.effect else None,
        "link": held.hard.link,
        "order": list(held.hard.order),
        "command": how.command if lacking else None,
    }


def item_lines(task: Task, judged: Sequence[Judgeable]) -> list[list[ItemLine]]:
    """Every line of a task that has item scores, under every answer filter, for each metric that it is judged on."""
    several = len(task.blocks) > 1
    return [
        [
            ItemLine(
                line,
                Plan(measures, chance, task.choices),
                block.filter,
                block.perturbation,
                block.variant if several else None,
                first=not k,
                metric=measures.main.name if place else None,
            )
            for k, block in enumerate(task.blocks)
            for line in task.lines
        ]
        for place, (measures, chance) in enumerate(judged)
        if measures.main is not None
    ]


def newest(line: Line) -> Run:
    """The run of a line that was made last."""
    return max(runs_of(line), key=lambda run: (run.created or "", run.run_key))


def newest_of(line: Line) -> list[tuple[str, Run]]:
    """Label of each point with the newest run of each of its models."""
    return [(stop.label, group[0]) for stop in line.stops for group in stop.groups]


def runs_of(line: Line) -> list[Run]:
    """All runs of a line."""
    return [run for stop in line.stops for group in stop.groups for run in group]


def named(made: Panel, plan: Plan, answer_filter: str | None) -> Panel:
    """Metric names instead of ids, because sentences are made of them; the filter only where there are several."""
    names = {measure.id: measure.name for measure in plan.measures.all}
    return replace(
        made,
        task=made.task if answer_filter is None else f"{made.task} [{answer_filter}]",
        values={names[key]: value for key, value in made.values.items()},
        replicates={names[key]: value for key, value in made.replicates.items()},
    )


def _hard(main: Measure, chance: float | None) -> Hard:
    # a harness score whose link is not known is read as a product of parts, the form in which mirages come
    link: Any = main.link or "all-of-N"
    ceiling = main.high if main.high is not None else 1.0
    parts, threshold = _declared(main)
    return Hard(
        main.name, link, chance=chance or 0.0, ceiling=ceiling, binary=main.binary, parts=parts, threshold=threshold
    )


def _declared(main: Measure) -> tuple[int | None, float | None]:
    """Attempts of which one must succeed, and the score from which an answer counts, where the metric says so."""
    if main.source == "harness":
        known = harness_metric(main.name)
        return known.attempts if known is not None and known.link == "any-of-T" else None, None
    params = dict(get_metric(main.name).params)
    attempts, threshold = params.get("k"), params.get("threshold")
    return attempts if isinstance(attempts, int) else None, None if threshold is None else float(str(threshold))


def _twin(measure: Measure, block: Block) -> Twin:
    high = measure.high if measure.high is not None else 1.0
    return Twin(measure.name, measure.base, high=high, trials=_trials(measure, block))


def _trials(measure: Measure, block: Block) -> int:
    """Answers behind an item's pass rate; each of them carries the rate as its score."""
    counts = block.counts.get(measure.id)
    if measure.base != "pass_rate" or counts is None or not (counts > 0).any():
        return 1
    return max(1, int(np.median(counts[counts > 0])))


def _apart(made: Panel, hard: Hard, twins: list[Twin]) -> list[Twin]:
    """Twins that are not the hard metric by another name: the similarity of one-word answers is 0 or 1 as well."""
    own = made.values.get(hard.name)
    return [t for t in twins if own is None or t.name not in made.values or not _same(made.values[t.name], own)]


def _same(one: Floats, other: Floats) -> bool:
    """Equal but for rounding, which differs with the number of answers behind a mean."""
    return bool(np.allclose(one, other, rtol=0.0, atol=ROUNDING, equal_nan=True))


def _checks(line: Line, main: Measure, chance: float | None) -> Mapping[str, tuple[str, str]]:
    """Alternatives that the line's own runs settle; what a log does not state stays unchecked."""
    runs = runs_of(line)
    checks: dict[str, tuple[str, str]] = {}
    versions = {(run.format, run.writer, run.task_version, run.scorer_hash) for run in runs}
    stated = all(run.task_version is not None or run.scorer_hash is not None for run in runs)
    if len(versions) > 1:
        checks["harness or scorer change"] = ("possible", f"{len(versions)} versions of harness, task or scorer")
    elif stated:
        checks["harness or scorer change"] = ("ruled-out", "one harness version, task version and scorer throughout")
    prompts = {run.prompt_hash for run in runs}
    if len(prompts - {None}) > 1:
        checks["prompt change"] = ("possible", f"{len(prompts - {None})} different prompts")
    elif len(prompts) == 1 and None not in prompts:
        checks["prompt change"] = ("ruled-out", "the same prompt hash throughout")
    if line.family == "all models":
        checks["model family"] = ("possible", "the line runs through several model families")
    mixed = [stop for stop in line.stops if stop.mixed]
    if mixed:
        shared = ", ".join(stop.label for stop in mixed[:3]) + (", ..." if len(mixed) > 3 else "")
        checks["models that share a place"] = (
            "possible",
            f"{shared}: where other kinds of models, or fewer, stand at the next place, the step may be between kinds",
        )
        checks["seeds"] = ("possible", "models that share a place differ by more than their seeds")
    if main.link is None:
        checks["score scale"] = ("unchecked", f"the link of {main.name} is not known; all-of-N was assumed")
    elif main.high is None:
        checks["score scale"] = ("unchecked", f"the largest value of {main.name} is not known; 1 was assumed")
    if chance is None and main.link in (None, "argmax"):
        checks["guessing"] = ("unchecked", f"the score of guessing on {main.name} is not known; 0 was assumed")
    return checks


def _unit(role: str, unit: str, main: Measure | None) -> str:
    if role == "twin":
        return "fraction" if unit == "probability" else unit
    return unit_of(main.low, main.high) if main is not None else unit
