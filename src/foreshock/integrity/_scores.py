"""Scores that cannot be what they seem: FS101, FS102, FS103 and FS106."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from foreshock._base import count_of
from foreshock.integrity._told import CERTAIN, EVIDENCE, models, possible, some
from foreshock.integrity._totals import Total
from foreshock.records import Effect, Evidence, Finding, Rate, Run, State, Subject
from foreshock.scoring import Aggregate, Agreement
from foreshock.stats import normal_quantile

LEVEL = 0.95


def disagreements(found: Iterable[Agreement]) -> list[Finding]:
    """FS101: our score of the stored responses is not the harness's own."""
    groups: dict[tuple[str, str, str], list[Agreement]] = defaultdict(list)
    for one in found:
        if one.agree < one.n:
            groups[one.task, one.harness, one.metric].append(one)
    return [_disagreement(*key, members) for key, members in sorted(groups.items())]


def _disagreement(task: str, harness: str, metric: str, members: Sequence[Agreement]) -> Finding:
    n, agree = sum(one.n for one in members), sum(one.agree for one in members)
    same = all(one.comparable for one in members)
    examples = [(one, example) for one in members for example in one.examples]
    names = some(sorted({one.model for one in members}))
    return Finding(
        code="FS101",
        subject=Subject(task=task, metric=harness, runs=sorted(one.run_key for one in members)),
        # another rule under another name may differ by intention
        state=State.FIRING if same else State.PENDING,
        verdict="disagreement",
        title=(
            f"{task}: {metric} differs from the harness's {harness} on {n - agree:,} of {count_of(n, 'response')} "
            f"({names})"
        ),
        effect=Effect(name="share that differs", unit="fraction", value=(n - agree) / n, low=None, high=None),
        null="both apply one rule to the same stored answers, so they agree on every response; no chance",
        rate=CERTAIN,
        alternatives=[
            possible("normalisation", "the harness may fold case, punctuation or numbers before it compares"),
            possible("answer extraction", "the stored answer may not be the text that the harness scored"),
        ],
        evidence=[
            Evidence(
                run=one.run_key,
                item=example.item_id,
                epoch=example.epoch,
                what=f"ours {example.ours:g}, harness {example.harness:g}",
            )
            for one, example in examples[:EVIDENCE]
        ],
        evidence_total=n - agree,
        advice="open the named responses; until the reason is known, trust the harness's own score for this task",
    )


def denominators(runs: Sequence[Run], computed: Iterable[Aggregate]) -> list[Finding]:
    """FS102: the score over what was scored is not the score over what was expected."""
    by_key = {run.run_key: run for run in runs}
    groups: dict[tuple[str, str], list[Aggregate]] = defaultdict(list)
    for row in computed:
        if row.run_key in by_key and row.n_scored < row.expected and None not in (row.value, row.value_expected):
            groups[row.task, row.metric_id].append(row)
    return [_denominator(task, metric, rows) for (task, metric), rows in sorted(groups.items())]


def _denominator(task: str, metric: str, rows: Sequence[Aggregate]) -> Finding:
    worst = max(rows, key=lambda row: (_lost(row), row.run_key))
    # what has no score could have been anything: it matters once it is more than the sampling error
    heavy = [row for row in rows if _lost(row) > normal_quantile((1 + LEVEL) / 2) * (row.stderr or 0.0)]
    gap, missing = _gap(worst), worst.expected - worst.n_scored
    size = "those without a score are more than its margin of error" if heavy else "within its margin of error"
    return Finding(
        code="FS102",
        subject=Subject(task=task, metric=metric, runs=sorted({row.run_key for row in rows})),
        state=State.FIRING if heavy else State.PENDING,
        verdict="denominators",
        title=(
            f"{task}: {worst.model} has {worst.value:.3g} over {worst.n_scored:,} scored and "
            f"{worst.value_expected:.3g} over {worst.expected:,} expected responses ({size}); "
            f"{count_of(len(rows), 'run is', 'runs are')} concerned"
        ),
        effect=Effect(name="difference of the two scores", unit="score", value=gap, low=None, high=None),
        null="every expected response is scored; no chance",
        rate=CERTAIN,
        evidence=[
            Evidence(
                run=row.run_key,
                item=None,
                epoch=None,
                what=f"{row.unparsed:,} unparsed, {row.expected - row.n:,} without a row, {row.failed:,} failed",
            )
            for row in sorted(rows, key=lambda row: (-_lost(row), row.run_key))[:EVIDENCE]
        ],
        evidence_total=len(rows),
        advice=f"report both; {count_of(missing, 'response')} of {worst.model} may be counted as wrong or left out",
    )


def _gap(row: Aggregate) -> float:
    assert row.value is not None
    assert row.value_expected is not None
    return abs(row.value - row.value_expected)


def _lost(row: Aggregate) -> float:
    return (row.expected - row.n_scored) / row.expected


def zero_errors(found: Iterable[Total]) -> list[Finding]:
    """FS103: a standard error of exactly 0 beside a score strictly between the ends of its scale."""
    groups: dict[tuple[str, str], list[Total]] = defaultdict(list)
    for total in found:
        if total.logged and total.stderr == 0 and _between(total) and total.n != 1:
            groups[total.run.task, total.metric].append(total)
    return [_zero_error(task, metric, members) for (task, metric), members in sorted(groups.items())]


def _between(total: Total) -> bool:
    low = total.low if total.low is not None else 0.0
    high = total.high if total.high is not None else 1.0
    return low < total.value < high


def _zero_error(task: str, metric: str, members: Sequence[Total]) -> Finding:
    certain = all(total.hard for total in members)
    first = members[0]
    return Finding(
        code="FS103",
        subject=Subject(task=task, metric=metric, runs=sorted({total.run.run_key for total in members})),
        state=State.FIRING if certain else State.PENDING,
        verdict="zero-error",
        title=(
            f"{task}: {metric} of {first.value:.3g} is logged with a standard error of exactly 0 "
            f"({models(total.run for total in members)})"
        ),
        null="scores that are not all alike have a spread; no chance",
        rate=CERTAIN,
        alternatives=[]
        if certain
        else [possible("equal scores", f"every item may have scored exactly the same on {metric}")],
        evidence=[
            Evidence(run=t.run.run_key, item=None, epoch=None, what=f"{t.value:g} ± 0") for t in members[:EVIDENCE]
        ],
        evidence_total=len(members),
        advice="do not use this error: keep the responses and let it be computed, or give the number of items (--n)",
    )


def scales(found: Iterable[Total]) -> list[Finding]:
    """FS106: one metric of one task stands on different scales in different runs.

    Totals of our own metrics are passed over: a Brier score or error rate of 1.07 beside one of .9 is no other scale.
    """
    groups: dict[tuple[str, str], list[Total]] = defaultdict(list)
    for total in found:
        if not total.ours:
            groups[total.run.task, total.metric].append(total)
    told = [_scale(task, metric, members) for (task, metric), members in sorted(groups.items())]
    return [finding for finding in told if finding is not None]


def _scale(task: str, metric: str, members: Sequence[Total]) -> Finding | None:
    declared = {(t.low, t.high) for t in members if t.low is not None and t.high is not None}
    beyond = [t for t in members if not _fits(t)]
    inside = [t for t in members if t.value <= 1]
    if len(declared) <= 1 and not (beyond and inside):
        return None
    if len(declared) > 1:
        ranges = some(sorted(f"{low:g} to {high:g}" for low, high in declared if low is not None and high is not None))
        told, certain, odd = f"is declared on the scales {ranges}", True, list(members)
    else:
        high = {t.run.run_key for t in beyond}
        low = {t.run.run_key for t in inside}  # several totals of one run are one run
        told = f"is at most 1 in {count_of(len(low - high or low), 'run')} and {beyond[0].value:.3g} in "
        told += models(_runs(beyond))
        certain, odd = all(t.high == 1 for t in members), beyond
    return Finding(
        code="FS106",
        subject=Subject(task=task, metric=metric, runs=sorted({t.run.run_key for t in members})),
        state=State.FIRING if certain else State.PENDING,
        verdict="scale",
        title=f"{task}: {metric} {told}",
        null="one metric has one scale; no chance",
        rate=Rate(stated=0.0) if certain else Rate(),
        alternatives=[] if certain else [possible("unbounded metric", f"the range of {metric} is not known")],
        evidence=[Evidence(run=t.run.run_key, item=None, epoch=None, what=f"{t.value:g}") for t in odd[:EVIDENCE]],
        evidence_total=len(odd),
        advice="read the tables of percentages again with --scale 100",
    )


def _fits(total: Total) -> bool:
    """Whether a score can be a rate; of a metric known to be no rate nothing is said."""
    no_rate = total.high != 1 and (total.low, total.high) != (None, None)
    return no_rate or not 1 < total.value <= 100


def _runs(found: Iterable[Total]) -> list[Run]:
    return [total.run for total in found]
