"""From the scores of single runs to ``results/``: ``python -m experiments.vision.collect``, with the same ``--data``.

Writes ``scores.npz`` (every score of every held-out image), ``runs.csv`` and ``training.json``. Everything further is
made from these by ``python -m experiments.vision.judge``, without torch and without the images.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import plan
from .images import Images, digits

_FIELDS = ("run", "kind", "width", "seed", "parameters", "steps", "loss", "cpu_seconds")


def variance(images: Images) -> float:
    """Mean squared distance of what is asked from the mean of what is trained on, summed over pixels."""
    known, asked = images.part(asked=False), images.part(asked=True)
    mean = known.pixels.astype(float).mean(axis=0)
    return float(((asked.pixels.astype(float) - mean) ** 2).sum(axis=(1, 2, 3)).mean())


def read_runs(work: Path, kind: plan.Kind) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
    """What is known of each run, and its scores, stacked over runs by seed and width."""
    about, scores = [], []
    for path in sorted(work.glob(f"{kind.name}-w*-s*.npz")):
        with np.load(path) as found:
            about.append(json.loads(str(found["about"])))
            scores.append({name: found[name] for name in found.files if name != "about"})
    order = sorted(range(len(about)), key=lambda i: (about[i]["seed"], about[i]["width"]))
    if len({a["data_sha256"] for a in about}) > 1:
        raise SystemExit(f"the runs of {kind.name} are of different data: train each data set in a --work of its own")
    if not about:
        return [], {}
    # half precision: a score is rounded to a thousandth of itself, before anything is judged
    stacks = {name: np.stack([scores[i][name] for i in order]).astype(np.float16) for name in scores[0]}
    return [about[i] for i in order], stacks


def write(work: Path, results: Path, images: dict[str, Images], command: str) -> None:
    """Write the three files of all runs found."""
    rows: list[dict[str, Any]] = []
    arrays: dict[str, Any] = {}
    told: dict[str, Any] = {}
    for kind in plan.KINDS:
        about, stacks = read_runs(work, kind)
        if not about:
            continue
        data = images[kind.name]
        if about[0]["data_sha256"] != data.digest():
            raise SystemExit(f"the runs of {kind.name} are not of {data.name} as it is here: give the same --data")
        rows += about
        arrays |= {f"{kind.name}/{name}": stack for name, stack in stacks.items()}
        told[kind.name] = {
            "data": about[0]["data"],
            "data_sha256": about[0]["data_sha256"],
            "asked": int(data.held_out.sum()),
            "trained_on": int((~data.held_out).sum()),
            "classes": data.classes,
            "variance": variance(data),
            "steps": about[0]["steps"],
            "learning_rate": kind.rate,
            "batch": plan.BATCH,
        }
    results.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(results / "scores.npz", **arrays)
    with (results / "runs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, _FIELDS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    head = {"command": command, "commit": _commit(), "python": platform.python_version(), "numpy": version("numpy")}
    head |= {"torch": rows[0]["torch"], "cpu_seconds": round(sum(r["cpu_seconds"] for r in rows))}
    (results / "training.json").write_text(json.dumps(head | {"experiments": told}, indent=2) + "\n")


def _commit() -> str:
    """Last commit that touched the training code."""
    told = ["git", "log", "-1", "--format=%H", "--", *(f"{n}.py" for n in ("networks", "train", "plan", "images"))]
    return subprocess.run(told, cwd=plan.HERE, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Collect what was trained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="as for the training")
    parser.add_argument("--work", type=Path, default=plan.WORK, help="where the scores of single runs are")
    parser.add_argument("--results", type=Path, default=plan.RESULTS, help="where to write")
    told = parser.parse_args()
    command = "python -m experiments.vision.train"
    if told.data is None:
        embedded = digits()
        images = {k.name: embedded for k in plan.KINDS}
    else:
        from .sources import load

        command += " --data DIR"
        images = {k.name: load(told.data, k.data) for k in plan.KINDS if any(told.work.glob(f"{k.name}-*.npz"))}
    write(told.work, told.results, images, command)


if __name__ == "__main__":
    main()
