"""Forecasts in words: the same in a terminal, on the page and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from foreshock._base import digest
from foreshock.report._format import DATE_AXES, MISSING, count, level, number, on_axis, plural, quantity, share
from foreshock.report._rows import Tables
from foreshock.report._rows_forecast import BacktestRow, CrossingRow, ForecastCurveRow, ForecastRow, Placed
from foreshock.report._view import anchor as of_finding

_PLACES = 8
_ANSWERS = ("crossed", "at the line", "near", "later", "not in sight", "cannot tell")


class Block(NamedTuple):
    """One curve with all that is said of it.

    Attributes:
        curve: What its forecasts rest on.
        rows: Its forecasts, the nearest place first.
        crossing: Where it stands to a line; None where none was asked for.
        backtests: How forecasts of what is known already fared.
    """

    curve: ForecastCurveRow
    rows: list[ForecastRow]
    crossing: CrossingRow | None
    backtests: list[BacktestRow]

    @property
    def name(self) -> str:
        """What the curve is called."""
        return self.curve.group

    @property
    def direct(self) -> list[ForecastRow]:
        """Forecasts that are not through a twin."""
        return [row for row in self.rows if row.route != "two-stage"]


def blocks(tables: Tables) -> list[Block]:
    """The curves of a document: those with a pressing answer to a line first, then those that are forecast."""
    # one curve may stand beside several lines, which are told apart by their findings
    rows: dict[tuple[str, str, str | None], list[ForecastRow]] = {}
    for row in tables.forecast:
        rows.setdefault((row.group, row.axis, row.finding_id), []).append(row)
    beside = {(row.group, row.axis, row.finding_id): row for row in tables.crossings}
    tests: dict[str | None, list[BacktestRow]] = {}
    for test in tables.backtest:
        tests.setdefault(test.group, []).append(test)
    found = [
        Block(curve, rows.get(key, []), beside.get(key), tests.get(curve.group, []))
        for curve in tables.curves
        for key in [(curve.group, curve.axis, curve.finding_id)]
    ]
    return sorted(found, key=_pressing)


def _pressing(block: Block) -> tuple[int, bool]:
    answer = block.crossing.answer if block.crossing else None
    return _ANSWERS.index(answer) if answer in _ANSWERS else len(_ANSWERS), block.curve.refused is not None


def forecast_headline(tables: Tables) -> str:
    """The document in one sentence."""
    found = blocks(tables)
    told = [block for block in found if block.curve.refused is None]
    if len(found) == 1 and found[0].crossing is None and told and found[0].direct:
        row = found[0].direct[-1]
        if row.y_hat is not None:
            return f"{found[0].name}: {value_text(row)} at {place(row)}."
    curves = plural(len(found), "curve")
    if not told:
        return f"No forecast: {'the curve does' if len(found) == 1 else f'none of {curves} does'} not support one."
    said = f"{curves} forecast" if len(told) == len(found) else f"{len(told):,} of {curves} forecast"
    answers = [block.crossing.answer for block in found if block.crossing]
    parts = [f"{answers.count(word):,} {word}" for word in _ANSWERS if word in answers]
    return f"{said}; beside the line: {', '.join(parts)}." if parts else f"{said}."


def spread(rows: Sequence[ForecastRow]) -> list[ForecastRow]:
    """Some places of a curve, from the nearest to the farthest; a table of hundreds is not read."""
    if len(rows) <= _PLACES:
        return list(rows)
    return [rows[round(k * (len(rows) - 1) / (_PLACES - 1))] for k in range(_PLACES)]


def place(row: Placed, x: float | None = None) -> str:
    """A place on the axis of a row: by default its own, which a model that is forecast gives its name."""
    if x is None and (label := getattr(row, "label", None)) is not None:
        return str(label)
    at = getattr(row, "x", None) if x is None else x
    if at is None:
        return "no place"
    if not row.axis_known:
        return f"run {at + 1:,.0f} in order of creation"
    text = on_axis(at, row.axis)
    return text if row.axis in DATE_AXES or row.axis in ("parameters", "active_parameters") else f"{row.axis} {text}"


def place_alone(row: ForecastRow) -> str:
    """The same without the name of the axis, for a column that has it in its head."""
    if row.label is not None:
        return row.label
    if row.x is None:
        return "no place"
    return on_axis(row.x, row.axis) if row.axis_known else f"run {row.x + 1:,.0f}"


def value_text(row: ForecastRow) -> str:
    """A forecast with its interval; why there is none, where it is refused."""
    if row.y_hat is None:
        return f"no forecast: {row.refused or 'not supported'}"
    return quantity(row.y_hat, row.low, row.high, row.unit)


def refusals(block: Block) -> list[str]:
    """Why there is no forecast at some places of a curve: each reason once with its places, and what would do.

    What would do for the whole curve is told with its facts, and not here.
    """
    places: dict[tuple[str, str], list[str]] = {}
    for row in block.rows:
        if row.y_hat is None:
            enough = row.enough if row.enough and row.enough != block.curve.enough else ""
            places.setdefault((row.refused or "not supported", enough), []).append(place(row))
    return [
        f"at {_named(list(dict.fromkeys(mine)))}: {why}" + (f"; {enough} would do" if enough else "")
        for (why, enough), mine in places.items()
    ]


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _PLACES:,} more" if len(names) > _PLACES else ""
    return ", ".join(names[:_PLACES]) + more


def last_text(row: ForecastRow) -> str:
    """The last score carried on, with its interval."""
    return quantity(row.persistence, row.persistence_low, row.persistence_high, row.unit)


def came_text(row: ForecastRow) -> str:
    """What came, and whether it lies in the interval."""
    if row.observed is None:
        return MISSING
    inside = "" if row.inside is None else ", inside" if row.inside else ", OUTSIDE"
    return f"{quantity(row.observed, unit=row.unit)}{inside}"


def interval_name(rows: Sequence[ForecastRow]) -> str:
    """Level of the intervals of some forecasts, in words."""
    found = {row.level for row in rows if row.level is not None}
    return f"{level(found.pop())} interval" if len(found) == 1 else "interval"


def told_elsewhere(tables: Tables, *, refusals: bool = False) -> set[str]:
    """Findings that are told with their curve; those without a forecast only where ``refusals`` is set."""
    found = {row.finding_id for row in tables.crossings if row.finding_id}
    return found | {row.finding_id for row in tables.curves if refusals and row.finding_id}


def anchor(block: Block) -> str:
    """URL fragment of a curve: that of its finding about a line, else a hash of its name and axis."""
    if block.crossing is not None and block.crossing.finding_id:
        return of_finding(block.crossing.finding_id)
    return f"curve-{digest([block.curve.group, block.curve.axis], 10)}"


def facts(block: Block) -> list[tuple[str, str]]:
    """What stands behind the forecasts of a curve: (label, sentence), in the order in which a reader asks."""
    curve = block.curve
    told = [
        ("why not", curve.refused or ""),
        *(("no forecast", text) for text in refusals(block) if curve.refused is None),
        ("would do", curve.enough or ""),
        ("law", curve.no_law or ""),
        ("ruled out", "; ".join(curve.ruled_out)),
        ("cannot tell apart", "; ".join(curve.alike)),
        ("read so", "; ".join(curve.notes)),
    ]
    told += [(f"back-test, {row.source}", backtest_text(row)) for row in block.backtests]
    return [(label, text) for label, text in told if text]


def promises(found: Sequence[Block]) -> list[tuple[str, str]]:
    """What the intervals promise, and on what they were calibrated: once for all curves that share it."""
    told = [block.curve for block in found]
    texts = [("each interval promises", curve.guarantee or "") for curve in told]
    texts += [("calibrated on", curve.basis or "") for curve in told if curve.guarantee]
    texts += [("last score calibrated on", curve.basis or "") for curve in told if not curve.guarantee]
    return [pair for pair in dict.fromkeys(texts) if pair[1]]


def repeat_text(curve: ForecastCurveRow) -> str:
    """What repeats the fit."""
    if curve.data_hash is None:
        return ""
    parts = [f"seed {curve.seed}" if curve.seed is not None else "", f"data {curve.data_hash[:16]}"]
    parts += [plural(curve.starts, "start") if curve.starts is not None else ""]
    parts += [f"objective {number(curve.objective)}" if curve.objective is not None else ""]
    return ", ".join(part for part in parts if part)


def backtest_text(row: BacktestRow) -> str:
    """How forecasts of what is known already fared, beside the last score."""
    if row.refused:
        return row.refused
    parts = [f"{plural(row.forecasts or 0, 'forecast')}" + (f" of {plural(row.curves, 'curve')}" if row.curves else "")]
    if row.withheld:
        parts.append(f"{count(row.withheld)} withheld and counted by the last score")
    pairs = (("MAE", row.mae, row.mae_persistence), ("RMSLE", row.rmsle, row.rmsle_persistence))
    for name, ours, last in pairs:
        if ours is not None:
            parts.append(f"{name} {number(ours)} (last score {number(last)})")
    if row.coverage is not None:
        ends = f" [{share(row.coverage_low)}, {share(row.coverage_high)}]" if row.coverage_low is not None else ""
        stated = f"the {level(row.level)} interval" if row.level is not None else "the interval"
        parts.append(f"inside {stated} {share(row.coverage)}{ends}")
    if row.interval_score is not None:
        parts.append(
            f"interval score {number(row.interval_score)} (last score {number(row.interval_score_persistence)})"
        )
    if row.crossings is not None:
        parts.append(
            f"{plural(row.crossings, 'crossing')} of the line, {count(row.foretold)} within the interval before; "
            f"{plural(row.false_calls or 0, 'call')} in vain"
        )
    return ", ".join(parts)


def whole(tables: Tables) -> list[BacktestRow]:
    """Rows about all curves together."""
    return [row for row in tables.backtest if row.group is None]
