"""Look at what a store holds: tasks, lines of models, and what becomes of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from foreshock._base import Progress
from foreshock.check._asked import refuse_absent, to_score
from foreshock.check._chosen import chosen
from foreshock.check._families import Verdicts, judge_lines, with_q
from foreshock.check._lines import Judged
from foreshock.check._moved import moved_rows
from foreshock.check._opening import unresolved_rows
from foreshock.check._task import option_counts
from foreshock.check._views import Context, Subject, View, has_responses, logged_totals, view
from foreshock.check._whole_texts import WholeTexts
from foreshock.mirage import predictions
from foreshock.records import Finding, ModelCard, Run
from foreshock.scoring import Agreement, default_metrics, score
from foreshock.series import Line, Shelf, family_label, lines, model_cards
from foreshock.store import Snapshot, Store

BESIDE = ("resolution", "repeats", "foreseeable")
"""Tables whose rows belong to single lines."""

MOVED_PER_FINDING = 10
MOVED_IN_ALL = 400
"""Responses that go into the document; a report of more than a few megabytes is not read."""


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What to look at and how.

    Attributes:
        runs: Only these run keys; None means all.
        tasks, models, families: Only those that fit one of these glob patterns; empty means all.
        axis: Force this axis; see :data:`foreshock.series.AXES`.
        step_pattern: Finds the training step in a model's name.
        step_from: Where the step is written besides the name; see :data:`foreshock.series.STEP_SOURCES`.
        corrections: Model cards by logged name (``models.toml``).
        select, ignore: Codes of findings by prefix.
        length: Tokens, or other parts, of which every answer consists, where only totals are known.
        hard: Metrics whose jumps are judged: names or glob patterns. One that is named in full is scored first, with
            the twins that it declares. Empty means the one that speaks for each task.
        seed: Seed of every bootstrap and simulation.
    """

    runs: frozenset[str] | None = None
    tasks: list[str] = []
    models: list[str] = []
    families: list[str] = []
    axis: str | None = None
    step_pattern: str | None = None
    step_from: str | None = None
    corrections: dict[str, ModelCard] = {}
    select: list[str] = []
    ignore: list[str] = []
    length: float | None = None
    hard: list[str] = []
    seed: int = 0


class Looked(NamedTuple):
    """What was found about tasks and lines.

    Attributes:
        snapshot: What was looked at.
        runs: The runs that fit the options.
        cards: Model card of each run, by run key.
        lines: Which runs stand where.
        agreed: Where our hard metrics and the harness's own scores agree.
        views: What each task adds.
        verdicts: What became of the lines of all tasks.
    """

    snapshot: Snapshot
    runs: list[Run]
    cards: Mapping[str, ModelCard]
    lines: list[Line]
    agreed: list[Agreement]
    views: list[View]
    verdicts: Verdicts

    @property
    def metrics(self) -> list[str]:
        """Names of all metrics that have scores."""
        return sorted({metric for one in self.views for metric in one.metrics})

    def by_task(self) -> list[list[Judged]]:
        """The judged lines of each task."""
        places = iter(self.verdicts.judged)
        return [[one for one in islice(places, len(task.waiting)) if one is not None] for task in self.views]


def look(store: Store, options: CheckOptions, progress: Progress) -> Looked:
    """Score what is not scored yet and judge every line of models that fits the options.

    Raises:
        ConfigError: Nothing fits the options.
    """
    score(store, [*default_metrics(), *to_score(options.hard)] if options.hard else None, progress=progress)
    snapshot = store.snapshot()

    def cards_of(some: Sequence[Run]) -> dict[str, ModelCard]:
        return model_cards(some, options.corrections, options.step_pattern, options.step_from)

    runs = chosen(
        snapshot.runs(),
        options.runs,
        {"task": options.tasks, "model": options.models, "family": options.families},
        lambda some: {key: family_label(card) for key, card in cards_of(some).items()},
    )
    cards = cards_of(runs)
    by_task: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    trails: dict[str, list[Line]] = defaultdict(list)
    found = lines(runs, cards, options.axis)
    for line in found:
        trails[line.task].append(line)
    context = _context(snapshot, by_task, cards, options)
    views = []
    for done, (task, members) in enumerate(sorted(by_task.items())):
        progress("look at tasks", done, len(by_task))
        views.append(view(context, Subject(task, members, trails[task])))
    progress("look at tasks", len(by_task), len(by_task))
    refuse_absent(options.hard, (one.there for one in views))
    waiting = [line for one in views for line in one.waiting]
    verdicts = judge_lines(context.shelf, waiting, options.seed, progress)
    agreed = [one for task in context.options for one in context.shelf.agreement(task)]
    return Looked(snapshot, runs, cards, found, agreed, views, verdicts)


def _context(
    snapshot: Snapshot, by_task: Mapping[str, list[Run]], cards: Mapping[str, ModelCard], options: CheckOptions
) -> Context:
    items = {task: members for task, members in sorted(by_task.items()) if has_responses(members)}
    runs = [run for members in items.values() for run in members]
    shelf = Shelf(snapshot, items, runs=frozenset(run.run_key for run in runs))
    return Context(
        shelf=shelf,
        cards=cards,
        options=option_counts(snapshot, items) if items else {},
        logged=logged_totals(snapshot, runs) if runs else {},
        texts=WholeTexts(snapshot, items),
        seed=options.seed,
        length=options.length,
        hard=options.hard,
    )


class Told(NamedTuple):
    """The findings about lines and families that fit the options, with their tables.

    Attributes:
        judged: The lines, differences between conditions left out.
        findings: All of them, those of families first.
        tables: Rows by name of the table.
    """

    judged: list[Judged]
    findings: list[Finding]
    tables: dict[str, list[dict[str, Any]]]


def tell(looked: Looked, options: CheckOptions) -> Told:
    """What is told about lines of models."""
    lines = [[one for one in judged if selected(one.finding, options)] for judged in looked.by_task()]
    every = with_q([one for mine in lines for one in mine])
    judged = [one for one in every if not one.difference]
    families = [finding for finding in looked.verdicts.findings if selected(finding, options)]
    beside = {name: [row for one in every for row in one.beside.get(name, [])] for name in BESIDE}
    return Told(
        judged=judged,
        findings=[*families, *(one.finding for one in every)],
        tables={
            "series": [row for one in every for row in one.series],
            "verdicts": [one.verdict for one in judged],
            "families": looked.verdicts.families if judged or families else [],
            "unresolved": unresolved_rows(judged),
            **beside,
            "conditions": [one.verdict for one in every if one.difference],
            "predictions": _predictions(looked, judged, options),
            "moved": _moved(looked.snapshot, zip(looked.views, lines, strict=True)),
        },
    )


def _predictions(looked: Looked, judged: Sequence[Judged], options: CheckOptions) -> list[dict[str, Any]]:
    """Rows of ``predictions``: what was predicted of mirages, against the lines that are told."""
    told = [one.judgement for one in judged if one.judgement is not None]
    series = looked.verdicts.totals
    if not told and not series:
        return []
    places = {(one.verdict["task"], one.verdict["family"]) for one in judged}
    facts = [held.facts for held in looked.verdicts.held if (held.facts.task, held.facts.family) in places]
    return predictions(told, facts, series=series, seed=options.seed)


def fits(code: str, options: CheckOptions) -> bool:
    """Whether a code is asked for."""
    asked = not options.select or any(code.startswith(prefix) for prefix in options.select)
    return asked and not any(code.startswith(prefix) for prefix in options.ignore)


def selected(finding: Finding, options: CheckOptions) -> bool:
    """Whether the code of a finding is asked for."""
    return fits(finding.code, options)


def _moved(snapshot: Snapshot, lines: Iterable[tuple[View, Sequence[Judged]]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for task, judged in lines:
        for one in judged:
            rows += moved_rows(snapshot, task.task, one, min(MOVED_PER_FINDING, MOVED_IN_ALL - len(rows)))
    return rows
