"""The main job: run what applies to a store and say what can be believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from foreshock._base import AlarmsConfig, Progress, quiet, utc_now
from foreshock._version import __version__
from foreshock.check._alarms import ALARM_CODES, LINE_CODES, NONE, Seen, alarms_of, wanted
from foreshock.check._facts import with_prompts, with_trends
from foreshock.check._lights import trust_card
from foreshock.check._look import CheckOptions, look, selected, tell
from foreshock.check._opening import opening
from foreshock.integrity import CODES as DATA_CODES
from foreshock.integrity import examine
from foreshock.mirage import CODES as MIRAGE_CODES
from foreshock.records import Counts, Document, Run
from foreshock.scoring import aggregate, score
from foreshock.series import dimensions, run_row
from foreshock.store import Store

CODES = (*DATA_CODES, *MIRAGE_CODES, *ALARM_CODES, *LINE_CODES)
"""Codes of the findings that ``check`` can give."""


def check(
    store: Store,
    options: CheckOptions | None = None,
    *,
    alarms: AlarmsConfig | None = None,
    command: Sequence[str] = ("check",),
    failures: Sequence[tuple[str, str]] = (),
    progress: Progress = quiet,
) -> Document:
    """Score what is not scored yet, judge every task and every line of models, look at every metric's trend.

    Args:
        store: The store; scores and the look of the alarms are added to it, nothing else changes.
        options: What to look at.
        alarms: What is watched, and lines that must not be crossed; None is the usual.
        command: Arguments to name in the document.
        failures: (path, message) of files that could not be read.
        progress: Told about scoring and tasks.

    Returns:
        The document that every report is made from.

    Raises:
        ConfigError: Nothing fits the options.
    """
    options = options or CheckOptions()
    settings = alarms or AlarmsConfig()
    watching = wanted(options, settings)
    if watching:
        score(store, settings.metrics, progress=progress)
    looked = look(store, options, progress)
    told = tell(looked, options)
    means = aggregate(looked.snapshot, tasks={run.task for run in looked.runs})
    faults = examine(looked.snapshot, looked.runs, agreement=looked.agreed, lines=looked.lines, computed=means)
    watched = alarms_of(store, looked, options, settings, Seen(means, progress)) if watching else NONE
    lights = zip(looked.views, looked.by_task(), strict=True)
    facts = [replace(with_trends(one.facts, judged), alarms=watched.lights.get(one.task, [])) for one, judged in lights]
    cards = [trust_card(with_prompts(one, faults)) for one in facts]
    return Document(
        foreshock=__version__,
        command=list(command),
        generated_at=utc_now(),
        counts=msgspec.to_builtins(Counts.total(run.counts for run in looked.runs)),
        findings=[*(fault for fault in faults if selected(fault, options)), *told.findings, *watched.findings],
        tables={
            "opening": opening(looked.runs, told.judged, looked.metrics, len(failures)),
            "trust": [msgspec.to_builtins(card) for card in cards],
            "models": [row for view in looked.views for row in sorted(view.models, key=_place)],
            **told.tables,
            **watched.tables,
            "dimensions": [one._asdict() for one in dimensions(looked.snapshot, looked.runs, looked.cards)],
            **_about_runs(looked.runs, failures),
        },
    )


def mirage_document(
    store: Store,
    options: CheckOptions | None = None,
    *,
    command: Sequence[str] = ("mirage",),
    failures: Sequence[tuple[str, str]] = (),
    progress: Progress = quiet,
) -> Document:
    """The part of :func:`check` that is about jumps: a verdict for each task and line of models.

    Args:
        store: The store; scores are added to it, nothing else changes.
        options: What to look at.
        command: Arguments to name in the document.
        failures: (path, message) of files that could not be read.
        progress: Told about scoring and tasks.

    Returns:
        The document with the findings FS301 and FS302, their tables, and none of the rest.

    Raises:
        ConfigError: Nothing fits the options.
    """
    options = options or CheckOptions()
    looked = look(store, options, progress)
    told = tell(looked, options)
    return Document(
        foreshock=__version__,
        command=list(command),
        generated_at=utc_now(),
        counts=msgspec.to_builtins(Counts.total(run.counts for run in looked.runs)),
        findings=told.findings,
        tables={**told.tables, **_about_runs(looked.runs, failures)},
    )


def _about_runs(runs: Sequence[Run], failures: Sequence[tuple[str, str]]) -> dict[str, list[dict[str, Any]]]:
    return {
        "runs": [run_row(run) for run in runs],
        "failures": [{"path": path, "message": message} for path, message in failures],
    }


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    """Models in the order of their axis, family by family."""
    x = row["x"]
    return (row["metric"], row["family"], row["conditions"], x is None, x or 0.0, row["model"], row["run_key"])
