"""Which metric speaks for a task, and which continuous ones it can be read against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

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


GRADED = "graded_score"
"""Kind of a twin of which only the range is known."""

PRIMARY = ("multiple_choice_grade", "exact_match")
"""Our own hard metrics, in the order in which they speak for a task."""


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
    # the mirage room fixes the order, before any score is looked at
    twins = [own[name] for name in ORDER if name in own and own[name].kind == "continuous"]
    told = next((m for m in theirs if main is not None and m.name == (beside or {}).get(main.name)), None)
    if told is not None and main is not None:
        # nothing says what it measures but that it is graded, from nothing to the best score of the scale
        twins.append(told._replace(base=GRADED, kind="continuous", high=told.high if told.high is not None else 1.0))
    return Measures(main, twins, own.get("position_accuracy"), found)


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
        return Measure(identity, identity, identity, kind, link, low, high, better, "harness", rows)
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
    )


def chance_level(main: Measure, choices: int | None) -> float | None:
    """Score of guessing on a task with ``choices`` options; None when unknown."""
    if main.source == "foreshock":
        return get_metric(main.name).chance(choices)
    return 1 / choices if main.link == "argmax" and choices else None


def choice_count(counts: Sequence[int]) -> int | None:
    """Number of options, when all items that have options have the same number of them."""
    found = {count for count in counts if count > 0}
    return found.pop() if len(found) == 1 else None
