"""`foreshock lint` as a person calls it: one line per finding, exit codes, every form of the document."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from foreshock import report
from foreshock.lint import CODES

Call = Callable[..., tuple[int, str, str]]

DESIGN = """
[[task]]
name = "quiz"
items = 60
options = [2, 5]
logged = ["choice_logprobs"]
temperature = 0.0
[[task.metric]]
name = "acc"
[[models]]
family = "toy"
points = ["70M", "160M", "410M", "70B"]
"""
MAP = ("--map", "input=question,target=target,answer=answer,item=id", "--task-name", "texts")


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "benchmark.toml"
    path.write_text(DESIGN)
    return path


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    path = tmp_path / "toy-1b.jsonl"
    rows = [{"question": f"q{i}", "target": f"the long answer number {i} is right", "id": str(i)} for i in range(40)]
    rows = [row | {"answer": row["target"] if int(row["id"]) % 3 else "wrong"} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_one_line_for_each_finding_and_how_many(call: Call, design: Path) -> None:
    code, out, err = call("lint", str(design))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    place = f"{design}:quiz"
    assert f"{place}: FS201 only all-or-nothing metrics are reported (acc)" in lines
    assert any(line.startswith(f"{place}: FS203 60 items cannot show") for line in lines)
    assert any(line.startswith("toy along parameters: FS207 74% of the axis") for line in lines)
    assert "7 problems (3 in doubt) in 1 task and 1 line of models." in lines
    assert "foreshock lint --explain FS201" in lines[-1]


def test_what_is_chosen_and_what_fails(call: Call, design: Path) -> None:
    assert call("lint", str(design), "--select", "FS207", "--quiet", "--fail-on", "any")[0] == 1
    assert call("lint", str(design), "--ignore", "FS2", "--quiet", "--fail-on", "any")[0] == 0
    assert call("lint", str(design), "--fail-on", "scale-gap", "--quiet")[0] == 1
    assert call("lint", str(design), "--fail-on", "FS204", "--quiet")[0] == 0  # only in doubt
    assert "FS203" not in call("lint", str(design), "--difference", "0.3")[1]


def test_the_configuration_says_it_once(call: Call, design: Path, tmp_path: Path) -> None:
    (tmp_path / "foreshock.toml").write_text('[lint]\nignore = ["FS201"]\nselect = ["FS20"]\ndifference = 0.3\n')
    out = call("lint", str(design))[1]
    assert "FS206" in out
    assert "FS201" not in out
    assert "FS203" not in out
    assert "FS203" in call("lint", str(design), "--difference", "0.05")[1]
    (tmp_path / "foreshock.toml").write_text("[lint]\ndifference = 2\n")
    code, _, err = call("lint", str(design))
    assert (code, "foreshock.toml" in err) == (2, True)


def test_every_form_holds_everything(call: Call, design: Path, tmp_path: Path) -> None:
    forms = ("--json", "d.json", "--html", "d.html", "--markdown", "d.md", "--junit", "d.xml")
    assert call("lint", str(design), "--quiet", *forms) == (0, "", "")
    document = json.loads((tmp_path / "d.json").read_text())
    jsonschema.validate(document, report.schema())
    assert {row["finding_id"] for row in document["tables"]["lint"]} == {f["id"] for f in document["findings"]}
    assert {row["code"] for row in document["tables"]["rules"]} == {*CODES} - {"FS250"}
    page = (tmp_path / "d.html").read_text()
    for finding in document["findings"]:
        assert finding["null"]
        assert finding["advice"]
        assert finding["code"] in page
        assert finding["code"] in (tmp_path / "d.xml").read_text()


def test_stored_logs_with_a_design_and_a_function(call: Call, logs: Path, tmp_path: Path) -> None:
    assert call("add", str(logs), *MAP)[0] == 0
    (tmp_path / "mine.py").write_text("def grade(output, item):\n    return float(output == item.targets[0])\n")
    (tmp_path / "benchmark.toml").write_text(
        '[[task]]\nname = "texts"\n[[task.metric]]\nname = "grade"\nkind = "continuous"\n'
    )
    given = ("lint", "benchmark.toml", "--store", ".foreshock", "--scorer", "mine.py:grade", "--select", "FS210")
    code, out, _ = call(*given, "--fail-on", "kind-misdeclared")
    assert code == 1
    assert "texts: FS210 grade is declared continuous and jumps on 40 of 40 perturbed outputs (91% to 100%)" in out


def test_logs_are_added_on_the_fly_and_a_store_is_a_path(call: Call, tmp_path: Path) -> None:
    log = tmp_path / "toy-1b.jsonl"
    rows = [
        {"input": f"q{i}", "target": "a b c d", "answer": "a b c d", "model": "toy-1b", "task": "t"} for i in range(9)
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = call("lint", str(log), "--select", "FS203")
    assert (code, "t: FS203 9 items cannot show" in out) == (0, True)
    assert "t: FS203 9 items cannot show" in call("lint", ".foreshock", "--select", "FS203")[1]


def test_blind_says_what_each_scorer_sees(call: Call, logs: Path, tmp_path: Path) -> None:
    assert call("add", str(logs), *MAP)[0] == 0
    (tmp_path / "length.py").write_text("def size(output, item):\n    return len(output)\n")
    given = ("lint", "--blind", "--metric", "char_similarity", "--scorer", "length.py:size", "--json", "b.json")
    code, out, _ = call(*given)
    assert code == 0
    assert "char_similarity" in out
    assert "size" in out
    tables = json.loads((tmp_path / "b.json").read_text())["tables"]
    said = {(row["scorer"], row["degradation"]): row["said"] for row in tables["blind"]}
    assert said["size", "contradict_number"] in ("blind", "cannot tell")
    assert said["size", "truncate"] == "sees"


def test_explain(call: Call) -> None:
    code, out, _ = call("lint", "--explain", "FS203")
    assert (code, out.startswith("FS203 too-few-items")) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--explain", "FS999"), "no rule"),
        (("nowhere/",), "no such file or folder"),
        ((), "foreshock add"),
        (("benchmark.toml", "--fail-on", "sadness"), "nothing can fire"),
        (("benchmark.toml", "--select", "FS9"), "begins with 'FS9'"),
        (("benchmark.toml", "--difference", "5"), "between 0 and 1"),
        (("benchmark.toml", "--scorer", "x.py:f"), "no such Python file"),
        (("benchmark.toml", "--metric", "exact_match"), "only designs"),
        (("benchmark.toml", "--task", "qiz"), "quiz"),
        (("--blind",), "--metric NAME"),
        (("bad.yaml",), "not valid YAML"),
        (("bad.py",), "not valid Python"),
    ],
)
def test_a_mistake_is_one_line(call: Call, design: Path, arguments: tuple[str, ...], said: str) -> None:
    (design.parent / "bad.yaml").write_text("task: [")
    (design.parent / "bad.py").write_text("def (")
    code, _, err = call("lint", *arguments)
    assert code == 2
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_names_of_strangers_cannot_write_to_the_terminal(call: Call, tmp_path: Path) -> None:
    evil = r"q\u001b[31m<script>alert(1)</script>[bold]"
    (tmp_path / "benchmark.toml").write_text(DESIGN.replace('"quiz"', f'"{evil}"').replace('"toy"', f'"{evil}"'))
    code, out, _ = call("lint", "benchmark.toml", "--html", "d.html")
    assert code == 0
    assert "\x1b" not in out
    assert "<script>alert" not in (tmp_path / "d.html").read_text()
