"""Places that are asked for: numbers without a unit, places with no forecast, and what is said of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foreshock.check import ForecastLine, ForecastOptions, ScoreScale, Wanted, curves_document, lines_of_rows
from foreshock.check._forecast_targets import targets
from foreshock.check._forecast_words import limit_text, what_text
from foreshock.curves import Curve
from foreshock.readers import CurveColumns, read_curves

SIZES = np.array([16.0, 23, 32, 45, 64, 90, 128])


def line(folder: Path, column: str = "size", x: np.ndarray = SIZES) -> ForecastLine:
    y = 2 + 3 * (x / x[0]) ** -0.5
    rows = [f"{place:.12g},{score:.6f}" for place, score in zip(x, y, strict=True)]
    (folder / "t.csv").write_text("\n".join([f"{column},loss", *rows]) + "\n")
    found = read_curves(folder / "t.csv", CurveColumns(x=column, y="loss"))
    (one,) = lines_of_rows(found, ScoreScale(metric="loss"))
    return one


@pytest.mark.parametrize(
    ("column", "unit"),
    [("size", 1e9), ("size (B)", 1e9), ("tokens_m", 1e6), ("compute (1e21)", 1e21), ("width", 1.0), ("steps", 1.0)],
)
def test_a_bare_place_has_the_unit_of_the_bare_numbers_of_its_column(tmp_path: Path, column: str, unit: float) -> None:
    one = line(tmp_path, column)
    assert one.axis_unit == unit
    (target,) = targets(one, Wanted(bare=[1024.0]))
    assert target.x == 1024 * unit
    assert target.lacking is None


def test_a_number_that_is_nearer_as_it_stands_is_taken_so(tmp_path: Path) -> None:
    one = line(tmp_path)
    assert [one.bare_place(x) for x in (256.0, 64.0, 70e9, 2e12)] == [256e9, 64e9, 70e9, 2e12]
    assert one.bare_place(0.0) == 0.0
    assert [t.x for t in targets(one, Wanted(at=[256e9], bare=[256.0]))] == [256e9], "the same place, told twice"


def test_a_place_with_a_unit_is_what_it_says(tmp_path: Path) -> None:
    assert [t.x for t in targets(line(tmp_path), Wanted(at=[1024.0]))] == [1024.0]


def told_at(folder: Path, *at: float, column: str = "size", x: np.ndarray = SIZES) -> tuple[list[dict[str, Any]], str]:
    made = curves_document([line(folder, column, x)], ForecastOptions(wanted=Wanted(bare=list(at))))
    return made.tables["forecast"], made.tables["curves"][0]["advice"]


def test_each_place_has_its_own_reason_and_the_limit_in_the_unit_of_the_axis(tmp_path: Path) -> None:
    rows, advice = told_at(tmp_path, 64.0, 256.0, 5000.0, 6000.0)
    assert [row["y_hat"] is None for row in rows] == [True, False, True, True]
    assert "within the history" in rows[0]["refused"]
    assert "further beyond" in rows[2]["refused"]
    for i in (0, 2, 3):
        assert "read in billions, as the column is" in rows[i]["refused"]
    # 128 / 16 beyond 128
    assert rows[2]["enough"] == "places up to 1.02T, or a longer history"
    assert (rows[0]["enough"], rows[1]["enough"]) == (None, None)
    assert "no forecast at 5T, 6T: places up to 1.02T" in advice
    assert "before 256B is paid for" in advice, "the plan is for the furthest place that has a forecast"


def test_where_no_place_is_supported_the_limit_is_told_in_the_unit_too(tmp_path: Path) -> None:
    rows, advice = told_at(tmp_path, 5000.0)
    assert rows[0]["enough"] == "places up to 1.02T, or a longer history"
    assert "places up to 1.02T" in advice


@pytest.mark.parametrize(
    ("axis", "x", "until", "said"),
    [
        ("parameters", [1e9, 1e10], 9.999e10, "99.9B"),
        ("parameters", [1e9, 1e10], 1e11 * (1 - 1e-12), "100B"),
        ("step", [143_000, 143_100], 143_199.6, "step 143,190"),
        ("width", [100.0, 101.0], 102.0, "width 102"),
        ("depth", [1.25, 1.5], 1.75, "depth 1.75"),
        ("tokens", [1e9, 1.0001e9], 1.0002e9, "1,000,200,000"),
        ("score", [-3.0, -2.0], -1.005, "score -1.01"),
        ("score", [-3.0, -1.5], 0.0, "score 0"),
        ("date", [19_000.0, 19_100.0], 19_200.9, "2022-07-27"),
    ],
)
def test_the_limit_is_rounded_down_and_keeps_most_of_the_way(
    axis: str, x: list[float], until: float, said: str
) -> None:
    assert limit_text(placed(axis, x), until) == said


def placed(axis: str, x: list[float], **more: Any) -> ForecastLine:
    trajectory = more.pop("trajectory", False)
    curve = Curve(np.array(x), np.linspace(3.0, 2.0, len(x)), low=0.0, log_x=x[0] > 0, trajectory=trajectory)
    return ForecastLine(curve, "g", None, None, "loss", axis, True, **more)


@pytest.mark.parametrize(
    ("one", "what"),
    [
        (placed("step", [1.0, 2.0]), "checkpoint"),
        (placed("tokens", [1.0, 2.0], trajectory=True), "checkpoint"),
        (placed("tokens", [1.0, 2.0]), "checkpoint or model"),
        (placed("tokens", [1.0, 2.0], labels=("a", "b")), "model"),
        (placed("parameters", [1.0, 2.0]), "model"),
        (placed("date", [1.0, 2.0]), "model"),
        (placed("width", [1.0, 2.0]), "point"),
    ],
)
def test_what_stands_at_a_place_is_called_by_its_axis(one: ForecastLine, what: str) -> None:
    assert what_text(one) == what


def test_advice_asks_for_a_checkpoint_where_the_axis_is_of_one_run(tmp_path: Path) -> None:
    for column, what in (("steps", "a checkpoint at step"), ("width", "a point at width"), ("size", "a model at")):
        advice = told_at(tmp_path, 256.0, column=column)[1]
        assert what in advice.lower()


def test_what_was_compared_is_said_where_no_law_is_told_from_a_constant() -> None:
    x = np.geomspace(1, 100, 4)
    curve = Curve(x, np.array([1.0, 0.99, 0.9899, 0.95]), low=0.0)
    made = curves_document(
        [ForecastLine(curve, "g", None, None, "loss", "width", True)], ForecastOptions(wanted=Wanted(at=[200.0]))
    )
    said = made.tables["curves"][0]["no_law"]
    assert "no law is told apart from a constant by these 4 points" in said
    assert "all go one way" in said
