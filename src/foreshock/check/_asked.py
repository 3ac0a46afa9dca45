"""Hard metrics that were asked for by name: which they are, and what to say when there are none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from foreshock._base import ConfigError, MetricError, nearest
from foreshock.check._measures import Measure, Measures, chance_level, choice_count, declared_twins, measures_of
from foreshock.check._pass_rate import with_pass_rate
from foreshock.check._task import Task, of_answers
from foreshock.check._whole_texts import WholeTexts
from foreshock.metrics import MetricSpec, get_metric

_LISTED = 8
_GLOB = frozenset("*?[")


class There(NamedTuple):
    """Metrics of one task, by name.

    Attributes:
        judged: Those that can be read against a twin.
        beside: The others.
    """

    judged: list[str]
    beside: list[str]


def there(found: Measures) -> There:
    """Names of the metrics of a task."""
    return There([m.name for m in found.all if m.judged], [m.name for m in found.all if not m.judged])


class Judgeable(NamedTuple):
    """A metric that lines of a task are judged on.

    Attributes:
        measures: The metric with its twins.
        chance: Score of guessing on it.
    """

    measures: Measures
    chance: float | None


def judged_on(
    task: Task, specs: Mapping[str, MetricSpec], texts: WholeTexts, options: Sequence[int], patterns: Sequence[str]
) -> list[Judgeable]:
    """What the lines of a task are judged on: its main metric, or those that were asked for.

    Args:
        task: The task.
        specs: Metrics by id, as :class:`foreshock.series.Shelf` knows them.
        texts: Whether what stands for its answers are whole texts.
        options: Numbers of options that its items offer.
        patterns: Names or glob patterns; without any it is the main metric, where that is hard.
    """
    found = task.measures
    if not patterns:
        return [Judgeable(found, task.chance)] if found.main is not None and found.main.kind == "hard" else []
    beside = declared_twins(task.runs)
    return [
        Judgeable(
            with_pass_rate(of_answers(measures_of(one, found, specs, beside), texts, task.name), task.blocks),
            # what was declared is the score of guessing on the main metric
            task.chance if one == found.main else chance_level(one, choice_count(options)),
        )
        for one in asked_for(found, patterns)
    ]


def asked_for(found: Measures, patterns: Sequence[str]) -> list[Measure]:
    """The metrics of a task that fit one of some patterns, the one that speaks for the task first."""
    fitting = [m for m in found.all if m.judged and fits(m.name, patterns)]
    return sorted(fitting, key=lambda m: m != found.main)


def fits(name: str, patterns: Sequence[str]) -> bool:
    """Whether a metric is asked for, by its name or as :func:`foreshock.metrics.get_metric` takes it."""
    return any(fnmatchcase(name, pattern) for pattern in map(canonical, patterns))


def canonical(pattern: str) -> str:
    """A pattern, or the full name of the metric that it names.

    Examples:
        >>> canonical("pass_at_k( k=4,of=harness )"), canonical("pass_*")
        ('pass_at_k(k=4, of=harness)', 'pass_*')
    """
    spec = named(pattern)
    return pattern if spec is None else str(spec)


def named(pattern: str) -> MetricSpec | None:
    """The metric that is named in full; None for a pattern, and for a metric of a harness."""
    if _GLOB.intersection(pattern):
        return None
    try:
        return get_metric(pattern)
    except MetricError:
        return None


def to_score(patterns: Sequence[str]) -> list[MetricSpec]:
    """The metrics that are named in full, each with the twins that it declares."""
    specs = [spec for pattern in patterns if (spec := named(pattern)) is not None]
    twins = [twin for spec in specs for name in spec.twins if (twin := named(name)) is not None]
    return list(dict.fromkeys([*specs, *twins]))


def refuse_absent(patterns: Sequence[str], tasks: Iterable[There]) -> None:
    """Refuse a pattern that no task has a hard metric for.

    Raises:
        ConfigError: There is one; the message names what there is.
    """
    known = list(tasks)
    judged, beside = (list(dict.fromkeys(name for one in known for name in one[k])) for k in (0, 1))
    for pattern in patterns:
        if any(fits(name, [pattern]) for name in judged):
            continue
        soft = next((name for name in beside if fits(name, [pattern])), None)
        raise ConfigError(
            _missing(pattern, soft),
            expected=f"a metric that is declared hard or has a link; there {_list(judged)}",
            do=_do(pattern, soft, judged),
        )


def _missing(pattern: str, soft: str | None) -> str:
    if soft is not None:
        return f"--hard {pattern[:80]!r}: {soft[:80]} is continuous, and can only stand beside a hard metric"
    return f"--hard {pattern[:80]!r}: no hard metric of these runs fits it"


def _list(names: Sequence[str]) -> str:
    if not names:
        return "is none"
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return f"{'is' if len(names) == 1 else 'are'} {', '.join(name[:80] for name in names[:_LISTED])}{more}"


def _do(pattern: str, soft: str | None, judged: Sequence[str]) -> str:
    spec = named(pattern) if soft is None else None
    if spec is not None:
        other = "; of the harness's own scores: of=harness among its parameters" if "of" in dict(spec.params) else ""
        return f"see why it has no scores: foreshock score --metric {pattern[:80]!r}{other}"
    near = nearest(pattern, judged)
    if near:
        return f"did you mean {near[0][:80]}?"
    return "declare it hard where it is defined, or with --kind hard beside a table" if soft else "see: foreshock score"
