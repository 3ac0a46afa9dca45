"""Series as SVG: points with error bars, one panel per metric under each other, sharing the axis.

Drawn by our own code rather than by a plotting library; ``docs/design/plots.md`` gives the reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import msgspec

from foreshock._base import ForeshockError, digest
from foreshock.report._format import DATE_AXES, count, on_axis, quantity, short
from foreshock.report._rows import PointRow, SeriesRow
from foreshock.report._safe import one_line
from foreshock.report._scale import Scale, log_ticks, nice_ticks, x_scale

WIDTH = 480
LEFT, RIGHT, HEAD, FOOT, _GAP = 54, 14, 30, 46, 18
_PANEL = 132
_ROLES = {
    "hard": "hard metric",
    "twin": "its twin",
    "conditional": "share of right tokens, if all are alike",
}
_DASHED = 'stroke-dasharray="5 4"'
_CROWD = 200  # points beyond which each one cannot be seen, and its 300 bytes are not spent
_CHARACTER = 6.7  # width of a tick label's character at 12 px, measured in Chromium; labels closer than that collide
STYLE = (
    "<style>.fs-plot{color:#1f2730;background:#fff;font:12px system-ui,sans-serif;"
    "--fs-hard:#1d5f91;--fs-twin:#a3541b;--fs-grid:#e3e0d8;--fs-soft:#5a636d}"
    "@media(prefers-color-scheme:dark){.fs-plot{color:#e4e2dc;background:#171a1d;"
    "--fs-hard:#74b3e3;--fs-twin:#e39a5e;--fs-grid:#353b41;--fs-soft:#a3aab1}}</style>"
)


def plot(row: dict[str, Any]) -> str:
    """Draw one series as an SVG that stands alone.

    Args:
        row: A row of a document's ``series`` table.

    Returns:
        An ``<svg>`` element with title and description; the same row gives the same bytes.

    Raises:
        ForeshockError: ``row`` is not such a row.
    """
    try:
        series = msgspec.convert(row, SeriesRow)
    except msgspec.ValidationError as error:
        raise ForeshockError(f"not a series: {error}", expected="a row of the table `series` of docs/json.md") from None
    return figure([series], style=True)


def figure(rows: Sequence[SeriesRow], key: str = "", *, style: bool = False) -> str:
    """Draw series of one finding under each other; a counterfactual goes into the panel of the hard metric, dashed.

    Args:
        rows: The series, at least one.
        key: Makes the ids of title and description unique on a page that shows the same series twice.
        style: Whether to bring colours and font along, for a picture outside of the report.
    """
    ghosts = [row for row in rows if row.role == "counterfactual"]
    panels = [row for row in rows if row.role != "counterfactual"] or ghosts
    xs = [_place(row, i) for row in rows for i in range(len(row.points))]
    name = "p" + digest([key, [msgspec.to_builtins(row) for row in rows]], 10)
    height = len(panels) * (HEAD + _PANEL) + (len(panels) - 1) * _GAP + FOOT
    body = [_opening(name, rows, height, style)]
    if not xs:
        return "".join([*body, f'<text x="{LEFT}" y="{HEAD}">no points</text></svg>'])
    scale = x_scale(xs, all(row.log_axis for row in rows), LEFT, WIDTH - RIGHT)
    for number, row in enumerate(panels):
        top = number * (HEAD + _PANEL + _GAP)
        body += _panel(row, ghosts if number == 0 and ghosts is not panels else [], scale, top)
    body += axis_line(rows, xs, scale, height - FOOT)
    return "".join([*body, "</svg>"])


def _place(row: SeriesRow, i: int) -> float:
    """Place of point ``i``; its number where the axis is not known."""
    x = row.points[i].x
    return float(i) if x is None or not row.axis_known else x


def _opening(name: str, rows: Sequence[SeriesRow], height: float, style: bool) -> str:
    first = rows[0]
    metrics = ", ".join(dict.fromkeys(one_line(row.metric) for row in rows))
    title = (
        f"{metrics} of {one_line(first.task)} for {one_line(first.family or 'all models')} by {one_line(first.axis)}"
    )
    sentences = "; ".join(f"{one_line(row.metric)} ({row.role}): {_story(row)}" for row in rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="fs-plot" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-labelledby="{name}t {name}d">{STYLE if style else ""}'
        f'<title id="{name}t">{escape(title)}</title><desc id="{name}d">{escape(sentences)}.</desc>'
    )


def _story(row: SeriesRow) -> str:
    """The series in words: first, last and number of points."""
    known = [p for p in row.points if p.value is not None]
    if not known:
        return "no values"
    first, last = known[0], known[-1]
    ends = f"{quantity(first.value, unit=row.unit)} at {one_line(first.label)}"
    if len(known) == 1:
        return ends
    return f"{ends} to {quantity(last.value, unit=row.unit)} at {one_line(last.label)}, {len(known)} points"


def _panel(row: SeriesRow, ghosts: Sequence[SeriesRow], x: Scale, top: float) -> list[str]:
    upper, lower = top + HEAD, top + HEAD + _PANEL
    ticks = _value_ticks([row, *ghosts])
    y = Scale(ticks[0], ticks[-1], lower, upper)
    role = _ROLES.get(row.role, row.role)
    out = [
        f'<text x="{LEFT}" y="{top + 14:.1f}" font-weight="600" fill="currentColor">{escape(one_line(row.metric, 40))}'
    ]
    unit = "" if row.unit in (None, "", "fraction") else f", {one_line(row.unit or '', 24)}"
    out.append(f'<tspan font-weight="400" fill="var(--fs-soft)"> {role}{escape(unit)}</tspan></text>')
    out.append(stroke("".join(f"M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" for tick in ticks), "var(--fs-grid)"))
    labels = [text_at(LEFT - 8, y(tick) + 4, short(tick, row.unit)) for tick in ticks]
    out.append(texts(labels, "end"))
    if row.chance:  # a chance of 0 is the floor that the axis shows already
        out += _chance(row, y)
    for ghost in ghosts:
        out.append(_path(ghost, x, y, "var(--fs-hard)", f'{_DASHED} opacity=".75"'))
    if ghosts:
        out.append(_legend(top + 14))
    colour = "var(--fs-twin)" if row.role == "twin" else "var(--fs-hard)"
    if len(row.points) > _CROWD:
        return [*out, _spans(row, x, y, colour), _path(row, x, y, colour, "")]
    out.append(_path(row, x, y, colour, 'opacity=".55"'))
    marks = [_point(p, x(_place(row, i)), y, row) for i, p in enumerate(row.points) if p.value is not None]
    return [*out, f'<g fill="{colour}" stroke="{colour}" stroke-width="1.6">', *marks, "</g>"]


def _value_ticks(rows: Sequence[SeriesRow]) -> list[float]:
    values = [v for row in rows for p in row.points for v in (p.value, p.low, p.high) if v is not None]
    values += [row.chance for row in rows if row.chance is not None]
    if all(row.unit == "fraction" for row in rows):
        values.append(0.0)
    return nice_ticks(min(values), max(values)) if values else [0.0, 1.0]


def _chance(row: SeriesRow, y: Scale) -> list[str]:
    at = y(row.chance or 0.0)
    label = text_at(WIDTH - RIGHT, at - 5, f"chance {quantity(row.chance, unit=row.unit)}")
    dots = 'stroke-dasharray="1 4" stroke-linecap="round"'
    return [stroke(f"M{LEFT} {at:.1f}H{WIDTH - RIGHT}", "var(--fs-soft)", dots), texts([label], "end")]


def _legend(at: float) -> str:
    end = WIDTH - RIGHT
    dash = stroke(f"M{end - 176} {at - 4:.1f}h26", "var(--fs-hard)", _DASHED)
    return dash + texts([text_at(end, at, "if the twin were smooth")], "end")


def _point(point: PointRow, x: float, y: Scale, row: SeriesRow) -> str:
    value = point.value or 0.0
    said = f"{one_line(point.label)}: {quantity(value, point.low, point.high, row.unit)}, n = {count(point.n)}"
    out = f"<g><title>{escape(said)}</title>"
    if point.low is not None and point.high is not None:
        low, high = f"{y(point.low):.1f}", f"{y(point.high):.1f}"
        out += f'<path d="M{x:.1f} {low}V{high}M{x - 3.5:.1f} {low}h7M{x - 3.5:.1f} {high}h7"/>'
    if row.role == "twin":
        return f'{out}<rect x="{x - 3.6:.1f}" y="{y(value) - 3.6:.1f}" width="7.2" height="7.2"/></g>'
    return f'{out}<circle cx="{x:.1f}" cy="{y(value):.1f}" r="4"/></g>'


def _path(row: SeriesRow, x: Scale, y: Scale, colour: str, extra: str) -> str:
    """Lines between neighbours; a point without a value leaves a gap."""
    spots = [None if p.value is None else (x(_place(row, i)), y(p.value)) for i, p in enumerate(row.points)]
    parts = [f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}" for a, b in pairwise(spots) if a and b]
    return stroke("".join(parts), colour, f'stroke-width="1.8" {extra}')


def _spans(row: SeriesRow, x: Scale, y: Scale, colour: str) -> str:
    """All error bars of a long series as one path."""
    spans = [(x(_place(row, i)), p.low, p.high) for i, p in enumerate(row.points)]
    parts = [f"M{at:.1f} {y(low):.1f}V{y(high):.1f}" for at, low, high in spans if low is not None and high is not None]
    return stroke("".join(parts), colour, 'opacity=".35"')


def axis_line(rows: Sequence[SeriesRow], xs: Sequence[float], x: Scale, at: float) -> list[str]:
    first = rows[0]
    busy = float("-inf")
    ticks, labels = "", []
    for tick in axis_ticks(xs, x):
        if not x.start <= x(tick) <= x.stop:
            continue
        ticks += f"M{x(tick):.1f} {at}v4"
        label = on_axis(tick, first.axis) if first.axis_known else f"{tick + 1:.0f}"
        half = len(label) * _CHARACTER / 2
        if x(tick) - half > busy:
            labels.append(text_at(min(x(tick), WIDTH - half), at + 18, label))
            busy = x(tick) + half + 4
    labels.append(text_at((x.start + x.stop) / 2, at + 37, _axis_title(first, x)))
    return [stroke(f"M{LEFT} {at}H{WIDTH - RIGHT}{ticks}", "currentColor"), texts(labels, "middle")]


def axis_ticks(xs: Sequence[float], x: Scale) -> list[float]:
    """The models themselves while they are few, round numbers otherwise."""
    places = sorted(set(xs))
    if len(places) <= 12:
        return places
    positive = [p for p in places if p > 0]
    if x.log:
        return [*([0.0] if x.zero else []), *log_ticks(positive[0], positive[-1])]
    return nice_ticks(places[0], places[-1], 6)


def _axis_title(row: SeriesRow, x: Scale) -> str:
    if not row.axis_known:
        return "order of creation: no axis is known"
    name = {"date": "date", "created": "date of creation", "released": "date of release", "flops": "training FLOPs"}
    title = one_line(name.get(row.axis, row.axis), 40)
    if x.log:
        return f"{title} (log scale{'; 0 is drawn at the left end' if x.zero else ''})"
    return title if row.axis in DATE_AXES or not row.log_axis else f"{title} (linear scale)"


def stroke(d: str, colour: str, extra: str = "") -> str:
    return f'<path d="{d}" fill="none" stroke="{colour}"{" " + extra if extra else ""}/>' if d else ""


def texts(texts: Sequence[str], where: str) -> str:
    return f'<g text-anchor="{where}" fill="var(--fs-soft)">{"".join(texts)}</g>'


def text_at(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
