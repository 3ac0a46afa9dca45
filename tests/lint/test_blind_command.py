"""``foreshock lint --blind`` on a store gives the table made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foreshock._cli import main
from foreshock.lint._degrade import DEGRADATIONS

from .blind_world import answers

WORLD = Path(__file__).with_name("blind_world.py")
NAMES = {f"{WORLD}:{name}": name for name in ("truth", "recall")} | {
    "char_similarity(choices=allow)": "char_similarity"
}


@pytest.fixture
def filled(put: Callable[..., Any]) -> None:
    found = answers()
    for task, rows in (("towers", found[:40]), ("cities", found[40:])):
        given = [(str(i), r.answer, (r.targets or [""])[0]) for i, r in enumerate(rows)]
        items = {"choices": [r.choices for r in rows], "gold_index": [r.gold_index for r in rows]}
        put("toy", given, task=task, items=items)


def run(folder: Path, *told: str) -> tuple[int, Any]:
    out = folder / "out.json"
    code = main(["lint", "--blind", "--store", str(folder / "store"), "--json", str(out), "--quiet", *told])
    return code, json.loads(out.read_text("utf-8"))


@pytest.mark.usefixtures("filled")
def test_the_command_gives_the_table_made_by_hand(tmp_path: Path, repo_root: Path) -> None:
    expected = json.loads((repo_root / "tests/oracles/blind_expected.json").read_text("utf-8"))
    scorers = ["--metric", "exact_match", "--metric", "char_similarity(choices=allow)"]
    code, document = run(tmp_path, *scorers, "--scorer", f"{WORLD}:truth", "--scorer", f"{WORLD}:recall")
    assert code == 0
    told = {NAMES.get(row["scorer"], row["scorer"]): row for row in document["tables"]["blind_words"]}
    assert {name: [row[kind] for kind in DEGRADATIONS] for name, row in told.items()} == {
        name: expected[name]["words"] for name in expected if name not in ("about", "columns")
    }
    for row in document["tables"]["blind"]:
        if row["degradation"] in DEGRADATIONS:
            name = NAMES.get(row["scorer"], row["scorer"])
            n, seen = expected[name]["counts"][DEGRADATIONS.index(row["degradation"])]
            assert (row["n"], row["seen"]) == (n, seen)
    assert {f["code"] for f in document["findings"]} == {"FS250"}
    assert len(document["findings"]) == 3


@pytest.mark.usefixtures("filled")
def test_a_blind_spot_can_fail_a_build(tmp_path: Path) -> None:
    assert run(tmp_path, "--metric", "exact_match", "--fail-on", "FS250")[0] == 0
    assert run(tmp_path, "--scorer", f"{WORLD}:truth", "--fail-on", "FS250")[0] == 1


def test_every_cell_that_cannot_tell_says_why_once(
    tmp_path: Path, put: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["paris", "rome", "oslo", "cairo"] * 10
    put("toy", [(str(i), word, word) for i, word in enumerate(words)], task="capitals")
    scorers = ("--metric", "exact_match", "--metric", "char_similarity")
    code, document = run(tmp_path, *scorers)
    assert code == 0
    assert main(["lint", "--blind", "--store", str(tmp_path / "store"), *scorers]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Cannot tell: ")]
    untold = [row for row in document["tables"]["blind"] if row["said"] == "cannot tell"]
    assert any("one word only (40 of 40 answers)" in row["why"] for row in untold)
    assert len(lines) == len({(row["why"], row["enough"]) for row in untold}) < len(untold)
    for row in untold:
        (line,) = [one for one in lines if row["why"] in one and row["degradation"].replace("_", " ") in one]
        assert row["enough"] is None or f"{row['enough']:,} answer" in line
