"""What changed between runs that are compared: FS105 (prompt, scorer, judge, task version)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from foreshock._base import count_of
from foreshock.integrity._told import CERTAIN, EVIDENCE, models
from foreshock.records import Alternative, Evidence, Finding, Run, State, Subject

_FACTS: dict[str, Callable[[Run], str | None]] = {
    "prompt": lambda run: run.prompt_hash,
    "scorer": lambda run: run.scorer_hash,
    "judge": lambda run: run.judge,
    "task version": lambda run: run.task_version,
}
_LONGEST = 40


def changes(runs: Iterable[Run]) -> list[Finding]:
    """FS105 for every task whose runs do not share prompt, scorer, judge or task version.

    Runs under different conditions (shots, chain of thought) have different prompts by intention, and logs of different
    harnesses hash different things: only runs of one format under the same conditions are held against each other. What
    a log does not state is not compared.

    Args:
        runs: Runs of any tasks.
    """
    groups: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.task, run.format, tuple(sorted(run.conditions.items()))].append(run)
    found = [_of_group(task, members) for (task, _, _), members in sorted(groups.items())]
    return [finding for finding in found if finding is not None]


def _of_group(task: str, runs: Sequence[Run]) -> Finding | None:
    kinds = {word: Counter(fact(run) for run in runs) for word, fact in _FACTS.items()}
    for told in kinds.values():
        told.pop(None, None)
    changed = {word: told for word, told in kinds.items() if len(told) > 1}
    if not changed:
        return None
    odd = [run for run in runs if any(_is_odd(_FACTS[word](run), told) for word, told in changed.items())]
    words = " and ".join(f"{word} ({_kinds(told)})" for word, told in changed.items())
    return Finding(
        code="FS105",
        subject=Subject(task=task, runs=sorted(run.run_key for run in runs)),
        state=State.FIRING,
        verdict="changed",
        title=f"{count_of(len(runs), 'run')} of {task} do not share the {words}; apart from the rest: {models(odd)}",
        null="runs of one task under the same conditions state the same prompt, scorer, judge and version; no chance",
        rate=CERTAIN,
        alternatives=[_alternative(word, kinds[word], runs) for word in _FACTS],
        evidence=[_evidence(run, changed) for run in odd[:EVIDENCE]],
        evidence_total=len(odd),
        advice="compare only runs that share them (--model, --since), or run the older models again",
    )


def _is_odd(value: str | None, told: Counter[str | None]) -> bool:
    """Whether a run is not among the most frequent kind, the first among equals."""
    return value is not None and value != max(told, key=lambda kind: (told[kind], str(kind)))


def _kinds(told: Counter[str | None]) -> str:
    names = sorted(map(str, told))
    return " / ".join(names) if len(names) <= 3 and all(len(n) <= _LONGEST for n in names) else f"{len(names)} kinds"


def _alternative(word: str, told: Counter[str | None], runs: Sequence[Run]) -> Alternative:
    if len(told) > 1:
        return Alternative(name=f"{word} change", status="possible", why=f"{len(told)} kinds are stated")
    if sum(told.values()) == len(runs):
        return Alternative(name=f"{word} change", status="ruled-out", why="the same in every log")
    return Alternative(name=f"{word} change", status="unchecked", why="not every log states it")


def _evidence(run: Run, changed: Iterable[str]) -> Evidence:
    stated = ", ".join(f"{word} {str(_FACTS[word](run))[:_LONGEST]}" for word in changed)
    return Evidence(run=run.run_key, item=None, epoch=None, what=stated)
