"""A store into which small runs are put, row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from foreshock.records import Batch, Run, item_key
from foreshock.store import Store

Put = Callable[..., Run]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


@pytest.fixture
def put(store: Store) -> Put:
    """Write one run; ``rows`` are (item id, answer, target), further columns in ``items`` and ``more``."""

    def write(
        model: str,
        rows: Sequence[tuple[str, str | None, str]],
        *,
        task: str = "sums",
        scores: dict[str, Sequence[float]] | None = None,
        items: dict[str, list[Any]] | None = None,
        more: dict[str, list[Any]] | None = None,
        totals: Sequence[dict[str, Any]] = (),
        **facts: Any,
    ) -> Run:
        told = {"format": "inspect", "reader": "test@1"} | facts
        run = Run(run_key=f"{model}/{task}", model=model, task=task, **told)
        ids, n = [row[0] for row in rows], len(rows)
        keys = [item_key(f"what is {i}", targets=[t]) for i, _, t in rows]
        batches = []
        if rows:
            first = {i: place for place, i in reversed(list(enumerate(ids)))}
            once = sorted(first.values())
            told_items = {"item_id": ids, "item_key": keys, "targets": [[t] for _, _, t in rows], **(items or {})}
            answers = [a for _, a, _ in rows]
            responses = {"row": list(range(n)), "item_id": ids, "item_key": keys, "delivery": ["ok"] * n}
            batches = [
                Batch("items", {name: [column[i] for i in once] for name, column in told_items.items()}),
                Batch("responses", {**responses, "output": answers, "answer": answers, **(more or {})}),
            ]
        for metric, values in (scores or {}).items():
            columns = {"row": list(range(n)), "value": list(values), "metric_id": [metric] * n}
            batches.append(Batch("scores", columns | {"source": ["harness"] * n, "status": ["scored"] * n}))
        if totals:
            names = sorted({name for row in totals for name in row})
            columns = {name: [row.get(name) for row in totals] for name in names}
            batches.append(Batch("aggregates", columns | {"source": ["harness"] * len(totals)}))
        store.write(run, batches)
        return run

    return write
