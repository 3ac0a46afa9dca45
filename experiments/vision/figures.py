"""Pictures of induced emergence: the hard metrics above, their twin below, one dot for each run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage.induce import Induced
from foreshock.report._scale import Scale, log_ticks, nice_ticks, x_scale

WIDTH, LEFT, RIGHT, PANEL, GAP, HEAD, FOOT = 560, 58, 150, 190, 44, 34, 44
_COLOURS = ("#1d5f91", "#a3541b", "#3f7d3a", "#7a4b94", "#8c2f39")
_STYLE = (
    "<style>svg{color:#1f2730;background:#fff;font:12px system-ui,sans-serif}"
    "@media(prefers-color-scheme:dark){svg{color:#e4e2dc;background:#171a1d}}</style>"
)


class Drawn(Protocol):
    """What a picture needs of an induced metric."""

    @property
    def label(self) -> str:
        """Name in the legend."""

    @property
    def made(self) -> Induced:
        """Metric and twins."""

    @property
    def parameters(self) -> NDArray[np.float64]:
        """Size of each run."""


def figure(title: str, lines: Sequence[Drawn]) -> str:
    """An SVG that stands alone: hard metrics above, the losses of their twins (log scale, low is good) below."""
    height = HEAD + 2 * PANEL + GAP + FOOT
    x = x_scale([float(p) for p in lines[0].parameters], True, LEFT, WIDTH - RIGHT)
    hard = [_over_seeds(line, line.made.hard.name) for line in lines]
    # every metric of one experiment has the same twin up to the number of answers; one twin is drawn for all of a kind
    twin, name = _loss(lines[-1])
    above = Scale(0.0, 1.0, HEAD + PANEL, HEAD)
    low, high = min(float(v.min()) for _, v in twin), max(float(v.max()) for _, v in twin)
    top = HEAD + PANEL + GAP
    below = Scale(low / 1.2, high * 1.2, top, top + PANEL, log=True)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img"><title>{escape(title)}</title>{_STYLE}',
        _text(LEFT, 18, f"{title}: induced metrics", "start", bold=True),
        *_grid(above, nice_ticks(0, 1), HEAD, "{:.1f}"),
        _text(LEFT, top - 10, f"their twin: {name} (log scale, better above)", "start", bold=True),
        *_grid(below, log_ticks(low, high), top, "{:g}"),
    ]
    for i, (line, points) in enumerate(zip(lines, hard, strict=True)):
        colour = _COLOURS[i % len(_COLOURS)]
        out += _curve(points, x, above, colour)
        out.append(_text(WIDTH - RIGHT + 12, HEAD + 14 + 18 * i, line.label, "start", colour=colour))
    out += _curve(twin, x, below, "currentColor")
    for at in log_ticks(float(lines[0].parameters.min()), float(lines[0].parameters.max())):
        out.append(_text(x(at), top + PANEL + 18, f"{at:,.0f}", "middle"))
    out.append(_text((LEFT + WIDTH - RIGHT) / 2, top + PANEL + 36, "parameters (log scale); a dot is a seed", "middle"))
    return "".join([*out, "</svg>"])


def _over_seeds(line: Drawn, name: str) -> list[tuple[float, NDArray[np.float64]]]:
    """Size and mean of each run of that size, ascending."""
    means = line.made.values[name].mean(axis=1)
    return [(float(at), means[line.parameters == at]) for at in np.unique(line.parameters)]


def _loss(line: Drawn) -> tuple[list[tuple[float, NDArray[np.float64]]], str]:
    """Loss of the first twin: minus log-probability per answer, or squared error over the variance."""
    twin = line.made.twins[0]
    name = "squared error / variance" if twin.name == "-error" else "-log p of the right class"
    return [(at, np.maximum(twin.loss(v), 1e-6)) for at, v in _over_seeds(line, twin.name)], name


def _curve(points: list[tuple[float, NDArray[np.float64]]], x: Scale, y: Scale, colour: str) -> list[str]:
    spots = [f"{x(at):.1f} {y(float(v.mean())):.1f}" for at, v in points]
    dots = "".join(f'<circle cx="{x(at):.1f}" cy="{y(float(one)):.1f}" r="2.4"/>' for at, v in points for one in v)
    path = f'<path d="M{"L".join(spots)}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
    return [path, f'<g fill="{colour}" opacity=".55">{dots}</g>']


def _grid(y: Scale, ticks: Sequence[float], top: float, form: str) -> list[str]:
    out = []
    for tick in ticks:
        at = y(tick)
        if top - 1 <= at <= top + PANEL + 1:
            out.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="currentColor" opacity=".15"/>')
            out.append(_text(LEFT - 8, at + 4, form.format(tick), "end"))
    return out


def _text(x: float, y: float, text: str, anchor: str, *, bold: bool = False, colour: str = "currentColor") -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{weight}>{escape(text)}</text>'
