"""How often the mirage verdict is right: named worlds of known truth, judged as a user's panel would be.

    python benchmarks/mirage_worlds.py [--worlds 500] [--seed 1] [--only NAME] [--write]

``--write`` records the table in ``benchmarks/results/mirage_worlds.{md,json}`` and the worst rate of falsely said
breaks in ``src/foreshock/mirage/_rates.json``, which findings print.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from foreshock.mirage import Hard, Twin, judge
from foreshock.series import Panel
from foreshock.simulate import World, choice_world, token_world
from foreshock.stats import clopper_pearson

ROOT = Path(__file__).resolve().parent.parent
VERDICTS = ("smooth", "mirage", "break", "unresolved")


@dataclass(frozen=True)
class Cell:
    """One named kind of world.

    ``truth``: ``smooth`` (in the smooth class, hard metric soft), ``mirage`` (in the class, hard metric sharp),
    ``outside`` (steeper than the class, but no step), ``border`` (a step of exactly the share at which a break begins),
    ``step``, ``floor`` (nothing has begun).
    """

    name: str
    make: Callable[..., World]
    truth: str
    knobs: dict[str, Any] = field(default_factory=dict)
    trajectory: bool = False


_MIXED = [1, 2, 4, 7, 10]
_KNEE: dict[str, Any] = {"shape": "soft knee", "points": 10}
_UNEVEN: dict[str, Any] = {"uneven": True, "points": 6}
# equal items without spread: the textbook p^10, sharp on its own scale (2.7 times its mean slope)
_SHARP: dict[str, Any] = {"difficulty": 0.0, "surprise": 0.0, "start": 1.5}


def _tokens(name: str, truth: str, *, trajectory: bool = False, **knobs: Any) -> Cell:
    return Cell(name, token_world, truth, {"lengths": _MIXED} | knobs, trajectory)


def _choices(name: str, truth: str, **knobs: Any) -> Cell:
    return Cell(name, choice_world, truth, knobs)


def cells() -> list[Cell]:
    """At most 30 named cells."""
    tokens, choices, run = _tokens, _choices, {"points": 20, "chain": 0.5, "items": 500}
    return [
        tokens("linear, 8 models, noise .1", "smooth"),
        tokens("linear, 4 models, noise .05", "smooth", points=4, noise=0.05),
        tokens("linear, 5 models, noise .3", "smooth", points=5, noise=0.3),
        tokens("linear, 5 models x 3 seeds, noise .2", "smooth", points=5, noise=0.2, seeds=3),
        tokens("sigmoid 1.8, 8 models, noise .1", "smooth", shape="sigmoid"),
        tokens("sigmoid 1.8, 6 models, noise .05", "smooth", shape="sigmoid", points=6, noise=0.05),
        tokens("sigmoid 1.8, 8 models, noise .3, 100 items", "smooth", shape="sigmoid", noise=0.3, items=100),
        tokens("ramp 2.0, 6 models, noise .1", "smooth", shape="ramp", points=6),
        tokens("logit-linear .05-.97, 8 models, noise .1", "smooth", linked="logit", start=3.0, rise=6.42),
        tokens("soft knee, 8 models, noise .1", "smooth", shape="soft knee"),
        tokens("loss floor, 6 uneven models, noise .05", "smooth", shape="loss floor", noise=0.05, **_UNEVEN),
        tokens("linear, one outlier model of 8", "smooth", tails="outlier"),
        tokens("soft knee, one outlier of 10, noise .3", "smooth", tails="outlier", noise=0.3, **_KNEE),
        tokens("linear, 6 models, t3 noise .2", "smooth", tails="t3", noise=0.2, points=6),
        tokens("linear, 20 checkpoints, AR .5", "smooth", trajectory=True, **run),
        choices("choices, linear, 8 models, noise .1", "smooth"),
        choices("choices, sigmoid 1.8, 6 models, noise .2", "smooth", shape="sigmoid", points=6, noise=0.2),
        tokens("10 equal tokens, 6 models, noise .1", "mirage", lengths=10, points=6, **_SHARP),
        tokens("10 equal tokens, 12 models, noise .2", "mirage", lengths=10, points=12, noise=0.2, **_SHARP),
        tokens("step 25%, 8 models, noise .05", "border", share=0.25, noise=0.05),
        tokens("step 25%, 8 models, noise .2", "border", share=0.25, noise=0.2),
        tokens("steep sigmoid 2.5, 8 models, noise .1", "outside", shape="steep sigmoid"),
        tokens("step 50%, 8 models, noise .1", "step", share=0.5),
        tokens("step 65%, 8 models, noise .1", "step", share=0.65),
        tokens("step 80%, 8 models, noise .2", "step", share=0.8, noise=0.2),
        tokens("step 80%, 5 models, noise .1", "step", share=0.8, points=5),
        tokens("step 80%, 5 models x 3 seeds, noise .2", "step", share=0.8, points=5, noise=0.2, seeds=3),
        tokens("step 80%, 20 checkpoints, AR .5", "step", trajectory=True, share=0.8, **run),
        choices("choices, step 80%, 8 models, noise .1", "step", share=0.8),
        tokens("all at floor, 6 models", "floor", points=6, start=6.0, rise=0.5),
    ]  # fmt: skip


def panel_of(world: World, trajectory: bool) -> Panel:
    """The world as the series room would hand it over."""
    points, items = world.hard.shape
    return Panel(
        task="world",
        family="simulated",
        axis="parameters",
        axis_known=True,
        log_axis=True,
        points=tuple(f"m{i}" for i in range(points)),
        x=world.x,
        items=tuple(f"i{j}" for j in range(items)),
        values={"hard": world.hard, **world.twins},
        replicates=world.replicates,
        positions=None,
        runs=tuple((f"r{i}",) for i in range(points)),
        trajectory=trajectory,
    )


def run(cell: Cell, worlds: int, seed: int) -> dict[str, Any]:
    """Judge ``worlds`` worlds of one kind."""
    said: Counter[str] = Counter()
    steepest = 0.0
    for k in range(worlds):
        # the index of the world and the name of the cell, so that a cell run alone sees the same worlds
        rng = np.random.default_rng([seed, k, *cell.name.encode()])
        knobs = dict(cell.knobs)
        if "share" in knobs:
            knobs["at"] = rng.uniform(0.15, 0.85)
        world = cell.make(rng, **knobs)
        steepest = world.truth.steepest
        hard = Hard("hard", "argmax" if world.chance else "all-of-N", world.chance)
        twins = [Twin(n, n, tokens=world.tokens, high=2.0 if n == "brier" else 1.0) for n in world.twins]
        said[judge(panel_of(world, cell.trajectory), hard, twins, seed=k, replicates=300).verdict] += 1
    low, high = clopper_pearson(said["break"], worlds)
    row: dict[str, Any] = {"cell": cell.name, "truth": cell.truth, "worlds": worlds}
    row |= {v: said[v] / worlds for v in VERDICTS}
    return row | {"break_low": float(low), "break_high": float(high), "steepest": round(steepest, 2)}


def table(rows: list[dict[str, Any]]) -> str:
    """The confusion table in Markdown."""
    head = "| world | truth | smooth | mirage | break (95%) | withheld |\n|---|---|---|---|---|---|\n"
    return head + "".join(
        f"| {r['cell']} | {r['truth']} | {r['smooth']:.3f} | {r['mirage']:.3f} | {r['break']:.3f} "
        f"({r['break_low']:.3f}-{r['break_high']:.3f}) | {r['unresolved']:.3f} |\n"
        for r in rows
    )


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures that findings and docs quote."""
    null = [r for r in rows if r["truth"] in ("smooth", "mirage", "border", "floor")]
    steps = [r for r in rows if r["truth"] == "step"]
    worst = max(null, key=lambda r: r["break"])
    return {
        "worst_false_break": worst["break"],
        "worst_cell": worst["cell"],
        "mean_false_break": float(np.mean([r["break"] for r in null])),
        "cells": len(null),
        "worlds_per_cell": worst["worlds"],
        "worst_mirage_on_step": max(r["mirage"] for r in steps),
        "mean_withheld": float(np.mean([r["unresolved"] for r in rows])),
        "source": "benchmarks/mirage_worlds.py",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    started, rows = time.process_time(), []
    for cell in cells():
        if args.only in cell.name:
            rows.append(run(cell, args.worlds, args.seed))
            print(table(rows[-1:]).splitlines()[2], flush=True)
    told = summary(rows) | {"seed": args.seed, "cpu_seconds": round(time.process_time() - started)}
    print(json.dumps(told, indent=1))
    if args.write:
        write(rows, told, f"--worlds {args.worlds} --seed {args.seed}")


def write(rows: list[dict[str, Any]], told: dict[str, Any], options: str) -> None:
    """Record the table, and the rate that findings print."""
    folder = ROOT / "benchmarks" / "results"
    folder.mkdir(exist_ok=True)
    (folder / "mirage_worlds.json").write_text(json.dumps({"summary": told, "rows": rows}, indent=1) + "\n")
    head = (
        f"# Mirage verdict on worlds of known truth\n\n`python benchmarks/mirage_worlds.py {options} --write`\n\n"
        f"Falsely said breaks: worst cell {told['worst_false_break']:.3f} ({told['worst_cell']}), "
        f"mean {told['mean_false_break']:.4f} over {told['cells']} cells without one. Mirage said of a step: at most "
        f"{told['worst_mirage_on_step']:.3f}. Withheld over all cells: {told['mean_withheld']:.2f}. "
        f"{told['cpu_seconds']} CPU seconds.\n\n"
    )
    (folder / "mirage_worlds.md").write_text(head + table(rows))
    kept = {k: told[k] for k in ("worst_false_break", "worst_cell", "worlds_per_cell", "source", "seed")}
    (ROOT / "src/foreshock/mirage/_rates.json").write_text(json.dumps(kept) + "\n")


if __name__ == "__main__":
    main()
