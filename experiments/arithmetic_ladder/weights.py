"""Where the weights of a checkpoint lie: in the work folder while training, packed by run in the results.

A packed file ``results/weights/<run>.safetensors`` holds float16 tensors named ``step05000/layer0.qkv``.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from . import plan

Arrays = dict[str, np.ndarray]
PACKED = plan.RESULTS / "weights"
EVERY_STEP_UP_TO = 48  # width; 64 keeps every second checkpoint, 96 the last: all would be 26 MB
EVERY_SECOND_UP_TO = 64


def loose_path(run: plan.Run, step: int) -> Path:
    """The training script's file."""
    return plan.WORK / run.name / f"step{step:05d}.safetensors"


def steps_available(run: plan.Run) -> list[int]:
    """Checkpoints of a run that can be read, in order."""
    found = {s for s in plan.CHECKPOINTS if loose_path(run, s).exists()}
    packed = PACKED / f"{run.name}.safetensors"
    if packed.exists():
        with safe_open(packed, "numpy") as file:
            found |= {int(name[4:9]) for name in file.keys()}  # noqa: SIM118 - not a mapping
    return sorted(found)


def read(run: plan.Run, step: int) -> Arrays:
    """The float16 weights of one checkpoint."""
    if loose_path(run, step).exists():
        return dict(load_file(loose_path(run, step)))
    prefix = f"step{step:05d}/"
    with safe_open(PACKED / f"{run.name}.safetensors", "numpy") as file:
        return {n.removeprefix(prefix): file.get_tensor(n) for n in file.keys() if n.startswith(prefix)}  # noqa: SIM118


def digest(weights: Arrays) -> str:
    """SHA-256 of the weights, whatever file they came from."""
    out = hashlib.sha256()
    for name in sorted(weights):
        out.update(name.encode() + np.ascontiguousarray(weights[name]).tobytes())
    return out.hexdigest()


def kept_steps(run: plan.Run) -> list[int]:
    """The checkpoints that the repository keeps: of the first seed all or every second, of the others the last."""
    if run.kind != "learn" or run.seed != plan.SEEDS[0] or run.width > EVERY_SECOND_UP_TO:
        return [plan.STEPS]
    return list(plan.CHECKPOINTS if run.width <= EVERY_STEP_UP_TO else (0, *plan.CHECKPOINTS[1::2]))


def pack(run: plan.Run) -> Path:
    """Write the kept checkpoints of a finished run into one file."""
    tensors = {f"step{s:05d}/{n}": v for s in kept_steps(run) for n, v in read(run, s).items()}
    PACKED.mkdir(parents=True, exist_ok=True)
    path = PACKED / f"{run.name}.safetensors"
    save_file(tensors, path)
    path.chmod(0o644)
    return path


def main() -> None:
    """Pack every finished run and print the total size."""
    total = 0
    for run in plan.all_runs():
        if (plan.WORK / run.name / "done.json").exists():
            total += pack(run).stat().st_size
    print(f"{total / 1e6:.1f} MB in {PACKED}")


if __name__ == "__main__":
    main()
