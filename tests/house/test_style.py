"""What ruff does not see: the length of files, who may print, and work left lying about."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "foreshock"
LONGEST = 450
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def prints(tree: ast.Module) -> list[int]:
    """Lines that call ``print`` or write to the standard streams."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            lines.append(node.lineno)
        stream = isinstance(node, ast.Attribute) and node.attr in {"stdout", "stderr"}
        if stream and isinstance(node.value, ast.Name) and node.value.id == "sys":
            lines.append(node.lineno)
    return lines


def test_no_file_is_too_long() -> None:
    long = {p.name: n for p in sources() if (n := len(p.read_text("utf-8").splitlines())) > LONGEST}
    assert not long


def test_only_the_command_line_prints() -> None:
    for path in sources():
        text = path.read_text("utf-8")
        # parsing takes nearly all the time; a text without these words cannot hold such a call
        if path.relative_to(PACKAGE).parts[0] != "_cli" and re.search("print|stdout|stderr", text):
            assert not prints(ast.parse(text)), f"{path} prints: a room reports through Progress"


def test_no_work_is_left_lying_about() -> None:
    for path in [*sources(), *sorted((ROOT / "tools").rglob("*.py"))]:
        if path.name != "words.py":  # it holds these very words, to look for them in the docs
            found = UNFINISHED.search(path.read_text("utf-8"))
            assert not found, f"{path}: {found}"


def test_the_rules_see_a_fault() -> None:
    assert prints(ast.parse("import sys\nprint(1)\nsys.stderr.write('x')")) == [2, 3]
    assert UNFINISHED.search("# TODO: later")
    assert not UNFINISHED.search("the todo list")
