"""What a document holds so that a forecast can be repeated and judged: fits, weights, coverage by group."""

from __future__ import annotations

import time

import numpy as np
import pytest

from foreshock.check import ForecastLine, ForecastOptions, Wanted, curves_document
from foreshock.curves import Curve, fit, forecast
from foreshock.records import Document

X = np.geomspace(1e6, 1e9, 14)
LOSS = (1.5 + 400 * X**-0.4) * np.exp(0.01 * np.cos(np.arange(14.0) ** 2))
SHARE = 1 / (1 + np.exp(-np.linspace(-3, 1, 14)))


def line(y: np.ndarray, *, high: float | None = None, points: int = 14, seed: int = 0) -> ForecastLine:
    curve = Curve(X[:points], y[:points], low=0.0, high=high, group=f"g{seed}")
    return ForecastLine(curve, f"c{seed}", None, f"g{seed}", "score", "tokens", True)


def document(*lines: ForecastLine, draw: bool = True) -> Document:
    return curves_document(lines, ForecastOptions(wanted=Wanted(next=True), draw=draw, seed=4))


def test_every_form_is_recorded_with_what_repeats_its_fit() -> None:
    made = document(line(LOSS))
    rows = {row["form"]: row for row in made.tables["fits"]}
    assert set(rows) == {"m1", "m2", "m3", "m4", "bnsl1", "bnsl2", "bnsl3"}
    again = fit(line(LOSS).curve, "m2", seed=4)
    assert rows["m2"]["objective"] == again.record.objective
    assert rows["m2"]["parameters"] == again.parameters
    assert [o["objective"] for o in rows["m2"]["optima"]] == [o.objective for o in again.optima]
    assert (rows["m1"]["verdict"], rows["m2"]["verdict"]) == ("ruled out", "best")
    assert any(text.startswith("m1 ") for text in made.tables["curves"][0]["ruled_out"])
    assert rows["m2"]["weight"] == made.tables["curves"][0]["weights"]["m2"]
    assert all(row["group"] == "c0" and row["metric"] == "score" for row in rows.values())


def test_the_curve_sums_its_fits_up_and_gives_every_weight() -> None:
    made = document(line(LOSS))
    (curve,) = made.tables["curves"]
    assert curve["starts"] == sum(row["starts"] for row in made.tables["fits"]) > 0
    assert curve["best_form"] == "m2"
    assert curve["objective"] == next(r["objective"] for r in made.tables["fits"] if r["form"] == "m2")
    assert sum(curve["weights"].values()) == pytest.approx(1)
    assert {"last value", "straight trend", "m2, last half"} <= set(curve["weights"])
    (curve,) = document(line(SHARE, high=1.0)).tables["curves"]
    assert sum(curve["weights"].values()) == pytest.approx(1)
    assert "belief over shapes" in curve["weights"]


def test_the_record_changes_no_forecast_and_costs_little() -> None:
    with_record, without = document(line(LOSS)), document(line(LOSS), draw=False)
    (one,), (two,) = with_record.tables["forecast"], without.tables["forecast"]
    assert [one[end] for end in ("y_hat", "low", "high")] == pytest.approx(
        [two[end] for end in ("y_hat", "low", "high")]
    )
    assert {row["form"] for row in without.tables["fits"]} == {"m2", "m3", "m4", "bnsl1", "bnsl2"}
    begun = time.process_time()
    document(line(LOSS))
    assert time.process_time() - begun < 1


def test_a_form_that_cannot_be_fitted_says_why() -> None:
    rows = {row["form"]: row for row in document(line(LOSS, points=6)).tables["fits"]}
    assert "would be enough" in rows["bnsl3"]["refused"]
    assert (rows["bnsl3"]["verdict"], rows["bnsl3"]["optima"]) == ("refused", [])
    assert document(line(LOSS, points=2)).tables.get("fits") is None


def test_measured_coverage_stands_in_numbers_by_group() -> None:
    made = document(line(LOSS), line(LOSS, seed=1))
    known = forecast(line(LOSS).curve, [2e9]).calibration
    assert known is not None
    rows = {row["group"]: row for row in made.tables["calibration"]}  # of two curves with one calibration once
    assert len(rows) == len(made.tables["calibration"]) == len(set(known.groups)) + 1
    assert {k: r["coverage"] for k, r in rows.items() if k} == known.coverage(0.9)
    assert {k: r["persistence_coverage"] for k, r in rows.items() if k} == known.coverage(0.9, still=True)
    assert f"cover {rows[None]['coverage']:.2f} of all" in made.tables["curves"][0]["basis"]
    assert {row["id"] for row in rows.values()} == {curve["calibration"] for curve in made.tables["curves"]}


def test_a_refused_curve_says_what_the_interval_about_its_last_score_rests_on() -> None:
    turned = LOSS * np.where(np.arange(14) < 13, 1, 0.5)
    made = document(line(turned))
    (row,), (curve,) = made.tables["forecast"], made.tables["curves"]
    assert row["y_hat"] is None
    assert row["persistence_low"] < row["persistence"] < row["persistence_high"]
    assert "about the last score" in curve["basis"]
    (short,) = document(line(LOSS, points=2)).tables["curves"]
    assert short["basis"] is None
    assert short["advice"] == "Do not extrapolate this curve: 4 different places would do."
