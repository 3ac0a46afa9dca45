"""What a report on blind spots says, as findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from foreshock._base import count_of
from foreshock.lint._blind_cell import ALPHA, BLIND, least_answers
from foreshock.lint._degrade import HARMLESS
from foreshock.records import Effect, Finding, Need, Rate, State, Subject

if TYPE_CHECKING:
    from foreshock.lint._blind import BlindReport, BlindRow

CODE = "FS250"
_NULL = (
    f"`blind` is said when the exact 95% interval of the noticed share lies below {BLIND:.0%}; a second scoring of the "
    f"same answer counts as noticed in at most {ALPHA:.0%}; the unit is an answer"
)
_WORDS = {
    "drop_fact": "dropped facts",
    "contradict_number": "contradicted numbers",
    "truncate": "truncation",
    "refuse": "refusals",
    "pad": "padding",
    "swap_option": "swapped options",
}


def findings(report: BlindReport) -> list[Finding]:
    """See :meth:`BlindReport.findings`."""
    planted = [row for row in report.rows if row.degradation not in HARMLESS]
    out = []
    for scorer in dict.fromkeys(row.scorer for row in planted):
        mine = [row for row in planted if row.scorer == scorer]
        spots = [row for row in mine if row.said == "blind"]
        if spots:
            out.append(_blind(spots, planted))
        elif all(row.said == "cannot tell" for row in mine):
            out.append(_untold(mine))
    return out


def _blind(spots: list[BlindRow], planted: list[BlindRow]) -> Finding:
    worst = min(spots, key=lambda row: (row.cell.share, -row.cell.n))
    told = [
        f"{_WORDS[row.degradation]} ({row.cell.seen:,} of {row.cell.n:,} noticed, at most {row.cell.high:.0%})"
        for row in spots
    ]
    c = worst.cell
    return Finding(
        code=CODE,
        subject=Subject(metric=worst.scorer),
        state=State.FIRING,
        verdict="blind",
        title=f"{worst.scorer} is blind to {_listed(told)}.",
        effect=Effect(
            name=f"noticed share, {worst.degradation}", unit="fraction", value=c.share, low=c.low, high=c.high
        ),
        null=_NULL,
        rate=Rate(stated=0.025),
        advice=_advice(spots, planted),
    )


def _advice(spots: list[BlindRow], planted: list[BlindRow]) -> str:
    advice = []
    for row in spots:
        others = [o.scorer for o in planted if o.degradation == row.degradation and o.said == "sees"]
        which = f"read {others[0]} beside it" if others else "none of the scorers given sees them"
        advice.append(f"{_WORDS[row.degradation]}: {which}")
    return "; ".join(advice)


def _untold(mine: list[BlindRow]) -> Finding:
    have = max(row.cell.n for row in mine)
    enough = [row.cell.enough for row in mine if row.cell.enough is not None and row.cell.n]
    needed = min(enough) if enough else least_answers()
    whys = list(dict.fromkeys(row.cell.why for row in mine if row.cell.why))
    return Finding(
        code=CODE,
        subject=Subject(metric=mine[0].scorer),
        state=State.NO_DATA,
        verdict="cannot tell",
        title=f"What {mine[0].scorer} is blind to cannot be told: {'; '.join(whys[:2])}.",
        null=_NULL,
        rate=Rate(stated=0.025),
        needs=[Need(what="answers that can be damaged and whose score can fall", have=have, enough=needed)],
        advice=f"give it {count_of(needed, 'answer')} that can be damaged and that it scores above its lowest value",
    )


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
