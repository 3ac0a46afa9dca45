"""Rules about labels and denominators: FS208 and FS209."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from foreshock._base import count_of
from foreshock.lint import _power as power
from foreshock.lint._facts import Benchmark, Best, Denominator
from foreshock.lint._options import LintOptions
from foreshock.lint._told import Told, points, some
from foreshock.records import Effect, Evidence, Need, Rate, State
from foreshock.stats import clopper_pearson, normal_quantile

LEVEL = 0.95
_EVIDENCE = 20


def ceiling_unknown(benchmark: Benchmark, _: LintOptions) -> list[Told]:
    """FS208."""
    if not benchmark.metrics:
        return [
            Told(
                State.NO_DATA, "no metric is stated, so neither is its ceiling", "declare the metrics in benchmark.toml"
            )
        ]
    if not any(metric.kind == "hard" or metric.high == 1 for metric in benchmark.metrics):
        return []
    ceiling = _ceiling(benchmark)
    if ceiling is not None:
        return _above(benchmark.best, ceiling) if benchmark.best else []
    best = benchmark.best
    if best is None:
        return [
            Told(
                State.PENDING,
                "the share of wrong labels is not stated, so the highest possible score is not known",
                "have a sample of labels checked and declare labels = { checked = N, wrong = K } in benchmark.toml",
                needs=[Need(what="checked labels", have=0, enough=None)],
            )
        ]
    if best.value >= 1:
        return []  # the highest possible score was reached
    floor = benchmark.chance if benchmark.chance is not None else benchmark.guess or 0.0
    left = 1 - best.value
    enough = power.labels_enough(left)
    used = (best.value - floor) / (1 - floor) if floor < 1 else 1.0
    check = "check labels" if enough is None else f"check {count_of(enough, 'label')}"
    return [
        Told(
            State.FIRING if used > 0.5 else State.PENDING,
            f"the share of wrong labels is not stated: of the {points(left)} above {best.model[:80]} nobody "
            "knows how many "
            "can be reached",
            f"{check}: if all are right, fewer are wrong than what is left; declare labels in benchmark.toml",
            effect=Effect(
                name="left above the best model", unit="fraction", value=left, low=1 - best.high, high=1 - best.low
            ),
            needs=[Need(what="checked labels", have=0, enough=enough)],
        )
    ]


def _ceiling(benchmark: Benchmark) -> tuple[float, float] | None:
    """Highest possible score and the upper end of its interval."""
    if benchmark.audit is not None and benchmark.audit.checked > 0:
        wrong, checked = benchmark.audit.wrong, benchmark.audit.checked
        return 1 - wrong / checked, 1 - float(clopper_pearson(wrong, checked, LEVEL)[0])
    return (benchmark.ceiling, benchmark.ceiling) if benchmark.ceiling is not None else None


def _above(best: Best, ceiling: tuple[float, float]) -> list[Told]:
    if best.low <= ceiling[1]:
        return []
    return [
        Told(
            State.FIRING,
            f"{best.model[:80]} stands at {best.value:.1%} ({best.low:.1%} to {best.high:.1%}), above the "
            "declared ceiling "
            f"of {ceiling[0]:.1%}",
            "look for items that the model has seen, and check the audit",
            word="above-ceiling",
            effect=Effect(
                name="score above the ceiling",
                unit="fraction",
                value=best.value - ceiling[0],
                low=best.low - ceiling[1],
                high=None,
            ),
            rate=Rate(stated=power.ALPHA),
        )
    ]


def denominators_differ(benchmark: Benchmark, _: LintOptions) -> list[Told]:
    """FS209."""
    if not benchmark.observed:
        return []
    groups: dict[str, list[Denominator]] = defaultdict(list)
    for row in benchmark.denominators:
        groups[row.conditions].append(row)
    several = [rows for rows in groups.values() if len(rows) > 1]
    if not several:
        return [
            Told(
                State.NO_DATA,
                "there are no two runs under the same conditions whose responses are counted",
                "run a second model",
                needs=[Need(what="runs under the same conditions", have=len(benchmark.denominators), enough=2)],
            )
        ]
    return [told for rows in several if (told := _differing(rows)) is not None]


def _differing(rows: Sequence[Denominator]) -> Told | None:
    least, most = min(rows, key=lambda r: (r.scored, r.run)), max(rows, key=lambda r: (r.scored, r.run))
    expected = {row.expected for row in rows if row.expected is not None}
    if least.scored == most.scored and len(expected) < 2:
        return None
    low, high = least.scored, most.scored
    if low == high:
        low, high = min(expected), max(expected)
    share = (high - low) / high
    margin = normal_quantile((1 + LEVEL) / 2) * 0.5 / math.sqrt(max(low, 1))
    odd = [row for row in rows if row.scored != high or (row.expected is not None and row.expected != max(expected))]
    what = "expects" if least.scored == most.scored else "is scored over"
    return Told(
        State.FIRING if share > margin else State.PENDING,
        f"{least.model[:80]} {what} {low:,} responses and {most.model[:80]} {high:,}: {share:.1%} are not in both "
        f"(margin of error {margin:.1%})",
        f"run the missing items of {some(sorted({row.model for row in odd}))}, or use foreshock compare (shared "
        "items only)",
        effect=Effect(
            name="share of responses that not all runs have", unit="fraction", value=share, low=None, high=None
        ),
        evidence=[
            Evidence(run=row.run, item=None, epoch=None, what=f"{row.scored:,} scored of {_of(row.expected)}")
            for row in odd[:_EVIDENCE]
        ],
    )


def _of(expected: int | None) -> str:
    return "an unknown number" if expected is None else f"{expected:,} expected"
