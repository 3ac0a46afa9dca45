"""Differences between conditions: which pairs are formed, and what stands in their panels."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from foreshock.records import Run
from foreshock.series import ConditionPair, condition_pairs, condition_panel, lines, load_blocks, model_cards
from foreshock.store import Store

from .conftest import Fill

SIZES = ("70m", "410m", "1b", "7b")
numbers = itertools.count()


def run(size: str, conditions: dict[str, str], **facts: Any) -> Run:
    facts = {"task": "sums", "model": f"p-{size}"} | facts
    return Run(run_key=f"k{next(numbers):04}", format="test", reader="test@1", conditions=conditions, **facts)


def pairs_of(runs: list[Run]) -> list[ConditionPair]:
    return condition_pairs(lines(runs, model_cards(runs)))


def told(pairs: list[ConditionPair]) -> list[tuple[str, str, str]]:
    return [(pair.name, pair.before, pair.after) for pair in pairs]


def test_the_least_of_several_values_is_the_baseline_of_the_others() -> None:
    pairs = pairs_of([run(size, {"shots": n}) for size in SIZES for n in ("16", "2", "0", "4")])
    assert told(pairs) == [("shots", "0", "2"), ("shots", "0", "4"), ("shots", "0", "16")]
    assert pairs[0].task == "sums [shots 2 - 0]"
    assert pairs[0].family == "p"
    assert [stop.x for stop in pairs[0].first.stops] == [70e6, 410e6, 1e9, 7e9]


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["high", "low", "medium"], ["low", "medium", "high"]),
        (["true", "false"], ["false", "true"]),
        (["1024", "none", "16384"], ["none", "1024", "16384"]),
        (["chain_of_thought > generate", "generate"], ["generate", "chain_of_thought > generate"]),
        (["On", "Off"], ["Off", "On"]),
    ],
)
def test_degrees_that_are_words_are_ordered(values: list[str], order: list[str]) -> None:
    pairs = pairs_of([run(size, {"effort": value}) for size in SIZES for value in values])
    assert [pairs[0].before, *(pair.after for pair in pairs)] == order


def test_only_lines_that_differ_in_one_stated_condition_make_a_pair() -> None:
    both = [run(s, {"shots": n, "cot": c}) for s in SIZES for n, c in (("0", "no"), ("5", "no"), ("5", "yes"))]
    assert told(pairs_of(both)) == [("cot", "no", "yes"), ("shots", "0", "5")]
    assert [pair.family for pair in pairs_of(both)] == ["p (shots=5)", "p (cot=no)"]
    unstated = [run(s, c) for s in SIZES for c in ({"shots": "0"}, {"shots": "0", "cot": "yes"})]
    assert pairs_of(unstated) == []
    two = [run(s, {"shots": n, "cot": c}) for s in SIZES for n, c in (("0", "no"), ("5", "yes"))]
    assert pairs_of(two) == []


def test_how_many_items_were_asked_is_no_condition() -> None:
    runs = [run(s, {"shots": n, "limit": k}) for s in SIZES for n, k in (("0", "100"), ("5", "200"))]
    assert told(pairs_of(runs)) == [("shots", "0", "5")]


def test_points_are_places_with_the_same_models() -> None:
    runs = [run(s, {"shots": "0"}) for s in SIZES[:3]] + [run(s, {"shots": "5"}) for s in SIZES[1:]]
    (pair,) = pairs_of(runs)
    assert [stop.x for stop in pair.first.stops] == [stop.x for stop in pair.second.stops] == [410e6, 1e9]
    apart = [run(s, {"shots": "0"}) for s in SIZES[:2]] + [run(s, {"shots": "5"}) for s in SIZES[2:]]
    assert pairs_of(apart) == []


def test_each_item_is_its_own_control(store: Store, fill: Fill) -> None:
    rng = np.random.default_rng(0)
    scores = {}
    for size in SIZES:
        for n in ("0", "5"):
            mine = rng.integers(0, 2, 30).astype(float).tolist()
            scores[size, n] = mine
            # one more item under five shots, in another order
            ids = [str(i) for i in range(30)]
            values: list[float | None] = list(mine)
            if n == "5":
                ids, values = ["x", *reversed(ids)], [1.0, *reversed(mine)]
            fill(f"p-{size}", values, ids=ids, conditions={"shots": n}, run_key=f"{size}/{n}")
    snapshot = store.snapshot()
    runs = snapshot.runs()
    (pair,) = condition_pairs(lines(runs, model_cards(runs)))
    (block,) = load_blocks(snapshot, "sums", [r.run_key for r in runs], {"match": True})
    found = condition_panel(pair, block, ["match", "absent"])
    assert found is not None
    assert found.panel.values.keys() == {"match"}
    assert found.panel.values["match"].shape == (4, 30)
    for i, size in enumerate(SIZES):
        gap = np.array(scores[size, "5"]) - np.array(scores[size, "0"])
        assert sorted(found.panel.values["match"][i]) == sorted(gap)
        assert found.baseline[i] == pytest.approx(np.mean(scores[size, "0"]))
        assert found.panel.runs[i] == (f"{size}/0", f"{size}/5")
    # paired: an item's difference is exactly its own two scores apart
    spread = found.panel.values["match"].var(axis=1)
    assert spread == pytest.approx([np.var(np.array(scores[s, "5"]) - np.array(scores[s, "0"])) for s in SIZES])


def test_seeds_of_both_conditions_are_subtracted_one_by_one(store: Store, fill: Fill) -> None:
    for size in SIZES[:2]:
        for seed in (1, 2, 3):
            for n in ("0", "5"):
                right = [1.0] * seed + [0.0] * (8 - seed) if n == "0" else [1.0] * (2 * seed) + [0.0] * (8 - 2 * seed)
                fill(f"p-{size}", right, conditions={"shots": n}, seed=seed, run_key=f"{size}/{seed}/{n}")
    runs = store.snapshot().runs()
    (pair,) = condition_pairs(lines(runs, model_cards(runs)))
    (block,) = load_blocks(store.snapshot(), "sums", [r.run_key for r in runs], {"match": True})
    found = condition_panel(pair, block, ["match"])
    assert found is not None
    assert [r.tolist() for r in found.panel.replicates["match"]] == [[1 / 8, 2 / 8, 3 / 8]] * 2


def test_without_shared_scores_there_is_no_panel(store: Store, fill: Fill) -> None:
    for size in SIZES:
        fill(f"p-{size}", [1.0, 0.0], ids=["a", "b"], conditions={"shots": "0"}, run_key=f"{size}/0")
        fill(f"p-{size}", [1.0, 0.0], ids=["c", "d"], conditions={"shots": "5"}, run_key=f"{size}/5")
    runs = store.snapshot().runs()
    (pair,) = condition_pairs(lines(runs, model_cards(runs)))
    (block,) = load_blocks(store.snapshot(), "sums", [r.run_key for r in runs], {"match": True})
    assert condition_panel(pair, block, ["match"]) is None
    assert condition_panel(pair, block, ["absent"]) is None
