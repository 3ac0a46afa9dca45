"""A curve beside a line: since when it is crossed, which bound decides, what is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from foreshock.check import ForecastLine, ForecastOptions, Wanted, curves_document
from foreshock.check._forecast_beside import advice_of
from foreshock.check._forecast_crossing import Crossing
from foreshock.check._forecast_judge import Foretold
from foreshock.curves import Curve, exact_bounds, standing


def beside(
    scores: list[float], side: str, threshold: float, x: list[float] | None = None
) -> tuple[dict[str, Any], str]:
    places = np.arange(len(scores), dtype=float) if x is None else np.array(x)
    curve = Curve(places, np.array(scores), np.full(len(scores), 100.0), low=0.0, high=1.0, log_x=False)
    line = ForecastLine(curve, "g", "g", None, "acc", "epoch", True, unit="fraction")
    asked = ForecastOptions(wanted=Wanted(next=True), threshold=threshold, side=side)  # type: ignore[arg-type]
    made = curves_document([line], asked)
    (row,) = made.tables["crossings"]
    return row, made.findings[0].advice or ""


@pytest.mark.parametrize(
    ("scores", "side", "threshold", "since"),
    [
        ([0.2, 0.2, 0.3, 0.3, 0.4], "above", 0.05, 0.0),
        ([0.0, 0.2, 0.3, 0.3, 0.4], "above", 0.05, 1.0),
        ([0.2, 0.2, 0.3, 0.0, 0.4], "above", 0.05, 4.0),
        ([0.4, 0.3, 0.3, 0.2, 0.1], "below", 0.5, 0.0),
    ],
)
def test_a_line_is_crossed_since_the_first_place_beyond_it_and_a_place_may_be_zero(
    scores: list[float], side: str, threshold: float, since: float
) -> None:
    row, _ = beside(scores, side, threshold)
    assert (row["answer"], row["first"]) == ("crossed", since)
    assert f"and so since epoch {since:g}" in row["why"]


def test_repeats_at_the_newest_place_are_beyond_the_line_together() -> None:
    row, _ = beside([0.0, 0.0, 0.9, 0.9, 0.01], "above", 0.05, [0, 1, 2, 2, 2])
    assert (row["answer"], row["first"]) == ("crossed", 2.0)


@pytest.mark.parametrize(("side", "which", "word"), [("above", 0, "at least"), ("below", 1, "at most")])
def test_the_bound_that_decides_is_told(side: str, which: int, word: str) -> None:
    row, _ = beside([0.2] * 5, side, 0.05 if side == "above" else 0.9)
    assert row["answer"] == "crossed"
    assert f"{word} {100 * exact_bounds(0.2, 100)[which]:.3g}% (exact, 100 items)" in row["why"]
    assert "not excluded" not in row["why"]


def test_a_line_that_is_not_crossed_is_told_with_the_far_bound() -> None:
    row, _ = beside([0.0, 0.01, 0.02, 0.01, 0.02], "above", 0.9)
    assert row["answer"] != "crossed"
    assert "not excluded" in row["why"]


def test_advice_may_name_the_place_zero() -> None:
    curve = Curve(np.array([-2.0, -1.0]), np.array([0.1, 0.2]), low=0.0, high=1.0, log_x=False)
    line = ForecastLine(curve, "g", "g", None, "acc", "depth", True, unit="fraction")
    told = Foretold(line, [], [], None, np.empty(0), np.empty(0))
    now = standing(curve, 0.5, "above")
    made = Crossing(told, 0.5, "above", "near", now, 0.0, 1.0, 1.0, 0.5, "", None)
    assert "before depth 0 is passed" in advice_of(made)
