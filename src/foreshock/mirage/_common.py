"""One model at which most tasks jump together: one finding, FS302, not as many as there are tasks.

A model that is off, or better, is so in many tasks. Task by task that makes as many breaks as there are tasks, none of
which is more than one observation of one model. Here the twins are averaged, each on its link and scaled by its own
rise, and the mean is judged as a line of its own: its noise is the scatter of the mean, in which what the tasks share
is whole and what is their own is averaged out, so no correlation between them has to be known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage._case import Case
from foreshock.mirage._design import Design, Floats
from foreshock.mirage._excess import Curves
from foreshock.mirage._judge import series_of
from foreshock.mirage._judgement import Verdict, num
from foreshock.mirage._measures import Twin
from foreshock.mirage._noise import LEAST_TASKS
from foreshock.mirage._share import ALPHA, MAY, OTHER, SHARE, Share, Windowed, judge_share
from foreshock.records import Alternative, Effect, Evidence, Finding, Rate, State, Subject

CODE = "FS302"
_STATE = {"break": State.FIRING, "mirage": State.OK, "smooth": State.OK, "unresolved": State.NO_DATA}
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class CommonJump:
    """What the mean over tasks says about a jump at one model.

    Attributes:
        finding: The answer, code FS302.
        verdict: ``smooth``, ``mirage``, ``break`` or ``unresolved``.
        reason: Why it is unresolved, or a remark.
        tasks: Tasks in the mean.
        agree: Tasks whose own twin carries more than a quarter of its rise in the same interval.
        points: The two points between which the mean rises most.
        share: Share of the mean rise that a break may carry, each twin on the link of its metric.
        other: The same on the other link.
    """

    finding: Finding
    verdict: Verdict
    reason: str
    tasks: tuple[str, ...]
    agree: tuple[str, ...]
    points: tuple[str, str] | None
    share: Share | None
    other: Share | None

    def row(self) -> dict[str, Any]:
        """Row of the table ``families``."""
        subject, s = self.finding.subject, self.share
        return {
            "finding_id": self.finding.id,
            "family": subject.model_family,
            "axis": subject.axis,
            "verdict": self.verdict,
            "reason": self.reason,
            "tasks": len(self.tasks),
            "agree": len(self.agree),
            "from_point": self.points[0] if self.points else None,
            "to_point": self.points[1] if self.points else None,
            "share": num(s.value) if s else None,
            "share_low": num(min(s.low, self.other.low)) if s and self.other else None,
            "share_high": num(s.high) if s else None,
            "p": num(self.finding.p),
        }


class _Mean(NamedTuple):
    """The mean over tasks on the window of most of them.

    Attributes:
        cases: Tasks in the mean.
        labels: Label of each point.
        shares: Share of the mean rise that a break may carry, on the first and the second link.
        carried: Share of its rise that each task carries in the interval in question, shape (tasks,).
    """

    cases: list[Case]
    labels: tuple[str, ...]
    shares: tuple[Share, Share]
    carried: Floats


def common_jump(cases: Sequence[Case], ratio: float) -> CommonJump | None:
    """Test on the mean over tasks whether most of them jump at one model.

    Args:
        cases: Judged tasks of one family along one axis.
        ratio: Steepest slope of the smooth class over the mean slope.

    Returns:
        The finding; None where fewer than four tasks with a rising twin share a window.
    """
    usable = [c for c in cases if c.shares and c.share is not None and c.share.rising and c.twin is not None]
    usable = [c for c in usable if c.twin is not None and not c.twin.decoded]
    if len(usable) < LEAST_TASKS:
        return None
    (places, _), *_ = Counter(_places(c) for c in usable).most_common(1)
    members = [(c, at) for c in usable if (at := _within(_places(c), places)) is not None]
    if len(members) < LEAST_TASKS:
        return None
    mean = _averaged(members, places, ratio)
    verdict, reason = _decide(mean, ratio)
    return _told(mean, verdict, reason, ratio)


def _places(case: Case) -> tuple[float, ...]:
    """Axis values of the points judged."""
    return tuple(case.panel.x[case.windows[0].kept].tolist())


def _within(own: tuple[float, ...], wanted: tuple[float, ...]) -> NDArray[np.intp] | None:
    """Where the wanted places stand among a task's own; None where one is not there."""
    where = {x: i for i, x in enumerate(own)}
    return np.array([where[x] for x in wanted]) if all(x in where for x in wanted) else None


def _averaged(members: list[tuple[Case, NDArray[np.intp]]], places: tuple[float, ...], ratio: float) -> _Mean:
    panel = members[0][0].panel
    design = Design.of(places, log=panel.log_axis, chained=panel.trajectory)
    shares, first = [], np.zeros((0, 0))
    each_on = [series_of(case, _twin_of(case)) for case, _ in members]
    for which in (0, -1):
        z, sampling = [], np.zeros((design.points, design.points))
        for series, (_, at) in zip(each_on, members, strict=True):
            curves = series[which].main
            rise = float(curves.z[0, at[-1]] - curves.z[0, at[0]])
            z.append((curves.z[0, at] - curves.z[0, at[0]]) / rise)
            sampling += curves.sampling[np.ix_(at, at)] / rise**2
        each = np.stack(z)
        line = Curves(each.mean(axis=0)[None], design, sampling / len(members) ** 2)
        shares.append(judge_share(Windowed.one(line), ratio, OTHER if which else ALPHA))
        first = each if which == 0 else first
    w, i = design.widths, shares[0].interval
    carried = (np.diff(first, axis=1)[:, i] - w[i]) / (1 - w[i])
    kept = members[0][0].windows[0].kept[members[0][1]]
    labels = tuple(panel.points[k] for k in kept)
    return _Mean([c for c, _ in members], labels, (shares[0], shares[1]), carried)


def _twin_of(case: Case) -> Twin:
    assert case.twin is not None
    return case.twin


def _decide(mean: _Mean, ratio: float) -> tuple[Verdict, str]:
    share, count = mean.shares[0], len(mean.cases)
    broken = [s.low > SHARE for s in mean.shares]
    agree = int((mean.carried > SHARE).sum())
    if not share.rising:
        return "unresolved", "the mean rise of the twins is not beyond its noise"
    if all(broken):
        if 2 * agree > count:
            return "break", ""
        return "unresolved", f"the mean jumps, but only {agree} of {count} tasks do"
    if any(broken):
        return "unresolved", "a break on one link only"
    if share.high >= MAY:
        return "unresolved", f"a break may carry {share.low:.0%} to {share.high:.0%} of the mean rise"
    sharp = sum(c.through is not None and c.through.sharp(ratio) for c in mean.cases)
    return ("mirage" if 2 * sharp > count else "smooth"), ""


def _told(mean: _Mean, verdict: Verdict, reason: str, ratio: float) -> CommonJump:
    cases, share = mean.cases, mean.shares[0]
    panel, i = cases[0].panel, share.interval
    points = (mean.labels[i], mean.labels[i + 1])
    agree = tuple(c.panel.task for c, s in zip(cases, mean.carried, strict=True) if s > SHARE)
    names = sorted({c.hard.name for c in cases})
    against = [(c, float(s)) for c, s in zip(cases, mean.carried, strict=True) if (s > SHARE) != (verdict == "break")]
    finding = Finding(
        code=CODE,
        subject=Subject(
            model_family=panel.family,
            axis=panel.axis,
            metric=names[0] if len(names) == 1 else None,
            runs=sorted({key for c in cases for label in points for key in _runs(c, label)}),
        ),
        state=_STATE[verdict],
        verdict=verdict,
        title=_title(mean, verdict, reason, len(agree), points),
        effect=_effect(mean),
        p=max(mean.shares[0].p, mean.shares[1].p * ALPHA / OTHER),
        null=_null(mean, ratio),
        rate=Rate(stated=ALPHA),
        alternatives=_alternatives(panel.trajectory),
        evidence=[_evidence(c, s, points) for c, s in against[:_SHOWN]],
        evidence_total=len(against),
        advice=_ADVICE[verdict].format(a=points[0], b=points[1]),
    )
    tasks = tuple(c.panel.task for c in cases)
    return CommonJump(finding, verdict, reason, tasks, agree, points, mean.shares[0], mean.shares[1])


def _runs(case: Case, label: str) -> tuple[str, ...]:
    runs = case.panel.runs
    return runs[case.panel.points.index(label)] if runs and label in case.panel.points else ()


_ADVICE = {
    "break": "Look at what is different about {b} before looking at any one task: harness, prompt and serving of its "
    "runs, its training recipe, its training data. The breaks of the single tasks there are one observation.",
    "mirage": "Judge the models by the twins: in most tasks the metric alone makes the jump.",
    "smooth": "Nothing to do: no model stands out over the tasks.",
    "unresolved": "More models between {a} and {b}, or several seeds of them, would tell; more tasks of the same "
    "models tell little about one of these.",
}


def _title(mean: _Mean, verdict: Verdict, reason: str, agree: int, points: tuple[str, str]) -> str:
    share, count = mean.shares[0], len(mean.cases)
    where = f"between {points[0]} and {points[1]}"
    if verdict == "unresolved":
        return f"unresolved over {count} tasks: {reason}"
    if verdict == "break":
        least = min(s.low for s in mean.shares)
        return (
            f"break: {agree} of {count} tasks jump {where}, and so does their mean: at least {least:.0%} of its rise; "
            f"that is one finding about the models, not {agree}{_at_an_end(mean)}"
        )
    most = f"a break carries at most {share.high:.0%} of the mean rise"
    if verdict == "mirage":
        return f"mirage: over {count} tasks no single step carries the rise of the twins, and most metrics jump; {most}"
    return f"smooth: over {count} tasks no model stands out; {most}"


def _at_an_end(mean: _Mean) -> str:
    """A remark where one model stands alone on one side: were it off in all tasks, that would look the same."""
    alone = mean.shares[0].interval in (0, len(mean.labels) - 2)
    return " (one model only on one side of the break)" if alone else ""


def _effect(mean: _Mean) -> Effect | None:
    share = mean.shares[0]
    if not share.rising:
        return None
    return Effect(
        name="share of the mean rise that a break carries",
        unit="fraction",
        value=share.value,
        low=min(s.low for s in mean.shares),
        high=share.high,
        level=1 - 2 * ALPHA,
    )


def _null(mean: _Mean, ratio: float) -> str:
    return (
        f"no interval of the mean over {len(mean.cases)} tasks of their twins, each on the links of its metric and "
        f"scaled by its own rise, rises faster than {ratio:g} times the mean slope, or a break carries at most "
        f"{SHARE:.0%} of it; exchangeable unit: model; noise: scatter of the mean about a smooth curve with the step "
        f"left in, estimated anew in every simulated draw; a break must also be that of more than half of the tasks"
    )


def _alternatives(trajectory: bool) -> list[Alternative]:
    recipe = (
        ("ruled-out", "all points are checkpoints of one run") if trajectory else ("possible", "one model, all tasks")
    )
    return [
        Alternative(name="harness, prompt or serving of one model", status="unchecked", why="it shows in all tasks"),
        Alternative(name="architecture or training recipe", status=recipe[0], why=recipe[1]),
        Alternative(name="seeds", status="possible", why="another seed of the same model might not jump"),
        Alternative(name="item leak", status="unchecked", why="training data that hold many benchmarks"),
        Alternative(name="few items", status="ruled-out", why="the noise of the mean contains that of the items"),
    ]


def _evidence(case: Case, carried: float, points: tuple[str, str]) -> Evidence:
    runs = _runs(case, points[1])
    what = f"{case.panel.task}: {carried:.0%} of its rise beyond an even part between {points[0]} and {points[1]}"
    return Evidence(run=runs[0] if runs else points[1], item=None, epoch=None, what=what)
