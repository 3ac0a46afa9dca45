"""How often the mirage verdict is right: named worlds of known truth, judged as a user's families would be.

    python benchmarks/mirage_worlds.py [--worlds 2000] [--seed 1] [--only NAME] [--jobs 2] [--cache FOLDER] [--write]

Every cell is judged by `judge_family`: a task that stands alone as a family of one, a suite as one family. Each task
counts as a world. ``--cache`` keeps the counts of every cell under a digest of the code and of the cell, so a run that
was stopped goes on where it was; any change of the code starts anew. ``--jobs`` gives the same bytes for any number.
``--write`` records the table in ``benchmarks/results/mirage_worlds.{md,json}`` and the worst rate of falsely said
breaks in ``src/foreshock/mirage/_rates.json``, which findings print.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from _mirage_cells import FALSE_BREAK, MEAN_FALSE_BREAK, Cell, Goal, cells

from foreshock.mirage import Entry, FamilyJudgement, Hard, Twin, judge_family
from foreshock.series import Panel
from foreshock.simulate import World
from foreshock.stats import clopper_pearson

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("_base", "records", "stats", "series", "simulate", "mirage")
VERDICTS = ("smooth", "mirage", "break", "unresolved")
REPLICATES = 300


def entry_of(world: World, cell: Cell, name: str) -> Entry:
    """The world as the series room would hand it over."""
    points, items = world.hard.shape
    panel = Panel(
        task=name,
        family="simulated",
        axis="parameters",
        axis_known=True,
        log_axis=True,
        points=tuple(f"m{i}" for i in range(points)),
        x=world.x,
        items=tuple(map(str, range(items))),
        values={"hard": world.hard, **world.twins},
        replicates=world.replicates,
        runs=tuple((f"r{i}",) for i in range(points)),
        trajectory=cell.trajectory,
    )
    link: Any = cell.link or world.link
    parts = world.parts if cell.parts_known else None
    hard = Hard("hard", link, world.chance, parts=parts, threshold=world.threshold)
    twins = [
        Twin(n, n, tokens=world.tokens, high=2.0 if n == "brier" else 1.0, trials=world.trials) for n in world.twins
    ]
    return Entry(panel, hard, tuple(twins))


def judged(cell: Cell, worlds: int, seed: int) -> Iterator[tuple[list[World], FamilyJudgement]]:
    """Families of one kind with what is said of them, ``worlds`` tasks in all."""
    for k in range(worlds // cell.tasks):
        # the index of the family and the name of the cell, so that a cell run alone sees the same worlds
        rng = np.random.default_rng([seed, k, *cell.name.encode()])
        made = cell.worlds(rng)
        entries = [entry_of(world, cell, f"task {t}") for t, world in enumerate(made)]
        yield made, judge_family(entries, seed=k, replicates=REPLICATES)


def run(cell: Cell, worlds: int, seed: int) -> dict[str, Any]:
    """Counts of one cell: verdicts by group of tasks and family, and FS302 by family."""
    groups: dict[str, list[Counter[str]]] = {}
    common: Counter[str] = Counter()
    started = time.process_time()
    for made, told in judged(cell, worlds, seed):
        common[told.common.verdict if told.common else "none"] += 1
        own: dict[str, Counter[str]] = {}
        for k, (world, judgement) in enumerate(zip(made, told.judgements, strict=True)):
            for group in groups_of(cell, world, k):
                own.setdefault(group, Counter())[judgement.verdict] += 1
        for group, counts in own.items():
            groups.setdefault(group, []).append(counts)
    rows = {name: [[c[v] for v in VERDICTS] for c in counted] for name, counted in sorted(groups.items())}
    return {
        "cell": cell.name,
        "groups": rows,
        "common": dict(sorted(common.items())),
        "cpu": time.process_time() - started,
    }


def groups_of(cell: Cell, world: World, task: int) -> list[str]:
    """Where a task counts: with or without a step, by its size in a table, and among the noisiest quarter."""
    share = world.truth.share
    if cell.truth == "table":
        return [f"step of {share:.0%}"]
    if share > 0:
        return ["steps"]
    noise = np.broadcast_to(np.asarray(cell.knobs.get("noise", 0.1), float), (cell.tasks,))
    noisy = noise.min() < noise.max() and noise[task] >= np.quantile(noise, 0.75)
    return ["others", "noisiest quarter"] if noisy else ["others"]


def digest_of(cell: Cell, worlds: int, seed: int) -> str:
    """Digest of all code that has a say in a cell, and of the cell."""
    told = hashlib.sha256(repr((cell.name, worlds, seed)).encode())
    files = [path for room in ROOMS for path in sorted((ROOT / "src" / "foreshock" / room).glob("*.py"))]
    for path in (*files, Path(__file__), Path(__file__).with_name("_mirage_cells.py")):
        told.update(path.read_bytes())
    return told.hexdigest()[:16]


def cached(cell: Cell, worlds: int, seed: int, folder: Path | None) -> dict[str, Any]:
    """Counts of a cell, kept in ``folder``."""
    path = folder / f"{digest_of(cell, worlds, seed)}.json" if folder else None
    if path is not None and path.exists():
        kept: dict[str, Any] = json.loads(path.read_text())
        return kept
    found = run(cell, worlds, seed)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found))
    return found


def interval(counts: np.ndarray, verdict: int) -> tuple[float, float, float]:
    """Share of a verdict with its Clopper-Pearson interval.

    Tasks of one family share their models, so their verdicts hang together: the number of worlds is divided by the
    variance between families over what independent tasks would have.

    Args:
        counts: Verdicts of each family, shape (families, verdicts).
        verdict: Which one.
    """
    hits, sizes = counts[:, verdict], counts.sum(axis=1)
    n, share = int(sizes.sum()), float(hits.sum() / sizes.sum())
    effect = 1.0
    if sizes.max() > 1 and 0 < share < 1:
        effect = max(1.0, float(((hits - share * sizes) ** 2).sum() / (n * share * (1 - share))))
    alike = max(1, round(n / effect))
    low, _ = clopper_pearson(np.floor(share * alike), alike)
    _, high = clopper_pearson(np.ceil(share * alike), alike)
    return share, float(low), float(high)


def row_of(cell: Cell, group: str, counted: list[list[int]]) -> dict[str, Any]:
    """One row of the confusion table."""
    counts = np.asarray(counted)
    share, low, high = interval(counts, VERDICTS.index("break"))
    row: dict[str, Any] = {"cell": cell.name, "group": group, "truth": truth_of(cell, group)}
    row |= {"worlds": int(counts.sum()), "families": len(counts)}
    row |= {v: float(counts[:, k].sum() / counts.sum()) for k, v in enumerate(VERDICTS)}
    return row | {"break": share, "break_low": low, "break_high": high}


def truth_of(cell: Cell, group: str) -> str:
    if group in ("others", "noisiest quarter"):
        return "outside the class" if cell.truth == "outside" else "no break"
    return {"common": "common step"}.get(cell.truth, "step")


def rows_of(cell: Cell, found: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of a cell: one for each group, the noisiest quarter as columns of the others."""
    rows = [row_of(cell, g, found["groups"][g]) for g in found["groups"] if g != "noisiest quarter"]
    if "noisiest quarter" in found["groups"]:
        noisy = row_of(cell, "noisiest quarter", found["groups"]["noisiest quarter"])
        for row in rows:
            if row["group"] == "others":
                row["noisy"] = {k: noisy[k] for k in ("worlds", "break", "break_low", "break_high", "unresolved")}
    families = sum(found["common"].values())
    for row in rows:
        row["family_break"] = found["common"].get("break", 0) / families if cell.tasks > 1 else None
        row["goals"] = [met(goal, row, families) for goal in cell.goals if goal.of in (row["group"], "suites")]
    return rows


def met(goal: Goal, row: dict[str, Any], families: int) -> dict[str, Any]:
    """A goal beside what was measured."""
    value = row["family_break"] if goal.said == "family" else row[goal.said]
    word = f">= {goal.least:g}" if goal.least > 0 else f"<= {goal.most:g}"
    n = families if goal.said == "family" else row["worlds"]
    name = "FS302 break" if goal.said == "family" else goal.said
    return {"goal": f"{name} {word}", "value": value, "n": n, "met": bool(goal.least <= value <= goal.most)}


def table(rows: list[dict[str, Any]]) -> str:
    """The confusion table in Markdown."""
    head = (
        "| world | truth | worlds | smooth | mirage | break (95%) | withheld | noisiest quarter | FS302 | goals |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n"
    )
    return head + "".join(map(_line, rows))


def _line(row: dict[str, Any]) -> str:
    goals = "; ".join(f"{g['goal']} {'met' if g['met'] else 'MISSED'}" for g in row["goals"])
    group = "" if row["group"] in ("others", "steps") else f" ({row['group']})"
    noisy, family = row.get("noisy"), row["family_break"]
    return (
        f"| {row['cell']}{group} | {row['truth']} | {row['worlds']} | {row['smooth']:.3f} | {row['mirage']:.3f} | "
        f"{row['break']:.3f} ({row['break_low']:.3f}-{row['break_high']:.3f}) | {row['unresolved']:.3f} | "
        + (f"{noisy['break']:.3f} ({noisy['break_low']:.3f}-{noisy['break_high']:.3f})" if noisy else "")
        + f" | {'' if family is None else f'{family:.2f}'} | {goals} |\n"
    )


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures that findings and docs quote."""
    null = [r for r in rows if r["truth"] == "no break"]
    steps = [r for r in rows if r["truth"] == "step" and not r["group"].startswith("step of")]
    worst = max(null, key=lambda r: r["break"], default=None)
    goals = [g | {"cell": r["cell"]} for r in rows for g in r["goals"]]
    mean = float(np.mean([r["break"] for r in null])) if null else 0.0
    goals.append(
        {"cell": "mean over cells", "goal": f"break <= {MEAN_FALSE_BREAK:g}", "value": mean, "n": len(null),
         "met": mean <= MEAN_FALSE_BREAK}
    )  # fmt: skip
    return {
        "worst_false_break": worst["break"] if worst else None,
        "worst_cell": worst["cell"] if worst else None,
        "worlds_per_cell": worst["worlds"] if worst else 0,
        "mean_false_break": mean,
        "cells_without_break": len(null),
        "worst_in_noisiest_quarter": max((r["noisy"]["break"] for r in null if "noisy" in r), default=None),
        "worst_false_family_break": max(
            (r["family_break"] for r in null if r["family_break"] is not None), default=None
        ),
        "worst_mirage_on_step": max((r["mirage"] for r in steps), default=None),
        "mean_withheld": float(np.mean([r["unresolved"] for r in rows])),
        "missed": [g for g in goals if not g["met"]],
        "goals": len(goals),
        "source": "benchmarks/mirage_worlds.py",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=2000, help="tasks of each cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="cells whose name contains this")
    parser.add_argument("--jobs", type=int, default=1, help="processes; the results do not hang on it")
    parser.add_argument("--cache", type=Path, help="folder in which the counts of finished cells are kept")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    chosen = [cell for cell in cells() if args.only in cell.name]
    rows, cpu = [], 0.0
    print(table([]), end="", flush=True)
    with ProcessPoolExecutor(args.jobs) as pool:
        work = pool.map(cached, chosen, repeat(args.worlds), repeat(args.seed), repeat(args.cache))
        for cell, found in zip(chosen, work, strict=True):
            cpu += found["cpu"]
            rows += (own := rows_of(cell, found))
            print("".join(map(_line, own)), end="", flush=True)
    told = summary(rows) | {"seed": args.seed, "worlds": args.worlds}
    print(json.dumps(told | {"cpu_seconds": round(cpu)}, indent=1))
    if args.write:
        write(rows, told, f"--worlds {args.worlds} --seed {args.seed}", cpu)


def write(rows: list[dict[str, Any]], told: dict[str, Any], options: str, cpu: float) -> None:
    """Record the table, and the rate that findings print."""
    folder = ROOT / "benchmarks" / "results"
    folder.mkdir(exist_ok=True)
    (folder / "mirage_worlds.json").write_text(json.dumps({"summary": told, "rows": rows}, indent=1) + "\n")
    missed = "; ".join(f"{g['cell']}: {g['goal']}, measured {g['value']:.3f}" for g in told["missed"]) or "none"
    head = (
        f"# Mirage verdict on worlds of known truth\n\n`python benchmarks/mirage_worlds.py {options} --write`\n\n"
        f"Falsely said breaks: worst cell {told['worst_false_break']:.3f} ({told['worst_cell']}; allowed "
        f"{FALSE_BREAK:g}), mean {told['mean_false_break']:.4f} (allowed {MEAN_FALSE_BREAK:g}) over "
        f"{told['cells_without_break']} cells without one. Mirage said of a step: at most "
        f"{told['worst_mirage_on_step']:.3f}. Withheld over all rows: {told['mean_withheld']:.2f}. Goals missed of "
        f"{told['goals']}: {missed}. {cpu:.0f} CPU seconds.\n\nIntervals of suites allow for tasks of one family being "
        "alike. The noisiest quarter of unequal suites has its own column; FS302 is the share of families of which a "
        "common break was said.\n\n"
    )
    (folder / "mirage_worlds.md").write_text(head + table(rows))
    kept = {k: told[k] for k in ("worst_false_break", "worst_cell", "worlds_per_cell", "source", "seed")}
    (ROOT / "src/foreshock/mirage/_rates.json").write_text(json.dumps(kept) + "\n")


if __name__ == "__main__":
    main()
