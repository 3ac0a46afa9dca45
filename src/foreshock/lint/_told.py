"""How a rule says what it found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from foreshock._base import digest
from foreshock.lint._codes import rule
from foreshock.lint._facts import Benchmark, ModelLine
from foreshock.records import Alternative, Effect, Evidence, Finding, Need, Rate, State, Subject

CERTAIN = Rate(stated=0.0)
_SHOWN = 3


class Said(NamedTuple):
    """One answer of one rule about one place.

    Attributes:
        place: File of the design, task, or line of models.
        finding: The answer.
        hint: What to do now, in one line.
    """

    place: str
    finding: Finding
    hint: str


class Told(NamedTuple):
    """What a rule says, before it becomes a finding.

    Attributes:
        state: State of the finding.
        message: One plain sentence, without the place.
        hint: What to do now.
        word: Verdict; None is the name of the rule.
        metric: The metric that it is about.
        effect, needs, evidence, rate, alternatives: As in a finding.
    """

    state: State
    message: str
    hint: str
    word: str | None = None
    metric: str | None = None
    effect: Effect | None = None
    needs: Sequence[Need] = ()
    evidence: Sequence[Evidence] = ()
    rate: Rate = CERTAIN
    alternatives: Sequence[Alternative] = ()


def of_task(code: str, benchmark: Benchmark, told: Told) -> Said:
    """A finding about a task."""
    subject = Subject(task=benchmark.task, metric=told.metric, runs=sorted(benchmark.runs))
    return _said(code, benchmark.place, subject, told)


def of_line(code: str, line: ModelLine, told: Told) -> Said:
    """A finding about a line of models."""
    family = f"{line.family} ({line.conditions})" if line.conditions else line.family
    subject = Subject(
        task=line.tasks[0] if len(line.tasks) == 1 else None, model_family=family, axis=line.axis, metric=told.metric
    )
    place = f"{family} along {line.axis}" if line.known else f"{family}, in order of creation"
    return _said(code, place, subject, told)


def _said(code: str, place: str, subject: Subject, told: Told) -> Said:
    word = told.word or rule(code).name
    finding = Finding(
        code=code,
        # two files may hold tasks of one name, and one rule may say two things about a task
        id=digest([code, place, word, msgspec.to_builtins(subject)], 12),
        subject=subject,
        state=told.state,
        verdict=word,
        title=f"{place}: {told.message}",
        effect=told.effect,
        null=rule(code).null,
        rate=told.rate if told.state is not State.NO_DATA else Rate(),
        needs=list(told.needs),
        evidence=list(told.evidence),
        evidence_total=len(told.evidence),
        alternatives=list(told.alternatives),
        advice=told.hint,
    )
    return Said(place, finding, told.hint)


def some(names: Iterable[str]) -> str:
    """A few names in a sentence, and how many more there are.

    Examples:
        >>> some(["a", "b"]), some(["a", "b", "c", "d", "e"])
        ('a, b', 'a, b, c and 2 more')
    """
    known = [name[:80] for name in names]
    more = len(known) - _SHOWN
    return ", ".join(known[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def points(size: float) -> str:
    """A share in points.

    Examples:
        >>> points(0.05), points(1 / 300)
        ('5 points', '0.333 points')
    """
    return f"{100 * size:.3g} points"
