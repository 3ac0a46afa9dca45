"""A small store with known scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from foreshock.records import Batch, Run, item_key
from foreshock.store import Store

Fill = Callable[..., Run]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


@pytest.fixture
def fill(store: Store) -> Fill:
    """Write one run with harness scores ``values`` (None: delivered, not parsed) for items 0, 1, ..."""

    def write(model: str, values: Sequence[float | None], task: str = "sums", **facts: Any) -> Run:
        ids = facts.pop("ids", [str(i) for i in range(len(values))])
        filters = facts.pop("filters", [None] * len(values))
        epochs = facts.pop("epochs", [1] * len(values))
        key = facts.pop("run_key", f"{model}/{task}/{facts.get('created')}")
        run = Run(run_key=key, format="test", reader="test@1", model=model, task=task, **facts)
        rows = list(range(len(values)))
        keys = [item_key(f"question {i}") for i in ids]
        responses = {
            "row": rows, "item_id": ids, "item_key": keys, "epoch": epochs, "filter": filters,
            "delivery": ["ok"] * len(rows), "answer": [None if v is None else "a" for v in values],
        }  # fmt: skip
        scores = {
            "row": rows, "metric_id": ["match"] * len(rows), "source": ["harness"] * len(rows),
            "value": list(values), "status": ["unparsed" if v is None else "scored" for v in values],
        }  # fmt: skip
        return store.write(run, [Batch("responses", responses), Batch("scores", scores)])

    return write
