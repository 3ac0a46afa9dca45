"""`foreshock forecast` as a person calls it: a table of curves, a store, a line, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Call = Callable[..., tuple[int, str, str]]
CURVES = ("--csv", "c.csv", "--x", "n", "--y", "loss", "--group", "task+model", "--train", "flag")
X = np.geomspace(1e6, 1e9, 10)


def write_curves(path: Path, groups: int = 2) -> None:
    lines = ["task,model,n,loss,flag"]
    for k in range(groups):
        y = 1 + k + 300 * X**-0.4
        lines += [f"t{k},m,{x:.0f},{v:.6f},{int(i < 8)}" for i, (x, v) in enumerate(zip(X, y, strict=True))]
    lines += ["short,m,1000000,2.0,1", "short,m,2000000,,0"]
    path.write_text("\n".join(lines) + "\n")


def write_scores(path: Path, task: str = "harm", hits: tuple[int, ...] = (0, 0, 1, 2, 3, 8, 20, 40)) -> None:
    rows = [f"m{k},f,{int(1e8 * 2**k)},{task},{h / 60},60" for k, h in enumerate(hits)]
    path.write_text("\n".join(["model,family,size,task,acc,n", *rows]) + "\n")


def tables(path: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(path.read_text())["tables"]
    return found


def test_every_group_of_a_table_is_forecast_at_its_untrained_points(call: Call, tmp_path: Path) -> None:
    write_curves(tmp_path / "c.csv")
    code, out, _ = call("forecast", *CURVES, "--json", "f.json", "--html", "f.html")
    assert code == 0
    told = tables(tmp_path / "f.json")["forecast"]
    assert [(row["group"], row["y_hat"] is None) for row in told] == [
        *[("t0 / m", False)] * 2,
        *[("t1 / m", False)] * 2,
        ("short / m", True),
    ]
    assert {"group", "x", "y_hat", "low", "high", "refused"} <= told[0].keys()
    assert all(row["low"] < row["observed"] < row["high"] for row in told[:4])
    assert told[4]["refused"]
    for word in ("last score", "2 of 3 curves forecast", "each interval promises", "RMSLE", "would do"):
        assert word in out
    page = (tmp_path / "f.html").read_text()
    assert page.count("<figure>") == 3
    assert "kept from the forecast" in page
    # no store was made, and none was needed
    assert not (tmp_path / ".foreshock").exists()


def test_some_curves_by_name_and_a_place_of_their_own(call: Call, tmp_path: Path) -> None:
    write_curves(tmp_path / "c.csv")
    code, out, _ = call("forecast", "t1*", *CURVES[:-2], "--at", "2B", "--json", "f.json")
    assert code == 0
    told = tables(tmp_path / "f.json")["forecast"]
    assert [(row["group"], row["x"], row["why"]) for row in told] == [("t1 / m", 2e9, "at")]
    assert "t1 / m" in out
    assert "t0 / m" not in out


def test_a_line_of_a_store_is_held_against_a_threshold(call: Call, tmp_path: Path) -> None:
    write_scores(tmp_path / "t.csv")
    call("add", "t.csv", "--x", "size", "--y", "acc", "--group", "task", "--map", "model=model", "--family", "family",
         "--n", "n")  # fmt: skip
    code, out, _ = call("forecast", "harm", "--threshold", "20%", "--next", "--fail-on", "FS403", "--json", "f.json")
    assert code == 0, "the newest score is above the line: below is the side that is looked for"
    assert tables(tmp_path / "f.json")["crossings"][0]["side"] == "below"
    code, out, _ = call("forecast", "harm", "--threshold", ".2", "--above", "--fail-on", "FS403")
    assert code == 1
    assert "crossed" in out
    assert "exact, 60 items" in out
    assert call("forecast", "harm", "--threshold", ".2", "--above", "--fail-on", "any")[0] == 1
    assert call("forecast", "harm", "--threshold", ".2", "--above")[0] == 0


def test_the_history_is_tested_against_the_last_score(call: Call, tmp_path: Path) -> None:
    write_curves(tmp_path / "c.csv", groups=1)
    code, out, _ = call("forecast", "t0*", *CURVES[:-2], "--backtest", "--json", "f.json")
    assert code == 0
    (row,) = tables(tmp_path / "f.json")["backtest"]
    assert row["source"] == "rolling origin"
    assert row["mae"] < row["mae_persistence"]
    assert "interval score" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--csv", "c.csv", "--y", "loss"), "--x"),
        (("--csv", "c.csv", "--x", "n", "--y", "lost"), "no column lost"),
        (("--csv", "none.csv", "--x", "n", "--y", "loss"), "no such file"),
        ((*CURVES, "--axis", "tokens"), "means nothing"),
        ((*CURVES, "--preset", "epoch"), "means nothing"),
        ((*CURVES, "nothing"), "no curve fits"),
        (("gsm8k", "--train", "flag"), "means nothing"),
        (("gsm8k", "--above"), "--threshold"),
        (("gsm8k", "--threshold", ".2", "--above", "--below"), "one side"),
        (("gsm8k", "--threshold", "high"), "a score such as"),
        (("gsm8k", "--at", "soon"), "a place such as"),
        (("gsm8k", "--date", "2027", "--date", "soon", "--date", "later"), "dates such as"),
        (("gsm8k", "--fail-on", "FS301"), "nothing can fire"),
        (("gsm8k", "--calibrate-on", "mine"), "shipped or own"),
        ((*CURVES, "--calibrate-on", "own"), "curves of other groups"),
        ((*CURVES, "--link", "cube"), "log or logit or identity"),
        ((*CURVES, "--date", "someday"), "no date"),
        ((*CURVES, "--level", "nan"), "--level nan; expected a number from 0.5 to 0.99"),
        ((*CURVES, "--level", "1"), "a number from 0.5 to 0.99"),
        (("--csv", ".", "--x", "n", "--y", "loss"), "a folder; expected one file with a table"),
    ],
)
def test_mistakes_are_messages(call: Call, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    write_curves(tmp_path / "c.csv")
    code, out, err = call("forecast", *words)
    assert code == 2
    assert said in " ".join((out + err).split())


def test_a_metric_that_is_not_there_names_those_that_are(call: Call, tmp_path: Path) -> None:
    write_scores(tmp_path / "t.csv")
    call("add", "t.csv", "--x", "size", "--y", "acc", "--group", "task", "--family", "family", "--n", "n")
    code, out, err = call("forecast", "harm", "--metric", "tool*")
    assert code == 2
    assert "acc" in out + err
    code, out, err = call("forecast", "harm", "--date", "2027-03")
    assert code == 2
    assert "released" in out + err


def test_items_behind_scores_of_an_unknown_metric_make_it_a_rate(call: Call, tmp_path: Path) -> None:
    rows = [f"{10.0 ** (8 + k / 2):g},0,300" for k in range(5)]
    (tmp_path / "s.csv").write_text("size,jailbreak,n\n" + "\n".join(rows) + "\n")
    words = ("--csv", "s.csv", "--x", "size", "--y", "jailbreak", "--n", "n", "--threshold", ".02", "--above", "--next")
    code, out, _ = call("forecast", *words, "--json", "f.json")
    assert code == 0
    assert "exact, 300 items" in out
    assert tables(tmp_path / "f.json")["forecast"][0]["y_hat"] < 0.01
    (tmp_path / "s.csv").write_text("size,jailbreak,n\n1e8,3,300\n1e9,5,300\n1e10,4,300\n1e11,4,300\n")
    code, out, err = call("forecast", *words)
    assert code == 2
    assert "--scale" in out + err


def test_a_place_within_the_history_is_answered_with_where_it_ends(call: Call, tmp_path: Path) -> None:
    write_curves(tmp_path / "c.csv", groups=1)
    code, out, _ = call("forecast", "t0*", *CURVES[:-2], "--at", "1e7")
    assert code == 0
    assert "Ask for a place beyond" in " ".join(out.split())
    assert "Do not extrapolate" not in out
    assert "the fixed curve" not in out, "--link is an option here and no term of verdicts"


def test_an_infinite_place_is_the_cell_that_is_named(call: Call, tmp_path: Path) -> None:
    (tmp_path / "i.csv").write_text("n,loss\n1e6,3\n1e7,2.5\ninf,2.2\n1e8,2.1\n")
    code, out, err = call("forecast", "--csv", "i.csv", "--x", "n", "--y", "loss")
    assert code == 2
    assert "line 4" in out + err
    assert "1000000" not in out + err


def test_a_bare_place_is_read_as_the_bare_numbers_of_the_column(call: Call, tmp_path: Path) -> None:
    rows = [f"{x},{2 + 3 * (x / 16) ** -0.5:.5f}" for x in (16, 23, 32, 45, 64, 90, 128)]
    (tmp_path / "s.csv").write_text("\n".join(["size,loss", *rows]) + "\n")
    asked = ("forecast", "--csv", "s.csv", "--x", "size", "--y", "loss")
    places = [word for at in ("256", "300B", "500e9") for word in ("--at", at)]
    assert call(*asked, *places, "--json", "f.json")[0] == 0
    told = tables(tmp_path / "f.json")["forecast"]
    assert [row["x"] for row in told] == [256e9, 300e9, 500e9]
    assert all(row["y_hat"] is not None for row in told)


def test_each_reason_is_told_once_with_its_places_and_up_to_where_a_forecast_is_made(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{x},{2 + 3 * (x / 16) ** -0.5:.5f}" for x in (16, 23, 32, 45, 64, 90, 128)]
    (tmp_path / "s.csv").write_text("\n".join(["size,loss", *rows]) + "\n")
    asked = ("forecast", "--csv", "s.csv", "--x", "size", "--y", "loss")
    for width in ("60", "200"):
        monkeypatch.setenv("COLUMNS", width)
        for first in ("256", "7000"):
            out = " ".join(call(*asked, "--at", "64", "--at", first, "--at", "5000", "--at", "6000")[1].split())
            beyond = "5T, 6T" if first == "256" else "5T, 6T, 7T"
            assert out.count(f" at {beyond}: further beyond the history than it supports (places") == 1
            assert out.count("further beyond the history") == 1
            assert out.count(" at 64B: the place lies within the history") == 1
            assert "places up to 1.02T, or a longer history would do" in out
            assert "e+12" not in out
