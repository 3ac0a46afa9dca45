"""`foreshock meta`: lists against their base, tables of scores, stores of items, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(call: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.setenv("COLUMNS", "200")
    return call


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    """9 of 10 listed tasks are measured by acc, and 5 of 15 others; one listed task has no metric."""
    listed = [f"t{i},{'acc' if i < 9 else 'nll'},{'GPT-3 13B' if i < 5 else 'PaLM 8B'}" for i in range(10)]
    base = [f"t{i},acc,json" for i in range(10)] + [
        f"u{i},{'acc' if i < 5 else 'nll'},{'json' if i < 8 else 'program'}" for i in range(15)
    ]
    (tmp_path / "listed.csv").write_text("\n".join(["task,metric,emerges_at", *listed, "odd,,PaLM 8B"]) + "\n")
    (tmp_path / "base.csv").write_text("\n".join(["name,preferred_metric,declared_in", *base]) + "\n")
    return tmp_path


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_a_list_against_its_base(call: Call, lists: Path) -> None:
    code, out, _ = call("meta", "--list", "listed.csv", "--base", "base.csv", "--json", "m.json")
    assert code == 0
    row = read(lists / "m.json")["tables"]["meta"][0]
    assert (row["emergent_of_kind"], row["emergent"], row["others_of_kind"], row["others"]) == (9, 10, 5, 15)
    assert row["odds_ratio"] == 18.0
    assert row["by_family"].keys() == {"gpt-3", "palm"}
    assert "9/10 90.0%" in out
    assert "listed without a metric, left out" in out
    assert "found by name" in out
    assert "Holm over 1 look" in out
    assert "on the list" in out


def test_rows_of_the_base_can_be_chosen(call: Call, lists: Path) -> None:
    arguments = ("--list", "listed.csv", "--base", "base.csv", "--base-where", "declared_in=json", "--json", "m.json")
    assert call("meta", *arguments)[0] == 0
    assert read(lists / "m.json")["tables"]["meta"][0]["others"] == 8


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--list", "listed.csv"), "--list without --base"),
        (("--base", "base.csv"), "--base without --list"),
        (("--list", "listed.csv", "--base", "absent.csv"), "cannot read"),
        (("--list", "listed.csv", "--base", "base.csv", "--columns", "task=tsak"), "did you mean task"),
        (("--list", "listed.csv", "--base", "base.csv", "--columns", "rank=task"), "unknown role"),
        (("--list", "listed.csv", "--base", "base.csv", "--base-where", "declared_in=nothing"), "no row of the base"),
        (("--list", "listed.csv", "--base", "base.csv", "--by", "verdict"), "one source"),
        (("--by", "feeling"), "score or verdict"),
        (("--kinds", "acc=odd"), "hard or continuous or loss"),
        (("--errors", "none"), "known or scatter"),
        ((), "no store here"),
    ],
)
def test_mistakes_are_told_and_end_with_2(call: Call, lists: Path, arguments: tuple[str, ...], said: str) -> None:
    assert lists.is_dir()
    code, _, err = call("meta", *arguments)
    assert code == 2
    assert said in re.sub(r"\s+", " ", err)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no rows"),
        ("task,metric\n", "no rows"),
        ("task,task\na,b\n", "twice"),
        ("task,metric\na\n", "1 field in row 2"),
        ('task,metric\n"a,b\n', "no CSV"),
        ("what,metric\na,b\n", "hold the task"),
        ("task,metric,emergent\na,acc,perhaps\n", "yes or no"),
    ],
)
def test_tables_that_are_none(call: Call, lists: Path, text: str, said: str) -> None:
    (lists / "listed.csv").write_text(text)
    code, _, err = call("meta", "--list", "listed.csv", "--base", "base.csv")
    assert code == 2
    assert said in re.sub(r"\s+", " ", err)


def test_a_list_that_is_no_text(call: Call, lists: Path) -> None:
    (lists / "listed.csv").write_bytes(b"task,metric\n\xff\xfe,acc\n")
    assert "UTF-8" in call("meta", "--list", "listed.csv", "--base", "base.csv")[2]


def test_hostile_names_are_written_out(call: Call, lists: Path) -> None:
    (lists / "listed.csv").write_text('task,metric,model\n"t\x1b[31m<script>",acc,"f\u202e"\nt1,acc,g\n')
    code, out, _ = call("meta", "--list", "listed.csv", "--base", "base.csv", "--html", "m.html")
    assert code == 0
    assert "\x1b[31m<script>" not in out
    assert '<script>"' not in (lists / "m.html").read_text()
    assert "t\x1b" not in (lists / "m.html").read_text()
    assert "Nothing to report" not in (lists / "m.html").read_text()


def scores(jump: bool) -> list[str]:
    """Two families of six models on eight tasks: acc jumps on every task, log-likelihood rises steadily."""
    rows = ["model,family,params,task,metric,value,n,stderr"]
    for f, task, i in ((f, t, i) for f in ("ab", "cd") for t in range(8) for i in range(6)):
        steady = 0.1 + 0.1 * i
        hard = (0.02 + 0.001 * (i + task) if i < 4 else 0.8 + 0.01 * i) if jump else steady
        place = f"{f}-{i},{f},{10 ** (7 + i / 2):.0f},task{task}"
        rows.append(f"{place},acc,{hard:.4f},400,{(hard * (1 - hard) / 400) ** 0.5:.6f}")
        rows.append(f"{place},mc2,{steady:.4f},,0.01")
    return rows


def test_a_table_of_scores_with_a_planted_effect(call: Call, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("\n".join(scores(jump=True)) + "\n")
    code, out, _ = call("meta", "--csv", "s.csv", "--json", "m.json")
    assert code == 0
    tables = read(tmp_path / "m.json")["tables"]
    (row,), swapped = tables["meta"][:1], tables["swap"][0]
    assert row["kind"] == "hard"
    assert (row["emergent_of_kind"], row["emergent"]) == (16, 16)
    assert row["p_tasks"] < 0.01
    assert (swapped["removed"], swapped["both"]) == (16, 0)
    answers = {one["name"]: one["answer"] for one in tables["predictions"]}
    assert answers["emergence mostly under hard metrics"] == "supported"
    assert answers["changing the metric removes emergence"] == "supported"
    assert "by chance alone" in out
    assert "emergent before" in out
    again = call("meta", "--json", "-")[1]
    assert json.loads(again)["tables"]["meta"] == tables["meta"], "the store gives what the table gave"


def test_a_table_of_scores_without_one(call: Call, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("\n".join(scores(jump=False)) + "\n")
    assert call("meta", "--csv", "s.csv", "--json", "m.json", "--quiet")[0] == 0
    tables = read(tmp_path / "m.json")["tables"]
    assert sum(row["emergent"] for row in tables["triplets"]) <= 4
    assert tables["predictions"][-2]["answer"] != "supported"


def test_nothing_told_is_said(call: Call, tmp_path: Path) -> None:
    rows = [line for line in scores(jump=True) if not line.startswith(("ab-2", "ab-3", "ab-4", "ab-5", "cd"))]
    (tmp_path / "s.csv").write_text("\n".join(rows) + "\n")
    code, out, _ = call("meta", "--csv", "s.csv")
    assert code == 0
    assert "Nothing can be told" in out
    assert "2 of >= 4 models" in out


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """One family of five sizes on two tasks: right or wrong, beside the probability of the answer."""
    import numpy as np

    rng = np.random.default_rng(0)
    rows = ["model,task,item,acc,probability"]
    sizes = zip(("10m", "30m", "100m", "300m", "1b"), (0.02, 0.02, 0.03, 0.9, 0.9), strict=True)
    rows += [
        f"toy-{size},{task},i{i},{int(rng.random() < p)},{rng.uniform(0.3, 0.5):.3f}"
        for size, p in sizes
        for task in ("a", "b")
        for i in range(60)
    ]
    (tmp_path / "items.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_items_of_a_store_by_score_and_by_verdict(call: Call, items: Path) -> None:
    added = call("add", "items.csv", "--map", "item=item,score=acc,score=probability", "--scale", "1")
    assert added[0] == 0, added
    code, _, _ = call("meta", "--json", "m.json")
    assert code == 0
    triplets = read(items / "m.json")["tables"]["triplets"]
    told = {(row["task"], row["metric"]): (row["kind"], row["emergent"]) for row in triplets}
    assert told["a", "acc"] == ("hard", True)
    assert told["a", "probability"][0] == "continuous"
    code, _, _ = call("meta", "--by", "verdict", "--json", "v.json")
    assert code == 0
    assert {row["by"] for row in read(items / "v.json")["tables"]["triplets"]} == {"verdict"}


def test_the_same_call_gives_the_same_bytes(call: Call, lists: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert lists.is_dir()
    first = call("meta", "--list", "listed.csv", "--base", "base.csv", "--json", "-")[1]
    assert first == call("meta", "--list", "listed.csv", "--base", "base.csv", "--json", "-")[1]
