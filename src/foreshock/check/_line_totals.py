"""Lines of which only totals are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from foreshock.check._lines import Held, Judged, Place, verdict_row
from foreshock.check._tables import unit_of
from foreshock.check._twin_command import How, how_to_count, how_to_get_a_twin, keep_responses
from foreshock.metrics import harness_metric
from foreshock.mirage import (
    Conditional,
    Entry,
    Judgement,
    emergence_p,
    entry_of_totals,
    judge_length,
    length_rows,
    totals_lack,
    twin_of,
)
from foreshock.records import Evidence, Finding, Need, Rate, Run, State, Subject
from foreshock.series import Series, Shelf


class TotalLine(NamedTuple):
    """A series of totals that waits to be judged.

    Attributes:
        series: The totals of the metric in question.
        twin: Totals of a continuous metric of the same runs; None where there is none.
        run: A run of the line.
        seed: Seed of everything that is drawn.
        length: Tokens of an answer, where somebody said it.
    """

    series: Series
    twin: Series | None
    run: Run
    seed: int
    length: float | None

    @property
    def place(self) -> Place:
        """What it is judged together with."""
        return Place(self.series.family, self.series.axis, None, "totals")

    @property
    def how(self) -> How:
        """How item scores with a twin would come to be; of a table with a twin, how its totals could be judged."""
        return self.how_of(rates=True)

    def how_of(self, *, rates: bool) -> How:
        """The same; ``rates`` is whether the pass rate over repeats would be a twin."""
        uncounted = any(point.n is None and point.stderr is None for point in self.series.points)
        if self.twin is not None and uncounted and self.run.format == "table":
            return how_to_count(self.run)
        how = how_to_get_a_twin(self.run, totals=True, rates=rates)
        kept = keep_responses(self.run.format)
        return how._replace(before=f"{kept[0].upper()}{kept[1:]}.{' ' + how.before if how.before else ''}")

    @property
    def continuous(self) -> bool:
        """Whether the metric is known to move gradually."""
        return _kind(self.series) == "continuous"

    @property
    def lacking(self) -> list[str]:
        """Why the totals cannot be judged; empty where they can."""
        return totals_lack(self.series, self.twin, kind=self._kind)

    @property
    def _kind(self) -> str | None:
        """Kind of a twin that was declared under a name that says nothing: by the range of its values."""
        twin = self.twin
        if twin is None or self.series.declared.twin is None or not totals_lack(self.series, twin):
            return None
        values = [point.value for point in twin.points]
        if all(0 <= value <= 1 for value in values):
            return "graded_score"
        return "gold_logprob" if all(value <= 0 for value in values) else None

    def entry(self, _shelf: Shelf) -> Entry | None:
        """What can be judged of the totals; None where they cannot be."""
        if self.lacking:
            return None
        chance = self.series.declared.chance
        entry = entry_of_totals(self.series, self.twin, chance=chance, kind=self._kind, seed=self.seed)
        return replace(entry, how_twin=self.how.sentence.removesuffix("."))

    def told(self, held: Held, judgement: Judgement) -> Judged:
        """The line with its answer."""
        finding = judgement.finding
        rows = [
            {
                **_placed(finding.id, self.series),
                "metric": line.metric,
                "role": line.role,
                "unit": line.unit if line.role == "twin" else _total_unit(self.series),
                "chance": self.series.declared.chance if line.role == "hard" else None,
                "points": line.points(),
            }
            for line in judgement.lines
        ]
        verdict = verdict_row(held, judgement, self.how)
        return self._with_length(Judged(finding, verdict, rows, held.labels, judgement, self.how))

    def undecided(self) -> Judged:
        """The line where its totals cannot be judged: it is drawn beside its twin, and nothing is claimed."""
        finding = _finding(self)
        rows = [_total_row(finding.id, self.series)]
        rows += [_total_row(finding.id, self.twin, "twin")] if self.twin else []
        return self._with_length(Judged(finding, _verdict(self, finding), rows, None, None, self.how))

    def _with_length(self, judged: Judged) -> Judged:
        """What the totals would say of tokens, on the condition that all are alike; never a verdict."""
        if self.length is None or any(not 0 <= point.value <= 1 for point in self.series.points):
            return judged
        told: Conditional = judge_length(self.series, self.length, seed=self.seed)
        row = {
            **_placed(judged.finding.id, self.series),
            "metric": f"{self.series.metric}^(1/{self.length:g})",
            "role": "conditional",
            "unit": "fraction",
            "chance": None,
            "points": length_rows(self.series, self.length),
        }
        return judged._replace(verdict={**judged.verdict, **told.row()}, series=[*judged.series, row])


def total_lines(found: list[Series], run: Run, seed: int, length: float | None) -> list[TotalLine]:
    """Lines of a task of which only totals are known; a series that is the twin of another is no line of its own."""
    places: dict[tuple[str, str], list[Series]] = {}
    for one in found:
        places.setdefault((one.family, one.axis), []).append(one)
    lines = []
    for alike in places.values():
        twins = {one.metric: None if _kind(one) == "continuous" else twin_of(one, alike) for one in alike}
        used = {twin.metric for twin in twins.values() if twin is not None}
        lines += [TotalLine(one, twins[one.metric], run, seed, length) for one in alike if one.metric not in used]
    return lines


def _kind(found: Series) -> str | None:
    known = harness_metric(found.metric)
    return found.declared.kind or (known.kind if known else None)


def _finding(line: TotalLine) -> Finding:
    found, twin = line.series, line.twin
    keys = sorted({point.run_key for point in found.points})
    few = [Need(what="models on the axis", have=len(found.points), enough=4)] if len(found.points) < 4 else []
    lacking = "item scores" if twin else "item scores with a twin"
    why = "; ".join(line.lacking)
    return Finding(
        code="FS301",
        subject=Subject(task=found.task, model_family=found.family, metric=found.metric, axis=found.axis, runs=keys),
        state=State.NO_DATA,
        verdict="unresolved",
        title=f"unresolved: {_reason(found, twin)}",
        null=f"not tested: {why}",
        rate=Rate(),
        needs=[*few, Need(what=lacking, have=0, enough=1)],
        evidence=[Evidence(run=key, item=None, epoch=None, what="logged total") for key in keys[:20]],
        evidence_total=len(keys),
        advice=f"{line.how.sentence} As they are, the totals cannot be judged: {_without_labels(why, found)}.",
    )


def _without_labels(why: str, found: Series) -> str:
    """The same for all lines that lack it: not at which model it was seen first."""
    for point in found.points:
        why = why.replace(f" at {point.label}", "")
    return why


def _reason(found: Series, twin: Series | None) -> str:
    few = [f"{len(found.points)} of >= 4 models"] if len(found.points) < 4 else []
    axis = [] if found.axis_known else ["no axis"]
    return "; ".join([*few, *axis, "totals only, no item scores", *([] if twin else ["no twin"])])


def _verdict(line: TotalLine, finding: Finding) -> dict[str, Any]:
    found = line.series
    score, p = _emergence(found, line.seed)
    finite = score is not None and np.isfinite(score)
    return {
        "finding_id": finding.id,
        "task": found.task,
        "family": found.family,
        "axis": found.axis,
        "verdict": "unresolved",
        "reason": _reason(found, line.twin),
        "points": len(found.points),
        "items": None,
        "hard": found.metric,
        "twin": line.twin.metric if line.twin else None,
        "share": None,
        "share_low": None,
        "share_high": None,
        "emergence": score if finite else None,
        "emergence_infinite": score is not None and not finite,
        "emergence_p": p,
        "link_gap": None,
        "level": None,
        "command": line.how.command,
    }


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
        **_placed(finding_id, found),
        "metric": found.metric,
        "role": role,
        "unit": _total_unit(found),
        "chance": found.declared.chance,
        "points": points,
    }


def _placed(finding_id: str, found: Series) -> dict[str, Any]:
    return {
        "finding_id": finding_id,
        "task": found.task,
        "family": found.family,
        "axis": found.axis,
        "axis_known": found.axis_known,
        "log_axis": found.log_axis,
        "source": found.source,
    }
