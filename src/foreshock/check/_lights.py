"""The six lights of a trust card: what a person needs to know in two minutes before believing a task's scores.

Every rule compares a quantity with the task's own sampling error or with what the log announced; none has a tuned
threshold. Grey (``no-data``) is never green.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite

from foreshock._base import count_of
from foreshock.records import Counts, Light, TrustCard

LIGHTS = ("delivered", "metric", "resolution", "headroom", "comparable", "trend")
"""Names of the lights, in the order in which a card shows them."""

POWER_FACTOR = 2.8016
"""z(.975) + z(.80): a difference of this many standard errors is found with 80% power at the 5% level."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One run's score on the task's main metric.

    Attributes:
        model: Model name.
        value: Score in the metric's raw units, over the responses that could be scored.
        low, high: 95% interval.
        stderr: Standard error, clustered by item; None when unknown.
        n: Items behind the value; None when unknown.
        counts: Delivery counts of the run.
    """

    model: str
    value: float
    low: float | None
    high: float | None
    stderr: float | None
    n: int | None
    counts: Counts


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What the lights of one task are judged from.

    Attributes:
        task: Task.
        metric: Name of the main metric; None when nothing could be scored.
        kind: ``hard`` or ``continuous``; None when it is not known.
        scale: What a score is multiplied by to be told in points (100 for rates); None without such a scale.
        twins: Continuous metrics of the same responses that have values.
        missing_twin: What would give a twin, as an instruction.
        say_kind: How to say what kind the metric is, as an instruction that ends in a space; empty where nobody can.
        floor, ceiling: Chance level (or smallest value) and largest value of the metric; None when unknown.
        standings: One per complete run; of all runs where none is complete.
        pair_error: Standard error of the difference between two models on the same items (median over neighbouring
            models); None without items or with one model.
        agreement: Name of our hard metric, responses on which it equals the harness's own score, and how many were
            compared; None when the harness gave none.
        differences: What differs between the runs, in words (task version, prompt, scorer, items, shots).
        known: What the logs state about every run and what could therefore have differed.
        rising: False for a metric of which less is better.
        incomplete: Runs left out because they did not complete.
        trends: (state, sentence) of each judged line, the most telling first.
        alarms: (state, sentence) of each metric that left its own trend, or stands at a line of the user's.
        everyone: One per run, unfinished ones included, for the light ``delivered``; empty means ``standings``.
    """

    task: str
    metric: str | None
    kind: str | None
    scale: float | None
    twins: list[str]
    missing_twin: str
    floor: float | None
    ceiling: float | None
    standings: list[Standing]
    pair_error: float | None
    agreement: tuple[str, int, int] | None
    differences: list[str]
    incomplete: int
    trends: list[tuple[Light, str]] = field(default_factory=list)
    alarms: list[tuple[Light, str]] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    rising: bool = True
    everyone: list[Standing] = field(default_factory=list)
    say_kind: str = ""


def trust_card(facts: TaskFacts) -> TrustCard:
    """Judge the six lights of one task."""
    judged = {
        "delivered": _delivered(facts),
        "metric": _metric(facts),
        "resolution": _resolution(facts),
        "headroom": _headroom(facts),
        "comparable": _comparable(facts),
        "trend": _trend(facts),
    }
    lights = {name: {"state": light.value, "text": text} for name, (light, text) in judged.items()}
    return TrustCard(task=facts.task, lights=lights)


def _delivered(facts: TaskFacts) -> tuple[Light, str]:
    runs = facts.everyone or facts.standings
    counts = Counts.total(s.counts for s in runs)
    if counts.expected is None and counts.delivered == 0:
        return Light.NO_DATA, "Only totals are in the logs: whether every response arrived cannot be seen."
    lost = counts.refused + counts.error + counts.missing
    total = counts.expected if counts.expected is not None else counts.delivered + lost
    extra = f" Left out: {count_of(facts.incomplete, 'unfinished run')}." if facts.incomplete else ""
    unparsed = without_answer(counts)
    if lost == 0 and unparsed == 0:
        if counts.expected is None:
            return (
                Light.NO_DATA,
                f"{count_of(total, 'response')} arrived; how many were expected is not in the logs.{extra}",
            )
        light = Light.WARN if facts.incomplete else Light.OK
        all_of = "The one response" if total == 1 else f"All {total:,} responses"
        return light, f"{all_of} arrived and gave an answer.{extra}"
    parts = [
        f"{count:,} {word}"
        for count, word in (
            (unparsed, "without an answer that could be extracted"),
            (counts.refused, "refused"),
            (counts.error, "failed"),
            (counts.missing, "missing"),
        )
        if count
    ]
    # losing responses matters once it could move the score by more than the sampling error already does
    heavy = [s.model for s in runs if _lost_share(s) > (_half_width(s) or 0.0)]
    text = f"Of {count_of(total, 'response')} {', '.join(parts)}."
    if heavy:
        return Light.FIRING, f"{text} In {_names(heavy)} that is more than the score's margin of error.{extra}"
    return Light.WARN, f"{text} That is within the scores' margins of error.{extra}"


def _metric(facts: TaskFacts) -> tuple[Light, str]:
    if facts.metric is None:
        return Light.NO_DATA, "Nothing here could be scored: no metric has what it needs."
    if facts.agreement is not None:
        own, equal, n = facts.agreement
        if equal < n:
            counts = "" if own == facts.metric else f" The harness's {facts.metric} is what counts here."
            return Light.WARN, f"{own} differs from the harness's score on {n - equal:,} of {n:,} responses.{counts}"
    if facts.kind is None:
        told = f"Whether {facts.metric} is all-or-nothing is not known."
        return Light.NO_DATA, f"{told} {facts.say_kind}{facts.missing_twin}"
    if facts.kind == "hard" and not facts.twins:
        return Light.WARN, f"{facts.metric} is all-or-nothing and has no continuous twin here. {facts.missing_twin}"
    if facts.kind == "hard":
        return Light.OK, f"{facts.metric} is all-or-nothing and can be read against {facts.twins[0]}."
    return Light.OK, f"{facts.metric} is continuous."


def _resolution(facts: TaskFacts) -> tuple[Light, str]:
    step = resolvable(facts)
    if step is None:
        what = "number of items" if all(s.n is None for s in facts.standings) else "error of the scores"
        return Light.NO_DATA, f"The {what} is not known, so neither is the smallest difference that counts."
    sizes = sorted({s.n for s in facts.standings if s.n is not None})
    items = (
        f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}" if sizes else "an unknown number of"
    )
    text = f"With {items} items a true difference of {_points(step, facts.scale)} is found 4 times in 5."
    values = sorted(s.value for s in facts.standings)
    gaps = [b - a for a, b in pairwise(values)]
    if not gaps:
        return Light.NO_DATA, f"{text} There is one run, so no difference to hold against that."
    close = sum(gap < step for gap in gaps)
    if close == 0:
        return Light.OK, f"{text} Every neighbouring pair of models is further apart than that."
    return Light.WARN, f"{text} {close} of {len(gaps)} neighbouring pairs of models are closer than that."


def _headroom(facts: TaskFacts) -> tuple[Light, str]:
    step = resolvable(facts)
    if step is None or facts.ceiling is None or not facts.standings:
        what = "number of items" if all(s.n is None for s in facts.standings) else "error of the scores"
        return Light.NO_DATA, f"The ceiling or the {what} is not known."
    if not facts.rising:
        return Light.NO_DATA, f"Of {facts.metric} less is better, and how low it can get is not known."
    best = max(facts.standings, key=lambda standing: standing.value)
    left = facts.ceiling - best.value
    risen = best.value - (facts.floor if facts.floor is not None else 0.0)
    near, side = (left, "below the ceiling") if left <= risen else (risen, "above the floor")
    told = f"The best model is {_points(near, facts.scale)} {side}"
    if near <= (_half_width(best) or 0.0):
        return Light.FIRING, f"{told}, which is within its margin of error."
    if near < step:
        return Light.WARN, f"{told}: with these items a step of that size would not be seen."
    steps = int(left / step)
    return (
        Light.OK,
        f"{told}: room for {count_of(steps, 'visible step')}." if side == "below the ceiling" else f"{told}.",
    )


def _comparable(facts: TaskFacts) -> tuple[Light, str]:
    if len(facts.standings) < 2:
        return Light.NO_DATA, "There is one run: nothing to compare it with."
    if facts.differences:
        return Light.WARN, f"The runs differ in {'; '.join(facts.differences)}."
    if not facts.known:
        return (
            Light.NO_DATA,
            "Task version, prompt and scorer are not in the logs: a change would not show.",
        )
    return Light.OK, f"All {len(facts.standings)} runs share {', '.join(facts.known)}."


def _trend(facts: TaskFacts) -> tuple[Light, str]:
    """What the lines of models say; an alarm that is more pressing than they are speaks first."""
    order = [Light.FIRING, Light.WARN, Light.OK, Light.NO_DATA]
    light, text = _lines(facts)
    if not facts.alarms:
        return light, text
    alarm, said = min(facts.alarms, key=lambda one: order.index(one[0]))
    rest = len(facts.alarms) - 1
    more = f" And {count_of(rest, 'further alarm')}." if rest else ""
    if order.index(alarm) < order.index(light):
        return alarm, f"{said.rstrip('.')}.{more}"
    return light, f"{text.rstrip('.')}. Beside it {count_of(len(facts.alarms), 'alarm')}."


def _lines(facts: TaskFacts) -> tuple[Light, str]:
    if not facts.trends:
        return Light.NO_DATA, "There is no line of models to look at."
    order = [Light.FIRING, Light.WARN, Light.OK, Light.NO_DATA]
    light, text = min(facts.trends, key=lambda trend: order.index(trend[0]))
    judged = sum(state is not Light.NO_DATA for state, _ in facts.trends)
    if len(facts.trends) == 1:
        return light, text
    # one calm line says nothing about those that could not be judged
    if light is Light.OK and judged < len(facts.trends):
        light = Light.NO_DATA
    return light, f"{judged} of {len(facts.trends)} lines judged. {text}"


def resolvable(facts: TaskFacts) -> float | None:
    """Smallest true difference between two models that is found with 80% power; None when it cannot be known."""
    if facts.pair_error:  # 0 where no item tells any two models apart
        return POWER_FACTOR * facts.pair_error
    # one item has a score and no standard error
    errors = [s.stderr for s in facts.standings if s.stderr is not None and isfinite(s.stderr) and s.stderr > 0]
    if not errors and facts.scale is not None:
        # all right or all wrong: the scores of the sample have no spread, those of the next items may have
        errors = [_binomial_error(s.value, s.n) for s in facts.standings if s.n is not None and s.stderr == 0]
    # without shared items the two errors add up
    return POWER_FACTOR * max(errors) * 2**0.5 if errors else None


def _binomial_error(share: float, n: int) -> float:
    """Standard error of a share that is not 0 at its ends: two right and two wrong answers added (Agresti, Coull 1998).

    No spread of scores between 0 and 1 with this mean is larger.
    """
    nearer = (share * n + 2) / (n + 4)
    return float((nearer * (1 - nearer) / (n + 4)) ** 0.5)


def _half_width(standing: Standing) -> float | None:
    if standing.low is None or standing.high is None:
        return None
    return (standing.high - standing.low) / 2


def _lost_share(standing: Standing) -> float:
    counts = standing.counts
    total = counts.expected or (counts.delivered + counts.refused + counts.error + counts.missing)
    return 1 - (counts.delivered - without_answer(counts)) / total if total else 0.0


def without_answer(counts: Counts) -> int:
    """Delivered responses from which no answer could be extracted.

    A log that keeps no extracted answers at all, but scores, says nothing about them: that is none.

    Examples:
        >>> without_answer(Counts(delivered=10, parsed=8)), without_answer(Counts(delivered=10, scored=10))
        (2, 0)
    """
    return 0 if counts.parsed == 0 and counts.scored else counts.delivered - counts.parsed


def _points(value: float, scale: float | None) -> str:
    return f"{value:.3g}" if scale is None else f"{scale * value:.1f} points"


def _names(models: list[str]) -> str:
    return ", ".join(models[:3]) + (f" and {len(models) - 3} more" if len(models) > 3 else "")
