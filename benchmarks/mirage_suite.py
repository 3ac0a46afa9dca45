"""How long a suite takes: one model family on many tasks, judged together as a user's store would be.

    python benchmarks/mirage_suite.py [--tasks 200] [--points 8] [--items 1000] [--replicates 1000] [--write]
    python benchmarks/mirage_suite.py --store [--tasks 200] [--points 8] [--items 1000] [--folder DIR] [--write]

Prints CPU seconds, peak memory and the share of lines without a verdict. Making the worlds is not counted. With
``--store`` the suite is written as logs of lm-evaluation-harness, half of the tasks with one answer and half with four
choices, and the whole of ``foreshock add``, ``score`` and ``mirage`` is measured, each in a process of its own; what
counts is ``mirage`` on a store that was scored. ``--write`` records the figures in
``benchmarks/results/mirage_suite.md``. CPU seconds grow on a machine whose caches others fill: a fixed loop of plain
Python is timed before and after, 0.11 s on a quiet one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _mirage_logs import suite_worlds, write_suite
from read_logs import calibrate, head_commit, section

from foreshock.mirage import Entry, FamilyJudgement, Hard, Twin, judge_family
from foreshock.series import Panel
from foreshock.simulate import World, suite_world

ROOT = Path(__file__).resolve().parent.parent


def entry_of(world: World, number: int) -> Entry:
    """One task of the suite as the series room would hand it over."""
    points, items = world.hard.shape
    panel = Panel(
        task=f"task {number}",
        family="simulated",
        axis="parameters",
        axis_known=True,
        log_axis=True,
        points=tuple(f"m{i}" for i in range(points)),
        x=world.x,
        items=tuple(f"i{j}" for j in range(items)),
        values={"hard": world.hard, **world.twins},
        replicates=world.replicates,
        runs=tuple((f"r{i}",) for i in range(points)),
    )
    twins = tuple(Twin(n, n, tokens=world.tokens, high=2.0 if n == "brier" else 1.0) for n in world.twins)
    return Entry(panel, Hard("hard", "argmax" if world.chance else "all-of-N", world.chance), twins)


def suite(args: argparse.Namespace) -> list[Entry]:
    """Tasks that differ in noise, shape and length of answers; three of ten have a step."""
    rng = np.random.default_rng(args.seed)
    each: list[dict[str, Any]] = [
        {"shape": shape, "lengths": lengths, "start": start}
        for shape in ("linear", "sigmoid", "soft knee", "loss floor")
        for lengths, start in (([1, 2, 4, 7, 10], 1.2), (1, 1.2), (10, 1.5))
    ]
    worlds = suite_world(
        rng,
        tasks=args.tasks,
        points=args.points,
        items=args.items,
        noise=rng.uniform(0.05, 0.2, args.tasks),
        breaking=0.3,
        each=each,
        positions=False,
    )
    return [entry_of(world, k) for k, world in enumerate(worlds)]


def figures(told: FamilyJudgement, seconds: float, before: int, args: argparse.Namespace) -> dict[str, Any]:
    """What is printed and recorded."""
    words = Counter(one.verdict for one in told.judgements)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "tasks": args.tasks,
        "points": args.points,
        "items": args.items,
        "replicates": args.replicates,
        "cpu_seconds": round(seconds, 1),
        "peak_mb": round(peak / 1024),
        "peak_mb_before": round(before / 1024),
        "withheld": words["unresolved"] / args.tasks,
        "words": dict(words),
        "common": told.common.verdict if told.common else None,
        "noise_df": round(told.noise.df, 1) if told.noise else None,
    }


def measured(words: Sequence[str], folder: Path) -> tuple[float, int]:
    """CPU seconds and peak MB of one command of Foreshock in ``folder``.

    Raises:
        SystemExit: It failed.
    """
    command = [sys.executable, "-m", "foreshock", *words]
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, round(usage.ru_maxrss / 1024)


def through_store(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """The suite from its logs to its verdicts."""
    worlds = suite_worlds(np.random.default_rng(args.seed), args.tasks, args.points, args.items)
    size = write_suite(folder / "logs", worlds)
    row: dict[str, Any] = {"tasks": args.tasks, "points": args.points, "items": args.items, "log_mb": round(size / 1e6)}
    loop = calibrate()
    for words in (["add", "logs"], ["score"], ["mirage", "--json", "out.json"]):
        seconds, peak = measured(words, folder)
        row |= {f"{words[0]}_cpu_seconds": round(seconds, 1), f"{words[0]}_peak_mb": peak}
    document = json.loads((folder / "out.json").read_text())
    verdicts = Counter(verdict["verdict"] for verdict in document["tables"]["verdicts"])
    return row | {
        "withheld": round(verdicts["unresolved"] / args.tasks, 3),
        "words": dict(sorted(verdicts.items())),
        "loop_seconds": round(max(loop, calibrate()), 2),
    }


def in_memory(args: argparse.Namespace) -> dict[str, Any]:
    """The statistics alone."""
    entries = suite(args)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    told = judge_family(entries, seed=args.seed, replicates=args.replicates)
    return figures(told, time.process_time() - started, before, args)


def record(row: dict[str, Any], name: str, title: str) -> None:
    """Put the figures into the file of results, with the command and the commit."""
    words = " ".join(["python", "benchmarks/mirage_suite.py", *sys.argv[1:]])
    head = f"## {title}\n\n`{words}`, commit {head_commit()}\n\n| figure | value |\n|---|---|\n"
    lines = "".join(f"| {key.replace('_', ' ')} | {value} |\n" for key, value in row.items())
    section(ROOT / "benchmarks" / "results" / "mirage_suite.md", name, head + lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--points", type=int, default=8)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", action="store_true", help="from logs through a store, by the command line")
    parser.add_argument("--folder", type=Path, help="an empty folder for logs and store, which is kept")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    if args.store:
        with tempfile.TemporaryDirectory() as spare:
            row = through_store(args, (args.folder or Path(spare)).absolute())
        name, title = "store", "Time of a suite: from its logs to its verdicts"
    else:
        row, name, title = in_memory(args), "memory", "Time of a suite: the statistics alone"
    print(json.dumps(row, indent=1))
    if args.write:
        record(row, name, title)


if __name__ == "__main__":
    main()
