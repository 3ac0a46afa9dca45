"""The main job: run what applies to a store and say what can be believed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from foreshock._base import Progress, quiet, utc_now
from foreshock._version import __version__
from foreshock.check._chosen import chosen
from foreshock.check._facts import with_trends
from foreshock.check._families import Verdicts, judge_lines, with_q
from foreshock.check._lights import trust_card
from foreshock.check._lines import Judged
from foreshock.check._moved import moved_rows
from foreshock.check._opening import opening
from foreshock.check._views import Context, Subject, View, agreed_by_run, view
from foreshock.integrity import CODES as DATA_CODES
from foreshock.integrity import examine
from foreshock.mirage import CODES as MIRAGE_CODES
from foreshock.records import Counts, Document, Finding, ModelCard, Run
from foreshock.scoring import agreement, score
from foreshock.series import Dimension, Line, dimensions, family_label, lines, model_cards, run_row
from foreshock.store import Snapshot, Store

CODES = (*DATA_CODES, *MIRAGE_CODES)
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


class _Looked(NamedTuple):
    """What was found about tasks and lines."""

    snapshot: Snapshot
    runs: list[Run]
    views: list[View]
    verdicts: Verdicts

    def by_view(self) -> list[list[Judged]]:
        """The judged lines of each task."""
        places = iter(self.verdicts.judged)
        return [[one for one in islice(places, len(view.waiting)) if one is not None] for view in self.views]


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
    context = Context(snapshot, cards, agreed_by_run(agreed), options.seed)
    views = []
    for done, (task, members) in enumerate(sorted(by_task.items())):
        progress("look at tasks", done, len(by_task))
        views.append(view(context, Subject(task, members, trails[task])))
    progress("look at tasks", len(by_task), len(by_task))
    verdicts = judge_lines(snapshot, [line for one in views for line in one.waiting], options.seed, progress)
    beside = _Beside(
        faults=examine(snapshot, runs, agreement=agreed, lines=found),
        dimensions=dimensions(snapshot, runs, cards),
        failures=failures,
    )
    return _document(_Looked(snapshot, runs, views, verdicts), beside, options, command)


def _document(looked: _Looked, beside: _Beside, options: CheckOptions, command: Sequence[str]) -> Document:
    runs, views = looked.runs, looked.views
    lines = [[one for one in judged if _selected(one.finding, options)] for judged in looked.by_view()]
    judged = with_q([one for mine in lines for one in mine])
    metrics = sorted({metric for view in views for metric in view.metrics})
    cards = [trust_card(with_trends(view.facts, mine)) for view, mine in zip(views, looked.by_view(), strict=True)]
    findings = [*beside.faults, *looked.verdicts.findings]
    return Document(
        foreshock=__version__,
        command=list(command),
        generated_at=utc_now(),
        counts=msgspec.to_builtins(Counts.total(run.counts for run in runs)),
        findings=[*(f for f in findings if _selected(f, options)), *(one.finding for one in judged)],
        tables={
            "opening": opening(runs, judged, metrics, len(beside.failures)),
            "trust": [msgspec.to_builtins(card) for card in cards],
            "models": [row for view in views for row in sorted(view.models, key=_place)],
            "series": [row for one in judged for row in one.series],
            "verdicts": [one.verdict for one in judged],
            "families": looked.verdicts.families,
            "moved": _moved(looked.snapshot, zip(views, lines, strict=True)),
            "dimensions": [dimension._asdict() for dimension in beside.dimensions],
            "runs": [run_row(run) for run in runs],
            "failures": [{"path": path, "message": message} for path, message in beside.failures],
        },
    )


def _moved(snapshot: Snapshot, lines: Iterable[tuple[View, list[Judged]]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for one_task, judged in lines:
        for one in judged:
            rows += moved_rows(snapshot, one_task.task, one, min(MOVED_PER_FINDING, MOVED_IN_ALL - len(rows)))
    return rows


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    """Models in the order of their axis, family by family."""
    x = row["x"]
    return (row["metric"], row["family"], row["conditions"], x is None, x or 0.0, row["model"], row["run_key"])


def _selected(finding: Finding, options: CheckOptions) -> bool:
    chosen = not options.select or any(finding.code.startswith(prefix) for prefix in options.select)
    return chosen and not any(finding.code.startswith(prefix) for prefix in options.ignore)
