"""The watcher: starts workers, ends those that hang, records those that die."""

from __future__ import annotations

import faulthandler
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from _fuzz.cases import ROOT
from _fuzz.loop import BEAT, Plan, open_beat, read_state, record
from foreshock.readers import ReadOptions

MAX_WALL = 60.0
"""Wall seconds of one execution after which a worker is ended; a machine full of other work is slow."""

_MAX_STARTS = 200


def watch(plan: Plan) -> dict[str, Any]:
    """Run workers until the plan is done; the last state."""
    (plan.folder / "findings").mkdir(parents=True, exist_ok=True)
    for _ in range(_MAX_STARTS):
        code = _one_worker(plan)
        state = read_state(plan.folder)
        if code == 0:
            return state
        if code == 1:
            raise SystemExit(f"{plan.reader}: the fuzzer itself is at fault, see {plan.folder / 'worker.log'}")
        _died(plan, code)
    raise SystemExit(f"{plan.reader}: the worker died {_MAX_STARTS} times")


def _one_worker(plan: Plan) -> int:
    arguments = ["--executions", str(plan.executions), "--cpu-seconds", str(plan.seconds), "--seed", str(plan.seed)]
    command = [sys.executable, str(ROOT / "tools" / "fuzz.py"), plan.reader, *arguments, "--worker", str(plan.folder)]
    with (plan.folder / "worker.log").open("ab") as log:
        beat = open_beat(plan.folder)
        BEAT.pack_into(beat, 0, 0, 0.0)
        process = subprocess.Popen(command, stdout=log, stderr=log)
        while True:
            try:
                return process.wait(1.0)
            except subprocess.TimeoutExpired:
                _, since = BEAT.unpack_from(beat, 0)
                if since and time.monotonic() - since > MAX_WALL:
                    process.send_signal(signal.SIGUSR1)  # writes where it is into the log
                    time.sleep(1.0)
                    process.kill()
                    process.wait()
                    return -1000


def _died(plan: Plan, code: int) -> None:
    """Keep the case at which a worker hung or died, and count what it had done."""
    number, _ = BEAT.unpack_from(open_beat(plan.folder), 0)
    text = f"hung for {MAX_WALL:g} seconds" if code == -1000 else f"the process died with {code}"
    work = plan.folder / "work"
    case = {p.relative_to(work).as_posix(): p.read_bytes() for p in work.rglob("*") if p.is_file()}
    record(plan.folder / "findings", text, case, ReadOptions(), False)
    state = read_state(plan.folder)
    state["executions"] = max(state["executions"], number)
    state["starts"] += 1
    state["findings"][text] = state["findings"].get(text, 0) + 1
    (plan.folder / "state.json").write_text(json.dumps(state), "utf-8")


def listen() -> None:
    """In a worker: tell on request where it is."""
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=False)


def folder_of(plan_folder: Path) -> Path:
    """The folder, made when it is not there."""
    plan_folder.mkdir(parents=True, exist_ok=True)
    return plan_folder
