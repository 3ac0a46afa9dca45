"""The results tables from finished outcomes.

``python -m experiments.arithmetic_ladder.tables`` writes ``results/checkpoints.csv`` (one row per run, checkpoint and
task), ``results/runs.csv`` (one row per run: parameters, CPU seconds, losses) and ``results/training.json``.
"""

from __future__ import annotations

import csv
import json
import platform
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from . import plan
from .archive import evaluated
from .data import LITTLE
from .outcome import TASKS, figures, load, outcome_path

COMMAND = "python -m experiments.arithmetic_ladder.train"
TRAINING = plan.RESULTS / "training.json"
N_POSITIONS = {"addition": 6, "multiplication": 5}
FIGURES = (
    "exact_match",
    "token_accuracy",
    "position_product",
    "mean_gold_logprob",
    "mean_gold_probability",
    "answer_probability",
    "mc_accuracy",
    *(f"position_{k}" for k in range(max(N_POSITIONS.values()))),
)


def _done(run: plan.Run) -> dict[str, object] | None:
    path = plan.WORK / run.name / "done.json"
    return json.loads(path.read_text()) if path.exists() else None


def checkpoint_rows() -> Iterator[dict[str, object]]:
    """Rows of ``checkpoints.csv``."""
    for run, step in evaluated():
        outcomes = load(outcome_path(run, step))
        for task in TASKS:
            found = {k: f"{v:.6g}" for k, v in figures(task, outcomes[task]).items()}
            head = {"run": run.name, "kind": run.kind, "width": run.width, "seed": run.seed, "step": step, "task": task}
            yield head | {"n": len(outcomes[task].right)} | {k: found.get(k, "") for k in FIGURES}


def run_rows() -> Iterator[dict[str, object]]:
    """Rows of ``runs.csv``."""
    for run in plan.all_runs():
        done = _done(run)
        if done is None:
            continue
        losses = done["mean_loss_per_1000_steps"]
        assert isinstance(losses, list)
        yield {
            "run": run.name,
            "kind": run.kind,
            "width": run.width,
            "seed": run.seed,
            "parameters": done["parameters"],
            "random_seed": run.random_seed,
            "weight_decay": run.weight_decay,
            "training_problems": LITTLE if run.kind in ("little-data", "random-labels") else "fresh",
            "cpu_seconds": done["cpu_seconds"],
            "loss_last_1000_steps": losses[-1],
        }


def write_csv(path: Path, rows: list[dict[str, object]]) -> None:
    """Rows with the columns of the first."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def training_record() -> dict[str, object]:
    """Command, commit, versions and settings of the training; kept once written."""
    commit = subprocess.run(
        ["git", "log", "-1", "--format=%H", "--", str(plan.HERE / "train.py")],
        cwd=plan.HERE, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    return {
        "command": COMMAND,
        "commit": commit,
        "python": platform.python_version(),
        **{name: _version(name) for name in ("numpy", "torch", "safetensors")},
        "steps": plan.STEPS,
        "batch": {"sums": plan.BATCH_SUMS, "products": plan.BATCH_PRODUCTS},
        "learning_rate": plan.LEARNING_RATE,
        "weight_decay": plan.WEIGHT_DECAY,
        "checkpoints": list(plan.CHECKPOINTS),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def main() -> None:
    """Write all three."""
    plan.RESULTS.mkdir(exist_ok=True)
    if not TRAINING.exists():
        TRAINING.write_text(json.dumps(training_record(), indent=2) + "\n")
    checkpoints, runs = list(checkpoint_rows()), list(run_rows())
    write_csv(plan.RESULTS / "checkpoints.csv", checkpoints)
    write_csv(plan.RESULTS / "runs.csv", runs)
    cpu = np.sum([float(str(r["cpu_seconds"])) for r in runs])
    print(f"{len(runs)} runs, {cpu:.0f} CPU s, {len(checkpoints)} rows")


if __name__ == "__main__":
    main()
