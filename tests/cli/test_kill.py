"""`foreshock add` killed at any instant: what was reported is there, nothing is half there, a second call completes."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from foreshock.store import Store

KILLS = 50
FILES = 60
SAMPLES = 40


def write_logs(folder: Path) -> None:
    folder.mkdir()
    for number in range(FILES):
        lines = [
            json.dumps(
                {
                    "id": str(i),
                    "question": f"{i}+{number}",
                    "target": str(i + number),
                    "answer": str(i),
                    "model": f"m{number}",
                }
            )
            for i in range(SAMPLES)
        ]
        (folder / f"m{number}.jsonl").write_text("\n".join(lines) + "\n")


def start(logs: Path, store: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "foreshock", "add", str(logs), "--store", str(store), "--task-name", "sums"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def whole_runs(folder: Path) -> int:
    """Number of visible runs; every one of them must have all its rows."""
    if not (folder / "store.json").is_file():
        return 0
    store = Store.open(folder)
    assert store.verify() == []
    snapshot = store.snapshot()
    rows = snapshot.scan("responses", columns=["run_key"]).collect().group_by("run_key").len()
    assert {run.run_key for run in snapshot.runs()} == set(rows["run_key"].to_list())
    assert set(rows["len"].to_list()) <= {SAMPLES}
    return len(snapshot.runs())


@pytest.mark.slow
def test_fifty_kills_of_the_command(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    write_logs(logs)
    begun = time.monotonic()
    out, err = start(logs, tmp_path / "whole").communicate()
    duration = time.monotonic() - begun
    assert f"{FILES} runs" in out, err
    assert whole_runs(tmp_path / "whole") == FILES
    draw = random.Random(7)
    killed = 0
    for attempt in range(KILLS):
        store = tmp_path / f"store{attempt % 25}"  # a killed store is added to again
        before = whole_runs(store)
        child = start(logs, store)
        time.sleep(draw.uniform(0.2, 0.95) * duration)
        child.send_signal(signal.SIGKILL)
        told = child.communicate()[0]
        killed += child.returncode == -signal.SIGKILL
        after = whole_runs(store)
        assert after >= before
        if "added" in told:
            assert after == FILES
    assert killed >= KILLS // 2
    start(logs, store).communicate()
    assert whole_runs(store) == FILES
