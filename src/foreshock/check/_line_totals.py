"""Lines of which only totals are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from foreshock.check._lines import Judged, Place
from foreshock.check._tables import unit_of
from foreshock.check._twin_command import How, how_to_get_a_twin, keep_responses
from foreshock.metrics import harness_metric
from foreshock.mirage import Entry, Judgement, emergence_p
from foreshock.records import Evidence, Finding, Need, Rate, Run, State, Subject
from foreshock.series import Series
from foreshock.store import Snapshot


class TotalLine(NamedTuple):
    """A series of totals that waits to be judged.

    Attributes:
        series: The totals of the metric in question.
        twin: Totals of a continuous metric of the same runs; None where there is none.
        run: A run of the line.
        seed: Seed of the null of the emergence score.
    """

    series: Series
    twin: Series | None
    run: Run
    seed: int

    @property
    def place(self) -> Place:
        """What it is judged together with."""
        return Place(self.series.family, self.series.axis, None, "totals")

    @property
    def how(self) -> How:
        """How item scores with a twin would come to be."""
        how = how_to_get_a_twin(self.run, totals=True)
        kept = keep_responses(self.run.format)
        return how._replace(before=f"{kept[0].upper()}{kept[1:]}.{' ' + how.before if how.before else ''}")

    def entry(self, _snapshot: Snapshot) -> Entry | None:
        """What can be judged of the totals; None where they cannot be."""
        return None

    def told(self, entry: Entry, judgement: Judgement) -> Judged:
        """The line with its answer."""
        raise NotImplementedError

    def undecided(self) -> Judged:
        """The line where its totals cannot be judged: it is drawn beside its twin, and nothing is claimed."""
        finding = _finding(self.series, self.twin, self.how.sentence)
        rows = [_total_row(finding.id, self.series)]
        rows += [_total_row(finding.id, self.twin, "twin")] if self.twin else []
        return Judged(finding, _verdict(self, finding), rows, None, None)


def _finding(found: Series, twin: Series | None, advice: str) -> Finding:
    keys = sorted({point.run_key for point in found.points})
    few = [Need(what="models on the axis", have=len(found.points), enough=4)] if len(found.points) < 4 else []
    lacking = "item scores" if twin else "item scores with a twin"
    return Finding(
        code="FS301",
        subject=Subject(task=found.task, model_family=found.family, metric=found.metric, axis=found.axis, runs=keys),
        state=State.NO_DATA,
        verdict="unresolved",
        title=f"unresolved: {_reason(found, twin)}",
        null="not tested: a total has no items to resample and no twin to be read against",
        rate=Rate(),
        needs=[*few, Need(what=lacking, have=0, enough=1)],
        evidence=[Evidence(run=key, item=None, epoch=None, what="logged total") for key in keys[:20]],
        evidence_total=len(keys),
        advice=advice,
    )


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
