"""What changed between runs that are compared: FS105 (prompt, scorer, judge, task version)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from foreshock._base import count_of
from foreshock.integrity._prompts import Prompts, explained, prompts_of, stated_conditions, template_of
from foreshock.integrity._told import CERTAIN, EVIDENCE, models
from foreshock.records import Alternative, Effect, Evidence, Finding, Run, State, Subject
from foreshock.series import WHICH_ITEMS
from foreshock.store import Snapshot

PROMPTS = "shared items whose prompt differs"
"""Name of the effect of FS105 where prompts differ item by item."""

_FACTS: dict[str, Callable[[Run], str | None]] = {
    "prompt": lambda run: run.prompt_hash,
    "scorer": lambda run: run.scorer_hash,
    "judge": lambda run: run.judge,
    "task version": lambda run: run.task_version,
}
_LONGEST = 40
_HASH = re.compile(r"(?:sha256:)?(?=.*[a-f])[0-9a-f]{12,}")  # says nothing to a person


class _Group(NamedTuple):
    """Runs that must share everything, what they state, and how the prompts of their shared items differ."""

    task: str
    runs: Sequence[Run]
    kinds: dict[str, Counter[str | None]]
    templates: Counter[str | None]
    prompts: Prompts | None

    @property
    def changed(self) -> dict[str, Counter[str | None]]:
        """Facts of which the runs state several kinds."""
        return {word: told for word, told in self.kinds.items() if len(told) > 1}

    @property
    def asked_otherwise(self) -> bool:
        """Whether some shared item was asked in other words."""
        return self.prompts is not None and self.prompts.differ > 0

    @property
    def words(self) -> list[str]:
        """What changed, each with how much."""
        found = {word: f"{word} ({_kinds(told)})" for word, told in self.changed.items()}
        if self.prompts is not None and self.asked_otherwise:
            share = f"{self.prompts.differ:,} of {count_of(self.prompts.shared, 'shared item')} asked in other words"
            found["prompt"] = f"prompt ({share})"
        also = [f"chat template ({_kinds(self.templates)})"] if len(self.templates) > 1 else []
        return [*(found[word] for word in _FACTS if word in found), *also]

    @property
    def innocent(self) -> str:
        """Why all that differs may be the models' own chat templates, in words; empty where it cannot be."""
        if self.changed or (not self.asked_otherwise and len(self.templates) < 2):
            return ""
        if self.prompts is not None and self.asked_otherwise:
            return explained(self.prompts, self.runs)
        return f"the chat templates differ ({_kinds(self.templates)}): a template is the model's own"


def changes(runs: Iterable[Run], snapshot: Snapshot | None = None) -> list[Finding]:
    """FS105 for every task whose runs do not share prompt, scorer, judge or task version.

    Runs under different conditions (shots, chain of thought) have different prompts by intention, and logs of different
    harnesses hash different things: only runs of one format under the same conditions are held against each other;
    which items were asked, how often, and with which chat template are no conditions here. What a log does not state is
    not compared.

    Args:
        runs: Runs of any tasks.
        snapshot: Where they are; with it the logged prompts of the items that they share are compared as well.
    """
    groups: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.task, run.format, stated_conditions(run, WHICH_ITEMS)].append(run)
    found = [_of_group(_group(task, members, snapshot)) for (task, _, _), members in sorted(groups.items())]
    return [finding for finding in found if finding is not None]


def _group(task: str, runs: Sequence[Run], snapshot: Snapshot | None) -> _Group:
    kinds = {word: Counter(fact(run) for run in runs) for word, fact in _FACTS.items()}
    templates = Counter(template_of(run) for run in runs)
    for told in (*kinds.values(), templates):
        told.pop(None, None)
    prompts = prompts_of(snapshot, task, runs) if snapshot is not None and len(runs) > 1 else None
    return _Group(task, runs, kinds, templates, prompts)


def _of_group(group: _Group) -> Finding | None:
    if not group.words:
        return None
    why, odd = group.innocent, _odd(group)
    return Finding(
        code="FS105",
        subject=Subject(task=group.task, runs=sorted(run.run_key for run in group.runs)),
        state=State.PENDING if why else State.FIRING,
        verdict="changed",
        title=(
            f"{count_of(len(group.runs), 'run')} of {group.task} do not share the {' and '.join(group.words)}; apart "
            f"from the rest: {models(odd)}"
        ),
        effect=_effect(group.prompts),
        null="runs of one task under the same conditions state the same prompt, scorer, judge and version; no chance",
        rate=CERTAIN,
        alternatives=[
            *(_alternative(word, group) for word in _FACTS),
            *([Alternative(name="chat template", status="possible", why=why)] if why else []),
        ],
        evidence=[_evidence(run, group) for run in odd[:EVIDENCE]],
        evidence_total=len(odd),
        advice=(
            "compare runs of one model, or read a prompt of each beside the other before comparing models"
            if why
            else "compare only runs that share them (--model, --since), or run the older models again"
        ),
    )


def _odd(group: _Group) -> list[Run]:
    """Runs that are not of the most frequent kind; all, where no run can be told to be apart."""
    changed, asked = group.changed, group.prompts.odd if group.prompts is not None else {}
    if asked:
        changed.pop("prompt", None)  # which run is apart shows in the prompts themselves
    found = [
        run
        for run in group.runs
        if run.run_key in asked
        or _is_odd(template_of(run), group.templates)
        or any(_is_odd(_FACTS[word](run), told) for word, told in changed.items())
    ]
    return found or list(group.runs)


def _is_odd(value: str | None, told: Counter[str | None]) -> bool:
    """Whether a run is not among the most frequent kind, the last among equals."""
    return value is not None and value != max(told, key=lambda kind: (told[kind], str(kind)))


def _kinds(told: Counter[str | None]) -> str:
    names = sorted(map(str, told))
    plain = all(len(name) <= _LONGEST and not _HASH.fullmatch(name) for name in names)
    return " / ".join(names) if len(names) <= 3 and plain else f"{len(names)} kinds"


def _effect(prompts: Prompts | None) -> Effect | None:
    if prompts is None:
        return None
    return Effect(name=PROMPTS, unit="fraction", value=prompts.differ / prompts.shared, low=None, high=None)


def _alternative(word: str, group: _Group) -> Alternative:
    name, told = f"{word} change", group.kinds[word]
    if word == "prompt" and group.prompts is not None:
        share = f"{group.prompts.differ:,} of {count_of(group.prompts.shared, 'shared item')}"
        if group.asked_otherwise:
            return Alternative(name=name, status="possible", why=f"{share} asked in other words")
        if len(told) <= 1:
            return Alternative(name=name, status="ruled-out", why=f"{share} asked in other words")
    if len(told) > 1:
        return Alternative(name=name, status="possible", why=f"{len(told)} kinds are stated")
    if sum(told.values()) == len(group.runs):
        return Alternative(name=name, status="ruled-out", why="the same in every log")
    return Alternative(name=name, status="unchecked", why="not every log states it")


def _evidence(run: Run, group: _Group) -> Evidence:
    stated = [f"{word} {str(_FACTS[word](run))[:_LONGEST]}" for word in group.changed]
    if len(group.templates) > 1:
        stated.append(f"chat template {str(template_of(run))[:_LONGEST]}")
    shared, differ = group.prompts.odd.get(run.run_key, (0, 0)) if group.prompts is not None else (0, 0)
    if differ:
        stated.append(f"{differ:,} of {count_of(shared, 'shared item')} asked in other words")
    return Evidence(run=run.run_key, item=None, epoch=None, what=", ".join(stated) or "one of them")
