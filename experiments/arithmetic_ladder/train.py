"""Train every run of the plan, one after another, on one core; resumable.

``python -m experiments.arithmetic_ladder.train`` trains what is missing. A killed process loses at most the steps since
the last state file and then continues with the same batches, so it ends with the same weights.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from . import data, model, plan

# By default every large activation goes back to the system and comes back as page faults: 60 ms a step of width 64
# and batch 256 against 53 ms with these. The allocator reads them at start-up only.
_ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**32), "OMP_NUM_THREADS": "1"}
SAVE_EVERY = 1000


def learning_rate(step: int) -> float:
    """Linear warm-up, constant, linear decay."""
    decay = (step / plan.STEPS - plan.DECAY_FROM) / (1 - plan.DECAY_FROM)
    return plan.LEARNING_RATE * min(1.0, (step + 1) / plan.WARMUP) * max(plan.FLOOR, 1 - max(0.0, decay))


def checkpoint_path(folder: Path, step: int) -> Path:
    """Where the weights of one step lie."""
    return folder / f"step{step:05d}.safetensors"


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    temporary = path.with_suffix(".tmp")
    write(temporary)
    temporary.replace(path)


class Trainer:
    """One run in progress: parameters, optimizer, step, CPU seconds and loss sums since the last checkpoint."""

    def __init__(self, run: plan.Run, folder: Path) -> None:
        self.run, self.folder = run, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.parameters = model.initialise(run.width, run.random_seed)
        for value in self.parameters.values():
            value.requires_grad_()
        self.optimizer = torch.optim.AdamW(
            list(self.parameters.values()), betas=(0.9, 0.98), weight_decay=run.weight_decay, fused=True
        )
        self.step, self.cpu, self.losses = 0, 0.0, [0.0]
        state = folder / "state.pt"
        if state.exists():
            self._load(torch.load(state, weights_only=True))

    def _load(self, state: dict[str, Any]) -> None:
        for name, value in state["parameters"].items():
            self.parameters[name].data.copy_(value)
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.cpu = state["step"], state["cpu"]
        self.losses = state["losses"]

    def _save_state(self) -> None:
        state = {
            "parameters": {n: v.detach() for n, v in self.parameters.items()},
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "cpu": self.cpu,
            "losses": self.losses,
        }
        _replace(self.folder / "state.pt", lambda p: torch.save(state, p))

    def _save_weights(self) -> None:
        half = {n: v.detach().to(torch.float16).contiguous() for n, v in self.parameters.items()}
        _replace(checkpoint_path(self.folder, self.step), lambda p: save_file(half, p))

    def _update(self) -> float:
        rows = data.batch(self.run.kind, self.run.random_seed, self.step, plan.BATCH_SUMS, plan.BATCH_PRODUCTS)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.step)
        loss = model.answer_loss(self.parameters, torch.from_numpy(rows))
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(self.parameters.values()), plan.CLIP)
        self.optimizer.step()
        return float(loss.detach())

    def train(self) -> None:
        """Train to the last step, leaving a weight file at every checkpoint and a ``done.json``."""
        start, wanted = time.process_time() - self.cpu, set(plan.CHECKPOINTS)
        while True:
            if self.step in wanted and not checkpoint_path(self.folder, self.step).exists():
                self._save_weights()
            if self.step == plan.STEPS:
                break
            self.losses[-1] += self._update() / SAVE_EVERY
            self.step += 1
            if self.step % SAVE_EVERY == 0:
                self.cpu = time.process_time() - start
                self.losses.append(0.0)
                self._save_state()
        self._finish()

    def _finish(self) -> None:
        done = {
            "run": self.run.name,
            "steps": self.step,
            "parameters": model.parameter_count(self.run.width),
            "cpu_seconds": round(self.cpu, 1),
            "mean_loss_per_1000_steps": [round(v, 4) for v in self.losses[:-1]],
        }
        _replace(self.folder / "done.json", lambda p: p.write_text(json.dumps(done)))
        (self.folder / "state.pt").unlink()


def main() -> None:
    """Train all runs that are not done."""
    torch.set_num_threads(1)
    for run in plan.training_order():
        folder = plan.WORK / run.name
        if (folder / "done.json").exists():
            continue
        Trainer(run, folder).train()
        print(time.strftime("%H:%M:%S"), (folder / "done.json").read_text(), flush=True)


if __name__ == "__main__":
    if any(name not in os.environ for name in _ENVIRONMENT):
        os.execve(sys.executable, [sys.executable, "-m", __spec__.name], os.environ | _ENVIRONMENT)
    main()
