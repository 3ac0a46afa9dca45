"""Train every run of the plan, one after another, on one core; resumable.

``python -m experiments.vision.train`` trains what is missing on the embedded digits; ``--data DIR`` takes CIFAR-100,
Omniglot and MNIST from a folder. A killed process loses the run in progress, which then starts again from its seed.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from . import networks, plan
from .images import Images, digits
from .outcome import sequences

_WARMUP = 50
_AT_ONCE = 500


def rate_at(step: int, steps: int, rate: float) -> float:
    """Linear warm-up, then a cosine to zero."""
    return rate * min(1.0, (step + 1) / _WARMUP) * 0.5 * (1 + math.cos(math.pi * step / steps))


def build(run: plan.Run, images: Images) -> torch.nn.Module:
    """A fresh network; its weights follow from the run's seed."""
    torch.manual_seed(run.random_seed)
    if run.kind.name == "autoencoder":
        return networks.Autoencoder(images.shape, run.width)
    if run.kind.name == "lenet":
        return networks.LeNet(images.shape, run.width, images.classes)
    return networks.Transformer(images.shape, run.width, images.classes, max(plan.LENGTHS))


def loss_of(run: plan.Run, network: torch.nn.Module, pixels: Tensor, labels: Tensor) -> Tensor:
    """Training loss of one batch: squared error a pixel, or cross-entropy a label."""
    if run.kind.name == "autoencoder":
        return ((network(pixels) - pixels.flatten(1)) ** 2).mean()
    if run.kind.name == "lenet":
        return functional.cross_entropy(network(pixels), labels)
    pairs = max(plan.LENGTHS)
    labels = labels.view(-1, pairs)
    logits = network(pixels.view(-1, pairs, *pixels.shape[1:]), labels)
    return functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def train(run: plan.Run, images: Images, steps: int) -> tuple[torch.nn.Module, float]:
    """Train one model; returns it with the mean loss of the last tenth of the steps."""
    known = images.part(asked=False)
    pixels, labels = torch.from_numpy(known.pixels), torch.from_numpy(known.labels)
    size = plan.BATCH * (max(plan.LENGTHS) if run.kind.name == "transformer" else 1)
    network, rng = build(run, images), np.random.default_rng(run.random_seed)
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    recent: list[float] = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, steps, run.kind.rate)
        rows = torch.from_numpy(rng.integers(0, len(labels), size))
        loss = loss_of(run, network, pixels[rows], labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step >= 0.9 * steps:
            recent.append(float(loss.detach()))
    return network, float(np.mean(recent))


def ask(run: plan.Run, network: torch.nn.Module, images: Images) -> dict[str, np.ndarray]:
    """Continuous scores of what was held out, float32.

    Returns:
        ``error``: squared error of each image, summed over pixels, shape (images,), of an autoencoder. Else
        ``logprob`` and ``lead``: log-probability of the right class, and its lead over the best wrong one in nats,
        shape (images,), or (sequences, pairs) of the transformer.
    """
    with torch.no_grad():
        return _scores(run, network, images.part(asked=True))


def _scores(run: plan.Run, network: torch.nn.Module, asked: Images) -> dict[str, np.ndarray]:
    pixels, labels = torch.from_numpy(asked.pixels), torch.from_numpy(asked.labels)
    if run.kind.name == "autoencoder":
        errors = [((network(p) - p.flatten(1)) ** 2).sum(dim=1) for p in pixels.split(_AT_ONCE)]
        return {"error": torch.cat(errors).numpy()}
    if run.kind.name == "transformer":
        rows = torch.from_numpy(sequences(len(labels), max(plan.LENGTHS)))
        labels = labels[rows]
        parts = rows.split(_AT_ONCE)
        logits = torch.cat([network(pixels[r], y) for r, y in zip(parts, labels.split(_AT_ONCE), strict=True)])
    else:
        logits = torch.cat([network(p) for p in pixels.split(_AT_ONCE)])
    right = functional.one_hot(labels, logits.shape[-1]).bool()
    lead = logits[right].view(labels.shape) - logits.masked_fill(right, -torch.inf).amax(dim=-1)
    logprob = functional.log_softmax(logits.double(), dim=-1)[right].view(labels.shape)
    return {"logprob": logprob.float().numpy(), "lead": lead.numpy()}


def train_all(
    work: Path, images: dict[str, Images], wanted: list[plan.Run], steps: int | None = None, *, tell: bool = True
) -> None:
    """Train and ask the runs whose scores are not in ``work``; ``steps`` replaces the plan's number."""
    for run in wanted:
        path = work / f"{run.name}.npz"
        if path.exists():
            continue
        start, count = time.process_time(), steps or run.kind.steps
        data = images[run.kind.name]
        network, loss = train(run, data, count)
        about = {
            "run": run.name,
            "kind": run.kind.name,
            "width": run.width,
            "seed": run.seed,
            "parameters": networks.parameter_count(network),
            "steps": count,
            "loss": round(loss, 6),
            "cpu_seconds": round(time.process_time() - start, 1),
            "data": data.name,
            "data_sha256": data.digest(),
            "torch": torch.__version__,
        }
        work.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".tmp")
        with temporary.open("wb") as file:
            arrays: dict[str, Any] = {"about": np.array(json.dumps(about)), **ask(run, network, data)}
            np.savez_compressed(file, **arrays)
        temporary.replace(path)
        if tell:
            print(time.strftime("%H:%M:%S"), json.dumps(about), flush=True)


def main() -> None:
    """Train all runs that are not done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with CIFAR-100, Omniglot or MNIST; else the embedded digits")
    parser.add_argument("--work", type=Path, default=plan.WORK, help="where the scores of single runs go")
    parser.add_argument("--kind", choices=[k.name for k in plan.KINDS], action="append", help="only these experiments")
    parser.add_argument("--seeds", type=int, default=len(plan.SEEDS), help="how many of the plan's seeds")
    parser.add_argument("--steps", type=int, help="updates of each model; else the plan's")
    parser.add_argument("--widths", type=int, nargs="+", help="sizes; else the plan's, which suit the embedded digits")
    told = parser.parse_args()
    torch.set_num_threads(1)
    kinds = tuple(k for k in plan.KINDS if told.kind is None or k.name in told.kind)
    if told.widths:
        kinds = tuple(replace(k, widths=tuple(told.widths)) for k in kinds)
    if told.data is None:
        embedded = digits()
        images = {k.name: embedded for k in kinds}
    else:
        from .sources import load

        images = {k.name: load(told.data, k.data) for k in kinds}
    train_all(told.work, images, plan.runs(kinds, plan.SEEDS[: told.seeds]), told.steps)


if __name__ == "__main__":
    main()
