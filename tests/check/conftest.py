"""A store with a ladder of sizes whose scores follow a known curve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from foreshock.records import Batch, Run, item_key
from foreshock.store import Store

Ladder = Callable[..., None]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


@pytest.fixture
def ladder(store: Store) -> Ladder:
    """Write models of several sizes that answer 10-character targets, each character right with probability ``p``."""
    return ladder_in(store)


def ladder_in(store: Store) -> Ladder:
    """What the fixture ``ladder`` gives, for any store."""

    def write(
        curve: dict[str, float], *, seeds: int = 3, items: int = 200, task: str = "digits", twin: bool = True
    ) -> None:
        rng = np.random.default_rng(7)
        for size, p in curve.items():
            for seed in range(seeds):
                _run(store, f"lab/toy-{size}-s{seed}", p + 0.01 * (seed - 1) * p * (1 - p), items, task, rng, twin=twin)

    return write


def _run(store: Store, model: str, p: float, items: int, task: str, rng: np.random.Generator, *, twin: bool) -> None:
    targets = [f"{i:010d}" for i in range(items)]
    right = rng.random((items, 10)) < p
    answers = [
        "".join(c if ok else "x" for c, ok in zip(t, row, strict=True)) for t, row in zip(targets, right, strict=True)
    ]
    noise = rng.normal(0, 0.05, (items, 10))
    logprobs = np.minimum(np.log(p) + noise, -1e-6).tolist()
    rows = list(range(items))
    keys = [item_key(f"write {t}", targets=[t]) for t in targets]
    run = Run(run_key=f"{model}/{task}", format="lm-eval", reader="test@1", model=model, task=task, expected=items)
    responses = {
        "row": rows, "item_id": [str(i) for i in rows], "item_key": keys, "epoch": [1] * items,
        "delivery": ["ok"] * items, "output": answers, "answer": answers,
        "gold_token_logprobs": logprobs if twin else [None] * items,
    }  # fmt: skip
    meta = {
        "item_id": [str(i) for i in rows], "item_key": keys, "input": [f"write {t}" for t in targets],
        "targets": [[t] for t in targets],
    }  # fmt: skip
    scores = {
        "row": rows, "metric_id": ["exact_match"] * items, "source": ["harness"] * items,
        "value": right.all(axis=1).astype(float).tolist(), "status": ["scored"] * items,
    }  # fmt: skip
    store.write(run, [Batch("items", meta), Batch("responses", responses), Batch("scores", scores)])
