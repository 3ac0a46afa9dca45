"""Places that are asked for: numbers without a unit, places with no forecast, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from foreshock.check import ForecastLine, ScoreScale, Wanted, lines_of_rows
from foreshock.check._forecast_targets import targets
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
