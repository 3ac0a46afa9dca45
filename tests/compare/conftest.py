"""Stores with runs whose every answer is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foreshock.compare import Side
from foreshock.records import Batch, Run, item_key
from foreshock.store import Store

Write = Callable[..., Run]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


@pytest.fixture
def write(store: Store) -> Write:
    return lambda *args, **facts: write_run(store, *args, **facts)


def write_run(
    store: Store,
    model: str,
    right: Sequence[float | None],
    *,
    task: str = "sums",
    key: str | None = None,
    text: bool = True,
    questions: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    epochs: Sequence[int] | None = None,
    metric: str = "acc",
    scored: bool = True,
    listed: bool = True,
    order: Sequence[int] | None = None,
    **facts: Any,
) -> Run:
    """One run; ``right`` holds the harness's score of every response, None for one that did not arrive.

    NaN is a response that arrived and has no score: ``listed`` in the log as a failed one, or with no score at all.
    """
    n = len(right)
    names = list(ids) if ids is not None else [str(i) for i in range(n)]
    asked = list(questions) if questions is not None else [f"question {name}" for name in names]
    rows = list(order) if order is not None else list(range(n))
    keys = [item_key(asked[i], targets=["yes"]) if text else None for i in rows]
    score = [right[i] for i in rows]
    answers = [None if s is None else "yes" if s and not math.isnan(s) else "no" for s in score]
    run = Run(run_key=key or f"{model}/{task}", format="test", reader="test@1", model=model, task=task, **facts)
    batches = [
        Batch(
            "items",
            {
                "item_id": [names[i] for i in rows],
                "item_key": keys,
                "input": [asked[i] if text else None for i in rows],
                "targets": [["yes"] if text else None for _ in rows],
            },
        ),
        Batch(
            "responses",
            {
                "row": list(range(n)),
                "item_id": [names[i] for i in rows],
                "item_key": keys,
                "epoch": [epochs[i] if epochs is not None else 1 for i in rows],
                "delivery": ["ok" if s is not None else "error" for s in score],
                "output": answers,
                "answer": answers,
            },
        ),
    ]
    there = [i for i, s in enumerate(score) if s is not None and (listed or not math.isnan(s))]
    values = [score[i] or 0.0 for i in there]
    if scored and there:
        batches.append(
            Batch(
                "scores",
                {
                    "row": there,
                    "metric_id": [metric] * len(there),
                    "source": ["harness"] * len(there),
                    "value": [None if math.isnan(value) else float(value) for value in values],
                    "status": ["failed" if math.isnan(value) else "scored" for value in values],
                },
            )
        )
    return store.write(run, batches)


def sides(*runs: Run | Sequence[Run]) -> list[Side]:
    found = [[run] if isinstance(run, Run) else list(run) for run in runs]
    return [Side(members[0].model, members) for members in found]


def flips(rng: np.random.Generator, n: int, gain: float, loss: float) -> tuple[list[float], list[float]]:
    """Two rows of right and wrong with these shares of items that only the second, or only the first, has right."""
    kind = rng.random(n)
    base = (rng.random(n) < 0.5).astype(float)
    a = np.where(kind < gain, 0.0, np.where(kind < gain + loss, 1.0, base))
    b = np.where(kind < gain, 1.0, np.where(kind < gain + loss, 0.0, base))
    return a.tolist(), b.tolist()
