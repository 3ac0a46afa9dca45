"""Whatever varies is named, with what is done about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foreshock.metrics import get_metric
from foreshock.records import Batch, Run
from foreshock.scoring import score
from foreshock.series import dimensions, lines, load_blocks, model_cards
from foreshock.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def put(store: Store, key: str, model: str, columns: dict[str, list[Any]] | None = None, **facts: Any) -> None:
    run = Run(run_key=key, format="test", reader="test@1", model=model, task="t", **facts)
    rows = {"row": [0, 1], "item_id": ["a", "b"], "delivery": ["ok", "ok"], "answer": ["x", "y"]} | (columns or {})
    items = Batch("items", {"item_id": ["a", "b"], "targets": [["x"], ["x"]]})
    store.write(run, [items, Batch("responses", rows)])


def told(store: Store) -> dict[str, tuple[tuple[str, ...], str]]:
    runs = store.snapshot().runs()
    found = dimensions(store.snapshot(), runs, model_cards(runs))
    assert all(dimension.how and dimension.values >= len(dimension.examples) for dimension in found)
    return {dimension.name: (dimension.examples, dimension.treatment) for dimension in found}


def test_runs_that_differ_in_nothing_have_no_dimensions(store: Store) -> None:
    put(store, "1", "p-70m", conditions={"shots": "5"})
    put(store, "2", "p-1b", conditions={"shots": "5"})
    assert told(store) == {}


def test_steps_seeds_conditions_and_repeats(store: Store) -> None:
    put(store, "1", "p-1b-s1-step10", conditions={"shots": "5", "cot": "yes"})
    put(store, "2", "p-1b-s2-step10", conditions={"shots": "10"})
    put(store, "3", "p-1b-s2-step200", conditions={"shots": "10"})
    put(store, "4", "p-1b-s2-step200", conditions={"shots": "10"}, created="2026-01-01")
    assert told(store) == {
        "step": (("10", "200"), "apart"),
        "seed": (("1", "2"), "mean"),
        "shots": (("5", "10"), "apart"),
        "cot": (("yes", "not stated"), "apart"),
        "repeat": (("p-1b-s2-step200 (2 runs)",), "newest"),
    }


def test_epochs_filters_and_perturbations(store: Store) -> None:
    put(store, "1", "p-1b", {"item_id": ["a", "a"], "epoch": [1, 2]})
    put(store, "2", "p-2b", {"filter": ["strict", "flexible"], "perturbation": [None, "typos"]})
    assert told(store) == {
        "epoch": (("1", "2"), "mean"),
        "filter": (("none", "flexible", "strict"), "apart"),
        "perturbation": (("none", "typos"), "apart"),
    }


def test_perturbed_items_are_a_block_of_their_own(store: Store) -> None:
    put(store, "1", "p-1b", {"item_id": ["a", "a"], "perturbation": [None, "typos"]})
    score(store, ["exact_match"])
    spec = get_metric("exact_match")
    plain, altered = load_blocks(store.snapshot(), "t", ["1"], {spec.id: True})
    assert (plain.variant, altered.variant) == (None, "typos")
    assert np.nansum(plain.values[spec.id]) == 1
    assert np.nansum(altered.values[spec.id]) == 0


def test_two_models_of_one_size_are_no_repeats_and_are_told() -> None:
    def run(key: str, model: str) -> Run:
        return Run(run_key=key, format="test", reader="test@1", model=model, task="t")

    runs = [run("1", "lab/p-1b"), run("2", "p-1b"), run("3", "lab/p-1b-wide"), run("4", "p-7b")]
    cards = model_cards(runs) | {"3": model_cards(runs)["1"]}
    (line,) = lines(runs, cards)
    assert [[len(group) for group in stop.groups] for stop in line.stops] == [[2, 1], [1]]
    assert line.stops[0].label == "1B (2 models)"
