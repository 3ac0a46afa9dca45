"""How long a suite takes: one model family on many tasks, judged together as a user's store would be.

    python benchmarks/mirage_suite.py [--tasks 200] [--points 8] [--items 1000] [--replicates 1000] [--write]

Prints CPU seconds, peak memory and the share of lines without a verdict. Making the worlds is not counted. ``--write``
records the figures in ``benchmarks/results/mirage_suite.md``.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--points", type=int, default=8)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    entries = suite(args)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    told = judge_family(entries, seed=args.seed, replicates=args.replicates)
    row = figures(told, time.process_time() - started, before, args)
    print(json.dumps(row, indent=1))
    if args.write:
        head = "# Time of a suite\n\n`python benchmarks/mirage_suite.py --write`\n\n| figure | value |\n|---|---|\n"
        lines = "".join(f"| {name.replace('_', ' ')} | {value} |\n" for name, value in row.items())
        (ROOT / "benchmarks" / "results" / "mirage_suite.md").write_text(head + lines)


if __name__ == "__main__":
    main()
