"""Lines of the settings at one look: where each stands, which are muted, which are newly crossed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from foreshock._base import AlarmsConfig, Progress, quiet
from foreshock.alarms import KeptLine, as_muted, keep_lines
from foreshock.check._alarm_idle import Idle
from foreshock.check._forecast_beside import CODE
from foreshock.check._forecast_thresholds import asked_of
from foreshock.check._forecasts import tell_forecasts
from foreshock.records import Finding
from foreshock.series import Line
from foreshock.store import Snapshot, Store


class LinesLook(NamedTuple):
    """Where the lines of the settings stand.

    Attributes:
        findings: One FS403 for each curve and line, and one FS404 for each line about no curve.
        tables: ``forecast``, ``curves``, ``crossings``; empty without lines.
        kept: What is remembered of each FS403, by its id.
        idle: Lines about no curve.
    """

    findings: list[Finding]
    tables: dict[str, list[dict[str, Any]]]
    kept: Mapping[str, KeptLine]
    idle: list[Idle]

    def changed(self) -> list[dict[str, Any]]:
        """Rows of the table ``changed`` for the lines that are newly crossed, as those of alarms are."""
        return [changed_row(self, one) for one in self.findings if (kept := self.kept.get(one.id)) and kept.new]


NO_LINES = LinesLook([], {}, {}, [])


class LineScope(NamedTuple):
    """Which part of a store is looked at.

    Attributes:
        partial: Whether some lines of models of the store are left out.
        cut: Whether models of the lines that are looked at may be left out of them.
    """

    partial: bool = False
    cut: bool = False


WHOLE = LineScope()


def look_at_lines(
    store: Store,
    snapshot: Snapshot,
    trails: Sequence[Line],
    settings: AlarmsConfig,
    *,
    scope: LineScope = WHOLE,
    seed: int = 0,
    progress: Progress = quiet,
) -> LinesLook:
    """Hold every score that a line of the settings is about against it, and keep where it stands.

    Args:
        store: Where the ledger is.
        snapshot: Where scores come from.
        trails: Lines of models, those of one point included.
        settings: The lines, and what is muted.
        scope: Which part of the store ``trails`` are.
        seed: Seed of the fits.
        progress: Told about curves.

    Raises:
        ConfigError: A line lies outside the scale of its scores.
        StoreError: A stream is damaged.
    """
    if not settings.thresholds:
        return NO_LINES
    asked = asked_of(snapshot, trails, settings, seed, partial=scope.partial)
    told = tell_forecasts(asked.curves, progress)
    crossings = [one for one in told.findings if one.code == CODE]
    kept = keep_lines(store, crossings, settings, partial=scope.cut)
    findings = [_muted(one, kept) for one in told.findings]
    lacking = [made for one in asked.idle if (made := one.finding()) is not None]
    return LinesLook([*findings, *lacking], _tables(told.tables, findings, kept), kept, asked.idle)


def _muted(finding: Finding, kept: Mapping[str, KeptLine]) -> Finding:
    until = kept[finding.id].muted if finding.id in kept else None
    return finding if until is None else as_muted(finding, until)


def _tables(
    tables: dict[str, list[dict[str, Any]]], findings: Sequence[Finding], kept: Mapping[str, KeptLine]
) -> dict[str, list[dict[str, Any]]]:
    """The same with what is muted, and until when."""
    advice = {one.id: one.advice for one in findings}
    crossings = [_with_mute(row, kept[row["finding_id"]].muted) for row in tables.get("crossings", [])]
    curves = [{**row, "advice": advice.get(row["finding_id"], row["advice"])} for row in tables["curves"]]
    return {**tables, "curves": curves, **({"crossings": crossings} if crossings else {})}


def _with_mute(row: dict[str, Any], until: str | None) -> dict[str, Any]:
    """A row of ``crossings``; wherever it is shown, a mute is told."""
    why = row["why"] if until is None else f"muted until {until}: {row['why']}"
    return {**row, "why": why, "muted_until": until}


def changed_row(look: LinesLook, finding: Finding) -> dict[str, Any]:
    """Row of ``changed`` for a line: what an alarm's row says under the same names, and the line itself."""
    about = finding.subject
    crossing = next(row for row in look.tables["crossings"] if row["finding_id"] == finding.id)
    curve = next(row for row in look.tables["curves"] if row["finding_id"] == finding.id)
    labels = {point["x"]: point["label"] for point in curve["points"]}
    first = crossing["first"]
    return {
        "id": finding.id,
        "code": finding.code,
        "state": finding.state.value,
        "verdict": finding.verdict,
        "title": finding.title,
        "task": about.task,
        "family": about.model_family,
        "metric": about.metric,
        "axis": about.axis,
        "unit": crossing["unit"],
        "since": labels.get(first),
        "since_x": first,
        "line": crossing["threshold"],
        "side": crossing["side"],
        "value": crossing["now"],
        "advice": finding.advice,
    }
