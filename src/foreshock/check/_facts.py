"""From a loaded task to the facts that its trust card is judged from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from foreshock.check._lights import Standing, TaskFacts
from foreshock.check._lines import Judged
from foreshock.check._measures import PRIMARY
from foreshock.check._task import Scored, Task, pair_error, standings
from foreshock.check._twin_command import how_to_get_a_twin, keep_responses
from foreshock.metrics import HarnessMetric, harness_metric
from foreshock.records import Finding, Run, RunStatus
from foreshock.series import Declared, conditions_text

_TABLES = ("table", "items")


def with_trends(facts: TaskFacts, judged: Sequence[Judged]) -> TaskFacts:
    """The facts with what became of the task's lines; the twin that the verdicts used stands first."""
    lines = [one for one in judged if not one.difference]
    used = [str(one.verdict["twin"]) for one in lines if one.verdict["twin"]]
    twins = list(dict.fromkeys([*used[:1], *facts.twins])) if facts.twins else used[:1]
    return replace(facts, trends=[one.trend for one in lines], twins=twins)


def with_prompts(facts: TaskFacts, faults: Iterable[Finding]) -> TaskFacts:
    """The facts with what the logged prompts of single items say: a prompt hash of a whole run does not see it all."""
    shares = [
        fault.effect.value
        for fault in faults
        if fault.code == "FS105" and fault.subject.task == facts.task and fault.effect is not None
    ]
    most = max((share for share in shares if share is not None), default=0.0)
    if not most:
        return facts
    rest = [told for told in facts.differences if not told.startswith("prompt (")]
    told = f"prompt (other words for {most:.0%} of the shared items)"
    return replace(facts, differences=[*rest, told], known=[word for word in facts.known if word != "prompt"])


def task_facts(task: Task, agreement: Mapping[str, tuple[int, int]]) -> TaskFacts:
    """What the lights of a task with item scores are judged from, but for its lines.

    Args:
        task: The task.
        agreement: Responses on which our hard metric equals the harness's own score, and how many were compared, by
            run key.
    """
    rows = task.scored
    complete = [row for row in rows if row.run.status is RunStatus.COMPLETE] or rows
    main = task.measures.main
    equal = sum(agreement[run.run_key][0] for run in task.runs if run.run_key in agreement)
    compared = sum(agreement[run.run_key][1] for run in task.runs if run.run_key in agreement)
    floor = task.chance if task.chance is not None else main.low if main else None
    return TaskFacts(
        task=task.name,
        metric=main.name if main else None,
        kind=main.kind if main else None,
        scale=100.0 if main and (main.low, main.high) == (0, 1) else None,
        twins=[measure.name for measure in task.measures.twins],
        missing_twin=how_to_get_a_twin(task.runs[0], totals=False, choices=task.choices).sentence,
        say_kind=_say_kind(task.runs),
        floor=floor,
        ceiling=main.high if main else None,
        standings=standings(complete),
        everyone=standings(rows),
        pair_error=pair_error(task, complete),
        agreement=(_own(task), equal, compared) if compared else None,
        differences=differences(task.runs, _item_sets(task, complete)),
        known=stated(task.runs),
        rising=main.higher_is_better if main else True,
        incomplete=len(task.runs) - len([run for run in task.runs if run.status is RunStatus.COMPLETE]),
    )


def total_facts(
    name: str,
    runs: Sequence[Run],
    rows: Sequence[Mapping[str, object]],
    declared: Mapping[str, Declared],
) -> TaskFacts:
    """The same for a task of which only totals are known; ``declared`` is what was said about each metric."""
    with_twin = [str(row["metric"]) for row in rows if declared.get(str(row["metric"]), Declared()).twin]
    metric = next(iter(with_twin), str(rows[0]["metric"]) if rows else None)
    said = declared.get(metric or "", Declared())
    mine = [row for row in rows if row["metric"] == metric]
    by_key = {run.run_key: run for run in runs}
    found = [
        Standing(
            model=str(row["model"]),
            value=float(str(row["value"])),
            low=_number(row["low"]),
            high=_number(row["high"]),
            stderr=_stderr(row),
            n=None if row["n"] is None else int(str(row["n"])),
            counts=by_key[str(row["run_key"])].counts,
        )
        for row in mine
    ]
    known = harness_metric(metric) if metric else None
    rate = bool(found) and all(0 <= standing.value <= 1 for standing in found)
    return TaskFacts(
        task=name,
        metric=metric,
        kind=said.kind or (known.kind if known else None),
        scale=100.0 if rate else None,
        twins=[said.twin] if said.twin else [],
        missing_twin=f"Only totals are here: {keep_responses(runs[0].format)}.",
        say_kind=_say_kind(runs),
        floor=said.chance,
        ceiling=1.0 if rate else None,
        standings=found,
        everyone=found,
        pair_error=None,
        agreement=None,
        differences=differences(runs, set()),
        known=stated(runs),
        rising=_rising(said, known),
        incomplete=sum(run.status is not RunStatus.COMPLETE for run in runs),
    )


def _say_kind(runs: Sequence[Run]) -> str:
    return "Say it with --kind. " if all(run.format in _TABLES for run in runs) else ""


def _rising(said: Declared, known: HarnessMetric | None) -> bool:
    """Whether more is better: as said, else as the name says, else as nearly always."""
    if said.higher_is_better is not None:
        return said.higher_is_better
    return known.higher_is_better is not False if known else True


def _own(task: Task) -> str:
    """Our hard metric on this task, whether or not it is the main one."""
    return next((measure.name for measure in task.measures.all if measure.base in PRIMARY), "our metric")


def differences(runs: Sequence[Run], item_sets: set[frozenset[str]]) -> list[str]:
    """What is not the same in all runs of a task, in words."""
    found = []
    for word, values in (
        ("task version", {run.task_version for run in runs}),
        ("scorer", {run.scorer_hash for run in runs}),
        ("judge", {run.judge for run in runs}),
        ("prompt", {run.prompt_hash for run in runs}),
        ("chat template", {run.meta.get("chat_template") for run in runs}),
        ("conditions", {conditions_text(run) for run in runs}),
        ("harness", {run.format for run in runs}),
    ):
        known = sorted(str(value) for value in values - {None})
        if len(known) > 1:
            short = len(known) <= 3 and all(len(value) <= 40 for value in known)
            found.append(f"{word} ({' / '.join(known)})" if short else f"{word} ({len(known)} kinds)")
    if len(item_sets) > 1:
        shared = frozenset.intersection(*item_sets)
        found.append(f"items ({len(shared):,} of {max(map(len, item_sets)):,} are shared)")
    return found


def stated(runs: Sequence[Run]) -> list[str]:
    """What every run's log states, so that a difference would show."""
    facts = {
        "task version": [run.task_version for run in runs],
        "prompt": [run.prompt_hash for run in runs],
        "scorer": [run.scorer_hash for run in runs],
    }
    return [word for word, values in facts.items() if all(value is not None for value in values)]


def _item_sets(task: Task, rows: Sequence[Scored]) -> set[frozenset[str]]:
    main = task.measures.main
    if main is None or not task.blocks:
        return set()
    block, labels = task.blocks[0], np.array(task.blocks[0].items, object)
    return {frozenset(labels[~np.isnan(block.row(main.id, row.run.run_key))].tolist()) for row in rows}


def _number(value: object) -> float | None:
    return None if value is None else float(str(value))


def _stderr(row: Mapping[str, object]) -> float | None:
    low, high = _number(row["low"]), _number(row["high"])
    return None if low is None or high is None else (high - low) / (2 * 1.96)
