"""Alarms in the main job: every metric against its own trend, and the lines of the settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from foreshock._base import AlarmsConfig, Progress
from foreshock.alarms import (
    Watch,
    idle_patterns,
    read_memory,
    settle,
    watch_series,
    watched_lines,
    watched_series,
)
from foreshock.check._alarm_lines import NO_LINES, LineScope, LinesLook, look_at_lines
from foreshock.check._alarm_look import idle_of, idle_table
from foreshock.check._look import CheckOptions, Looked, fits, selected
from foreshock.records import Finding, Light, State
from foreshock.scoring import Aggregate
from foreshock.store import Store

ALARM_CODES = ("FS401", "FS402")
"""Codes of the findings of the trend alarm."""
LINE_CODES = ("FS403", "FS404")
"""Codes of the findings about lines of the settings."""
_TOLD = (State.FIRING, State.PENDING, State.WITHHELD)
# what is muted stops nothing, and is never green
_LIGHTS = {State.FIRING: Light.FIRING, State.PENDING: Light.WARN, State.WITHHELD: Light.WARN}


class Alarms(NamedTuple):
    """What alarms add to a document.

    Attributes:
        findings: Those that say something: what is on its trend stands in the table ``alarms``.
        tables: ``alarms``, ``ledger``, ``budget``, and with lines in the settings ``forecast``, ``curves``,
            ``crossings``; ``idle_settings`` where an entry of the settings fits nothing.
        lights: Of each task what alarms say to its light ``trend``: firing, or a warning.
    """

    findings: list[Finding]
    tables: dict[str, list[dict[str, Any]]]
    lights: dict[str, list[tuple[Light, str]]]


class Seen(NamedTuple):
    """What a document knows when alarms are looked at.

    Attributes:
        aggregates: Means over all metrics.
        progress: Told about series.
    """

    aggregates: Sequence[Aggregate]
    progress: Progress


NONE = Alarms([], {}, {})


def wanted(options: CheckOptions, settings: AlarmsConfig) -> bool:
    """Whether anything of this is asked for: alarms that nobody asked for cost nothing, and no look is spent."""
    lines = bool(settings.thresholds) and any(fits(code, options) for code in LINE_CODES)
    return lines or any(fits(code, options) for code in ALARM_CODES)


def alarms_of(store: Store, looked: Looked, options: CheckOptions, settings: AlarmsConfig, seen: Seen) -> Alarms:
    """Look at every metric of every line, and keep the look in the store's ledger.

    Args:
        store: The store; the look is added to it.
        looked: Tasks and lines.
        options: Which codes are wanted.
        settings: What is watched, how often a false alarm is put up with, and lines that must not be crossed.
        seen: What is known already.
    """
    found, partial, watch = NONE, _is_partial(options), None
    if any(fits(code, options) for code in ALARM_CODES):
        trails = watched_lines(looked.runs, looked.cards, options.axis)
        series = watched_series(looked.snapshot, trails, aggregates=seen.aggregates)
        told = watch_series(series, settings, read_memory(store), seed=options.seed, progress=seen.progress)
        watch = settle(store, told, settings, idle=idle_patterns(series, settings.ignore))
        found = _trends(watch)
    lines = NO_LINES
    if any(fits(code, options) for code in LINE_CODES):
        lines = look_at_lines(
            store,
            looked.snapshot,
            watched_lines(looked.runs, looked.cards, options.axis, alone=True),
            settings,
            scope=LineScope(partial, cut=options.runs is not None or bool(options.models)),
            seed=options.seed,
            progress=seen.progress,
        )
    found = _with_lines(found, lines, {run.task for run in looked.runs})
    idle = idle_of(watch, lines, settings, partial=partial)
    findings = [finding for finding in found.findings if selected(finding, options)]
    return found._replace(findings=findings, tables={**found.tables, **idle_table(idle)})


def _is_partial(options: CheckOptions) -> bool:
    return options.runs is not None or bool(options.tasks or options.models or options.families or options.axis)


def _with_lines(found: Alarms, lines: LinesLook, tasks: Collection[str]) -> Alarms:
    """The same with what is said of lines of the settings."""
    lights = {task: list(told) for task, told in found.lights.items()}
    for finding in lines.findings:
        name = finding.subject.task or ""
        # a series of one answer filter names it behind the task
        task = next((one for one in tasks if name.startswith(f"{one} [")), name) if name not in tasks else name
        _light(lights, task, finding)
    return Alarms([*found.findings, *lines.findings], {**found.tables, **lines.tables}, lights)


def _trends(watch: Watch) -> Alarms:
    lights: dict[str, list[tuple[Light, str]]] = defaultdict(list)
    findings = []
    for one, finding in zip(watch.watched, watch.findings(), strict=True):
        # what only waits, and promises no rate while it does, stays in the table: checkpoints always stray a little
        if finding.state is State.PENDING and not one.alarm.guaranteed:
            continue
        if finding.state in _TOLD:
            findings.append(finding)
        # without its guarantee an alarm stays in sight and makes no red light
        _light(lights, one.one.line.task, finding, certain=one.alarm.guaranteed)
    return Alarms(findings, watch.tables(), dict(lights))


def _light(lights: dict[str, list[tuple[Light, str]]], task: str, finding: Finding, *, certain: bool = True) -> None:
    light = _LIGHTS.get(finding.state)
    if light is not None:
        shown = light if certain else Light.WARN
        name = finding.subject.metric or ""
        said = finding.title if name in finding.title else f"{name}: {finding.title}"
        lights.setdefault(task, []).append((shown, said))
