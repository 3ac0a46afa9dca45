"""From a table of curves to what is forecast: groups sorted, repeats told, scales chosen aloud."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from foreshock._base import AmbiguousError, count_of
from foreshock.check._forecast_axis import log_axis
from foreshock.check._forecast_lines import ForecastLine
from foreshock.check._forecast_scale import PlaceScale, loss_places
from foreshock.check._tables import unit_of
from foreshock.curves import Curve
from foreshock.metrics import harness_metric
from foreshock.readers import CurveRows

LINKS = ("log", "logit", "identity")
"""Scales on which scores are forecast: above an end, between two ends, or without ends."""


class ScoreScale(msgspec.Struct, frozen=True, kw_only=True):
    """What the user says about the scores of a table; None is not said.

    Attributes:
        metric: Name of the score.
        low, high: Smallest and largest possible score.
        scale: Largest score of a scale that begins at 0.
        chance: Score of guessing.
        link: One of :data:`LINKS`.
        kind: ``hard`` (a share of right answers) or ``continuous``.
        log_x: Whether the axis is read on a log scale.
    """

    metric: str
    low: float | None = None
    high: float | None = None
    scale: float | None = None
    chance: float | None = None
    link: str | None = None
    kind: str | None = None
    log_x: bool | None = None


class _Scale(NamedTuple):
    low: float | None
    high: float | None
    note: str


def lines_of_rows(rows: CurveRows, said: ScoreScale, twin: str | None = None) -> list[ForecastLine]:
    """Every curve of a table, in the order in which their names come first.

    Args:
        rows: The table.
        said: What the user says about its scores.
        twin: Name of the column of twins.

    Raises:
        AmbiguousError: Nothing says what the largest score is, and it matters.
        ConfigError: What was said contradicts itself.
    """
    y, x = np.array(rows.y), np.array(rows.x)
    scale = _scale(said, y[~np.isnan(y)], counted=not np.isnan(np.array(rows.n, float)).all())
    log_x, axis_note, places_as = _axis(rows, x, said.log_x)
    x = x if places_as is None else places_as.on_axis(x)
    places: dict[str, list[int]] = {}
    for i, name in enumerate(rows.group):
        places.setdefault(name, []).append(i)
    notes = [*rows.notes, scale.note, axis_note]
    table = _Table(
        rows,
        x,
        y,
        np.array(rows.train),
        np.array(rows.n),
        np.array(rows.twin),
        said,
        scale,
        log_x,
        places_as,
        twin,
        tuple(note for note in notes if note),
    )
    return [_line(table, name, np.array(mine)) for name, mine in places.items()]


def _axis(rows: CurveRows, x: np.ndarray, log_x: bool | None) -> tuple[bool, str, PlaceScale | None]:
    """Whether the axis is read on a log scale, what is said of it, and how its places are told where that differs."""
    loss = None if rows.dates else loss_places(rows.kind, x, log_x)
    if loss is None:
        return *log_axis(rows, log_x), None
    scale, note = loss
    return not scale.linear, note, scale


class _Table(NamedTuple):
    rows: CurveRows
    x: np.ndarray
    y: np.ndarray
    train: np.ndarray
    n: np.ndarray
    twins: np.ndarray
    said: ScoreScale
    scale: _Scale
    log_x: bool
    places_as: PlaceScale | None
    twin: str | None
    notes: tuple[str, ...]


def _line(table: _Table, name: str, mine: np.ndarray) -> ForecastLine:
    rows, said = table.rows, table.said
    ordered = mine[np.argsort(table.x[mine], kind="stable")]
    known, notes = _known(table, ordered)
    if not np.array_equal(ordered, mine):
        notes.append("rows are sorted by the axis")
    held = ordered[~table.train[ordered]]
    twin, lacking = _twin(table, known)
    family = next((rows.family[i] for i in mine if rows.family[i]), None)
    label = name or said.metric
    return ForecastLine(
        curve=_curve(table, known, label, family or label),
        group=label,
        task=name or None,
        family=family,
        metric=said.metric,
        axis=rows.kind,
        axis_known=True,
        unit=unit_of(table.scale.low, table.scale.high),
        rising=_rising(said.metric),
        held_x=table.x[held],
        held_y=table.y[held],
        twin=twin,
        twin_metric=table.twin if twin is not None else None,
        notes=(*table.notes, *notes, *lacking),
        axis_unit=rows.unit,
        scale=table.places_as,
    )


def _curve(table: _Table, known: np.ndarray, name: str, group: str) -> Curve:
    items = table.n[known]
    return Curve(
        x=table.x[known],
        y=table.y[known],
        items=None if np.isnan(items).all() else items,
        low=table.scale.low,
        high=table.scale.high,
        chance=table.said.chance,
        log_x=table.log_x,
        trajectory=table.rows.kind == "step",
        name=name,
        group=group,
    )


def _known(table: _Table, ordered: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Rows of what is known of one curve, in the order of the axis, and what was left out of them."""
    notes = []
    known = ordered[table.train[ordered] & ~np.isnan(table.y[ordered])]
    if blank := int(table.train[ordered].sum()) - known.size:
        notes.append(f"{count_of(blank, 'known point')} without a score left out")
    known, twice = _once(table, known)
    if twice:
        notes.append(f"{count_of(twice, 'row')} that only repeat another: left out")
    there = known[table.x[known] > 0] if table.log_x else known
    if there.size < known.size:
        gone = count_of(known.size - there.size, "point")
        notes.append(f"{gone} at 0 or below left out: there is no such place on a log axis")
    if repeats := there.size - np.unique(table.x[there]).size:
        notes.append(f"{count_of(repeats, 'further score')} at a place that has one: read as repeats")
    return there, notes


def _rising(metric: str) -> bool | None:
    known = harness_metric(metric)
    return known.higher_is_better if known else None


def _once(table: _Table, known: np.ndarray) -> tuple[np.ndarray, int]:
    """Rows without those that repeat another one in everything that is read of it."""
    facts = np.column_stack([column[known] for column in (table.x, table.y, table.n, table.twins)])
    # bytes, because nothing else makes two NaN alike
    alike = np.ascontiguousarray(facts).view(np.dtype((np.void, facts.shape[1] * facts.itemsize))).ravel()
    kept = np.sort(np.unique(alike, return_index=True)[1])
    return known[kept], known.size - kept.size


def _twin(table: _Table, known: np.ndarray) -> tuple[Curve | None, list[str]]:
    if table.twin is None:
        return None, []
    values = table.twins[known]
    if np.isnan(values).any() or not values.size:
        return None, [f"{table.twin} is not known at every point: no forecast through it"]
    facts = harness_metric(table.twin)
    low, high = (facts.low, facts.high) if facts else (0.0 if (values > 0).all() else None, None)
    return Curve(x=table.x[known], y=values, low=low, high=high, log_x=table.log_x, name=table.twin), []


def _scale(said: ScoreScale, values: np.ndarray, *, counted: bool) -> _Scale:
    """Ends of the scores: as said, else as the metric's name says, else by items behind them, else by their signs."""
    if said.link is not None:
        return _of_link(said)
    return _said(said) or _guessed(said, values, counted=counted)


def _said(said: ScoreScale) -> _Scale | None:
    if said.low is not None or said.high is not None:
        return _Scale(said.low, said.high, "")
    if said.scale is not None or said.chance is not None or said.kind == "hard":
        return _Scale(0.0, said.scale or 1.0, "")
    return None


def _guessed(said: ScoreScale, values: np.ndarray, *, counted: bool) -> _Scale:
    known = harness_metric(said.metric)
    if known is not None:
        _refuse_outside(said.metric, known.low, known.high, values)
        return _Scale(known.low, known.high, f"{said.metric} is known to lie {_between(known.low, known.high)}")
    if counted:
        return _of_counts(said, values)
    if values.size and values.min() > 0:
        return _Scale(0.0, None, f"{said.metric} is forecast on its log, as all scores are above 0 (--link otherwise)")
    return _Scale(None, None, f"{said.metric} is forecast as it is, without ends (--low, --high, --link otherwise)")


def _of_counts(said: ScoreScale, values: np.ndarray) -> _Scale:
    """A score of counted items is a share of them; on which scale, only its values can say."""
    if values.size and (values.min() < 0 or values.max() > 1):
        raise AmbiguousError(
            f"{said.metric} of counted items runs from {values.min():g} to {values.max():g}",
            expected="a share between 0 and 1, or a scale that is said",
            do="say the scale: --scale 100, or --low and --high; without --n, --link identity",
        )
    return _Scale(
        0.0, 1.0, f"{said.metric} is read as a rate: --n items stand behind each (--low, --high or --link otherwise)"
    )


def _of_link(said: ScoreScale) -> _Scale:
    if said.link == "identity":
        return _Scale(None, None, "")
    if said.link == "log":
        return _Scale(said.low or 0.0, None, "")
    return _Scale(said.low or 0.0, said.high if said.high is not None else said.scale or 1.0, "")


def _refuse_outside(metric: str, low: float | None, high: float | None, values: Sequence[float] | np.ndarray) -> None:
    found = np.asarray(values, float)
    if not found.size:
        return
    beyond = (high is not None and found.max() > high) or (low is not None and found.min() < low)
    if beyond:
        raise AmbiguousError(
            f"{metric} runs from {found.min():g} to {found.max():g}",
            expected=f"scores {_between(low, high)}",
            do="say the scale: --scale 100, or --low and --high, or --link identity",
        )


def _between(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "anywhere"
    if high is None:
        return f"above {low:g}"
    return f"below {high:g}" if low is None else f"between {low:g} and {high:g}"
