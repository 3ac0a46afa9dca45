"""Forecasts as documents: what is read, where is forecast, how a line stands, and how it is all scored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foreshock._base import AlarmsConfig, AmbiguousError, ConfigError, NotEnoughDataError, Threshold
from foreshock.check import (
    CheckOptions,
    ForecastLine,
    ForecastOptions,
    ScoreScale,
    Wanted,
    check,
    curves_document,
    forecast_document,
    lines_of_rows,
)
from foreshock.check._forecast_scored import held_out_rows, rmsle
from foreshock.check._forecast_targets import next_place, targets
from foreshock.readers import CurveRows, ReadOptions
from foreshock.store import Store, add_paths

NAN = float("nan")
X = np.geomspace(1e6, 1e9, 10)


def rows(x: Any, y: Any, *, group: str = "a", train: Any = None, kind: str = "tokens", n: float = NAN) -> CurveRows:
    size = len(x)
    flags = [True] * size if train is None else list(train)
    nothing = [NAN] * size
    return CurveRows([group] * size, [""] * size, list(map(float, x)), list(map(float, y)), flags, [n] * size, nothing,
                     kind, False, [])  # fmt: skip


def line(x: Any, y: Any, **more: Any) -> ForecastLine:
    said = more.pop("said", ScoreScale(metric="loss"))
    (found,) = lines_of_rows(rows(x, y, **more), said)
    return found


def joined(*parts: CurveRows) -> CurveRows:
    first = parts[0]
    columns = [[v for part in parts for v in part[i]] for i in range(7)]
    return CurveRows(*columns, first.kind, first.percent, first.notes)  # type: ignore[arg-type]


def test_rows_are_sorted_and_repeats_and_copies_are_told() -> None:
    found = line([100, 1, 10, 10, 10], [1, 3, 2, 2, 2.5])
    assert found.curve.x.tolist() == [1, 10, 10, 100]
    said = " ".join(found.notes)
    assert "sorted" in said
    assert "1 row that only repeat" in said
    assert "read as repeats" in said


def test_points_without_a_place_on_a_log_axis_are_left_out() -> None:
    found = line([0, 1, 10], [1, 2, 3])
    assert found.curve.x.tolist() == [1, 10]
    assert "log axis" in " ".join(found.notes)


@pytest.mark.parametrize(
    ("said", "y", "ends"),
    [
        (ScoreScale(metric="loss"), [2, 1], (0, None)),
        (ScoreScale(metric="acc"), [0.2, 0.1], (0, 1)),
        (ScoreScale(metric="mine"), [2, 1], (0, None)),
        (ScoreScale(metric="mine"), [-2, 1], (None, None)),
        (ScoreScale(metric="mine", scale=100), [20, 10], (0, 100)),
        (ScoreScale(metric="mine", chance=0.25), [0.5, 0.4], (0, 1)),
        (ScoreScale(metric="acc", link="identity"), [0.2, 0.1], (None, None)),
        (ScoreScale(metric="mine", link="logit", low=1, high=5), [2, 3], (1, 5)),
        (ScoreScale(metric="mine", high=0), [-2, -3], (None, 0)),
    ],
)
def test_the_scale_is_what_is_said_else_what_the_name_says_else_the_signs(
    said: ScoreScale, y: list[float], ends: tuple[float | None, float | None]
) -> None:
    found = line([1, 1000], y, said=said)
    assert (found.curve.low, found.curve.high) == ends


def test_percentages_without_a_scale_are_no_shares() -> None:
    with pytest.raises(AmbiguousError, match="--scale 100"):
        line([1, 1000], [20, 85], said=ScoreScale(metric="acc"))


DOUBLED = [16.0, 23, 32, 45, 64, 90, 128]


@pytest.mark.parametrize(
    ("x", "kind", "log", "why"),
    [
        (DOUBLED, "width", True, "more evenly so (--linear-x"),
        ([16, 32, 64, 256], "width", True, "more evenly so"),
        ([10, 20, 30, 40, 50, 60], "epoch", False, "more evenly so (--log-x"),
        ([10, 20, 30, 50, 60], "epoch", False, "more evenly so"),
        ([1, 2, 5, 1000], "width", True, "spans a factor of 1,000"),
        ([100, 110, 121, 133.1], "width", False, "does not double"),
        ([0, 1, 2, 4, 8], "width", False, "at 0 or below"),
        ([3, 40], "width", False, "fewer than 3 places"),
        ([100, 200, 300, 400], "step", True, None),
        ([19000, 19001, 19003, 38007], "date", False, None),
    ],
)
def test_an_axis_is_read_by_its_name_its_span_or_its_spacing(
    x: list[float], kind: str, why: str | None, *, log: bool
) -> None:
    found = line(x, np.linspace(3, 2, len(x)), kind=kind)
    assert found.curve.log_x is log
    told = " ".join(found.notes)
    assert (f"{kind} is read on a {'log' if log else 'linear'} scale" in told) is (why is not None)
    assert (why or "") in told
    for said in (True, False):
        asked = line(x, np.linspace(3, 2, len(x)), kind=kind, said=ScoreScale(metric="loss", log_x=said))
        assert asked.curve.log_x is said


def test_all_curves_of_a_table_are_read_on_one_scale() -> None:
    long = rows(DOUBLED, np.linspace(3, 2, 7), kind="width")
    found = lines_of_rows(
        joined(long, rows([20, 30, 40], [3, 2, 1], group="b", kind="width")), ScoreScale(metric="loss")
    )
    assert [one.curve.log_x for one in found] == [True, True]
    # the places of one curve say nothing of another's: apart they are spaced evenly, together they are not
    apart = joined(rows([10, 20, 30], [3, 2, 1], kind="width"), rows([11, 51, 91], [3, 2, 1], group="b", kind="width"))
    assert not any(one.curve.log_x for one in lines_of_rows(apart, ScoreScale(metric="loss")))


def test_irregular_places_are_mostly_read_on_the_scale_they_were_drawn_on() -> None:
    rng = np.random.default_rng(5)
    found = {True: 0, False: 0}
    for _ in range(200):
        t = np.sort(rng.uniform(0, 1, 20))
        found[True] += line(np.exp(3 * t), t, kind="width").curve.log_x
        found[False] += line(1 + 19 * t, t, kind="width").curve.log_x
    assert found[True] > 170
    assert found[False] < 50


def test_the_next_place_is_one_usual_step_on() -> None:
    assert next_place(line([1, 10, 100], [3, 2, 1])) == pytest.approx(1000)
    assert next_place(line([1, 2, 3], [3, 2, 1], said=ScoreScale(metric="loss", log_x=False))) == pytest.approx(4)
    assert next_place(line([1], [3])) is None


def test_places_within_the_history_are_told_and_not_forecast() -> None:
    found = targets(line([1, 10, 100], [3, 2, 1]), Wanted(at=[50.0, 500.0], dates=[20_000.0]))
    assert ["within the history" in (t.lacking or "") for t in found] == [True, False, False]
    assert found[-1].lacking is not None
    assert "not a date" in found[-1].lacking


def law(x: np.ndarray) -> np.ndarray:
    return np.asarray(1.5 + 400 * x**-0.4)


def test_a_curve_is_forecast_beside_persistence_with_everything_it_rests_on() -> None:
    train = np.arange(10) < 8
    made = curves_document(lines_of_rows(rows(X, law(X), train=train), ScoreScale(metric="loss")),
                           ForecastOptions(draw=True))  # fmt: skip
    told = made.tables["forecast"]
    assert [row["why"] for row in told] == ["held-out", "held-out"]
    for row, truth in zip(told, law(X[~train]), strict=True):
        assert row["low"] < truth < row["high"]
        assert abs(row["y_hat"] - truth) < abs(row["persistence"] - truth)
        assert row["inside"] is True
    (curve,) = made.tables["curves"]
    assert len(curve["points"]) == 8
    assert [p["value"] for p in curve["held"]] == law(X[~train]).tolist()
    assert curve["band"]
    assert curve["forms"]
    assert "one place each" in curve["guarantee"]
    assert curve["basis"]
    assert len(curve["data_hash"]) > 8
    (scored,) = made.tables["backtest"]
    assert scored["source"] == "held-out"
    assert scored["mae"] < scored["mae_persistence"]
    again = curves_document(
        lines_of_rows(rows(X, law(X), train=train), ScoreScale(metric="loss")), ForecastOptions(draw=True)
    )
    assert made.tables == again.tables


def test_too_short_a_history_is_refused_with_what_would_do() -> None:
    made = curves_document([line([1, 10], [2, 1])], ForecastOptions(wanted=Wanted(next=True)))
    (row,) = made.tables["forecast"]
    assert row["y_hat"] is None
    assert row["refused"]
    assert row["enough"]
    assert row["persistence"] == 1
    (finding,) = made.findings
    assert (finding.code, finding.state.value) == ("FS404", "no-data")
    assert finding.needs


def hits(*counts: int, n: int = 60) -> ForecastLine:
    x = np.geomspace(1e8, 1e10, len(counts))
    return line(
        x, np.array(counts) / n, kind="parameters", n=n, said=ScoreScale(metric="harm", chance=0.0, kind="hard")
    )


@pytest.mark.parametrize(
    ("counts", "answer", "state"),
    [
        ((0, 0, 1, 2, 3, 8, 20, 40), "crossed", "firing"),
        ((0, 0, 0, 0, 1, 3, 7, 12), "at the line", "pending"),
        ((0, 0), "cannot tell", "no-data"),
    ],
)
def test_a_curve_stands_to_a_line(counts: tuple[int, ...], answer: str, state: str) -> None:
    made = curves_document([hits(*counts)], ForecastOptions(wanted=Wanted(next=True), threshold=0.2, side="above"))
    (row,) = made.tables["crossings"]
    (finding,) = made.findings
    assert (row["answer"], finding.code, finding.state.value) == (answer, "FS403", state)
    assert row["finding_id"] == finding.id
    assert "60 items" in row["why"]


def test_a_rise_towards_the_line_is_seen_before_it_and_a_flat_floor_is_not() -> None:
    asked = ForecastOptions(wanted=Wanted(next=True), threshold=0.35, side="above")
    rising = curves_document([hits(0, 1, 2, 3, 5, 8, 11, 14)], asked)
    flat = curves_document([hits(0, 0, 0, 0, 0, 0, 0, 0)], asked)
    (up,), (still,) = rising.tables["crossings"], flat.tables["crossings"]
    assert up["answer"] in ("near", "later")
    assert up["first"] is not None
    assert up["probability"] > still["probability"]
    assert still["answer"] in ("not in sight", "cannot tell", "later")


def test_a_backtest_scores_every_prefix_beside_the_last_score() -> None:
    made = curves_document([line(X[:7], law(X[:7]))], ForecastOptions(wanted=Wanted(next=True), backtest=True))
    (row,) = made.tables["backtest"]
    assert row["source"] == "rolling origin"
    assert (row["forecasts"], row["curves"]) == (4, 1)
    assert row["mae"] < row["mae_persistence"]
    assert row["coverage"] >= 0.5
    short = curves_document([line([1, 10], [2, 1])], ForecastOptions(wanted=Wanted(next=True), backtest=True))
    assert "at least 4 places" in short.tables["backtest"][0]["refused"]


def test_own_calibration_needs_curves_of_other_groups() -> None:
    with pytest.raises(NotEnoughDataError, match="curves of other groups"):
        curves_document([line(X, law(X))], ForecastOptions(wanted=Wanted(next=True), own=True))


def told(group: str, observed: float, y_hat: float | None, last: float) -> dict[str, Any]:
    inside = None if y_hat is None else abs(observed - y_hat) <= 0.5
    ends = (None, None) if y_hat is None else (y_hat - 0.5, y_hat + 0.5)
    names = {"group": group, "task": group, "family": None, "metric": "m", "unit": "score", "route": "direct"}
    return {**names, "observed": observed, "y_hat": y_hat, "low": ends[0], "high": ends[1], "inside": inside,
            "persistence": last, "persistence_low": last - 1, "persistence_high": last + 1, "level": 0.9}  # fmt: skip


def test_held_out_points_are_scored_by_hand() -> None:
    found = held_out_rows([told("a", 2.0, 1.8, 1.0), told("a", 3.0, 2.0, 1.0), told("b", 4.0, None, 3.0)])
    a, b, whole = found
    assert (a["mae"], a["mae_persistence"], a["coverage"]) == (pytest.approx(0.6), 1.5, 0.5)
    assert a["interval_score"] == pytest.approx((1 + 1 + 20 * 0.5) / 2)
    # what is withheld counts by the last score: withholding gains nothing
    assert (b["mae"], b["withheld"], b["coverage"]) == (1.0, 1, None)
    assert whole["group"] is None
    assert whole["mae"] == pytest.approx(0.8)
    assert whole["curves"] == 2


def test_scores_against_their_formulas() -> None:
    y, value = np.array([1.0, 2.0]), np.array([1.1, 1.5])
    assert rmsle(value, y) == pytest.approx(np.sqrt(np.mean(np.log(value / y) ** 2)))
    assert rmsle(np.array([0.0]), np.array([1.0])) is None


@pytest.fixture
def store(tmp_path: Path) -> Store:
    text = "model,family,size,task,acc,n\n" + "".join(
        f"m{k},f,{int(1e8 * 2**k)},harm,{hits_ / 60},60\n" for k, hits_ in enumerate((0, 0, 1, 2, 3, 8, 20, 40))
    )
    path = tmp_path / "t.csv"
    path.write_text(text)
    made = Store.open(tmp_path / "store", create=True)
    roles = {"x": "size", "y": "acc", "group": "task", "family": "family", "model": "model"}
    add_paths(made, [path], ReadOptions(csv=roles, n="n"))
    return made


def test_a_line_of_the_settings_becomes_a_finding_of_check(store: Store) -> None:
    settings = AlarmsConfig(thresholds={"ha*": Threshold(above=0.2)})
    made = check(store, alarms=settings)
    (finding,) = [f for f in made.findings if f.code == "FS403"]
    assert finding.state.value == "firing"
    assert made.tables["crossings"][0]["answer"] == "crossed"
    (card,) = made.tables["trust"]
    assert card["lights"]["trend"]["state"] == "firing"
    assert "acc" in card["lights"]["trend"]["text"]
    without = check(store)
    assert not [f for f in without.findings if f.code == "FS403"]
    assert "forecast" not in without.tables


def test_alarms_nobody_asked_for_are_not_looked_at(store: Store) -> None:
    made = check(store, CheckOptions(ignore=["FS4"]), alarms=AlarmsConfig(thresholds={"*": 0.2}))
    assert "alarms" not in made.tables
    assert not (store.folder / "state").exists()


def test_a_store_is_forecast_line_by_line(store: Store) -> None:
    made = forecast_document(store, asked=ForecastOptions(wanted=Wanted(at=[3e10])))
    (row,) = made.tables["forecast"]
    assert (row["task"], row["family"], row["metric"], row["axis"]) == ("harm", "f", "acc", "parameters")
    assert row["unit"] == "fraction"
    assert row["low"] < row["y_hat"] < row["high"] <= 1


def test_another_task_can_be_the_axis(store: Store, tmp_path: Path) -> None:
    easy = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    text = "model,family,size,task,acc\n" + "".join(f"m{k},f,{int(1e8 * 2**k)},easy,{y}\n" for k, y in enumerate(easy))
    path = tmp_path / "easy.csv"
    path.write_text(text)
    roles = {"x": "size", "y": "acc", "group": "task", "family": "family", "model": "model"}
    add_paths(store, [path], ReadOptions(csv=roles))
    asked = ForecastOptions(over="easy", wanted=Wanted(at=[0.95]))
    made = forecast_document(store, CheckOptions(tasks=["harm"]), asked=asked)
    (row,), (curve,) = made.tables["forecast"], made.tables["curves"]
    assert (row["axis"], row["x"]) == ("easy", pytest.approx(0.95))
    assert [p["x"] for p in curve["points"]] == pytest.approx(easy)
    assert "log-odds" in " ".join(curve["notes"])
    assert row["y_hat"] is not None


def test_a_score_with_a_twin_is_forecast_twice_and_the_second_promises_nothing() -> None:
    x = np.geomspace(1e8, 1e10, 8)
    loss = 2 + 3 * (x / 1e8) ** -0.2
    hard = np.round(400 / (1 + np.exp(4 * (loss - 3.2)))) / 400
    made = rows(x, hard, n=400)._replace(twin=loss.tolist())
    found = lines_of_rows(made, ScoreScale(metric="acc"), "loss")
    told = curves_document(found, ForecastOptions(wanted=Wanted(at=[3e10])))
    direct, through = told.tables["forecast"]
    assert (direct["route"], through["route"]) == ("direct", "two-stage")
    truth = 1 / (1 + np.exp(4 * (2 + 3 * 300**-0.2 - 3.2)))
    assert through["low"] < truth < through["high"]
    assert direct["low"] < truth < direct["high"]
    assert "that interval is a belief" in " ".join(told.tables["curves"][0]["notes"])


@pytest.mark.parametrize("line", [5.0, -0.1])
def test_a_line_that_no_score_can_cross_is_refused(line: float) -> None:
    asked = ForecastOptions(wanted=Wanted(next=True), threshold=line, side="above")
    with pytest.raises(ConfigError, match="outside the scores"):
        curves_document([hits(1, 2, 3, 5, 8, 12)], asked)
