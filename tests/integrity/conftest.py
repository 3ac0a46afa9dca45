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
    """Write one run; ``rows`` are (item id, answer, target, harness score); further columns in ``more``, ``items``."""

    def write(
        model: str,
        rows: Sequence[tuple[str, str | None, str, float | None]],
        *,
        task: str = "sums",
        metric: str = "exact_match",
        more: dict[str, list[Any]] | None = None,
        totals: Sequence[dict[str, Any]] = (),
        text: str = "what is {}",
        items: dict[str, list[Any]] | None = None,
        **facts: Any,
    ) -> Run:
        run = Run(run_key=f"{model}/{task}", format="lm-eval", reader="test@1", model=model, task=task, **facts)
        ids = [row[0] for row in rows]
        keys = [item_key(text.format(row[0]), targets=[row[2]]) for row in rows]
        batches = []
        if rows:
            asked: dict[str, list[Any]] = {"item_id": ids, "item_key": keys, "targets": [[row[2]] for row in rows]}
            said: dict[str, list[Any]] = {
                "row": list(range(len(rows))), "item_id": ids, "item_key": keys, "delivery": ["ok"] * len(rows),
                "output": [row[1] for row in rows], "answer": [row[1] for row in rows],
            }  # fmt: skip
            batches = [Batch("items", asked | (items or {})), Batch("responses", said | (more or {}))]
        columns: dict[str, list[Any]]
        scored = [(i, row[3]) for i, row in enumerate(rows) if row[3] is not None]
        if scored:
            n = len(scored)
            columns = {"row": [i for i, _ in scored], "value": [v for _, v in scored], "metric_id": [metric] * n}
            batches.append(Batch("scores", columns | {"source": ["harness"] * n, "status": ["scored"] * n}))
        if totals:
            names = sorted({name for row in totals for name in row})
            columns = {name: [row.get(name) for row in totals] for name in names}
            batches.append(Batch("aggregates", columns | {"source": ["harness"] * len(totals)}))
        store.write(run, batches)
        return run

    return write
