"""Whoever reads the output may go away; a gate keeps its code all the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from foreshock.store import Store
from tests.alarms._store import releases

WORDS = {
    "alarms": ("alarms", "--all", "--fail-on", "crossed"),
    "check": ("check", "--fail-on", "crossed"),
    "json": ("check", "--fail-on", "crossed", "--json", "-"),
    "forecast": (
        "forecast",
        "report",
        "--metric",
        "match",
        "--next",
        "--threshold",
        ".4",
        "--above",
        "--fail-on",
        "FS403",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pipe")
    releases(Store.open(made / ".foreshock", create=True), range(5), jump_at=None)
    line = '[alarms]\nmetrics = []\n[alarms.thresholds]\nreport = { above = 0.4, metric = "match" }\n'
    (made / "foreshock.toml").write_text(line)
    return made


def closed(folder: Path, *words: str) -> tuple[int, str]:
    """Code and error output of a command of whose output nobody reads anything."""
    process = subprocess.Popen(
        [sys.executable, "-m", "foreshock", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    return process.wait(timeout=120), said


@pytest.mark.parametrize("name", WORDS)
def test_a_gate_keeps_its_code(folder: Path, name: str) -> None:
    assert closed(folder, *WORDS[name]) == (1, "")


def test_what_can_fail_nothing_ends_well(folder: Path) -> None:
    assert closed(folder, "ls") == (0, "")
    assert closed(folder, "alarms") == (0, "")


def test_a_watch_that_nobody_reads_ends(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    assert closed(folder, "watch", str(tmp_path / "logs"), "--every", "1") == (141, "")
