"""Findings FS901 and the rows of the table ``compare``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from foreshock._base import digest
from foreshock.compare import _incomplete as incomplete
from foreshock.compare._clusters import PASSAGE
from foreshock.compare._extremes import extremes, words_of
from foreshock.compare._judge import Compared, Verdict
from foreshock.compare._match import Refusal
from foreshock.compare._measure import Measure
from foreshock.compare._options import CompareOptions, Side
from foreshock.compare._pair import PairResult
from foreshock.compare._totals import TEST, retold, totals_row
from foreshock.compare._words import advice, amount, how, if_otherwise, null_of, title
from foreshock.records import Alternative, Effect, Evidence, Finding, Fit, Need, Rate, Run, RunStatus, State, Subject

CODE = "FS901"
_STATES = {
    "regression": State.FIRING,
    incomplete.WORD: State.FIRING,
    "improvement": State.OK,
    "no-difference": State.OK,
    "undecided": State.NO_DATA,
}


def metric_name(one: Compared) -> str:
    """Metric with the answer filter, as harnesses write them: ``exact_match,strict``."""
    return one.chosen.measure.name + (f",{one.chosen.filter}" if one.chosen.filter else "")


def runs_of(one: Compared) -> list[Run]:
    """Runs behind a comparison, the baseline's first."""
    return [*one.match.runs[0], *one.match.runs[one.place]]


def labels_of(one: Compared, sides: Sequence[Side]) -> tuple[str, str]:
    """Names of the two sides."""
    return sides[0].label, sides[one.match.sides[one.place]].label


def finding_of(
    one: Compared,
    verdict: Verdict,
    sides: Sequence[Side],
    options: CompareOptions,
    evidence: tuple[list[Evidence], int],
) -> Finding:
    """FS901 of one comparison."""
    first, second = labels_of(one, sides)
    loss = verdict.word == incomplete.WORD and one.other is not None
    result = one.other if loss and one.other is not None else one.result
    finding = Finding(
        code=CODE,
        subject=Subject(
            task=one.match.task, model=second, metric=metric_name(one), runs=[run.run_key for run in runs_of(one)]
        ),
        state=_STATES[verdict.word],
        verdict=verdict.word,
        title=incomplete.title(one, first, second) if loss else title(one, verdict, first, second),
        effect=_effect(result, one.chosen.measure, options),
        p=result.p if result.items else None,
        q=(verdict.other if loss else verdict.used) if result.items else None,
        null=null_of(one) + (f"; responses that {incomplete.lack_of(one)} count as wrong" if loss else ""),
        replicates=result.replicates,
        rate=Rate(stated=options.alpha),
        needs=_needs(one, verdict),
        alternatives=_alternatives(one, verdict, options),
        evidence=evidence[0],
        evidence_total=evidence[1],
        fit=Fit(data_hash=_data_hash(one), seed=options.seed),
        advice=incomplete.advice(one, second) if loss else advice(one, verdict, first, second),
    )
    return retold(finding, one, verdict, first, second)


def _effect(result: PairResult, measure: Measure, options: CompareOptions) -> Effect | None:
    if not result.items:
        return None
    low, high = _finite(result.low), _finite(result.high)
    return Effect(
        name="difference",
        unit="points" if measure.unit == "fraction" else measure.unit,
        value=result.difference,
        low=low,
        high=high,
        level=1 - options.alpha,
        infinite=low is None,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _needs(one: Compared, verdict: Verdict) -> list[Need]:
    if verdict.word != "undecided":
        return []
    if not one.result.items:
        return [Need(what="items that both have a score for", have=0, enough=None)]
    if verdict.needed is None or verdict.margin is None:
        return [Need(what="paired items", have=one.result.items, enough=None)]
    size = amount(verdict.margin, one.chosen.measure)
    return [Need(what=f"paired items, to show {size}", have=one.result.items, enough=verdict.needed)]


def _alternatives(one: Compared, verdict: Verdict, options: CompareOptions) -> list[Alternative]:
    conditions = {one.match.conditions[0], one.match.conditions[one.place]}
    same = len(conditions) == 1
    found = [
        Alternative(
            name="other conditions",
            status="ruled-out" if same else "possible",
            why="both ran under the same stated conditions"
            if same
            else " / ".join(sorted(c or "none" for c in conditions)),
        ),
        _missing(one, verdict, options),
        _dependence(one, options),
    ]
    if one.chosen.measure.assumed:
        why = f"{one.chosen.measure.name} is not known; larger values were taken for better ones"
        found.append(Alternative(name="direction of the score", status="unchecked", why=why))
    return found


def _missing(one: Compared, verdict: Verdict, options: CompareOptions) -> Alternative:
    lack = incomplete.lack_of(one)
    name = f"responses that {lack}"
    if one.other is None:
        return Alternative(name=name, status="ruled-out", why="every paired item arrived in both")
    word = incomplete.other_word(one, verdict, options) or verdict.word
    said = if_otherwise(one, one.other, (word, verdict.word), lack, options.missing)
    if word != verdict.word:
        return Alternative(name=name, status="possible", why=said)
    ends = extremes(one, options)
    if ends is None:
        return Alternative(
            name=name, status="unchecked", why=f"{said} The score has no range that bounds their effect."
        )
    words = words_of(one, verdict, ends, options)
    told = " to ".join(amount(end.difference, one.chosen.measure, signed=True) for end in ends)
    said += f" Right on one side and wrong on the other they could make it {told}"
    if set(words) == {verdict.word}:
        return Alternative(name=name, status="ruled-out", why=f"{said}, with the same verdict.")
    return Alternative(name=name, status="possible", why=f"{said}: {' or '.join(dict.fromkeys(words))}.")


def _dependence(one: Compared, options: CompareOptions) -> Alternative:
    name = "items that are not independent"
    if one.sheet.clusters is not None:
        why = f"{one.result.clusters:,} clusters of {one.result.items:,} items ({one.sheet.cluster_kind}) are units"
        return Alternative(name=name, status="ruled-out", why=why)
    if options.cluster == "none":
        return Alternative(name=name, status="unchecked", why="--cluster none")
    bare = sum(label.startswith("id:") for label in one.sheet.labels) if options.pair == "auto" else 0
    if bare:
        why = f"{bare:,} of {len(one.sheet.labels):,} items have no text; --cluster can name what groups them"
        return Alternative(name=name, status="unchecked", why=why)
    why = f"no two items share a text, nor a beginning, an end or a line of {PASSAGE} characters"
    return Alternative(name=name, status="ruled-out", why=why)


def _data_hash(one: Compared) -> str:
    facts = [
        one.match.task,
        one.chosen.filter,
        one.chosen.measure.id,
        [run.ingest_id for run in runs_of(one)],
    ]
    return digest(facts, 16)


def refused_finding(refusal: Refusal, sides: Sequence[Side]) -> Finding:
    """FS901 of something that was not compared."""
    other = sides[refusal.side].label
    return Finding(
        code=CODE,
        subject=Subject(task=refusal.task, model=other),
        state=State.FIRING if refusal.lack == "lost" else State.WITHHELD,
        verdict=incomplete.WORD if refusal.lack else "undecided",
        title=f"{other} is not compared with {sides[0].label} on {refusal.task}: {refusal.why}",
        needs=[Need(what=refusal.why, have=0, enough=1)],
        null="nothing was tested",
        advice=refusal.do or "add the missing run, or leave the task out with --task",
    )


def compare_row(
    one: Compared, verdict: Verdict, sides: Sequence[Side], options: CompareOptions, finding: Finding
) -> dict[str, Any]:
    """Row of ``compare``."""
    first, second = labels_of(one, sides)
    result, measure, sheet = one.result, one.chosen.measure, one.sheet
    a, b = sheet.counts[0], sheet.counts[one.place]
    row = {
        "finding_id": finding.id,
        "task": one.match.task,
        "metric": metric_name(one),
        "source": measure.source,
        "unit": measure.unit,
        "rising": measure.rising,
        "conditions": one.match.conditions[one.place],
        "verdict": verdict.word,
        "first": first,
        "second": second,
        "first_runs": [run.run_key for run in one.match.runs[0]],
        "second_runs": [run.run_key for run in one.match.runs[one.place]],
        **_numbers(result, ""),
        "p_holm": verdict.holm,
        "p_bh": verdict.bh,
        "adjust": options.adjust,
        "test": how(one),
        "p_mcnemar": result.mcnemar,
        "p_mid": result.mid_p,
        "level": 1 - options.alpha,
        "clusters": result.clusters,
        "clustered": result.clusters < result.items,
        "cluster_kind": sheet.cluster_kind or None,
        "paired_by": sheet.paired_by,
        "unpaired": result.test == TEST,
        "only_first": one.only_first,
        "only_second": one.only_second,
        "refused": [f"{why}: {n:,}" for why, n in sorted(sheet.refused.items())],
        "margin": verdict.margin,
        "needed": verdict.needed,
        "detectable": verdict.detectable,
        "missing": options.missing,
        "notes": list(one.match.unused),
    }
    for name, counts, place in (("first", a, 0), ("second", b, one.place)):
        runs = one.match.runs[place]
        row |= {f"{name}_{key}": value for key, value in counts._asdict().items()}
        row |= {f"{name}_expected": incomplete.asked_of(one, place), f"{name}_lost": incomplete.lost_of(one, place)}
        row[f"{name}_complete"] = all(run.status is RunStatus.COMPLETE for run in runs)
    if one.other is not None:
        word = incomplete.other_word(one, verdict, options) or verdict.word
        row |= _numbers(one.other, "other_")
        told = if_otherwise(one, one.other, (word, verdict.word), incomplete.lack_of(one), options.missing)
        row |= {"other_verdict": word, "other_text": told}
    if one.twin is not None and one.chosen.twin is not None:
        row |= {"twin": one.chosen.twin.name, "twin_unit": one.chosen.twin.unit, **_numbers(one.twin, "twin_")}
        row["twin_rising"] = one.chosen.twin.rising
    return totals_row(row, one)


def _numbers(result: PairResult, lead: str) -> dict[str, Any]:
    there = result.items > 0
    return {
        f"{lead}items": result.items,
        f"{lead}first_value": result.first if there else None,
        f"{lead}second_value": result.second if there else None,
        f"{lead}difference": result.difference if there else None,
        f"{lead}low": _finite(result.low),
        f"{lead}high": _finite(result.high),
        f"{lead}p": result.p if there else None,
        f"{lead}up": result.up,
        f"{lead}down": result.down,
    }
