"""Axes that are made of scores: a loss of a table, another task, another metric, an ability behind all others."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from foreshock._base import ConfigError, MetricError
from foreshock.check import CheckOptions, ForecastOptions, ScoreScale, Wanted, curves_document, forecast_document
from foreshock.check import lines_of_rows as lines
from foreshock.check._forecast_scale import PlaceScale, loss_places
from foreshock.curves import forecast
from foreshock.readers import CurveRows, ReadOptions
from foreshock.records import Document
from foreshock.report import terminal
from foreshock.store import Store, add_paths

NAN = float("nan")
LOSS = np.geomspace(138, 5, 10)
ACC = 1 / (1 + np.exp(1.2 * np.log(LOSS) - 3))


def table(x: np.ndarray, y: np.ndarray, name: str, train: list[bool] | None = None) -> CurveRows:
    size, nothing = len(x), [NAN] * len(x)
    known = [True] * size if train is None else train
    return CurveRows(["a"] * size, [""] * size, x.tolist(), y.tolist(), known, [400.0] * size, nothing,
                     name, False, [])  # fmt: skip


def test_a_column_of_losses_is_forecast_towards_lower_ones() -> None:
    asked = ForecastOptions(wanted=Wanted(at=[3.0, 10.0], next=True), draw=True, threshold=0.9)
    made = curves_document(lines(table(LOSS, ACC, "loss"), ScoreScale(metric="acc")), asked)
    rows = {row["why"] + str(row["x"] > 5): row for row in made.tables["forecast"]}
    further, within, following = rows["atFalse"], rows["atTrue"], rows["nextFalse"]
    assert (further["x"], within["x"]) == (3.0, 10.0)
    assert following["x"] == pytest.approx(5 * (5 / 138) ** (1 / 9))
    assert further["low"] < 1 / (1 + np.exp(1.2 * np.log(3.0) - 3)) < further["high"]
    assert further["y_hat"] > ACC[-1]
    assert "within the history" in within["refused"]
    (curve,), (line,) = made.tables["curves"], made.tables["crossings"]
    assert [p["x"] for p in curve["points"]] == pytest.approx(LOSS.tolist())
    assert np.all(np.diff([p["x"] for p in curve["band"]]) < 0)
    assert "a lower one is further" in " ".join(curve["notes"])
    assert line["until"] < line["first"] < 5 == line["now_x"]
    assert f"at loss {line['first']:.4g}" in line["why"]


def test_a_loss_axis_is_that_of_one_over_it() -> None:
    (line,) = lines(table(LOSS, ACC, "loss"), ScoreScale(metric="acc"))
    (over,) = lines(table(1 / LOSS, ACC, "inverse"), ScoreScale(metric="acc", log_x=True))
    one, two = (forecast(found.curve, [1 / 3]) for found in (line, over))
    assert [one.value[0], one.low[0], one.high[0]] == pytest.approx([two.value[0], two.low[0], two.high[0]])


def test_points_that_are_kept_lie_at_the_losses_of_the_table() -> None:
    made = curves_document(lines(table(LOSS, ACC, "ppl", [True] * 8 + [False] * 2), ScoreScale(metric="acc")))
    assert [row["x"] for row in made.tables["forecast"]] == pytest.approx(LOSS[8:].tolist())
    assert [row["observed"] for row in made.tables["forecast"]] == ACC[8:].tolist()


def test_a_linear_loss_axis_and_a_loss_below_zero_are_turned_round() -> None:
    for x, said in ((LOSS, False), (LOSS - 60, None)):
        (line,) = lines(table(x, ACC, "loss"), ScoreScale(metric="acc", log_x=said))
        assert not line.curve.log_x
        assert [line.told(place) for place in line.curve.x] == pytest.approx(x.tolist())
        assert "linear" in " ".join(line.notes)


def test_a_loss_of_zero_is_named_as_nothing_comes_after_it() -> None:
    with pytest.raises(ConfigError, match="a place of loss is 0"):
        loss_places("loss", LOSS - LOSS.min(), None)
    found = loss_places("loss", LOSS - LOSS.min(), False)
    assert found is not None
    assert found[0].linear


def test_only_a_name_that_is_known_to_be_a_loss_is_read_as_one() -> None:
    assert loss_places("width", LOSS, None) is None
    assert loss_places("acc", LOSS, None) is None
    (line,) = lines(table(LOSS[::-1], ACC, "width"), ScoreScale(metric="acc"))
    assert line.scale is None


@pytest.mark.parametrize("scale", [PlaceScale(), PlaceScale(0.0, 1.0), PlaceScale(linear=True), PlaceScale(0.0, 100.0)])
def test_a_place_in_few_digits_is_never_further_than_it_is(scale: PlaceScale) -> None:
    rng = np.random.default_rng(0)
    for told in rng.uniform(0.01, 0.99, 200) * (scale.high or 1):
        x = float(scale.on_axis(np.array([told]))[0])
        short = scale.short_of(x)
        assert float(scale.on_axis(np.array([short]))[0]) <= x + 1e-9 * abs(x)
        assert short == pytest.approx(told, rel=1e-3)
        assert scale.told(x) == pytest.approx(told)


SIZES = [int(1e8 * 2**k) for k in range(9)]
EASY = [0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
HARD = [0.02, 0.03, 0.05, 0.08, 0.13, 0.2, 0.3, 0.43, 0.6]
PPL = [90.0, 70.0, 50.0, 38.0, 29.0, 22.0, 17.0, 13.0, 10.0]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two families with a hard task, of which one has three models of the easy one; perplexity of the hard task."""
    path = tmp_path / "t.csv"
    rows = []
    for k, size in enumerate(SIZES):
        rows += [f"g{k},g,{size},hard,acc,{HARD[k]},200", f"g{k},g,{size},hard,perplexity,{PPL[k]},200"]
        rows += [f"g{k},g,{size},easy,acc,{EASY[k]},200"]
        rows += [f"b{k},b,{size + 7},hard,acc,{HARD[k]},200"]
        rows += [f"b{k},b,{size + 7},easy,acc,{EASY[k]},200"] if k < 2 else []
    path.write_text("model,family,size,task,metric,score,n\n" + "\n".join(rows) + "\n")
    made = Store.open(tmp_path / "store", create=True)
    roles = {"x": "size", "y": "score", "group": "task", "family": "family", "model": "model", "metric": "metric"}
    add_paths(made, [path], ReadOptions(csv=roles, n="n"))
    return made


def told(store: Store, name: str, **wanted: object) -> Document:
    asked = ForecastOptions(over=name, wanted=Wanted(**wanted), metrics=["acc"])  # type: ignore[arg-type]
    return forecast_document(store, CheckOptions(tasks=["hard"]), asked=asked)


@pytest.mark.parametrize(("name", "left"), [("easy", "7 models"), ("ability", "no benchmark was run on most")])
def test_a_line_with_too_few_models_is_refused_by_itself(store: Store, name: str, left: str) -> None:
    made = told(store, name, next=True)
    by_family = {row["family"]: row for row in made.tables["forecast"]}
    assert by_family["g"]["y_hat"] is not None
    curves = {row["family"]: row for row in made.tables["curves"]}
    assert curves["b"]["refused"]
    assert left in " ".join(curves["b"]["notes"])
    (finding,) = made.findings
    assert (finding.code, finding.subject.model_family) == ("FS404", "b")


def test_places_are_told_as_scores_of_the_other_task(store: Store) -> None:
    made = told(store, "easy", at=[0.95])
    row = next(row for row in made.tables["forecast"] if row["family"] == "g")
    assert (row["axis"], row["axis_known"], row["x"]) == ("easy", True, 0.95)
    (curve,) = [row for row in made.tables["curves"] if row["family"] == "g"]
    assert [p["x"] for p in curve["points"]] == pytest.approx(EASY)
    with pytest.raises(MetricError, match="outside the scale"):
        told(store, "easy", at=[95.0])
    with pytest.raises(ConfigError, match="an ability has no scores"):
        told(store, "ability", at=[0.95])


def test_another_metric_of_the_same_task_can_be_the_axis(store: Store) -> None:
    made = told(store, "perplexity", at=[8.0])
    row = next(row for row in made.tables["forecast"] if row["family"] == "g")
    assert (row["axis"], row["x"]) == ("perplexity", 8.0)
    assert row["y_hat"] > HARD[-1]
    (curve,) = [row for row in made.tables["curves"] if row["family"] == "g"]
    assert [p["x"] for p in curve["points"]] == pytest.approx(PPL)
    assert "one over the loss" in " ".join(curve["notes"])


def test_an_axis_that_is_nothing_is_told_with_what_there_is(store: Store) -> None:
    with pytest.raises(ConfigError, match="perplexity"):
        told(store, "nosuch", next=True)
    with pytest.raises(ConfigError, match="nothing else is to be forecast"):
        told(store, "hard", next=True)


@pytest.fixture
def wide(tmp_path: Path) -> tuple[Store, dict[str, float]]:
    """Four families of six models on four tasks, one without any score of the hard one; and its true scores."""
    rng = np.random.default_rng(1)
    rows, truth = [], {}
    for f in range(4):
        for k in range(6):
            able = -2 + 0.7 * k + 0.3 * f
            for t in range(3):
                share = 1 / (1 + np.exp(-(able + 0.4 * t + 0.05 * rng.normal())))
                rows.append(f"m{f}{k},f{f},{int(1e8 * 2**k * 1.3**f)},t{t},{share:.4f}")
            truth[f"m{f}{k}"] = 0.05 + 0.9 / (1 + np.exp(-(1.5 * able - 1 + 0.05 * rng.normal())))
            if f != 3 and (f, k) != (0, 5):
                rows.append(f"m{f}{k},f{f},{int(1e8 * 2**k * 1.3**f)},hard,{truth[f'm{f}{k}']:.4f}")
    path = tmp_path / "wide.csv"
    path.write_text("model,family,size,task,acc\n" + "\n".join(rows) + "\n")
    made = Store.open(tmp_path / "wide", create=True)
    roles = {"x": "size", "y": "acc", "group": "task", "family": "family", "model": "model"}
    add_paths(made, [path], ReadOptions(csv=roles))
    return made, truth


def test_models_that_lack_a_score_are_foretold_from_their_others(wide: tuple[Store, dict[str, float]]) -> None:
    made_of, truth = wide
    made = told(made_of, "ability", next=True)
    rows = {row["label"]: row for row in made.tables["forecast"] if row["why"] == "unscored"}
    assert set(rows) == {"m05", *(f"m3{k}" for k in range(6))}  # of every family, and of one without any such score
    for label, row in rows.items():
        assert (row["route"], row["axis"], row["task"]) == ("observational", "ability", "hard")
        assert row["low"] < truth[label] < row["high"]
        assert abs(row["y_hat"] - truth[label]) < 0.1
    (curve,) = [row for row in made.tables["curves"] if row["group"] == rows["m05"]["group"]]
    assert len(curve["points"]) == 17
    assert "principal components of 3 other tasks" in " ".join(curve["notes"])
    assert "inside the training models" in curve["basis"]
    assert "nothing for models of another kind" in curve["guarantee"]
    out = io.StringIO()
    terminal(made, Console(file=out, width=120, color_system=None))
    assert "m05" in out.getvalue()
    assert not any(row["why"] == "unscored" for row in told(made_of, "t0", next=True).tables["forecast"])


def test_every_model_without_the_score_is_foretold_or_told_why_not(store: Store) -> None:
    made = told(store, "ability", next=True)
    assert not [row for row in made.tables["forecast"] if row["why"] == "unscored"]  # every model has the hard task
    asked = ForecastOptions(over="ability", wanted=Wanted(next=True), metrics=["acc"])
    made = forecast_document(store, CheckOptions(tasks=["easy"]), asked=asked)
    rows = [row for row in made.tables["forecast"] if row["why"] == "unscored"]
    assert {row["label"] for row in rows} == {f"b{k}" for k in range(2, 9)}
    foretold = [row for row in rows if row["y_hat"] is not None]
    assert foretold
    assert all(row["low"] <= row["y_hat"] <= row["high"] and row["refused"] is None for row in foretold)
    assert all(row["refused"] for row in rows if row["y_hat"] is None)
