"""`foreshock mirage` as a person calls it: from a table or a store to a verdict, and to what would bring one."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from foreshock.mirage import order_for

Call = Callable[..., tuple[int, str, str]]
TABLE = ("--csv", "t.csv", "--x", "size", "--group", "task", "--y", "acc", "--map", "model=model", "--family", "family")
SIZES = [10**7 * 3**k for k in range(10)]


@pytest.fixture
def call(call: Call) -> Call:
    return functools.partial(call, "mirage")


def write(path: Path, curves: dict[str, list[float]], tokens: int = 5) -> None:
    """A table of exact match of answers of so many tokens, each right with the given probability, and their loss."""
    rows = [
        {"family": "toy", "model": f"toy-{k}", "size": SIZES[k], "task": task, "acc": p**tokens, "nll": -np.log(p)}
        for task, curve in curves.items()
        for k, p in enumerate(curve)
    ]
    pl.DataFrame(rows).write_csv(path)


def even(low: float, high: float, jump_at: int | None = None) -> list[float]:
    """Token probabilities even on -log(-log p), or with nearly all of the rise before model ``jump_at``."""
    t = np.linspace(0, 1, len(SIZES))
    if jump_at is not None:
        t = 0.05 * t + 0.95 * (np.arange(len(SIZES)) >= jump_at)
    z = np.array([-np.log(-np.log(p)) for p in (low, high)])
    wobble = 0.02 * np.cos(7.0 * np.arange(len(SIZES)))
    return [float(p) for p in np.exp(-np.exp(-(z[0] + t * (z[1] - z[0]) + wobble)))]


def tables(path: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(path.read_text())["tables"]
    return found


def test_a_total_with_a_twin_gets_a_verdict_and_what_stands_behind_it(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", {"sums": even(0.3, 0.98)})
    code, out, _ = call(*TABLE, "--twin", "nll", "--n", "2000", "--json", "r.json", "--html", "r.html")
    assert code == 0
    found = tables(tmp_path / "r.json")
    (verdict,) = found["verdicts"]
    assert verdict["verdict"] in ("mirage", "smooth")
    assert (verdict["twin"], verdict["items"], verdict["command"]) == ("nll", 2000, None)
    assert verdict["order"] == list(order_for(verdict["link"]))
    assert [r["ratio"] for r in verdict["ratios"]] == [1.5, 2.0, 3.0]
    assert len(found["resolution"]) == len(SIZES)
    assert found["foreseeable"][0]["finding_id"] == verdict["finding_id"]
    assert {row["answer"] for row in found["predictions"]} <= {"supported", "contradicted", "cannot tell"}
    for word in ("nll through the link", "fixed beforehand", "noise", "foreseeable", "2,000 items", "→"):
        assert word in out
    assert "Do not report an emergence" in (tmp_path / "r.html").read_text() or verdict["verdict"] == "smooth"


def test_a_break_is_said_and_fails_a_script_that_asks_for_it(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", {"sums": even(0.4, 0.97, jump_at=5)})
    assert call(*TABLE, "--twin", "nll", "--n", "2000", "--json", "r.json", "--fail-on", "break")[0] == 1
    (verdict,) = tables(tmp_path / "r.json")["verdicts"]
    assert verdict["verdict"] == "break"
    assert verdict["share_low"] > 0.25
    assert call("--fail-on", "FS302")[0] == 0


def test_without_a_twin_the_command_is_told_and_alike_lines_are_one(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", {f"sums {k}": even(0.3, 0.9) for k in range(7)})
    code, out, _ = call(*TABLE, "--n", "2000", "--json", "r.json", "--markdown", "r.md", "--html", "r.html")
    assert code == 0
    found = tables(tmp_path / "r.json")
    assert {row["verdict"] for row in found["verdicts"]} == {"unresolved"}
    (row,) = found["unresolved"]
    assert row["lines"] == 7
    assert row["tasks"] == [f"sums {k}" for k in range(7)]
    assert "no twin" in row["reason"]
    assert "--twin COLUMN" in row["command"]
    assert out.count("7 lines:") == 1
    assert " ".join(out.split()).count("--twin COLUMN") == 1
    assert (tmp_path / "r.md").read_text().count("<summary>7 lines:") == 1
    assert (tmp_path / "r.html").read_text().count("7 lines:") == 1


def test_a_length_is_a_condition_and_never_a_verdict(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", {"sums": even(0.3, 0.98)})
    assert call(*TABLE, "--n", "2000", "--length", "5", "--json", "r.json")[0] == 0
    found = tables(tmp_path / "r.json")
    (verdict,) = found["verdicts"]
    assert verdict["verdict"] == "unresolved"
    assert verdict["conditional"] in ("smooth", "break", "cannot tell")
    assert "only if all 5 tokens" in verdict["conditional_text"]
    (series,) = [row for row in found["series"] if row["role"] == "conditional"]
    exact = next(row for row in found["series"] if row["role"] == "hard")
    for point, total in zip(series["points"], exact["points"], strict=True):
        assert point["value"] == pytest.approx(total["value"] ** 0.2)


def test_what_is_said_of_a_table_reaches_the_verdict(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", {"sums": even(0.3, 0.98)})
    said = ("--twin", "nll", "--chance", "0.1", "--kind", "hard", "--json", "r.json")
    assert call(*TABLE, *said, "--n", "60")[0] == 0
    few = tables(tmp_path / "r.json")
    assert few["verdicts"][0]["items"] == 60
    assert [row["chance"] for row in few["series"] if row["role"] == "hard"] == [0.1]
    assert few["resolution"][0]["floor"] == pytest.approx(1 / 60)
    assert call("sums", "--store", ".foreshock", "--json", "r.json")[0] == 0, "the store knows what was said"
    assert tables(tmp_path / "r.json")["verdicts"] == few["verdicts"]


def test_a_column_of_responses_can_be_the_twin(call: Call, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [
        {"item": i, "model": f"toy-{3**k}m", "em": int(rng.random() < p**5), "grade": float(np.clip(p + g, 0, 1))}
        for k, p in enumerate(even(0.3, 0.98)[::2])
        for i, g in enumerate(0.05 * rng.standard_normal(80))
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "r.csv")
    table = (
        "r.csv",
        "--map",
        "item=item,score=em,score=grade",
        "--task-name",
        "sums",
        "--scale",
        "1",
        "--kind",
        "hard",
    )
    assert call(*table, "--twin", "grade", "--json", "r.json")[0] == 0
    (verdict,) = tables(tmp_path / "r.json")["verdicts"]
    assert (verdict["hard"], verdict["twin"], verdict["items"]) == ("em", "grade", 80)
    assert "no twin" not in verdict["reason"]
    code, _, err = call(*table, "--twin", "graade", "--store", "other")
    assert code == 2
    assert "the columns of scores are em, grade" in err


def test_a_word_is_a_path_where_it_exists_and_else_a_task(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", {"sums": even(0.3, 0.98), "words": even(0.2, 0.9)})
    assert call(*TABLE, "--twin", "nll", "--n", "2000", "--quiet")[0] == 0
    assert call("wor*", "--json", "r.json")[0] == 0
    assert {row["task"] for row in tables(tmp_path / "r.json")["verdicts"]} == {"words"}
    code, _, err = call("summs")
    assert code == 2
    assert "did you mean sums" in err


def test_a_name_that_nothing_here_fires_under_is_refused(call: Call) -> None:
    code, _, err = call("--fail-on", "headroom")
    assert code == 2
    assert "FS301, FS302" in err


def test_names_of_strangers_stay_text(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", {"<script>alert(1)</script>\x1b[31m": even(0.3, 0.98)})
    code, out, _ = call(*TABLE, "--n", "2000", "--html", "r.html")
    assert code == 0
    assert "\x1b[31m" not in out
    assert "<script>alert(1)" not in (tmp_path / "r.html").read_text()


def test_pythias_addition_waits_for_log_probabilities(call: Call, tmp_path: Path, shared_data: Path) -> None:
    """.022 to .717 between 1.4B and 2.8B on 5,000 items: not few items, and nothing to read it against."""
    table = pl.read_csv(shared_data / "series" / "pythia_v0_arithmetic_by_operand.csv.gz")
    last = table.filter((pl.col("shots") == 2) & (pl.col("checkpoint") == table["checkpoint"].max()))
    pooled = last.group_by("model", "params", "op").agg(
        ((pl.col("acc") * pl.col("n")).sum() / pl.col("n").sum()).alias("acc"), pl.col("n").sum()
    )
    pooled.sort("op", "params").write_csv(tmp_path / "p.csv")
    columns = ("--csv", "p.csv", "--x", "params", "--group", "op", "--y", "acc", "--n", "n", "--map", "model=model")
    code, out, _ = call(*columns, "--task", "addition", "--json", "r.json")
    assert code == 0
    (verdict,) = tables(tmp_path / "r.json")["verdicts"]
    assert verdict["verdict"] == "unresolved"
    assert "no twin" in verdict["reason"]
    assert "not a matter of resolution" in verdict["reason"]
    assert "log-probabilities" in " ".join(out.split())


def test_lambada_with_accuracy_and_perplexity_is_judged(call: Call, tmp_path: Path, shared_data: Path) -> None:
    table = pl.read_csv(shared_data / "series" / "pythia_lmeval.csv.gz")
    last = table.filter(
        (pl.col("task") == "lambada_openai")
        & (pl.col("family") == "pythia-deduped")
        & (pl.col("shots") == 0)
        & (pl.col("step") == table["step"].max())
    )
    last.write_csv(tmp_path / "l.csv")
    assert call("l.csv", "--json", "r.json")[0] == 0
    (verdict,) = tables(tmp_path / "r.json")["verdicts"]
    assert (verdict["hard"], verdict["twin"]) == ("acc", "ppl")
    assert verdict["verdict"] != "break"
    assert "no twin" not in verdict["reason"]
    assert verdict["points"] == last.filter(pl.col("metric") == "acc").height


def test_a_twin_that_is_there_is_not_asked_for_but_the_number_of_items(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", {"even": even(0.3, 0.95)})
    code, out, _ = call(*TABLE, "--twin", "nll", "--json", "t.json")
    (row,) = tables(tmp_path / "t.json")["verdicts"]
    assert (code, row["verdict"], row["twin"]) == (0, "unresolved", "nll")
    assert row["command"].endswith(" --n ITEMS")
    assert "--twin COLUMN" not in out
    assert "number of items" in " ".join(out.split())


@pytest.mark.parametrize(
    "wrong", [("--select", "FS9"), ("--ignore", "["), ("--select", ""), ("--seed", "-1"), ("--length", "nan")]
)
def test_an_option_that_can_mean_nothing_is_refused(call: Call, tmp_path: Path, wrong: tuple[str, str]) -> None:
    write(tmp_path / "t.csv", {"even": even(0.3, 0.95)})
    code, out, err = call(*TABLE, *wrong)
    assert (code, out) == (2, "")
    assert err.startswith("foreshock: ")
    assert "fault of foreshock" not in err


def test_the_number_of_items_that_was_given_last_counts(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", {"even": even(0.3, 0.95)})
    for items in (500, 1_000, 200, 500, 500, 200):
        _, _, err = call(*TABLE, "--twin", "nll", "--n", str(items), "--json", "t.json")
        (row,) = tables(tmp_path / "t.json")["verdicts"]
        assert row["items"] == items
        assert "read before in another way" not in err


def test_the_hard_metric_can_be_chosen_and_a_wrong_one_is_an_error(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", {"sums": even(0.3, 0.98)})
    assert call(*TABLE, "--twin", "nll", "--n", "2000", "--hard", "a*", "--json", "r.json")[0] == 0
    assert [row["hard"] for row in tables(tmp_path / "r.json")["verdicts"]] == ["acc"]
    for pattern, said in (("f1", "there is acc"), ("nll", "nll is continuous")):
        code, _, err = call("--hard", pattern)
        assert code == 2
        assert said in " ".join(err.split())
    (tmp_path / "foreshock.toml").write_text('[mirage]\nhard = ["f1"]\n')
    assert call()[0] == 2
    assert call("--hard", "acc")[0] == 0
