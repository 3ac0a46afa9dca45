"""Several answers to each item: pass@k of each model stands in the document, far below one in the number of items."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from foreshock.check import mirage_document
from foreshock.check._lines import _declared
from foreshock.check._measures import Measure
from foreshock.mirage import sampled
from foreshock.records import Batch, Document, Run, item_key
from foreshock.report import render_html, terminal
from foreshock.store import Store

from .conftest import Ladder

ITEMS, EPOCHS = 20, 60
RATES = {"1m": 0.0, "3m": 0.004, "10m": 0.05, "30m": 0.4, "100m": 0.8}


def _write(store: Store, model: str, rate: float, rng: np.random.Generator) -> np.ndarray:
    """One model that answers every item many times; returns what was right, shape (items, epochs)."""
    right = rng.random((ITEMS, EPOCHS)) < rate
    keys = [item_key(f"q {i}", targets=[str(i)]) for i in range(ITEMS)]
    places = [(i, e) for i in range(ITEMS) for e in range(EPOCHS)]
    ids = [str(i) for i, _ in places]
    answers = [str(i) if right[i, e] else "no" for i, e in places]
    run = Run(run_key=model, format="test", reader="test@1", model=model, task="sums", expected=len(places))
    items = {
        "item_id": [str(i) for i in range(ITEMS)],
        "item_key": keys,
        "input": [f"q {i}" for i in range(ITEMS)],
        "targets": [[str(i)] for i in range(ITEMS)],
    }
    responses: dict[str, list[Any]] = {
        "row": list(range(len(places))),
        "item_id": ids,
        "item_key": [keys[i] for i, _ in places],
        "epoch": [e + 1 for _, e in places],
        "delivery": ["ok"] * len(places),
        "output": answers,
        "answer": answers,
    }
    store.write(run, [Batch("items", items), Batch("responses", responses)])
    return right


@pytest.fixture
def told(store: Store) -> tuple[Document, dict[str, np.ndarray]]:
    rng = np.random.default_rng(5)
    right = {size: _write(store, f"lab/toy-{size}", rate, rng) for size, rate in RATES.items()}
    return mirage_document(store), right


def test_every_model_is_told_with_what_its_repeats_resolve(told: tuple[Document, dict[str, np.ndarray]]) -> None:
    document, right = told
    rows = document.tables["repeats"]
    assert {row["finding_id"] for row in rows} == {document.tables["verdicts"][0]["finding_id"]}
    for size, seen in right.items():
        mine = [row for row in rows if row["model"] == f"lab/toy-{size}"]
        assert [row["k"] for row in mine] == [1, 10]
        expected = sampled(seen.mean(axis=1), EPOCHS, seed=0)
        for row, one in zip(mine, expected, strict=True):
            # the interval is a bootstrap over items, whose order is that of the store
            exact = {name: one[name] for name in one if name not in ("low", "high")}
            assert {name: row[name] for name in exact} == pytest.approx(exact)
            assert row["low"] <= row["value"] <= row["high"]
        assert mine[0]["value"] == pytest.approx(seen.mean())
        # pass@10 by all sets of ten attempts at an item, as its definition says
        wrong = EPOCHS - seen.sum(axis=1)
        miss = np.prod([np.maximum(wrong - k, 0) / (EPOCHS - k) for k in range(10)], axis=0)
        assert mine[1]["value"] == pytest.approx(1 - miss.mean())
    low = next(row for row in rows if row["model"] == "lab/toy-3m")
    assert 0 < low["value"] < 1 / ITEMS
    assert low["floor"] == pytest.approx(1 / (ITEMS * EPOCHS))


def test_repeats_are_shown(told: tuple[Document, dict[str, np.ndarray]]) -> None:
    document, _ = told
    page = render_html(document)
    assert "What several answers to each item show" in page
    out = io.StringIO()
    terminal(document, Console(file=out, width=200))
    if any(row["verdict"] != "unresolved" for row in document.tables["verdicts"]):
        assert "60 answers to each of 20 items resolve 0.083%, one answer 5.0%" in " ".join(out.getvalue().split())


def test_one_answer_to_each_item_has_no_repeats(store: Store, ladder: Ladder) -> None:
    ladder(RATES | {"1m": 0.1}, seeds=1, items=20)
    assert mirage_document(store).tables["repeats"] == []


def test_the_name_of_a_harness_metric_says_of_how_many_attempts_one_must_succeed() -> None:
    def measure(name: str) -> Measure:
        return Measure(name, name, name, "hard", "any-of-T", 0.0, 1.0, True, "harness", 10)

    assert _declared(measure("pass@10")) == (10, None)
    assert _declared(measure("humaneval/pass_at_7,create_test")) == (7, None)
    assert _declared(measure("pass@1")) == (None, None)
    assert _declared(measure("includes")) == (None, None)
