"""Plots: what is drawn stands where the numbers say."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from foreshock._base import ForeshockError
from foreshock.report import plot
from foreshock.report._plot import figure
from foreshock.report._rows import PointRow, SeriesRow
from foreshock.report._scale import log_ticks, nice_ticks, x_scale

from ._fixture import HOSTILE

NS = "{http://www.w3.org/2000/svg}"


def row(values: list[float | None], xs: list[float | None] | None = None, **more: Any) -> dict[str, Any]:
    places = xs or [10.0**i for i in range(len(values))]
    points = [
        {
            "label": f"m{i}",
            "x": x,
            "value": v,
            "low": None if v is None else v - 0.05,
            "high": None if v is None else v + 0.05,
            "n": 9,
        }
        for i, (x, v) in enumerate(zip(places, values, strict=True))
    ]
    return {
        "task": "t",
        "axis": "parameters",
        "log_axis": True,
        "metric": "acc",
        "unit": "fraction",
        "points": points,
    } | more


def drawn(series: dict[str, Any]) -> ET.Element:
    return ET.fromstring(plot(series))


def circles(svg: ET.Element) -> list[tuple[float, float]]:
    return [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in svg.iter(f"{NS}circle")]


def texts(svg: ET.Element) -> list[str]:
    return ["".join(t.itertext()) for t in svg.iter(f"{NS}text")]


def test_points_stand_on_the_scales() -> None:
    spots = circles(drawn(row([0.1, 0.4, 0.9, 0.2])))
    xs, ys = zip(*spots, strict=True)
    steps = [b - a for a, b in pairwise(xs)]
    assert max(steps) - min(steps) <= 0.2  # decades are equally far apart
    slope = (ys[1] - ys[0]) / (0.4 - 0.1)
    for value, y in zip([0.1, 0.4, 0.9, 0.2], ys, strict=True):
        assert y == pytest.approx(ys[0] + slope * (value - 0.1), abs=0.2)
    assert slope < 0


def test_error_bars_are_the_intervals() -> None:
    svg = drawn(row([0.1, 0.9]))
    group = next(g for g in svg.iter(f"{NS}g") if g.find(f"{NS}title") is not None)
    ends = re.match(r"M[\d.]+ ([\d.]+)V([\d.]+)", next(iter(group.iter(f"{NS}path"))).attrib["d"])
    assert ends
    (_, low), (_, high) = circles(svg)
    per_unit = (low - high) / 0.8
    length = abs(float(ends[1]) - float(ends[2]))
    assert length == pytest.approx(0.1 * per_unit, abs=0.2)
    assert group.find(f"{NS}title").text == "m0: 10.0% [5.0, 15.0], n = 9"  # type: ignore[union-attr]


def test_chance_lies_at_its_value() -> None:
    svg = drawn(row([0.0, 0.5], chance=0.25))
    (_, bottom), (_, top) = circles(svg)
    (line,) = [e for e in svg.iter(f"{NS}path") if e.attrib.get("stroke-dasharray") == "1 4"]
    assert float(line.attrib["d"].split()[1].split("H")[0]) == pytest.approx((bottom + top) / 2, abs=0.2)
    assert "chance 25.0%" in texts(svg)


def test_a_missing_value_leaves_a_gap() -> None:
    svg = drawn(row([0.1, 0.2, None, 0.4, 0.5]))
    (path,) = [e for e in svg.iter(f"{NS}path") if e.attrib.get("opacity") == ".55"]
    assert path.attrib["d"].count("M") == 2
    assert len(circles(svg)) == 4


def test_panels_share_the_axis_and_the_counterfactual_is_dashed() -> None:
    def series(role: str) -> SeriesRow:
        points = [PointRow(label=f"m{i}", x=10.0**i, value=0.1 * i) for i in range(4)]
        return SeriesRow(task="t", axis="step", log_axis=True, metric=role, role=role, unit="fraction", points=points)  # type: ignore[arg-type]

    svg = ET.fromstring(figure([series("hard"), series("counterfactual"), series("twin")]))
    squares = [float(r.attrib["x"]) + 3.6 for r in svg.iter(f"{NS}rect")]
    assert squares == pytest.approx([x for x, _ in circles(svg)], abs=0.11)
    dashed = [p for p in svg.iter(f"{NS}path") if "stroke-dasharray" in p.attrib and "opacity" in p.attrib]
    assert len(dashed) == 1
    assert "if the twin were smooth" in texts(svg)


@pytest.mark.parametrize(
    ("series", "label"),
    [
        (row([0.1, 0.2], [70e6, 12e9]), "70M"),
        (row([0.1, 0.2], [0.0, 1000.0], axis="step"), "step (log scale; 0 is drawn at the left end)"),
        (row([0.1, 0.2], [20000.0, 20100.0], axis="released", log_axis=False), "2024-10-04"),
        (row([0.1, 0.2], [None, None], axis_known=False), "order of creation: no axis is known"),
        (row([0.1, 0.2], [1e21, 1e23], axis="flops"), "1.0 × 10²³"),
        (row([0.1, 0.2], [-1.0, 5.0]), "parameters (linear scale)"),
    ],
)
def test_axes_say_what_they_are(series: dict[str, Any], label: str) -> None:
    assert label in texts(drawn(series))


@pytest.mark.parametrize("n", [0, 1, 2, 12, 13, 150, 400])
def test_any_number_of_points_is_drawn_inside(n: int) -> None:
    svg = drawn(row([0.5 + 0.4 * math.sin(i) for i in range(n)], [float(i + 1) for i in range(n)]))
    width, height = float(svg.attrib["width"]), float(svg.attrib["height"])
    for x, y in circles(svg):
        assert 0 < x < width
        assert 0 < y < height
    for path in svg.iter(f"{NS}path"):
        for x in re.findall(r"[ML](-?[\d.]+) ", path.attrib["d"]):
            assert 0 < float(x) < width


def test_title_and_description_are_words() -> None:
    svg = drawn(row([0.1, 0.7]))
    names = svg.attrib["aria-labelledby"].split()
    found = {e.attrib["id"]: e.text for e in svg if "id" in e.attrib}
    assert found[names[0]] == "acc of t for all models by parameters"
    assert found[names[1]] == "acc (hard): 10.0% at m0 to 70.0% at m1, 2 points."


def test_equal_rows_give_equal_bytes_and_hostile_names_stay_names() -> None:
    series = row(
        [0.1, 0.2], metric=HOSTILE["end"], task=HOSTILE["script"], family=HOSTILE["attribute"], axis=HOSTILE["ansi"]
    )
    for point, name in zip(series["points"], ("end", "ansi"), strict=True):
        point["label"] = HOSTILE[name]
    assert plot(series) == plot(series)
    assert "<img" not in plot(series)
    tags = {e.tag.removeprefix(NS) for e in drawn(series).iter()}
    assert tags <= {"svg", "style", "title", "desc", "text", "tspan", "line", "path", "circle", "g"}


@pytest.mark.parametrize("series", [{}, {"task": 1}, row([0.1], role="guess")])
def test_what_is_not_a_series_is_refused(series: dict[str, Any]) -> None:
    with pytest.raises(ForeshockError, match="not a series"):
        plot(series)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 0.013), (-4.1, -2.2), (3, 3), (0, 0), (-1, 1e9), (99.5, 100.1)])
def test_value_ticks_enclose_the_values(low: float, high: float) -> None:
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 2 <= len(ticks) <= 9
    assert ticks == sorted(set(ticks))


@pytest.mark.parametrize(("low", "high"), [(1, 1e12), (3, 7), (70e6, 12e9), (1e-6, 1), (5, 5.5)])
def test_log_ticks_lie_inside(low: float, high: float) -> None:
    ticks = log_ticks(low, high)
    assert 1 <= len(ticks) <= 8
    assert all(low <= t * (1 + 1e-6) and t <= high * (1 + 1e-6) for t in ticks)


def test_zero_has_a_place_left_of_the_first_step() -> None:
    scale = x_scale([0, 1, 10, 100], True, 0, 100)
    assert scale.log
    assert 0 < scale(0) < scale(1) < scale(10) < scale(100) < 100
    assert scale(1) - scale(0) == pytest.approx(scale(10) - scale(1))
