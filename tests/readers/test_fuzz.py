"""Small logs of every format, broken at random: each file is read or named, and none of them meets a fault of ours.

A few hundred executions for each reader with a fixed seed; ``tools/fuzz.py`` does the same for minutes, with bounds on
memory and time, and ``benchmarks/results/fuzz.md`` says for how many.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from _fuzz.cases import clear, load, seeds, split, write
from _fuzz.judge import judge, stored
from _fuzz.loop import OPTIONS
from _fuzz.mutate import Mutator
from foreshock.readers import Failure, ReadOptions, readers

EXECUTIONS = 100
EVERY = 20
# a table of means in JSON has to be said to be one
AS_MEANS = ReadOptions(csv={"x": "size", "y": "score", "group": "task"})


def fuzz(reader: str, folder: Path, executions: int, seed: int = 0) -> list[tuple[int, str]]:
    """Number and text of what may not happen."""
    cases, noise, found = load(reader), random.Random(f"{reader} {seed}"), []
    mutate, place = Mutator(noise, cases), folder / "logs"
    place.mkdir()
    for number in range(executions):
        clear(place)
        write(mutate(noise.choice(cases)), place)
        options = noise.choice(OPTIONS)
        verdict = judge(place, reader, options, direct=number % EVERY == 1, frames=number % EVERY == 2)
        found += [(number, text) for text in verdict.findings]
        if number == EVERY:
            found += [(number, text) for text in stored(place, folder / f"store{number}", options)]
    return found


def test_every_reader_has_seeds() -> None:
    assert seeds().keys() == readers().keys()


@pytest.mark.parametrize("reader", seeds())
def test_the_seeds_are_sound(tmp_path: Path, reader: str) -> None:
    for case in load(reader):
        clear(tmp_path)
        write(case, tmp_path)
        verdicts = [judge(tmp_path, reader, options) for options in (ReadOptions(), AS_MEANS)]
        assert not verdicts[0].findings
        assert any(line.startswith(f"run {reader} ") for verdict in verdicts for line in verdict.shape), case.keys()


@pytest.mark.parametrize("reader", seeds())
def test_no_broken_log_meets_a_fault(tmp_path: Path, reader: str) -> None:
    assert fuzz(reader, tmp_path, EXECUTIONS) == []


def test_a_planted_fault_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from foreshock.readers import _lm_eval_rows

    def divided(given: Any) -> float:
        return 1 / given if isinstance(given, int | float) else 0.0

    monkeypatch.setattr(_lm_eval_rows, "finite", divided)
    assert any("unexpected ZeroDivisionError" in text for _, text in fuzz("lm-eval", tmp_path, EXECUTIONS))


def test_a_reader_that_says_nothing_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from foreshock.readers._inspect import InspectReader

    def told(self: InspectReader, candidates: Any, options: ReadOptions) -> Any:
        yield from (Failure(c.path, ValueError("not ours")) for c in candidates if c.path.suffix == ".json")

    monkeypatch.setattr(InspectReader, "read", told)
    said = {text for _, text in fuzz("inspect", tmp_path, EXECUTIONS)}
    assert {"nothing was said of a file .eval", "a failure holds a ValueError"} <= said


def test_equal_seeds_break_alike() -> None:
    cases = load("table")
    first, second = ([Mutator(random.Random(3), cases)(cases[0]) for _ in range(20)] for _ in range(2))
    assert first == second


def test_files_that_belong_together_are_one_case() -> None:
    names = ["results_2024-01-01T00-00-00.json", "samples_a_2024-01-01T00-00-00.jsonl", "x.csv", "run/a", "run/b"]
    assert sorted(sorted(case) for case in split(dict.fromkeys(names, b""))) == [
        names[:2],
        ["run/a", "run/b"],
        ["x.csv"],
    ]


@pytest.mark.slow
@pytest.mark.parametrize("reader", seeds())
def test_no_broken_log_meets_a_fault_for_minutes(tmp_path: Path, repo_root: Path, reader: str) -> None:
    command = [sys.executable, "tools/fuzz.py", reader, "--minutes", "1", "--seed", "7", "--folder", str(tmp_path)]
    done = subprocess.run(command, cwd=repo_root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
