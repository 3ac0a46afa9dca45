"""Arrays from a store: means, missing values, filters, epochs and duplicate questions."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.records import Batch, Run
from foreshock.series import aggregate_series, lines, load_blocks, model_cards, panel
from foreshock.store import Store

from .conftest import Fill


def block_of(store: Store, *, as_zero: bool = True):  # type: ignore[no-untyped-def]
    snapshot = store.snapshot()
    return load_blocks(snapshot, "sums", [r.run_key for r in snapshot.runs()], {"match": as_zero})


def test_an_answer_that_could_not_be_extracted_is_zero_or_missing_as_asked(store: Store, fill: Fill) -> None:
    fill("p-1b", [1.0, None, 0.0])
    (hard,), (soft,) = block_of(store), block_of(store, as_zero=False)
    assert np.nansum(hard.values["match"]) == 1.0
    assert np.isnan(hard.values["match"]).sum() == 0
    assert soft.values["match"].size == 2 or np.isnan(soft.values["match"]).sum() == 1


def test_epochs_are_averaged_and_filters_kept_apart(store: Store, fill: Fill) -> None:
    fill("p-1b", [1.0, 0.0, 1.0, 0.0], ids=["a", "a", "a", "a"], epochs=[1, 2, 1, 2], filters=["x", "x", "y", "y"])
    blocks = block_of(store)
    assert [block.filter for block in blocks] == ["x", "y"]
    assert [block.values["match"].tolist() for block in blocks] == [[[0.5]], [[0.5]]]


def test_the_same_question_under_two_ids_is_two_items(store: Store) -> None:
    run = Run(run_key="k", format="test", reader="test@1", model="p-1b", task="sums")
    rows = {
        "row": [0, 1],
        "item_id": ["a", "b"],
        "item_key": ["same", "same"],
        "delivery": ["ok", "ok"],
        "answer": ["1", "2"],
    }
    scores = {
        "row": [0, 1],
        "metric_id": ["match"] * 2,
        "source": ["harness"] * 2,
        "value": [1.0, 0.0],
        "status": ["scored"] * 2,
    }
    store.write(run, [Batch("responses", rows), Batch("scores", scores)])
    (block,) = block_of(store)
    assert block.items == ("same id:a", "same id:b")
    assert block.values["match"].tolist() == [[1.0, 0.0]]


def test_a_panel_averages_seeds_and_keeps_only_items_that_every_point_answered(store: Store, fill: Fill) -> None:
    fill("p-1b-s1", [0.0, 0.0, 1.0])
    fill("p-1b-s2", [0.0, 1.0, 1.0])
    fill("p-7b-s1", [1.0, 1.0])  # item 2 was not asked
    runs = store.snapshot().runs()
    (line,) = lines(runs, model_cards(runs))
    (block,) = block_of(store)
    made = panel(line, block, ["match"])
    assert made.x.tolist() == [1e9, 7e9]
    assert len(made.items) == 2
    by_item = dict(zip(made.items, made.values["match"].T.tolist(), strict=True))
    assert sorted(by_item.values()) == [[0.0, 1.0], [0.5, 1.0]]
    assert [sorted(r.tolist()) for r in made.replicates["match"]] == [[0.0, 0.5], [1.0]]


def test_repeats_of_one_run_are_no_replicates(store: Store, fill: Fill) -> None:
    fill("p-1b-s1", [0.0, 0.0], created="2026-01-01")
    fill("p-1b-s1", [1.0, 0.0], created="2026-02-01")
    fill("p-7b-s1", [1.0, 1.0])
    runs = store.snapshot().runs()
    (line,) = lines(runs, model_cards(runs))
    (block,) = block_of(store)
    made = panel(line, block, ["match"])
    assert [r.tolist() for r in made.replicates["match"]] == [[0.5], [1.0]]
    assert made.values["match"].mean(axis=1).tolist() == [0.5, 1.0]


def test_a_metric_that_lacks_items_is_not_followed_beside_one_that_has_them(store: Store) -> None:
    for size, there in (("1b", 10), ("7b", 100)):
        run = Run(run_key=size, format="test", reader="test@1", model=f"p-{size}", task="sums")
        rows = list(range(100))
        responses = {"row": rows, "item_id": [str(i) for i in rows], "delivery": ["ok"] * 100, "answer": ["a"] * 100}
        both = {
            "row": rows * 2,
            "metric_id": ["match"] * 100 + ["close"] * 100,
            "source": ["harness"] * 200,
            "value": [1.0] * 100 + [0.5 if i < there else None for i in rows],
            "status": ["scored"] * 100 + ["scored" if i < there else "unparsed" for i in rows],
        }
        store.write(run, [Batch("responses", responses), Batch("scores", both)])
    snapshot = store.snapshot()
    (line,) = lines(snapshot.runs(), model_cards(snapshot.runs()))
    (block,) = load_blocks(snapshot, "sums", ["1b", "7b"], {"match": True, "close": False})
    made = panel(line, block, ["match", "close"])
    assert list(made.values) == ["match"]
    assert len(made.items) == 100


def test_items_are_paired_by_key_and_never_by_position(store: Store, fill: Fill) -> None:
    values = [1.0, 0.0, 1.0, 0.0, 0.0]
    fill("p-1b", values, ids=list("abcde"))
    fill("p-7b", values[::-1], ids=list("edcba"))
    runs = store.snapshot().runs()
    (line,) = lines(runs, model_cards(runs))
    (block,) = block_of(store)
    made = panel(line, block, ["match"]).values["match"]
    assert np.array_equal(made[0], made[1])


def test_the_untrained_model_has_no_place_on_a_log_axis(store: Store, fill: Fill) -> None:
    for step in (0, 10, 100):
        fill(f"p-1b-step{step}", [1.0, 0.0])
    runs = store.snapshot().runs()
    (line,) = lines(runs, model_cards(runs))
    (block,) = block_of(store)
    assert len(line.stops) == 3
    assert panel(line, block, ["match"]).x.tolist() == [10, 100]


@pytest.mark.parametrize(("n", "source"), [(None, "derived"), (500, "aggregates")])
def test_totals_make_a_series_and_a_missing_n_is_derived_and_said(store: Store, n: int | None, source: str) -> None:
    for size, value in (("1b", 0.25), ("7b", 0.5)):
        run = Run(run_key=size, format="test", reader="test@1", model=f"p-{size}", task="sums")
        error = (value * (1 - value) / 499) ** 0.5
        row = {"metric_id": ["acc"], "value": [value], "stderr": [error], "n": [n], "source": ["harness"]}
        store.write(run, [Batch("aggregates", row)])
    snapshot = store.snapshot()
    (found,) = aggregate_series(snapshot, lines(snapshot.runs(), model_cards(snapshot.runs())))
    assert [(p.x, p.value, p.n) for p in found.points] == [(1e9, 0.25, 500), (7e9, 0.5, 500)]
    assert source in found.source
