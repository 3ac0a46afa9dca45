"""The command that an error ends with reads the table as it is."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from foreshock.store import Store

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


PLAIN = {
    "items.csv": "question_id,model,output,target,correct\nq1,a,4,4,1\nq2,a,5,6,0\n",
    "matrix.csv": "item,m1,m2\nq1,1,0\nq2,0,0\n",
    "sub.csv": "submission,q1,q2\ns1,1,0\ns2,0,0\n",
    "hle.csv": "Model,Accuracy (%) ± CI,Calibration Error\na,25.32 ± 1.70,50\nb,21.64 ± 1.61,72\n",
    "means.csv": MEANS.format(0.3, 0.5),
}


@pytest.mark.parametrize("name", PLAIN)
def test_every_table_that_is_plain_says_how_it_was_read_and_the_command_reads_it_so(
    call: Call, tmp_path: Path, name: str
) -> None:
    path = write(tmp_path, PLAIN[name], name)
    code, output, _ = call("add", str(path), "--task-name", "t")
    assert code == 0
    header, row = PLAIN[name].splitlines()[:2]
    assert f"  header: {' | '.join(header.split(','))}\n" in output
    assert f"  first row: {' | '.join(row.split(','))}\n" in output
    (told,) = [line for line in output.splitlines() if "to say so yourself: foreshock " in line]
    assert "--task-name t" in told
    before = {run.run_key: run.model for run in Store.open(tmp_path / ".foreshock").snapshot().runs()}
    code, output, _ = call(*shlex.split(told.partition("foreshock ")[2]))
    assert code == 0
    assert "to say so yourself" not in output
    assert {r.run_key: r.model for r in Store.open(tmp_path / ".foreshock").snapshot().runs()} == before
