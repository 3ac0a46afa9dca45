"""A store of releases whose harness scores are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from foreshock.records import Batch, Run
from foreshock.store import Store, Writer

ITEMS = 200


def release(
    store: Store | Writer, number: int, values: Mapping[str, Sequence[float]], *, task: str = "report", **facts: Any
) -> None:
    """Write one release with a value of every metric for every item."""
    n = len(next(iter(values.values())))
    model = facts.pop("model", f"lab/agent-1.{number}")
    facts.setdefault("created", f"2026-{1 + number // 28:02}-{1 + number % 28:02}T00:00:00+00:00")
    key = facts.pop("run_key", f"{model}/{task}/{number}")
    run = Run(run_key=key, format="test", reader="test@1", model=model, task=task, expected=n, **facts)
    rows = list(range(n))
    responses: dict[str, list[Any]] = {
        "row": rows,
        "item_id": [str(i) for i in rows],
        "delivery": ["ok"] * n,
        "output": ["said"] * n,
    }
    scores: dict[str, list[Any]] = {
        "row": rows * len(values),
        "metric_id": [name for name in values for _ in rows],
        "source": ["harness"] * n * len(values),
        "value": [float(value) for column in values.values() for value in column],
        "status": ["scored"] * n * len(values),
    }
    store.write(run, [Batch("responses", responses), Batch("scores", scores)])


def shares(rng: np.random.Generator, share: float) -> list[float]:
    """So many right of the items, in a drawn order."""
    values = np.zeros(ITEMS)
    values[: round(share * ITEMS)] = 1.0
    return [float(value) for value in rng.permutation(values)]


def releases(store: Store, numbers: Sequence[int], *, jump_at: int | None, seed: int = 0, task: str = "report") -> None:
    """Releases with a smooth share ``match`` and a graded ``omission`` that jumps, when it is told to."""
    with store.writer() as writer:
        for number in numbers:
            rng = np.random.default_rng([seed, number])
            level = (
                0.2 + 0.002 * number + 0.006 * rng.normal() + (0.15 if jump_at is not None and number >= jump_at else 0)
            )
            smooth = 0.5 + 0.004 * number + 0.015 * rng.normal()
            omission = np.clip(level + 0.05 * rng.normal(size=ITEMS), 0, 1)
            # exactly the level, whatever was drawn
            omission += level - omission.mean()
            release(writer, number, {"match": shares(rng, smooth), "omission": omission.tolist()}, task=task)
