"""A store and runs to put into it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from foreshock.records import Batch, Run, item_key
from foreshock.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    # a folder name full of what globs, hive paths and SQL strings trip over
    return Store.open(tmp_path / "a=b [1] * it's", create=True)


def make_run(name: str = "r0", **facts: object) -> Run:
    given = {
        "run_key": name,
        "ingest_id": f"ingest-{name}",
        "format": "made",
        "reader": "made@1",
        "model": f"model of {name}",
        "task": "sums/easy=1",
        "created": "2024-05-01T00:00:00Z",
    }
    return Run(**(given | facts))  # type: ignore[arg-type]


def make_batches(n: int = 4, answer: Callable[[int], str | None] = lambda i: str(2 * i)) -> list[Batch]:
    questions = [f"{i}+{i}=" for i in range(n)]
    keys = [item_key(question, targets=[str(2 * i)]) for i, question in enumerate(questions)]
    ids = [f"id/{i}" for i in range(n)]
    numbers = list(range(n))
    answers = [answer(i) for i in range(n)]
    return [
        Batch(
            "items",
            {"item_key": keys, "item_id": ids, "input": questions, "targets": [[str(2 * i)] for i in range(n)]},
        ),
        Batch(
            "responses",
            {
                "row": numbers,
                "item_key": keys,
                "item_id": ids,
                "epoch": [1] * n,
                "delivery": ["ok"] * n,
                "output": [f"it is {a}" for a in answers],
                "answer": answers,
                "choice_logprobs": [[-0.5, -1.5 - i] for i in range(n)],
            },
        ),
        Batch(
            "scores",
            {
                "row": numbers,
                "metric_id": ["exact"] * n,
                "source": ["harness"] * n,
                "value": [float(a == str(2 * i)) for i, a in enumerate(answers)],
            },
        ),
        Batch(
            "trace",
            {
                "row": numbers,
                "seq": [0] * n,
                "turn": [0] * n,
                "kind": ["tool"] * n,
                "ok": [i % 2 == 0 for i in numbers],
            },
        ),
        Batch("aggregates", {"metric_id": ["exact"], "value": [0.5], "n": [n], "source": ["harness"]}),
    ]


def listing(folder: Path) -> dict[str, bytes]:
    """Every file of a store and its bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
