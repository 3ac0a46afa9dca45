"""The benchmark of worlds: counts, intervals, cache, and that the number of processes changes nothing."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from foreshock.stats import clopper_pearson


@pytest.fixture
def bench(repo_root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(repo_root / "benchmarks"))
    return importlib.import_module("mirage_worlds")


def test_at_most_thirty_cells_with_names_of_their_own(bench: ModuleType) -> None:
    names = [cell.name for cell in bench.cells()]
    assert len(names) == len(set(names)) <= 30


def test_interval_allows_for_tasks_of_one_family_being_alike(bench: ModuleType) -> None:
    # verdicts: break in the third column
    alone = np.zeros((200, 4), int)
    alone[:12, 2], alone[12:, 0] = 1, 1
    share, low, high = bench.interval(alone, 2)
    exact = clopper_pearson(12, 200)
    assert (share, low, high) == pytest.approx((0.06, float(exact[0]), float(exact[1])))
    # the same 6%, all in one family of twenty: as good as ten worlds
    together = np.zeros((10, 4), int)
    together[:, 0] = 20
    together[0] = [8, 0, 12, 0]
    share, low, high = bench.interval(together, 2)
    assert share == pytest.approx(0.06)
    assert high > exact[1] + 0.1


def test_groups_and_goals(bench: ModuleType) -> None:
    cell = next(c for c in bench.cells() if "30% of tasks" in c.name)
    worlds = cell.worlds(np.random.default_rng(0))
    groups = [bench.groups_of(cell, world, k) for k, world in enumerate(worlds)]
    assert sum("steps" in g for g in groups) == 6
    assert sum("others" in g for g in groups) == 14
    found = {"groups": {"others": [[9, 0, 1, 4]], "steps": [[0, 0, 5, 1]]}, "common": {"none": 1}}
    others, steps = bench.rows_of(cell, found)
    assert others["goals"] == [{"goal": "break <= 0.068", "value": pytest.approx(1 / 14), "n": 14, "met": False}]
    assert steps["goals"][0]["met"]
    assert steps["truth"] == "step"
    table = bench.table([others, steps])
    assert "MISSED" in table
    assert bench.summary([others, steps])["missed"][0]["goal"] == "break <= 0.068"


def test_any_number_of_processes_and_a_second_start_give_the_same(repo_root: Path, tmp_path: Path) -> None:
    def run(*options: str) -> str:
        script = str(repo_root / "benchmarks" / "mirage_worlds.py")
        command = [sys.executable, script, "--worlds", "2", "--only", "5 models, noise .3", *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def told(text: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(text[text.index("\n{") :])
        return found | {"cpu_seconds": None, "table": text[: text.index("\n{")]}

    one = told(run("--cache", str(tmp_path)))
    kept = list(tmp_path.iterdir())
    assert len(kept) == 1
    assert told(run("--jobs", "2")) == one
    # a second start reads what was kept
    counts = json.loads(kept[0].read_text())
    counts["groups"]["others"] = [[0, 0, 1, 0], [0, 0, 1, 0]]
    kept[0].write_text(json.dumps(counts))
    assert told(run("--cache", str(tmp_path)))["worst_false_break"] == 1.0
