"""Published boards, and how numbers and dates of tables are written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreshock.readers._tables_dates import moment, order_of
from foreshock.readers._tables_n import Rate, derive
from foreshock.readers._tables_numbers import figure

from ._read import Read, failure, read_all
from ._tables_logs import write_small


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Path]:
    return {path.name: path for path in write_small(tmp_path)}


def value(read: Read, name: str = "value") -> list[float]:
    return read.column("aggregates", name)


def test_every_specimen_is_read(small: dict[str, Path]) -> None:
    for path in small.values():
        reads, failures = read_all(path)
        assert not failures, path.name
        assert reads
        assert {r.run.format for r in reads} == {"table"}


def test_arc_agi(small: dict[str, Path]) -> None:
    reads, _ = read_all(small["arc_agi.csv"])
    found = [(r.run.model, r.run.task, value(r)[0], r.run.card.organisation, r.run.conditions) for r in reads]
    assert found[:2] == [
        ("o3 (High)", "ARC-AGI-1", pytest.approx(0.608), "OpenAI", {"System type": "CoT"}),
        ("o3 (High)", "ARC-AGI-2", pytest.approx(0.065), "OpenAI", {"System type": "CoT"}),
    ]
    assert len(found) == 5, "N/A is no score"
    assert reads[0].run.meta["metrics"] == {"solved": {"kind": "hard"}}
    assert value(reads[0], "high") == [1.0]
    assert any("cost is not read" in note for note in reads[0].notes)
    assert read_all(small["arc_agi.csv"], preset="arc-agi")[0][0].run.model == "o3 (High)"


def test_hle(small: dict[str, Path]) -> None:
    reads, _ = read_all(small["hle.csv"])
    assert [r.run.task for r in reads] == ["hle", "hle"]
    assert value(reads[0], "metric_id") == ["accuracy", "calibration_error"]
    accuracy, error = value(reads[0])
    assert (accuracy, error) == (pytest.approx(0.2532), 0.5)
    assert value(reads[0], "stderr")[0] == pytest.approx(0.017 / 1.96)
    assert value(reads[0], "stderr_kind")[0] == "ci95"
    n = {value(r, "n")[0] for r in reads}
    assert len(n) == 1, "one board has one number of questions"
    assert 2400 < n.pop() < 2600
    assert "n" in reads[0].guesses
    assert value(reads[0], "higher_is_better") == [True, False]


def test_epoch(small: dict[str, Path]) -> None:
    (run,), _ = read_all(small["benchmarks_runs.csv"])
    assert (run.run.created, run.run.task_version, run.run.card.reasoning) == ("2025-11-17T16:28:00", "1.0.1", "low")
    assert value(run, "metric_id") == ["match", "choice"]
    assert value(run) == [0.76, 0.74]
    assert value(run, "stderr") == [0.02, 0.03]
    others, _ = read_all(small["external_benchmark_t.csv"])
    assert [(r.run.model, r.run.task, r.run.conditions) for r in others] == [
        ("a-1", "t", {"shots": "5", "Source": "Report"}),
        ("B", "t", {"shots": "8", "Source": "Board"}),
    ]
    assert any("1 row without a model is left out (line 4)" in w for w in others[0].warnings)


def test_a_table_that_is_no_such_board(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("model,task,score\na,t,1\n")
    assert "not laid out like the preset hle" in failure(path, preset="hle")


def test_decimal_commas_and_days(small: dict[str, Path]) -> None:
    reads, _ = read_all(small["semicolons.csv"])
    assert [value(r)[0] for r in reads] == [0.25, 0.5]
    assert [r.run.created for r in reads] == ["2024-05-01", "2024-05-23"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ('model,task,elo\na,t,"1,234"\n', {"csv": {"y": "elo"}}, "may separate thousands or decimals"),
        ("model;task;score\na;t;0,5\nb;t;0.6\n", {}, "'0,5' has a decimal comma and '0.6'"),
        ("model,task,score\na,t,85%\nb,t,0.9\n", {}, "has a percent sign and '0.9' has none"),
        ("model,task,percent correct\na,t,0.85\n", {"csv": {"y": "percent correct"}}, "holds nothing above 1"),
        ("model,task,edit_distance\na,t,3\nb,t,-100\n", {"csv": {"y": "edit_distance"}}, "--codes -100=missing"),
        ("model,task,score\na,t,.5\na,t,.6\n", {}, "with different values in score"),
        ("model,task,score,score\na,t,.5,.6\n", {}, "the header names 'score' twice"),
        ("model,task,score\na,t,.5,.6\n", {}, "4 fields where the header has 3"),
        ('model,task,score\na,"t,.5\n', {}, "a quote opened in line 2"),
        ("model,score,edit\na,.5,3\n", {"twin": "nope"}, "no column 'nope' for the twin"),
        ("model,score,edit\na,.5,3\n", {"kind": "soft"}, "hard or continuous"),
    ],
)
def test_what_may_be_read_in_two_ways_is_refused(
    tmp_path: Path, text: str, options: dict[str, object], message: str
) -> None:
    path = tmp_path / "m.csv"
    path.write_text(text, "utf-8")
    assert message in failure(path, **options)


def test_refusals_show_the_table_and_the_command(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("Model,A,B\nx,50,60\n")
    _, (failed,) = read_all(path)
    assert failed.error.__notes__ == [
        "largest numbers: A 50, B 60; columns that are on another scale are read apart, with --y",
        "header: Model | A | B",
        "first row: x | 50 | 60",
        "understood so far: read as model=Model, score=A, B",
        f"ready: foreshock add {path} --scale 100",
    ]
    reads, _ = read_all(path, scale=100)
    assert [(r.run.task, value(r)) for r in reads] == [("A", [0.5]), ("B", [0.6])]
    assert reads[0].run.meta["contact"][0] == "header: Model | A | B"
    assert "contact" not in reads[1].run.meta


def test_copies_are_kept_once_and_codes_are_no_scores(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("model,task,score\na,t,.5\na,t,.5\nb,t,-1\n")
    reads, _ = read_all(path, codes={"-1": "missing"})
    assert [(r.run.model, value(r)) for r in reads] == [("a", [0.5])]
    assert any("1 row is a copy of another (lines 2 and 3)" in note for note in reads[0].notes)


def test_an_interval_nobody_explains_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("model,task,acc\na,t,0.5 ± 0.1\n")
    (plain,), _ = read_all(path)
    assert value(plain, "stderr") == [None]
    assert any("--interval stderr" in w for w in plain.warnings)
    (told,), _ = read_all(path, interval="ci95")
    assert value(told, "stderr") == [pytest.approx(0.1 / 1.96)]


def test_kind_twin_metric_and_chance_are_declared(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("model,size,task,right,edit\na,1B,t,10,30.5\nb,7B,t,80,4\n")
    options = {"csv": {"y": "right", "x": "size"}, "twin": "edit", "scale": 100.0, "n": "50", "chance": 25.0}
    reads, _ = read_all(path, metric="exact", kind="hard", **options)
    assert reads[0].run.meta["metrics"] == {
        "exact": {"kind": "hard", "twin": "edit"},
        "edit": {"kind": "continuous"},
    }
    assert reads[0].run.chance == 0.25
    assert value(reads[0], "stderr_kind") == ["derived", None]
    assert (
        len(
            {
                r.run.ingest_id
                for o in ({}, {"kind": "hard"}, {"metric": "m"})
                for r in read_all(path, **options, **o)[0]
            }
        )
        == 6
    )


@pytest.mark.parametrize("n", [50, 198, 1319])
def test_n_comes_back_from_rounded_errors(n: int) -> None:
    rates = []
    for line, right in enumerate((n // 5, n // 3, n // 2), 2):
        p = right / n
        rates.append(Rate(round(p, 4), round((p * (1 - p) / (n - 1)) ** 0.5, 4), 5e-5, 5e-5, line))
    found = derive(rates)
    assert found.n is not None
    assert abs(found.n - n) <= max(2, 0.02 * n)
    assert derive([*rates, Rate(0.5, 0.25, 5e-5, 5e-5, 9)]).n is None, "a row that needs 4 items contradicts them"


@given(st.floats(0, 1e6, allow_nan=False), st.integers(0, 6))
def test_numbers_come_back_however_they_are_written(number: float, digits: int) -> None:
    text = f"{number:,.{digits}f}"
    exact = float(f"{number:.{digits}f}")
    assert figure(text).value == pytest.approx(exact)  # type: ignore[union-attr]
    other = text.translate(str.maketrans(",.", ".,"))
    assert figure(other, ",").value == pytest.approx(exact)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-01", "2024-05-01"),
        ("2024/5/1", "2024-05-01"),
        ("20240501", "2024-05-01"),
        ("2024-05", "2024-05-01"),
        ("1 May 2024", "2024-05-01"),
        ("May 1st, 2024", "2024-05-01"),
        ("May 2024", "2024-05-01"),
        ("1 May 2024 12:05am", "2024-05-01T00:05:00"),
        ("1/5/2024", None),
        ("31 February 2024", None),
        ("soon", None),
    ],
)
def test_dates(text: str, expected: str | None) -> None:
    assert moment(text) == expected


def test_contradicting_dates_prove_nothing() -> None:
    assert order_of(["13/1/2024", "1/13/2024"]) is None
    assert moment("5/13/2024", "month first") == "2024-05-13"
