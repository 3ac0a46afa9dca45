"""The scoring engine and the store at size: CPU seconds, peak memory, and what a second run costs.

    python benchmarks/engine.py samples  [--samples 50000] [--write]
    python benchmarks/engine.py logs     [--gigabytes 2] [--runs 500] [--workers 2] [--write]
    python benchmarks/engine.py lookup   [--runs 10000] [--rows 1000] [--store STORE] [--write]
    python benchmarks/engine.py executors [--rows 40000] [--write]

``samples``: an Inspect log (outputs of about 200 characters, targets of about 50) is read, committed, scored and
committed; then the same number of multiple-choice responses with log-likelihoods, which an Inspect log does not have,
for the metrics of probability. The peer is a loop over the same rows with rapidfuzz, rouge-score and plain Python.

``logs``: many Inspect logs are added and scored; memory is that of all processes together, proportional set sizes
sampled ten times a second. Then everything is added and scored again.

``lookup``: one item over many runs, before and after ``compact``, beside a scan of every file with Polars; with
``--store STORE`` only in a store that an earlier call made and compacted (``engine.py work 0 make-runs STORE ...``).

``executors``: serial, a pool and a Dask cluster of two processes; equal bytes.

Every command makes its own data in a temporary folder (``--folder`` says where) and removes it. A fixed loop of plain
Python is timed beside: it takes 0.11 s on the quiet machine of the other benchmarks, and CPU seconds grow with it when
neighbours fill the caches. ``--write`` records the output in ``benchmarks/results/engine.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from _engine_work import METRICS, PROBABILITY, WORK, started
from read_logs import calibrate, head_commit, section

HERE = Path(__file__).resolve().parent


def samples(asked: argparse.Namespace, folder: Path) -> list[str]:
    """Read, commit, score, commit; each in a process of its own."""
    log, choices = folder / "log.eval", folder / "choices"
    child("make-samples", str(log), str(asked.samples), str(asked.seed))
    child("make-choices", str(choices), str(asked.samples), str(asked.seed))
    rows = [
        "| what | CPU s | peak MB | loop s | responses | without a score |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    total, memory = 0.0, 0.0
    for what, words in (
        ("Inspect log: read and committed", ("add", str(log), str(folder / "a"))),
        (f"the same, and {', '.join(METRICS)} scored and committed", ("score", str(log), str(folder / "b"))),
        (f"log-likelihoods: {', '.join(PROBABILITY)} scored and committed", ("score-choices", str(choices))),
        ("peer: rapidfuzz, rouge-score and plain Python over the rows in memory", ("peer", str(folder / "b"))),
    ):
        loop = calibrate()
        found = child(*words)
        loop = max(loop, calibrate())
        share = "; ".join(f"{name} {part:.1%}" for name, part in found["without"].items()) or "–"
        rows.append(
            f"| {what} | {found['cpu']:.2f} | {found['memory']:.0f} | {loop:.2f} | {found['rows']:,} | {share} |"
        )
        if words[0] in ("score", "score-choices"):
            total, memory = total + found["cpu"], max(memory, found["memory"])
    met = "only for 50,000" if asked.samples != 50_000 else "met" if total <= 12 and memory <= 500 else "missed"
    rows += ["", f"Scoring with the store included: {total:.2f} CPU s, {memory:.0f} MB (target 12 s, 500 MB: {met})."]
    return rows


def logs(asked: argparse.Namespace, folder: Path) -> list[str]:
    """Add and score many logs, then again."""
    source = folder / "logs"
    child("make-logs", str(source), str(asked.gigabytes), str(asked.runs), str(asked.seed))
    size = sum(path.stat().st_size for path in source.iterdir())
    rows = [
        f"{asked.runs} logs, {_json_bytes(source) / 1e9:.2f} GB of JSON in {size / 1e6:.0f} MB of `.eval` files.",
        "",
        "| what | CPU s | wall s | peak MB of all processes | responses | loop s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    store = folder / "store"
    for what, name in (
        ("add", "add-logs"),
        (f"score, {asked.workers} workers", "score-logs"),
        ("add and score again", "again"),
    ):
        peak = Peak()
        with peak:
            found = child(name, str(source), str(store), str(asked.workers))
        told = f"{found['cpu']:.1f} | {found['wall']:.1f} | {peak.bytes / 1e6:.0f} | {found['rows']:,}"
        rows.append(f"| {what} | {told} | {calibrate():.2f} |")
    rows += ["", f"Without a score, by metric: {found['without']}."]
    return rows


def _json_bytes(source: Path) -> int:
    return int((source.parent / "bytes").read_text("utf-8"))


def lookup(asked: argparse.Namespace, folder: Path) -> list[str]:
    """One item over all runs."""
    store = Path(asked.store) if asked.store else folder / "store"
    if not asked.store:
        child("make-runs", str(store), str(asked.runs), str(asked.rows), str(asked.seed))
    rows = ["| what | CPU s | loop s |", "| --- | --- | --- |"]
    for when in ("after",) if asked.store else ("before", "after"):
        if when == "after" and not asked.store:
            found = child("compact", str(store))
            rows.append(f"| compact ({found['memory']:.0f} MB) | {found['cpu']:.1f} | {calibrate():.2f} |")
        found = child("look", str(store), str(asked.rows), str(asked.runs))
        for what, seconds in found["times"].items():
            rows.append(f"| {when} compact: {what} | {seconds:.3f} | {calibrate():.2f} |")
    return rows


def executors(asked: argparse.Namespace, folder: Path) -> list[str]:
    """The same store scored in three ways."""
    rows = ["| where | wall s | loop s |", "| --- | --- | --- |"]
    bytes_of = []
    for name in ("serial", "pool", "dask"):
        store = folder / name
        child("make-runs", str(store), str(max(1, asked.rows // 1000)), "1000", str(asked.seed))
        start = time.monotonic()
        child("spread", str(store), name)
        rows.append(f"| {name} | {time.monotonic() - start:.1f} | {calibrate():.2f} |")
        bytes_of.append({path.name: path.read_bytes() for path in (store / "scores").iterdir()})
    if not bytes_of[0] == bytes_of[1] == bytes_of[2]:
        raise SystemExit("the bytes differ")
    return [*rows, "", f"{len(bytes_of[0])} files of scores, equal bytes."]


class Peak:
    """Largest sum of proportional set sizes of the processes below this one, itself left out, while it is entered."""

    def __init__(self) -> None:
        self.bytes = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            self.bytes = max(self.bytes, sum(map(_memory, _below(os.getpid()))))


def _below(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text("ascii")
    except OSError:
        return []
    return [found for child in map(int, text.split()) for found in (child, *_below(child))]


def _memory(process: int) -> int:
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))


def child(*words: str) -> dict[str, Any]:
    """Do some work in a process of its own and return its figures."""
    command = [sys.executable, str(Path(__file__).resolve()), "work", repr(time.monotonic()), *words]
    reply = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()[-1]
    found: dict[str, Any] = json.loads(reply)
    return found


def main() -> None:
    """Measure, print, and record when asked."""
    if sys.argv[1:2] == ["work"]:
        started(float(sys.argv[2]))
        print(json.dumps(WORK[sys.argv[3]](*sys.argv[4:])))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    choices: tuple[tuple[Any, dict[str, Any]], ...] = (
        (samples, {"samples": 50_000}),
        (logs, {"gigabytes": 2.0, "runs": 500, "workers": 2}),
        (lookup, {"runs": 10_000, "rows": 1_000, "store": ""}),
        (executors, {"rows": 40_000}),
    )
    for made, options in choices:
        sub = commands.add_parser(made.__name__, help=made.__doc__)
        for name, default in options.items():
            sub.add_argument(f"--{name}", type=type(default), default=default)
        sub.add_argument("--seed", type=int, default=1)
        sub.add_argument("--folder", type=Path, help="where the data are made; removed afterwards")
        sub.add_argument("--write", action="store_true")
        sub.set_defaults(made=made)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as spare:
        shown = "\n".join(asked.made(asked, Path(spare)))
    print(shown)
    if asked.write:
        record(asked, shown)


def record(asked: argparse.Namespace, shown: str) -> None:
    """Write a table with what is needed to repeat it."""
    left_out = ("command", "folder", "write", "made")
    kept = {**vars(asked), "store": "STORE" if vars(asked).get("store") else ""}  # where it lay helps nobody
    told = " ".join(f"--{name} {value}" for name, value in kept.items() if name not in left_out and value != "")
    names = ("foreshock", "polars", "rapidfuzz", "rouge-score", "distributed")
    facts = ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in names)])
    facts = f"{datetime.now(UTC):%Y-%m-%d}, commit {head_commit()}, {facts}."
    command = f"python benchmarks/engine.py {asked.command} {told} --write"
    name = f"{asked.command} again" if kept["store"] else asked.command
    body = f"## {name}\n\n`{command}`\n\n{facts}\n\n{shown}"
    section(HERE / "results" / "engine.md", name, body)


if __name__ == "__main__":
    main()
