"""A forecast as SVG: what is known, what was kept, the band with its forms, and the line that was asked for.

Values beyond the drawn range are cut at its edge; the numbers under the picture have them whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

from foreshock._base import digest
from foreshock.report._format import on_axis, quantity, short
from foreshock.report._plot import FOOT, HEAD, LEFT, RIGHT, STYLE, WIDTH, axis_line, stroke, text_at, texts
from foreshock.report._rows import SeriesRow
from foreshock.report._rows_forecast import CurvePoint, ForecastCurveRow
from foreshock.report._safe import one_line
from foreshock.report._scale import Scale, log_ticks, nice_ticks, x_scale

_PANEL = 190
_CROWD = 60  # points beyond which each has no mark of its own
_BEYOND = 0.6  # how far a band may widen the axis beyond what is known and forecast, in lengths of that
_LOG_FROM = 20.0  # ratio of scores from which a score without an upper end is drawn on a log scale
_DASHED = 'stroke-dasharray="5 4"'


def forecast_figure(row: ForecastCurveRow, key: str = "", *, style: bool = False) -> str:
    """Draw one curve with its forecast.

    Args:
        row: A row of the table ``curves``.
        key: Makes the ids of title and description unique on a page.
        style: Whether to bring colours and font along.

    Returns:
        An ``<svg>`` element; the same row gives the same bytes.
    """
    xs = [point.x for point in (*row.points, *row.held, *row.band)]
    height = HEAD + _PANEL + FOOT
    name = "f" + digest([key, row.group, row.data_hash, row.axis], 10)
    body = [_opening(row, name, height, style)]
    if not xs or not row.points:
        return "".join([*body, f'<text x="{LEFT}" y="{HEAD}">no points</text></svg>'])
    x = x_scale(xs, row.log_axis, LEFT, WIDTH - RIGHT)
    y, ticks = _values(row)
    body += _frame(row, y, ticks)
    body += _forecast(row, x, y)
    body += _known(row, x, y)
    axis = SeriesRow(
        task=row.group, metric=row.metric or "", axis=row.axis, axis_known=row.axis_known, log_axis=row.log_axis
    )
    shown = [p.x for p in row.points] + [row.band[-1].x] if row.band else xs
    body += axis_line([axis], shown, x, height - FOOT)
    return "".join([*body, "</svg>"])


def _opening(row: ForecastCurveRow, name: str, height: float, style: bool) -> str:
    title = f"Forecast of {one_line(row.group)} by {one_line(row.axis)}"
    told = f"{len(row.points)} known points"
    if row.band:
        last = row.band[-1]
        at = on_axis(last.x, row.axis) if row.axis_known else "the last place drawn"
        told += f"; at {at} {quantity(last.value, last.low, last.high, row.unit)}"
    if row.refused:
        told += f"; no forecast: {one_line(row.refused)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="fs-plot" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-labelledby="{name}t {name}d">{STYLE if style else ""}'
        f'<title id="{name}t">{escape(title)}</title><desc id="{name}d">{escape(told)}.</desc>'
    )


def _values(row: ForecastCurveRow) -> tuple[Scale, list[float]]:
    """Scale of the scores with its ticks: all values, and as much of the band as leaves them legible."""
    core = [v for p in (*row.points, *row.held, *row.band) if (v := p.value) is not None]
    core += [row.threshold] if row.threshold is not None else []
    ends = [end for p in (*row.points, *row.band) for end in (p.low, p.high) if end is not None]
    low, high = min(core), max(core)
    if low > 0 and high >= _LOG_FROM * low and row.unit != "fraction":
        reach = (high / low) ** _BEYOND
        low, high = _within(ends, low, high, low / reach, high * reach)
        ticks = log_ticks(low, high)
        return Scale(min(low, ticks[0]), max(high, ticks[-1]), HEAD + _PANEL, HEAD, log=True), ticks
    reach = _BEYOND * ((high - low) or abs(high) or 1.0)
    low, high = _within(ends, low, high, low - reach, high + reach)
    ticks = nice_ticks(low, high)
    return Scale(ticks[0], ticks[-1], HEAD + _PANEL, HEAD), ticks


def _within(ends: Sequence[float], low: float, high: float, least: float, most: float) -> tuple[float, float]:
    return max(least, min([low, *ends])), min(most, max([high, *ends]))


def _frame(row: ForecastCurveRow, y: Scale, ticks: Sequence[float]) -> list[str]:
    unit = "" if row.unit in (None, "", "fraction", "score") else f", {one_line(row.unit or '', 24)}"
    level = "forecast" if row.band else "no forecast"
    out = [
        f'<text x="{LEFT}" y="14" font-weight="600" fill="currentColor">{escape(one_line(row.metric or row.group, 40))}'
        f'<tspan font-weight="400" fill="var(--fs-soft)">{escape(unit)} {level}</tspan></text>',
        stroke("".join(f"M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" for tick in ticks), "var(--fs-grid)"),
        texts([text_at(LEFT - 8, y(tick) + 4, short(tick, row.unit)) for tick in ticks], "end"),
    ]
    if row.threshold is not None:
        at = _at(row.threshold, y)
        label = f"line {quantity(row.threshold, unit=row.unit)}" + (f", {row.side}" if row.side else "")
        out.append(stroke(f"M{LEFT} {at:.1f}H{WIDTH - RIGHT}", "var(--fs-twin)", 'stroke-width="1.5"'))
        # at the right, where the forecast is what is read against it; under the line where the head is in the way
        beside = at - 5 if at - 18 > HEAD else at + 14
        out.append(texts([text_at(WIDTH - RIGHT, beside, one_line(label, 60))], "end"))
    return out


def _forecast(row: ForecastCurveRow, x: Scale, y: Scale) -> list[str]:
    """Band, forms and the forecast itself, from the last known point on."""
    if not row.band:
        return []
    last = row.points[-1]
    start = CurvePoint(x=last.x, value=last.value, low=last.value, high=last.value)
    band = [p for p in (start, *row.band) if p.low is not None and p.high is not None]
    upper = [f"{x(p.x):.1f} {_at(p.high or 0.0, y):.1f}" for p in band]
    lower = [f"{x(p.x):.1f} {_at(p.low or 0.0, y):.1f}" for p in reversed(band)]
    out = [f'<path d="M{"L".join([*upper, *lower])}Z" fill="var(--fs-hard)" opacity=".14"/>'] if band else []
    for form in row.forms:
        spots = _spots(((p.x, v) for p, v in zip(row.band, form.values, strict=False)), x, y)
        weight = "" if form.weight is None else f", weight {form.weight:.2f}"
        line = stroke(spots, "var(--fs-soft)", 'stroke-width="1" opacity=".5"')
        out.append(f"<g><title>{escape(one_line(form.name, 40))}{weight}</title>{line}</g>" if line else "")
    middle = _spots(((p.x, p.value) for p in (start, *row.band)), x, y)
    return [*out, stroke(middle, "var(--fs-hard)", f'stroke-width="2" {_DASHED}')]


def _known(row: ForecastCurveRow, x: Scale, y: Scale) -> list[str]:
    line = stroke(
        _spots(((p.x, p.value) for p in row.points), x, y), "var(--fs-hard)", 'stroke-width="1.8" opacity=".55"'
    )
    marks = [] if len(row.points) > _CROWD else [_mark(p, row, x, y, held=False) for p in row.points]
    kept = [p for p in row.held if p.value is not None]
    step = max(1, len(kept) // _CROWD)
    marks += [_mark(p, row, x, y, held=True) for p in kept[::step]]
    group = f'<g fill="var(--fs-hard)" stroke="var(--fs-hard)" stroke-width="1.6">{"".join(marks)}</g>'
    return [line, group]


def _mark(point: CurvePoint, row: ForecastCurveRow, x: Scale, y: Scale, *, held: bool) -> str:
    """A known point with its error bar, full; a point that was kept from the forecast, hollow."""
    value = point.value or 0.0
    at, up = x(point.x), _at(value, y)
    label = point.label or (on_axis(point.x, row.axis) if row.axis_known else "")
    said = f"{one_line(label)}{' (kept from the forecast)' if held else ''}: "
    said += quantity(value, point.low, point.high, row.unit)
    out = f"<g><title>{escape(said)}</title>"
    if point.low is not None and point.high is not None:
        low, high = f"{_at(point.low, y):.1f}", f"{_at(point.high, y):.1f}"
        out += f'<path d="M{at:.1f} {low}V{high}M{at - 3.5:.1f} {low}h7M{at - 3.5:.1f} {high}h7"/>'
    if held:
        return f'{out}<circle cx="{at:.1f}" cy="{up:.1f}" r="4" fill="none" stroke="var(--fs-twin)"/></g>'
    return f'{out}<circle cx="{at:.1f}" cy="{up:.1f}" r="3.6"/></g>'


def _spots(points: Iterable[tuple[float, float | None]], x: Scale, y: Scale) -> str:
    """Lines between neighbours; what has no value leaves a gap."""
    spots = [None if value is None else (x(place), _at(value, y)) for place, value in points]
    return "".join(f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}" for a, b in pairwise(spots) if a and b)


def _at(value: float, y: Scale) -> float:
    """Height of a value, cut at the edge of the picture."""
    return y(min(max(value, y.low), y.high))
