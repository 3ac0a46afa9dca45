"""Judge every line of a task: by items where there are some, else say what totals alone cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from foreshock.check._measures import Measure
from foreshock.check._tables import unit_of
from foreshock.check._task import Task
from foreshock.metrics import harness_metric
from foreshock.mirage import Hard, Judgement, Twin, emergence_p, judge
from foreshock.records import Evidence, Finding, Light, Need, Rate, State, Subject
from foreshock.series import Line, Panel, Series, panel

LIGHTS = {"break": Light.FIRING, "mirage": Light.WARN, "smooth": Light.OK, "unresolved": Light.NO_DATA}


class Judged(NamedTuple):
    """One line with its answer.

    Attributes:
        finding: The answer.
        verdict: Row of the table ``verdicts``.
        series: Rows of the table ``series``.
        panel: What was looked at; None for totals.
        judgement: What the mirage room said; None for totals.
    """

    finding: Finding
    verdict: dict[str, Any]
    series: list[dict[str, Any]]
    panel: Panel | None
    judgement: Judgement | None

    @property
    def trend(self) -> tuple[Light, str]:
        """The line's light on the trust card."""
        subject = self.finding.subject
        word = self.finding.verdict or "unresolved"
        return LIGHTS[word], f"{subject.model_family} along {subject.axis}: {self.finding.title}"


def judge_items(task: Task, seed: int) -> list[Judged]:
    """Judge every line of a task that has item scores on its main metric, under every answer filter."""
    main = task.measures.main
    if main is None or main.kind != "hard":
        return []
    hard = _hard(main, task.chance)
    twins = [_twin(measure) for measure in task.measures.twins]
    ids = [main.id, *(measure.id for measure in task.measures.twins)]
    names = {measure.id: measure.name for measure in task.measures.all}
    found = []
    for block, correct in zip(task.blocks, task.positions, strict=True):
        for line in task.lines:
            made = _named(panel(line, block, ids, correct), names, block.variant if len(task.blocks) > 1 else None)
            if made.points:
                told = judge(made, hard, _apart(made, hard, twins), seed=seed, checks=_checks(line, main, task.chance))
                found.append(_judged(made, told, task))
    return found


def _named(made: Panel, names: Mapping[str, str], answer_filter: str | None) -> Panel:
    """Metric names instead of ids, because sentences are made of them; the filter only where there are several."""
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
    return Hard(main.name, link, chance=chance or 0.0, ceiling=ceiling, binary=True)


def _twin(measure: Measure) -> Twin:
    return Twin(measure.name, measure.base, high=measure.high if measure.high is not None else 1.0)


def _apart(made: Panel, hard: Hard, twins: list[Twin]) -> list[Twin]:
    """Twins that are not the hard metric by another name: the similarity of one-word answers is 0 or 1 as well."""
    own = made.values.get(hard.name)
    return [
        t for t in twins if own is None or not np.array_equal(made.values.get(t.name, own[:0]), own, equal_nan=True)
    ]


def _checks(line: Line, main: Measure, chance: float | None) -> Mapping[str, tuple[str, str]]:
    """Alternatives that the line's own runs settle; what a log does not state stays unchecked."""
    runs = [run for stop in line.stops for group in stop.groups for run in group]
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


def _judged(made: Panel, told: Judgement, task: Task) -> Judged:
    rows = [
        {
            "finding_id": told.finding.id,
            "task": made.task,
            "family": made.family,
            "axis": made.axis,
            "axis_known": made.axis_known,
            "log_axis": made.log_axis,
            "metric": line.metric,
            "role": line.role,
            "unit": _unit(line.role, line.unit, task.measures.main),
            "chance": task.chance if line.role == "hard" else None,
            "points": line.points(),
        }
        for line in told.lines
    ]
    verdict = told.row(len(made.items), len(made.points))
    verdict["level"] = told.finding.effect.level if told.finding.effect else None
    return Judged(told.finding, verdict, rows, made, told)


def _unit(role: str, unit: str, main: Measure | None) -> str:
    if role == "twin":
        return "fraction" if unit == "probability" else unit
    return unit_of(main.low, main.high) if main is not None else unit


def judge_totals(found: Series, seed: int, twin: Series | None = None, advice: str = "keep the responses") -> Judged:
    """What a series of totals can say: it is drawn beside its twin, and nothing is claimed.

    Args:
        found: The totals.
        seed: Seed of the null of the emergence score.
        twin: Totals of the metric that was declared its twin.
        advice: How item scores come to be there.
    """
    reasons = []
    if len(found.points) < 4:
        reasons.append(f"{len(found.points)} of >= 4 models")
    if not found.axis_known:
        reasons.append("no axis")
    reasons += ["totals only, no item scores", *([] if twin else ["no twin"])]
    title = f"unresolved: {'; '.join(reasons)}"
    keys = sorted({point.run_key for point in found.points})
    finding = Finding(
        code="FS301",
        subject=Subject(task=found.task, model_family=found.family, metric=found.metric, axis=found.axis, runs=keys),
        state=State.NO_DATA,
        verdict="unresolved",
        title=title,
        null="not tested: a total has no items to resample and no twin to be read against",
        rate=Rate(),
        needs=[
            *([Need(what="models on the axis", have=len(found.points), enough=4)] if len(found.points) < 4 else []),
            Need(what="item scores" if twin else "item scores with a twin", have=0, enough=1),
        ],
        evidence=[Evidence(run=key, item=None, epoch=None, what="logged total") for key in keys[:20]],
        evidence_total=len(keys),
        advice=advice,
    )
    score, p = _emergence(found, seed)
    finite = score is not None and np.isfinite(score)
    verdict = {
        "finding_id": finding.id,
        "task": found.task,
        "family": found.family,
        "axis": found.axis,
        "verdict": "unresolved",
        "reason": "; ".join(reasons),
        "points": len(found.points),
        "items": None,
        "hard": found.metric,
        "twin": twin.metric if twin else None,
        "share": None,
        "share_low": None,
        "share_high": None,
        "emergence": score if finite else None,
        "emergence_infinite": score is not None and not finite,
        "emergence_p": p,
        "link_gap": None,
    }
    rows = [_total_row(finding.id, found), *([_total_row(finding.id, twin, "twin")] if twin else [])]
    return Judged(finding, verdict, rows, None, None)


def _emergence(found: Series, seed: int) -> tuple[float | None, float | None]:
    """Emergence score with its null; only for rates whose number of items is known, because it means nothing alone."""
    if found.declared.kind == "continuous":
        return None, None
    values = np.array([point.value for point in found.points])
    items = [point.n for point in found.points if point.n]
    if len(values) < 3 or len(items) < len(values) or values.min() < 0 or values.max() > 1:
        return None, None
    return emergence_p(values, items, np.random.default_rng(seed))


def _total_unit(found: Series) -> str:
    known = harness_metric(found.metric)
    if known is None:
        return unit_of(found.declared.low, found.declared.high)
    return unit_of(known.low, known.high)


def _total_row(finding_id: str, found: Series, role: str = "hard") -> dict[str, Any]:
    def ends(value: float, error: float | None) -> tuple[float | None, float | None]:
        return (None, None) if error is None else (value - 1.96 * error, value + 1.96 * error)

    points = []
    for point in found.points:
        low, high = ends(point.value, point.stderr)
        points.append(
            {"label": point.label, "x": point.x, "value": point.value, "low": low, "high": high, "n": point.n}
        )
    return {
        "finding_id": finding_id,
        "task": found.task,
        "family": found.family,
        "axis": found.axis,
        "axis_known": found.axis_known,
        "log_axis": found.log_axis,
        "metric": found.metric,
        "role": role,
        "unit": _total_unit(found),
        "chance": found.declared.chance,
        "points": points,
        "source": found.source,
    }
