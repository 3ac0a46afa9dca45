"""``results/summary.md`` from ``results/checkpoints.csv``: does the jump survive the twin, and what do the controls do?

``python -m experiments.arithmetic_ladder.summary``; needs the standard library and numpy only.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from . import plan
from .outcome import TASKS

LEARNT = 0.5  # exact match from which a run counts as having learnt the task
CURVES = {
    "exact match": "exact_match",
    "product of positions": "position_product",
    "P(answer)": "answer_probability",
    "token accuracy": "token_accuracy",
    "P(gold token)": "mean_gold_probability",
    "log P(gold token)": "mean_gold_logprob",
    "4-choice accuracy": "mc_accuracy",
}


@dataclass(frozen=True)
class Trajectory:
    """One run on one task: every column of the table as an array over its checkpoints."""

    run: str
    kind: str
    width: int
    seed: int
    task: str
    columns: dict[str, np.ndarray]

    def last(self, column: str) -> float:
        """Value at the last checkpoint."""
        return float(self.columns[column][-1])


def read() -> list[Trajectory]:
    """All complete trajectories of the results table."""
    rows: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    with (plan.RESULTS / "checkpoints.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            rows[row["run"], row["task"]].append(row)
    return [_trajectory(found) for found in rows.values() if len(found) == len(plan.CHECKPOINTS)]


def _trajectory(rows: list[dict[str, str]]) -> Trajectory:
    names = ("step", "n", *CURVES.values())
    columns = {name: np.array([float(r[name]) for r in rows]) for name in names}
    head = rows[0]
    return Trajectory(head["run"], head["kind"], int(head["width"]), int(head["seed"]), head["task"], columns)


def jump_share(curve: np.ndarray) -> float:
    """Largest rise over one interval as a share of the whole rise from the lowest to the highest value.

    >>> jump_share(np.array([0.0, 0.1, 0.9, 1.0]))
    0.8
    """
    return float(np.diff(curve).max() / np.ptp(curve)) if np.ptp(curve) else float("nan")


def _table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    yield from ("| " + " | ".join(row) + " |" for row in rows)
    yield ""


def _spread(values: Iterable[float]) -> str:
    return " ".join(f"{v:.3f}" for v in values)


def by_size(found: list[Trajectory], task: str) -> Iterator[str]:
    """Last checkpoint of every size, seed by seed for the exact match, seed means for its twins."""
    learners = [t for t in found if t.kind == "learn" and t.task == task]
    widths = sorted({t.width for t in learners})
    yield f"## Last checkpoint by size: {task}\n"
    rows, means = [], defaultdict(list)
    for width in widths:
        group = [t for t in learners if t.width == width]
        for column in CURVES.values():
            means[column].append(np.mean([t.last(column) for t in group]))
        cells = [f"{means[c][-1]:.3f}" for c in CURVES.values() if c != "exact_match"]
        rows.append([str(width), _spread(t.last("exact_match") for t in group), *cells])
    yield from _table(["width", "exact match, each seed", *(k for k in CURVES if k != "exact match")], rows)
    yield "Largest one-interval share of the whole rise over the sizes, of the seed means and of each seed:\n"
    curves = [_over_sizes(learners, widths, seed) for seed in plan.SEEDS]
    shares = [
        [label, f"{jump_share(np.array(means[c])):.2f}", *(f"{jump_share(curve[c]):.2f}" for curve in curves if curve)]
        for label, c in CURVES.items()
    ]
    yield from _table(["metric", "means", *(f"seed {s}" for s, c in zip(plan.SEEDS, curves, strict=True) if c)], shares)


def _over_sizes(learners: list[Trajectory], widths: list[int], seed: int) -> dict[str, np.ndarray]:
    """Last values of one seed at all sizes by column; empty where a size is missing."""
    mine = {t.width: t for t in learners if t.seed == seed}
    if set(mine) != set(widths):
        return {}
    return {column: np.array([mine[w].last(column) for w in widths]) for column in CURVES.values()}


def along_training(found: list[Trajectory], task: str) -> Iterator[str]:
    """Shares of the largest jump in every run that learnt the task."""
    learnt = [t for t in found if t.kind == "learn" and t.task == task and t.last("exact_match") >= LEARNT]
    yield f"## Along training: {task}, the {len(learnt)} runs with a last exact match of {LEARNT} or more\n"
    if not learnt:
        return
    rows = []
    for label, column in CURVES.items():
        shares = [jump_share(t.columns[column]) for t in learnt]
        rows.append([label, f"{np.median(shares):.2f}", f"{min(shares):.2f}", f"{max(shares):.2f}"])
    yield from _table(["metric", "share of the largest jump: median", "lowest", "highest"], rows)


def identity(found: list[Trajectory]) -> Iterator[str]:
    """How well independent positions explain the exact match."""
    yield "## Exact match against the product of per-position accuracies\n"
    rows = []
    for task in TASKS:
        group = [t for t in found if t.task == task]
        em = np.concatenate([t.columns["exact_match"] for t in group])
        gap = em - np.concatenate([t.columns["position_product"] for t in group])
        band = (em > 0.05) & (em < 0.95)
        rows.append([task, str(len(em)), f"{abs(gap).mean():.4f}", f"{abs(gap).max():.3f}"])
        rows[-1] += [str(band.sum()), f"{abs(gap[band]).mean():.4f}", f"{gap[band].mean():+.4f}"]
    head = ["task", "checkpoints", "mean gap", "largest", ".05 < EM < .95", "mean gap there", "signed"]
    yield from _table(head, rows)


def controls(found: list[Trajectory]) -> Iterator[str]:
    """What the runs that cannot learn did."""
    yield "## Controls\n"
    rows = []
    for kind in sorted({t.kind for t in found} - {"learn"}):
        for task in TASKS:
            group = [t for t in found if t.kind == kind and t.task == task]
            best = max(t.columns["exact_match"].max() for t in group)
            cells = [kind, task, str(len(group)), f"{best:.3f}"]
            for column in ("token_accuracy", "mean_gold_probability", "mean_gold_logprob", "mc_accuracy"):
                first, peak, last = (
                    np.mean([f(t.columns[column]) for t in group]) for f in (lambda c: c[0], np.max, lambda c: c[-1])
                )
                cells.append(f"{first:.2f} / {peak:.2f} / {last:.2f}")
            rows.append(cells)
    head = ["control", "task", "runs", "best exact match anywhere"]
    yield from _table(
        [*head, *(f"{k}: first / peak / last" for k in ("token acc.", "P(tok)", "log P(tok)", "4-ch."))], rows
    )


def lead(found: list[Trajectory], task: str) -> Iterator[str]:
    """What the twins showed at the checkpoint before the exact match first reached 0.1."""
    yield f"## The checkpoint before exact match reaches 0.1: {task}\n"
    rows = []
    for t in found:
        em = t.columns["exact_match"]
        if t.kind != "learn" or t.task != task or em[-1] < LEARNT:
            continue
        at = int(np.argmax(em >= 0.1)) - 1
        plateau = {c: np.median(t.columns[c][: at - 2]) for c in ("token_accuracy", "mean_gold_probability")}
        cells = [f"{v:.3f} -> {t.columns[c][at]:.3f}" for c, v in plateau.items()]
        rows.append([t.run, f"{t.columns['step'][at]:.0f}", f"{em[at]:.3f}", *cells])
    yield from _table(["run", "step", "exact match", "token accuracy: median before -> here", "P(gold token)"], rows)


def main() -> None:
    """Write the summary."""
    found = read()
    lines = ["# Summary of the arithmetic ladder\n", "Made by `python -m experiments.arithmetic_ladder.summary`.\n"]
    for task in TASKS:
        lines += [*by_size(found, task), *along_training(found, task)]
    lines += [*identity(found), *controls(found), *lead(found, TASKS[0])]
    (plan.RESULTS / "summary.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
