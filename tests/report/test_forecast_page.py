"""Forecasts and alarms in every output: what is said, drawn and escaped, and that nothing is told twice."""

from __future__ import annotations

import io
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from rich.console import Console

from foreshock import report
from foreshock.records import Document
from foreshock.report._plot_forecast import forecast_figure
from foreshock.report._rows_forecast import ForecastCurveRow

PLACED = {"group": "t · f · acc", "task": "t", "family": "f", "metric": "acc", "axis": "parameters", "unit": "fraction"}
FORECAST = {
    **PLACED, "finding_id": "fs403a", "x": 7e10, "why": "at", "y_hat": 0.42, "low": 0.31, "high": 0.55, "level": 0.9,
    "persistence": 0.28, "persistence_low": 0.2, "persistence_high": 0.37, "observed": 0.6, "inside": False,
    "probability": 0.34,
}  # fmt: skip
CURVE = {
    **PLACED, "finding_id": "fs403a", "log_axis": True, "link": "logit y",
    "points": [{"x": 1e9 * 2**k, "value": 0.05 * (k + 1), "low": 0.04 * (k + 1), "high": 0.06 * (k + 1),
                "label": f"m{k}", "n": 100} for k in range(5)],
    "held": [{"x": 7e10, "value": 0.6}],
    "band": [{"x": 3e10, "value": 0.35, "low": 0.3, "high": 0.4},
             {"x": 7e10, "value": 0.42, "low": 0.31, "high": 0.55}],
    "forms": [{"name": "m2", "weight": 0.6, "values": [0.36, 0.45]}, {"name": "line", "values": [None, 0.4]}],
    "threshold": 0.5, "side": "above", "ruled_out": ["m1 (AICc 23 worse than m2)"],
    "alike": ["m2 and line (at 90B: 48% and 41%)"], "guarantee": "of many curves one place each",
    "basis": "120 simulated curves", "notes": ["rows are sorted by the axis"], "data_hash": "feedfeedfeedfeed",
    "seed": 3, "starts": 10, "objective": 1.25, "advice": "Evaluate before 50B.",
}  # fmt: skip
CROSSING = {
    **PLACED, "finding_id": "fs403a", "threshold": 0.5, "side": "above", "answer": "near", "now": 0.25, "now_low": 0.2,
    "now_high": 0.3, "now_n": 100, "now_x": 1.6e10, "first": 5e10, "until": 3e11, "by": 7e10, "probability": 0.34,
    "level": 0.9, "why": "25% at 16B; the upper end first reaches 50% at 50B",
}  # fmt: skip
BACKTEST = {
    **{k: PLACED[k] for k in ("group", "task", "family", "metric", "unit")}, "source": "rolling origin", "curves": 1,
    "forecasts": 9, "withheld": 1, "mae": 0.031, "mae_persistence": 0.062, "rmsle": 0.11, "rmsle_persistence": 0.23,
    "coverage": 0.875, "interval_score": 0.21, "interval_score_persistence": 0.43, "level": 0.9, "crossings": 2,
    "foretold": 1, "false_calls": 3,
}  # fmt: skip
ALARM = {
    "id": "a1a1a1a1a1a1", "state": "firing", "own_state": "firing", "verdict": "break", "title": "steps left its trend",
    "task": "t", "family": "f", "metric": "steps", "axis": "parameters", "points": 12, "since": "m9", "size": 4.2,
    "direction": "up", "p": 0.0004, "q": 0.012, "guaranteed": False, "unguaranteed": "neighbours stray together",
    "sentence": "at most 5% over the next 60 looks",
}  # fmt: skip
BUDGET = {"level": 0.05, "looks": 3, "first_look": False, "sentence": "over 3 looks, e-LOND counts 1 alarm"}
FINDING = {
    "id": "fs403a", "code": "FS403", "state": "pending", "verdict": "near", "title": "near: said once only",
    "subject": {"task": "t", "metric": "acc", "axis": "parameters"}, "advice": "an advice",
}  # fmt: skip


def document(**tables: Any) -> Document:
    found = {"forecast": [FORECAST], "curves": [CURVE], "crossings": [CROSSING], "backtest": [BACKTEST], **tables}
    raw = {"foreshock": "1", "command": ["foreshock"], "generated_at": "2026-01-01T00:00:00Z", "counts": {},
           "findings": [FINDING], "tables": found}  # fmt: skip
    return msgspec.convert(raw, Document)


def terminal(made: Document, width: int = 100) -> str:
    out = io.StringIO()
    report.terminal(made, Console(file=out, width=width, color_system=None))
    return " ".join(out.getvalue().split())


def test_the_document_follows_the_schema() -> None:
    made = document(alarms=[ALARM], budget=[BUDGET], ledger=[{"look": 1, "series": 5}])
    validator = jsonschema.Draft202012Validator(report.schema())
    validator.validate(json.loads(report.json_text(made)))
    broken = document(forecast=[{**FORECAST, "low": "much"}])
    assert list(validator.iter_errors(json.loads(report.json_text(broken))))


@pytest.mark.parametrize("width", [44, 100])
def test_the_terminal_says_all_that_a_stranger_needs(width: int) -> None:
    said = terminal(document(), width)
    for words in ("42%", "[31, 55]", "28.0% [20.0, 37.0]", "last score", "OUTSIDE", "near", "first reaches 50%",
                  "m1 (AICc 23", "m2 and line", "one place each", "120 simulated",
                  "→ Evaluate before 50B", "9 forecasts", "1 withheld",
                  "MAE 0.0310", "inside the 90% interval 87.5%", "interval score 0.210", "2 crossings"):  # fmt: skip
        assert words in said, words
    assert "said once only" not in said, "the finding is told with its curve"


def test_where_nothing_is_forecast_the_last_score_is_told_with_what_its_interval_rests_on() -> None:
    why = "the last scores left the path"
    made = document(
        forecast=[{**FORECAST, "y_hat": None, "low": None, "high": None, "refused": why, "observed": None}],
        curves=[{**CURVE, "refused": why, "guarantee": None, "basis": "300 curves that turned"}],
        crossings=[],
    )
    said = terminal(made)
    assert f"at 70B: {why}" in said
    assert "last score 28.0% [20.0, 37.0]" in " ".join(said.split())
    assert "last score calibrated on: 300 curves that turned" in " ".join(said.split())
    assert "each interval promises" not in said


def test_the_page_draws_the_curve_and_tells_its_finding_there() -> None:
    page = report.render_html(document())
    assert 'id="fs403a"' in page
    assert "said once only" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)
    for words in (
        "What comes next",
        "first reaches 50%",
        "Evaluate before 50B",
        "kept from the forecast",
        "line 50.0%",
    ):
        assert words in page, words
    assert page == report.render_html(document())


def test_many_curves_are_a_table_and_their_refusals_are_folded() -> None:
    curves = [{**CURVE, "group": f"g{k}", "finding_id": None} for k in range(30)]
    rows = [{**FORECAST, "group": f"g{k}", "finding_id": None} for k in range(29)]
    gone = {**CURVE, "group": "g29", "refused": "two places", "band": [], "finding_id": None}
    made = document(curves=[*curves[:29], gone], forecast=rows, crossings=[], backtest=[{**BACKTEST, "group": None}])
    said = terminal(made)
    assert "29 of 30 curves forecast" in said
    assert "20 of 29 curves shown" in said
    assert "All curves together".upper() in said
    page = report.render_html(made)
    assert "22 more curves" in page


def test_an_answer_to_a_line_is_the_headline() -> None:
    assert "1 near" in terminal(document())
    alone = terminal(document(crossings=[]))
    assert "t · f · acc: 42% [31, 55] at 70B." in alone


def test_alarms_are_counted_and_the_pressing_ones_named() -> None:
    calm = [{**ALARM, "id": f"{k}", "state": "ok", "metric": f"m{k}"} for k in range(7)]
    made = document(alarms=[ALARM, *calm], budget=[BUDGET])
    said = terminal(made)
    for words in ("8 metrics of lines of models", "1 firing", "7 on the trend", "t · f · steps",
                  "4.20 times the noise up", "without guarantee: neighbours stray together",
                  "e-LOND counts 1 alarm"):  # fmt: skip
        assert words in said, words
    page = report.render_html(made)
    assert "neighbours stray together" in page
    assert "7 further metrics" in page


def test_hostile_names_are_escaped_everywhere() -> None:
    evil = "<img src=x onerror=alert(1)>\x1b[31m\u202e"
    curve = {**CURVE, "group": evil, "metric": evil, "notes": [evil], "advice": evil, "basis": evil, "alike": [evil],
             "points": [{"x": 1e9, "value": 0.1, "label": evil}],
             "forms": [{"name": evil, "values": [0.4, 0.4]}]}  # fmt: skip
    made = document(
        curves=[curve], forecast=[{**FORECAST, "group": evil, "refused": evil, "y_hat": None}],
        crossings=[{**CROSSING, "group": evil, "why": evil}], alarms=[{**ALARM, "metric": evil, "unguaranteed": evil}],
    )  # fmt: skip
    page = re.sub(r"<script.*?</script>", "", report.render_html(made), flags=re.S)
    assert "<img" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    said = terminal(made)
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_a_picture_says_what_it_shows_and_gives_the_same_bytes(tmp_path: Path) -> None:
    row = msgspec.convert(CURVE, ForecastCurveRow)
    svg = forecast_figure(row, "k", style=True)
    assert svg == forecast_figure(row, "k", style=True)
    assert "Forecast of t · f · acc by parameters" in svg
    assert svg.count("<circle") == 6
    assert "fill-opacity" in svg or 'opacity=".14"' in svg
    assert "NaN" not in svg
    bare = forecast_figure(msgspec.convert({**CURVE, "points": [], "band": [], "held": []}, ForecastCurveRow))
    assert "no points" in bare
    flat = {**CURVE, "points": [{"x": 1.0, "value": 0.0}], "band": [], "held": [], "threshold": None, "log_axis": False}
    assert "<svg" in forecast_figure(msgspec.convert(flat, ForecastCurveRow))


def test_a_point_of_the_picture_stands_where_its_value_says() -> None:
    row = msgspec.convert({**CURVE, "threshold": None}, ForecastCurveRow)
    heights = [float(y) for y in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', forecast_figure(row))]
    known = heights[:5]
    steps = [a - b for a, b in pairwise(known)]
    assert max(steps) - min(steps) < 0.21, "equal steps of the score are equal steps of the picture"


def test_markdown_has_the_forecasts_and_the_alarms() -> None:
    said = report.markdown(document(alarms=[ALARM]))
    for words in (
        "What comes next",
        "42%",
        "first reaches 50%",
        "Evaluate before 50B",
        "keep its trend",
        "steps",
    ):
        assert words in said, words
    assert "said once only" not in said


def test_among_many_curves_a_refused_one_still_has_its_last_score() -> None:
    names, why = [f"c{k}" for k in range(5)], "the last scores left the path"
    gone = {"y_hat": None, "low": None, "high": None, "refused": why, "observed": None}
    rows = [{**FORECAST, "group": name, "observed": None, **(gone if name == "c4" else {})} for name in names]
    curves = [{**CURVE, "group": name, **({"refused": why} if name == "c4" else {})} for name in names]
    said = " ".join(terminal(document(forecast=rows, curves=curves, crossings=[], backtest=[])).split())
    assert "c4 70B no forecast 28.0% [20.0, 37.0]" in said
    assert "c3 70B 42% [31, 55] 28.0%" in said
