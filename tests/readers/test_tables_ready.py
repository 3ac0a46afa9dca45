"""The command that an error ends with reads the table as it is."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from .test_tables import write

ITEMS = "item,model,score\nq1,a,{}\nq2,a,{}\n"
MEANS = "model,task,score\na,t,{}\nb,t,{}\n"


Call = Callable[..., tuple[int, str, str]]


def ready(output: str) -> list[str]:
    (line,) = [line for line in output.splitlines() if line.strip().startswith("ready: foreshock ")]
    return shlex.split(line)[2:]


@pytest.mark.parametrize(
    ("text", "given", "holds"),
    [
        (ITEMS.format(0.5, 0.25), [], ["--scale", "1"]),
        (ITEMS.format(3, 7), [], ["--scale", "10"]),
        (ITEMS.format(0.5, 55), [], ["--scale", "100"]),
        (MEANS.format(30, 50), [], ["--scale", "100"]),
        (MEANS.format(30, 50), ["--n", "200"], ["--n", "200", "--scale", "100"]),
        (MEANS.format(30, 50), ["--y", "score", "--n", "200"], ["--n", "200", "--scale", "100"]),
        (MEANS.format(30, 50), ["--scale", "10"], ["--scale", "100"]),
    ],
)
def test_the_ready_command_works(call: Call, tmp_path: Path, text: str, given: list[str], holds: list[str]) -> None:
    path = write(tmp_path, text)
    store = ["--store", str(tmp_path / "store")]
    code, _, output = call("add", str(path), *given, *store)
    assert code == 2
    told = ready(output)
    assert told[-len(holds) :] == holds
    assert told.count("--scale") == 1
    assert call(*told)[0] == 0


@pytest.mark.parametrize("text", [ITEMS.format(3, 1200), MEANS.format(1200, 300), MEANS.format("120%", "10%")])
@pytest.mark.parametrize("given", [[], ["--scale", "100"]])
def test_no_scale_is_suggested_above_a_hundred(call: Call, tmp_path: Path, text: str, given: list[str]) -> None:
    code, _, output = call("add", str(write(tmp_path, text)), *given, "--store", str(tmp_path / "store"))
    assert code == 2
    assert "ready:" not in output
    assert "the highest possible score" in output


def test_the_number_of_items_stays_in_the_command(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, MEANS.format(0.3, 0.5))
    code, output, _ = call("add", str(path), "--n", "200", "--store", str(tmp_path / "store"))
    assert code == 0
    assert "--n 200" in next(line for line in output.splitlines() if "to say so yourself" in line)
