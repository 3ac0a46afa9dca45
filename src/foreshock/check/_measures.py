"""Which metric speaks for a task, and which continuous ones it can be read against."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from foreshock._base import MetricError
from foreshock.metrics import MetricSpec, get_metric, harness_metric
from foreshock.mirage import ORDER
from foreshock.records import Run
from foreshock.series import Seen


class Measure(NamedTuple):
    """A metric as an analysis needs to know it.

    Attributes:
        id: Metric id in the store.
        name: Name to show, with the parameters that are not the defaults.
        base: Name without parameters.
        kind: ``hard`` or ``continuous``.
        link: What lies beneath: ``identity, all-of-N, any-of-T, argmax, threshold``; None when not known.
        low, high: Range; None is unbounded or unknown.
        higher_is_better: Direction.
        source: ``foreshock`` or ``harness``.
        rows: Responses that have a score.
        binary: Whether all scores are 0 or 1.
    """

    id: str
    name: str
    base: str
    kind: str
    link: str | None
    low: float | None
    high: float | None
    higher_is_better: bool
    source: str
    rows: int
    binary: bool = True

    @property
    def judged(self) -> bool:
        """Whether it can be read against a twin: declared hard, or of a known form in something beneath it."""
        return self.kind == "hard" or self.link not in (None, "identity")


GRADED = "graded_score"
"""Kind of a twin of which only the range is known."""

PRIMARY = ("multiple_choice_grade", "exact_match")
"""Our own hard metrics, in the order in which they speak for a task."""


_RIGHT = {"targets", "gold_index", "gold_logprob", "gold_token_logprobs", "harness_scores"}


class Measures(NamedTuple):
    """The measures of one task.

    Attributes:
        main: Speaks for the task; None when nothing has a score.
        twins: Continuous metrics with scores, first choice first.
        position: Per-position accuracy, when it has scores.
        all: Every metric with scores.
    """

    main: Measure | None
    twins: list[Measure]
    position: Measure | None
    all: list[Measure]


def measures(
    seen: Iterable[Seen],
    specs: Mapping[str, MetricSpec],
    trusted: bool | None,
    kinds: Mapping[str, str] | None = None,
    beside: Mapping[str, str] | None = None,
) -> Measures:
    """Find the measures of a task.

    The task's main metric is our own hard one when it can be computed and does not contradict the harness; otherwise
    the harness's first one, because the authors of the task decided what counts as right there.

    Args:
        seen: Metrics that have scores.
        specs: Metrics by id, as :class:`foreshock.series.Shelf` knows them.
        trusted: Whether our hard metric agrees with the harness's own score on every response; None when the harness
            gave none.
        kinds: What was declared about metrics of the harness, as :func:`declared_kinds` finds it.
        beside: Their declared twins, as :func:`declared_twins` finds them.
    """
    order = {identity: place for place, identity in enumerate(specs)}
    found = [made for one in seen if (made := _measure(one, specs, kinds or {})) is not None]
    found.sort(key=lambda m: (m.source, order.get(m.id, len(order)), m.id))
    own = {m.base: m for m in reversed(found) if m.source == "foreshock"}
    theirs = [m for m in found if m.source == "harness"]
    ours = next((own[name] for name in PRIMARY if name in own), None)
    harness = min(theirs, key=lambda m: (m.kind != "hard", -m.rows, m.name), default=None)
    main = harness if (ours is None or trusted is False) and harness is not None else ours
    if main is None:
        main = min(found, key=lambda m: (m.kind != "hard", m.name), default=None)
    return Measures(main, _twins(main, found, specs, beside or {}), own.get("position_accuracy"), found)


def measures_of(main: Measure, found: Measures, specs: Mapping[str, MetricSpec], beside: Mapping[str, str]) -> Measures:
    """The measures of a task as they are for another of its metrics, which was asked for.

    Args:
        main: The metric.
        found: What :func:`measures` found.
        specs, beside: As there.
    """
    per_position = found.position if main.source == "harness" or main.base in PRIMARY else None
    return Measures(main, _twins(main, found.all, specs, beside), per_position, found.all)


def _twins(
    main: Measure | None, found: Sequence[Measure], specs: Mapping[str, MetricSpec], beside: Mapping[str, str]
) -> list[Measure]:
    """Continuous metrics of the same responses, of each kind one.

    Those that the metric declares come before others of their kind. Of the others, only what is measured against the
    right answer lies beneath a metric that is itself about right and wrong.
    """
    if main is None:
        return []
    told = _told(main, specs)
    ours = [m for m in found if m.source == "foreshock" and m.kind == "continuous" and m.id != main.id]
    # the mirage room fixes the order, before any score is looked at
    twins = []
    for base in ORDER:
        alike = [(_near(m, main, told, specs), m) for m in ours if m.base == base]
        nearest = min((near for near, _ in alike if near is not None), default=None)
        twins += [m for near, m in alike if near == nearest is not None][:1]
    own = [m for m in ours if m.name in told and m.base not in ORDER and m.higher_is_better]
    twins += [_graded(m) for m in own if m.low == 0 and m.high is not None]
    logged = next((m for m in found if m.source == "harness" and m.name == beside.get(main.name)), None)
    return [*twins, _graded(logged)] if logged is not None else twins


def _near(measure: Measure, main: Measure, told: Sequence[str], specs: Mapping[str, MetricSpec]) -> int | None:
    """0 for a twin that belongs to the metric, 1 for one of right and wrong at large, None for another."""
    of = dict(specs[measure.id].params).get("of")
    if measure.name in told or of == main.base:
        return 0
    declared = any(name.partition("(")[0] == measure.base for name in told) and main.source == "foreshock"
    return None if declared or of not in (None, *PRIMARY) or not _about_right(main, specs) else 1


def _graded(measure: Measure) -> Measure:
    # nothing says what it measures but that it is graded, from nothing to the best score of the scale
    high = measure.high if measure.high is not None else 1.0
    return measure._replace(base=GRADED, kind="continuous", high=high)


def _told(main: Measure, specs: Mapping[str, MetricSpec]) -> list[str]:
    """Names of the twins that a metric declares; of a score of the harness the rate at which it passes."""
    if main.source == "harness":
        return [f"pass_rate(of=harness(score={main.name}))", "pass_rate(of=harness)"]
    found = []
    for name in specs[main.id].twins:
        with contextlib.suppress(MetricError):  # of a plugin that is not installed now
            found.append(str(get_metric(name)))
    return found


def _about_right(main: Measure, specs: Mapping[str, MetricSpec]) -> bool:
    """Whether a metric compares with the right answer; of a score of the harness that is assumed."""
    return main.source == "harness" or any(_RIGHT.intersection(needs) for needs in specs[main.id].needs)


def declared_kinds(runs: Iterable[Run]) -> dict[str, str]:
    """Kinds that were declared (``--kind``) by metric; one that runs contradict each other about is left out."""
    return {metric: kind for metric, kind in _declared(runs, "kind").items() if kind in ("hard", "continuous")}


def declared_twins(runs: Iterable[Run]) -> dict[str, str]:
    """Twins that were declared (``--twin``) by metric; one that runs contradict each other about is left out."""
    return _declared(runs, "twin")


def _declared(runs: Iterable[Run], fact: str) -> dict[str, str]:
    found: dict[str, set[str | None]] = {}
    for run in runs:
        facts = run.meta.get("metrics")
        for metric, told in facts.items() if isinstance(facts, dict) else ():
            said = told.get(fact) if isinstance(told, dict) else None
            found.setdefault(metric, set()).add(said if isinstance(said, str) else None)
    return {metric: said for metric, (said, *more) in found.items() if said is not None and not more}


def _measure(seen: Seen, specs: Mapping[str, MetricSpec], kinds: Mapping[str, str]) -> Measure | None:
    identity, rows = seen.metric_id, seen.rows
    if seen.source == "harness":
        known = harness_metric(identity)
        # an unknown score that only ever is 0 or 1 jumps by construction
        kind = kinds.get(identity) or (known.kind if known else None) or ("hard" if seen.binary else "continuous")
        low, high = (known.low, known.high) if known else (0.0, 1.0) if seen.binary else (None, None)
        better = known.higher_is_better if known and known.higher_is_better is not None else True
        link = known.link if known else None
        return Measure(identity, identity, identity, kind, link, low, high, better, "harness", rows, seen.binary)
    spec = specs.get(identity)
    if spec is None:  # a metric with other parameters, or of a plugin that is not installed now
        return None
    return Measure(
        id=identity,
        name=str(spec),
        base=spec.name,
        kind=spec.kind,
        link=spec.link,
        low=spec.low,
        high=spec.high,
        higher_is_better=spec.higher_is_better is not False,
        source="foreshock",
        rows=rows,
        binary=seen.binary,
    )


def chance_level(main: Measure, choices: int | None) -> float | None:
    """Score of guessing on a task with ``choices`` options; None when unknown."""
    if main.source != "foreshock":
        return 1 / choices if main.link == "argmax" and choices else None
    spec = get_metric(main.name)
    params = dict(spec.params)
    of, attempts = params.get("of"), params.get("k")
    if main.link != "any-of-T" or not isinstance(of, str) or not isinstance(attempts, int):
        return spec.chance(choices)
    once = get_metric(of).chance(choices)
    return None if once is None else 1 - (1 - once) ** attempts


def choice_count(counts: Sequence[int]) -> int | None:
    """Number of options, when all items that have options have the same number of them."""
    found = {count for count in counts if count > 0}
    return found.pop() if len(found) == 1 else None
