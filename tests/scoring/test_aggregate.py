"""What each run scores, with both denominators."""

from __future__ import annotations

import math
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from foreshock.metrics import get_metric
from foreshock.scoring import aggregate, score
from foreshock.store import Store

_spec = spec_from_file_location("scoring_stores", Path(__file__).with_name("_stores.py"))
stores = module_from_spec(_spec)
_spec.loader.exec_module(stores)


def by_name(found):
    return {(a.task, a.metric_id.partition("@")[0], a.source): a for a in found}


def test_both_denominators_are_given(tmp_path):
    store = stores.fill(tmp_path / "s")
    score(store)
    found = by_name(aggregate(store.snapshot()))
    exact = found["sums", "exact_match", "foreshock"]
    # 5 responses and one that never came: 1 right, 2 wrong, 1 unparsed, 1 error, 1 missing
    assert (exact.n, exact.n_scored, exact.unparsed, exact.needs, exact.failed, exact.expected) == (5, 3, 1, 1, 0, 6)
    assert exact.value == pytest.approx(1 / 3)
    assert exact.value_expected == pytest.approx(1 / 6)
    assert exact.stderr == pytest.approx(math.sqrt((4 / 9 + 1 / 9 + 1 / 9) / 2 / 3))
    harness = found["sums", "exact_match", "harness"]
    assert (harness.value, harness.n, harness.expected) == (pytest.approx(1 / 3), 3, 6)
    assert harness.value_expected == pytest.approx(1 / 6)
    assert found["choices", "gold_logprob", "foreshock"].value_expected is None  # its worst value is not 0
    assert found["choices", "brier", "foreshock"].value_expected is None


def test_metrics_that_make_no_sense_for_a_task_have_no_aggregate(tmp_path):
    store = stores.fill(tmp_path / "s")
    score(store)
    found = by_name(aggregate(store.snapshot()))
    assert ("choices", "char_similarity", "foreshock") not in found
    assert ("sums", "brier", "foreshock") not in found
    assert ("choices", "brier", "foreshock") in found


def test_epochs_of_an_item_are_one_cluster(tmp_path):
    store = stores.fill(tmp_path / "s", epochs=4)
    score(store, ["exact_match"])
    exact = by_name(aggregate(store.snapshot()))["sums", "exact_match", "foreshock"]
    assert (exact.n, exact.n_scored, exact.n_items) == (20, 12, 3)
    # four copies of each item say no more than one: the standard error is that of three items
    assert exact.stderr == pytest.approx(math.sqrt((4 / 9 + 1 / 9 + 1 / 9) / 2 / 3))


def test_filters_are_kept_apart_and_share_what_was_expected(tmp_path):
    store = Store.open(tmp_path / "s", create=True)
    rows = [row | {"filter": f} for row in stores.SUMS[:2] for f in ("strict", "flexible")]
    rows[0]["answer"] = None
    store.write(stores.run(expected=8), stores.batches(rows))
    score(store, ["exact_match"])
    found = {a.filter: a for a in aggregate(store.snapshot())}
    assert (found["strict"].n_scored, found["strict"].unparsed, found["strict"].expected) == (1, 1, 4)
    assert (found["flexible"].value, found["flexible"].expected, found["flexible"].value_expected) == (0.5, 4, 0.25)


def test_perturbed_items_are_kept_apart_and_nothing_is_said_of_how_many_there_should_be(tmp_path):
    store = Store.open(tmp_path / "s", create=True)
    rows = [row | {"perturbation": p} for row in stores.SUMS[:2] for p in (None, "typos")]
    rows[1]["answer"] = "wrong"
    store.write(stores.run(expected=8), stores.batches(rows))
    score(store, ["exact_match"])
    found = {a.perturbation: a for a in aggregate(store.snapshot())}
    assert (found[None].value, found["typos"].value) == (0.5, 0.0)
    assert (found[None].expected, found["typos"].expected) == (2, 2)


def test_how_rows_lie_in_segments_does_not_matter(tmp_path, monkeypatch):
    import foreshock.scoring._aggregate as module

    one, many = Store.open(tmp_path / "one", create=True), Store.open(tmp_path / "many", create=True)
    runs = [(stores.run(model=f"m-{i}b"), [r | {"epoch": e} for r in stores.SUMS for e in (1, 2)]) for i in range(3)]
    with one.writer() as writer:
        for run, rows in runs:
            writer.write(run, stores.batches(rows))
    for run, rows in runs:
        many.write(run, stores.batches(rows))
    for store in (one, many):
        score(store)
    whole = aggregate(one.snapshot())
    assert len(whole) > 10
    assert aggregate(many.snapshot()) == whole
    monkeypatch.setattr(module, "ROWS", 5)  # every metric of every task by itself
    assert aggregate(many.snapshot()) == whole
    many.compact()
    assert aggregate(many.snapshot()) == whole


def test_what_is_asked_for_is_what_comes(tmp_path):
    store = stores.fill(tmp_path / "s")
    score(store)
    snapshot = store.snapshot()
    spec = get_metric("exact_match")
    assert {a.metric_id for a in aggregate(snapshot, [spec])} == {spec.id}
    assert {(a.metric_id, a.source) for a in aggregate(snapshot, ["acc"])} == {("acc", "harness")}
    assert {a.task for a in aggregate(snapshot, tasks=["choices"])} == {"choices"}
    assert {a.source for a in aggregate(snapshot, source="harness")} == {"harness"}
