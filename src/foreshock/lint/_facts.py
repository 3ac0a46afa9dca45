"""What the rules look at: a benchmark as it is designed or as its runs show it, before any rule is asked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

Kind = Literal["hard", "continuous"]
Source = Literal["design", "harness", "foreshock"]


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the values of a metric lie.

    Attributes:
        scored: Responses with a value.
        between: Of those, values strictly between the two ends of the scale.
    """

    scored: int
    between: int


@dataclass(frozen=True, slots=True)
class Measured:
    """How a metric reacts while its input moves evenly from right to wrong.

    Attributes:
        items: Items on which it reacted at all.
        sharp: Of those, items on which a quarter of the way carries more than half of the change.
        skipped: Items that could not be perturbed: no long answer, no number, no log-likelihoods.
        failed: Items on which the metric raised.
        numbers: Of ``items``, those that could only be perturbed as numbers.
    """

    items: int
    sharp: int
    skipped: int = 0
    failed: int = 0
    numbers: int = 0


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of a task.

    Attributes:
        name: Name as the design or the log says it.
        kind: Declared kind; None when nothing says it.
        link: How it hangs on what lies beneath; None when unknown.
        low, high: Range; None is unbounded or unknown.
        chance: Score of guessing; None when nothing says it.
        source: Who says that it exists.
        attempts: k of a pass@k; None for other metrics.
        twin: The metric that was declared its twin.
        spread: Where its stored values lie; None without any.
        measured: How it reacts to perturbed outputs; None when it was not tried.
    """

    name: str
    kind: Kind | None = None
    link: str | None = None
    low: float | None = None
    high: float | None = None
    chance: float | None = None
    source: Source = "design"
    attempts: int | None = None
    twin: str | None = None
    spread: Spread | None = None
    measured: Measured | None = None


@dataclass(frozen=True, slots=True)
class Flips:
    """How often two models answer an item differently, from the stored scores.

    Attributes:
        value: Mean square of the paired difference per item (the share of items that flip, for right-or-wrong scores).
        low, high: 95% interval.
        pairs: Neighbouring pairs of models that were looked at; the median one is told.
    """

    value: float
    low: float
    high: float
    pairs: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """What repeats of the items show.

    Attributes:
        between: Variance of the items' means, without the part that the repeats bring in.
        within: Variance of one response about its item's mean.
    """

    between: float
    within: float


@dataclass(frozen=True, slots=True)
class Best:
    """The best score so far on the metric that speaks for the task, with its 95% interval."""

    model: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Denominator:
    """Responses behind one run's score, and how many the run should have had."""

    run: str
    model: str
    scored: int
    expected: int | None
    conditions: str = ""


@dataclass(frozen=True, slots=True)
class Audit:
    """Labels that were checked by hand: how many, and how many of them were wrong."""

    wrong: int
    checked: int


@dataclass(frozen=True, slots=True)
class ModelLine:
    """Models of one family along one axis.

    Attributes:
        family, axis: Name and what orders the models.
        position: Places along the axis from 0 to 1, ascending, on the scale on which the axis is read.
        values: The places themselves.
        labels: Names of the places.
        seeds: Training seeds at each place.
        log: Whether the axis is read on a log scale.
        known: Whether the places are known; otherwise the models are only in order of creation.
        conditions: Conditions that part this line from others.
        tasks: Tasks whose runs form this very line.
    """

    family: str
    axis: str
    position: tuple[float, ...]
    values: tuple[float, ...]
    labels: tuple[str, ...]
    seeds: tuple[int, ...]
    log: bool = True
    known: bool = True
    conditions: str = ""
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One task, as far as it is known.

    Attributes:
        place: Where a person finds it: the file of a design, or the task of a store.
        task: Name of the task.
        metrics: What is reported of it.
        tried: Further metrics, of which only the kind is in question.
        twins: Continuous metrics that the responses give, or would give with what is logged.
        twin_advice: What would give a twin, as an instruction.
        items: Items of the smallest run; None when nothing says it.
        repeats: Responses per item; None when nothing says it.
        sampled: Whether the replies are drawn at random; None when nothing says it.
        options: Smallest and largest number of options of an item; (0, 0) for free answers; None when unknown.
        guess: Mean of 1 / options over the items; None when unknown.
        chance: Score of guessing as declared; None when it is not.
        audit: Labels that were checked.
        ceiling: Highest score that correct labels allow, as declared.
        flips, spread_of_repeats, best, denominators: What stored runs show.
        observed: Whether there are runs; a design has none.
        runs: Run keys.
        notes: What could not be read, in words.
    """

    place: str
    task: str
    metrics: tuple[Metric, ...] = ()
    tried: tuple[Metric, ...] = ()
    twins: tuple[str, ...] = ()
    twin_advice: str = ""
    items: int | None = None
    repeats: int | None = None
    sampled: bool | None = None
    options: tuple[int, int] | None = None
    guess: float | None = None
    chance: float | None = None
    audit: Audit | None = None
    ceiling: float | None = None
    flips: Flips | None = None
    spread_of_repeats: Repeats | None = None
    best: Best | None = None
    denominators: tuple[Denominator, ...] = ()
    observed: bool = False
    runs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def hard(self) -> tuple[Metric, ...]:
        """Metrics that are known to be hard."""
        return tuple(metric for metric in self.metrics if metric.kind == "hard")

    def declared_by(self, other: Benchmark) -> Benchmark:
        """This benchmark with what ``other`` declares about it and nothing here says or contradicts."""
        names = {metric.name: metric for metric in self.metrics}
        told = {metric.name: metric for metric in other.metrics}
        merged = tuple(_declared(metric, told.get(name)) for name, metric in names.items())
        added = () if self.observed else tuple(metric for name, metric in told.items() if name not in names)
        return replace(
            self,
            metrics=(*merged, *added),
            tried=tuple(_declared(metric, told.get(metric.name)) for metric in self.tried),
            twins=tuple(dict.fromkeys((*self.twins, *other.twins))) if not self.observed else self.twins,
            items=self.items if self.items is not None else other.items,
            repeats=self.repeats if self.repeats is not None else other.repeats,
            sampled=self.sampled if self.sampled is not None else other.sampled,
            options=self.options if self.options is not None else other.options,
            guess=self.guess if self.guess is not None else other.guess,
            chance=other.chance if other.chance is not None else self.chance,
            audit=other.audit or self.audit,
            ceiling=other.ceiling if other.ceiling is not None else self.ceiling,
            notes=(*self.notes, *other.notes),
        )


def _declared(metric: Metric, told: Metric | None) -> Metric:
    """What the user declares wins over what a name tells, and is measured against the values."""
    if told is None:
        return metric
    return replace(
        metric,
        kind=told.kind or metric.kind,
        link=told.link or metric.link,
        low=told.low if told.low is not None else metric.low,
        high=told.high if told.high is not None else metric.high,
        chance=told.chance if told.chance is not None else metric.chance,
        twin=told.twin or metric.twin,
    )


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that one call looks at.

    Attributes:
        benchmarks: Tasks.
        lines: Lines of models, each once whatever the number of tasks.
        models: Whether models are stated at all (a design often states none).
        unread: (path, message) of files that could not be read.
    """

    benchmarks: tuple[Benchmark, ...] = ()
    lines: tuple[ModelLine, ...] = ()
    models: bool = False
    unread: tuple[tuple[str, str], ...] = field(default=())
