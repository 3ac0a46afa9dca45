"""The main job: run what applies to a store and say what can be believed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from foreshock._base import Progress, quiet, utc_now
from foreshock._version import __version__
from foreshock.check._chosen import chosen
from foreshock.check._facts import keep_responses, task_facts, total_facts
from foreshock.check._lights import trust_card
from foreshock.check._lines import Judged, judge_items, judge_totals
from foreshock.check._measures import PRIMARY
from foreshock.check._moved import moved_rows
from foreshock.check._opening import opening
from foreshock.check._tables import model_rows, total_rows
from foreshock.check._task import load_task, main_scores
from foreshock.integrity import CODES as DATA_CODES
from foreshock.integrity import examine
from foreshock.records import Counts, Document, Finding, ModelCard, Run
from foreshock.scoring import Agreement, agreement, score
from foreshock.series import Dimension, Line, aggregate_series, dimensions, family_label, lines, model_cards, run_row
from foreshock.store import Snapshot, Store

CODES = (*DATA_CODES, "FS301")
"""Codes of the findings that ``check`` can give."""

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
    seed: int = 0


class _Context(NamedTuple):
    """What every task is looked at with."""

    snapshot: Snapshot
    cards: Mapping[str, ModelCard]
    agreed: Mapping[str, tuple[int, int]]
    seed: int


class _Subject(NamedTuple):
    """One task with its runs and lines."""

    task: str
    runs: list[Run]
    trails: list[Line]


class _View(NamedTuple):
    """What one task adds to the document."""

    trust: dict[str, Any]
    models: list[dict[str, Any]]
    judged: list[Judged]
    metrics: list[str]
    moved: list[dict[str, Any]]


class _Beside(NamedTuple):
    """What the document says beside the tasks: faults of data and harness, what varies, files that were not read."""

    faults: list[Finding]
    dimensions: list[Dimension]
    failures: Sequence[tuple[str, str]]


def check(
    store: Store,
    options: CheckOptions | None = None,
    *,
    command: Sequence[str] = ("check",),
    failures: Sequence[tuple[str, str]] = (),
    progress: Progress = quiet,
) -> Document:
    """Score what is not scored yet, judge every task and every line of models.

    Args:
        store: The store; scores are added to it, nothing else changes.
        options: What to look at.
        command: Arguments to name in the document.
        failures: (path, message) of files that could not be read.
        progress: Told about scoring and tasks.

    Returns:
        The document that every report is made from.

    Raises:
        ConfigError: Nothing fits the options.
    """
    options = options or CheckOptions()
    score(store, progress=progress)
    snapshot = store.snapshot()
    cards = model_cards(snapshot.runs(), options.corrections, options.step_pattern, options.step_from)
    runs = chosen(
        snapshot.runs(),
        options.runs,
        {"task": options.tasks, "model": options.models, "family": options.families},
        {key: family_label(card) for key, card in cards.items()},
    )
    by_task: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    trails: dict[str, list[Line]] = defaultdict(list)
    found = lines(runs, cards, options.axis)
    for line in found:
        trails[line.task].append(line)
    agreed = agreement(snapshot, tasks=by_task)
    views = []
    room = MOVED_IN_ALL
    context = _Context(snapshot, cards, _agreement(agreed), options.seed)
    for done, (task, members) in enumerate(sorted(by_task.items())):
        progress("judge", done, len(by_task))
        views.append(_view(context, _Subject(task, members, trails[task]), room))
        room -= len(views[-1].moved)
    progress("judge", len(by_task), len(by_task))
    faults = examine(snapshot, runs, agreement=agreed, lines=found)
    varied = dimensions(snapshot, runs, cards)
    return _document(runs, views, _Beside(faults, varied, failures), options, command)


def _agreement(agreed: Sequence[Agreement]) -> dict[str, tuple[int, int]]:
    """Responses on which our hard metric equals the harness's own score, and how many were compared, by run key.

    Where the harness gave several scores, one that by its name measures the same counts before one that may not.
    """
    found: dict[str, tuple[bool, int, int]] = {}
    for told in agreed:
        if told.n and told.metric in PRIMARY:
            found[told.run_key] = max(found.get(told.run_key, (False, 0, 0)), (told.comparable, told.agree, told.n))
    return {key: (agree, n) for key, (_, agree, n) in found.items()}


def _view(context: _Context, subject: _Subject, room: int) -> _View:
    if any(run.counts.delivered for run in subject.runs):
        return _item_view(context, subject, room)
    return _total_view(context, subject)


def _item_view(context: _Context, subject: _Subject, room: int) -> _View:
    name, runs, snapshot = subject.task, subject.runs, context.snapshot
    agreed = {run.run_key: context.agreed[run.run_key] for run in runs if run.run_key in context.agreed}
    trusted = all(equal == n for equal, n in agreed.values()) if agreed else None
    task = load_task(snapshot, name, runs, context.cards, subject.trails, trusted)
    judged = judge_items(task, context.seed)
    rows = main_scores(task)
    moved: list[dict[str, Any]] = []
    for one in judged:
        moved += moved_rows(snapshot, name, one, min(MOVED_PER_FINDING, room - len(moved)))
    totals = _logged(snapshot, runs, rows[0].measure.id if rows else None)
    return _View(
        trust=_trust(trust_card(task_facts(task, judged, agreed))),
        models=model_rows(task, rows, totals),
        judged=judged,
        metrics=[measure.name for measure in task.measures.all],
        moved=moved,
    )


def _total_view(context: _Context, subject: _Subject) -> _View:
    snapshot, runs = context.snapshot, subject.runs
    found = [one for one in aggregate_series(snapshot, subject.trails) if one.points]
    places = {(one.family, one.axis, one.metric): one for one in found}
    twins = {(one.family, one.axis, one.declared.twin) for one in found}
    advice = keep_responses(runs[0].format)
    judged = [
        judge_totals(one, context.seed, places.get((one.family, one.axis, one.declared.twin or "")), advice)
        for place, one in places.items()
        if place not in twins
    ]
    keys = [run.run_key for run in runs]
    frame = snapshot.scan("aggregates", runs=keys, columns=["run_key", "metric_id", "filter", "value", "stderr", "n"])
    totals = [row for row in frame.collect().iter_rows(named=True) if row["value"] is not None]
    rows = total_rows(runs, context.cards, totals, subject.trails)
    facts = total_facts(subject.task, runs, rows, judged, {one.metric: one.declared for one in found})
    return _View(_trust(trust_card(facts)), rows, judged, [], [])


def _logged(snapshot: Snapshot, runs: Sequence[Run], metric: str | None) -> dict[str, float]:
    """The harness's own total on the main metric (by its own name, or by ours where they are the same), by run key."""
    names = ["acc", "accuracy"] if metric is None else [metric, metric.partition("@")[0]]
    keys = [run.run_key for run in runs]
    frame = snapshot.scan("aggregates", runs=keys, columns=["run_key", "metric_id", "value", "source"]).collect()
    found: dict[str, float] = {}
    for row in frame.iter_rows(named=True):
        if row["source"] == "harness" and row["value"] is not None and row["metric_id"] in names:
            found.setdefault(row["run_key"], row["value"])
    return found


def _trust(card: Any) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(card)
    return row


def _document(
    runs: Sequence[Run],
    views: Sequence[_View],
    beside: _Beside,
    options: CheckOptions,
    command: Sequence[str],
) -> Document:
    judged = [one for view in views for one in view.judged if _selected(one.finding, options)]
    kept = {one.finding.id for one in judged}
    metrics = sorted({metric for view in views for metric in view.metrics})
    total = Counts.total(run.counts for run in runs)
    return Document(
        foreshock=__version__,
        command=list(command),
        generated_at=utc_now(),
        counts=msgspec.to_builtins(total),
        findings=[*(f for f in beside.faults if _selected(f, options)), *(one.finding for one in judged)],
        tables={
            "opening": opening(runs, judged, metrics, len(beside.failures)),
            "trust": [view.trust for view in views],
            "models": [row for view in views for row in sorted(view.models, key=_place)],
            "series": [row for one in judged for row in one.series],
            "verdicts": [one.verdict for one in judged],
            "moved": [row for view in views for row in view.moved if row["finding_id"] in kept],
            "dimensions": [dimension._asdict() for dimension in beside.dimensions],
            "runs": [run_row(run) for run in runs],
            "failures": [{"path": path, "message": message} for path, message in beside.failures],
        },
    )


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    """Models in the order of their axis, family by family."""
    x = row["x"]
    return (row["metric"], row["family"], row["conditions"], x is None, x or 0.0, row["model"], row["run_key"])


def _selected(finding: Finding, options: CheckOptions) -> bool:
    chosen = not options.select or any(finding.code.startswith(prefix) for prefix in options.select)
    return chosen and not any(finding.code.startswith(prefix) for prefix in options.ignore)
