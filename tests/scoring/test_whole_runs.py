"""Metrics of a whole run are made of all its responses together, and values in different units stay apart."""

from __future__ import annotations

import itertools
import math
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from foreshock.metrics import PER_ROW, Quantity, get_metric, metric
from foreshock.scoring import aggregate, score
from foreshock.scoring._whole import whole_run
from foreshock.store import Store

_spec = spec_from_file_location("scoring_stores_whole", Path(__file__).with_name("_stores.py"))
stores = module_from_spec(_spec)
_spec.loader.exec_module(stores)


@metric(
    kind="continuous", needs=("output",), grain="run", statistics=("letters", "words"), additive=True, name="test_ratio"
)
def ratio():
    return lambda r: (float(len(r.output)), float(len(r.output.split())))


@ratio.result
def _(stats):
    letters, words = stats.sum(axis=0)
    return float(letters / words) if words else math.nan


@metric(kind="continuous", needs=("output",), grain="run", statistics=("letters",), name="test_median")
def median():
    return lambda r: (float(len(r.output)),)


@median.result
def _(stats):
    return float(np.median(stats[:, 0]))


def fill(folder, texts, epochs=1):
    rows = [{"item_id": f"{i:03}", "output": text} for i, text in enumerate(texts) for _ in range(epochs)]
    store = Store.open(folder, create=True)
    store.write(stores.run(), stores.batches(rows))
    return store


TEXTS = ["a b", "one two three", "of", "longer words here", "x y z", "seven"]


def test_the_value_is_that_of_all_responses_and_never_a_mean_of_theirs(tmp_path):
    store = fill(tmp_path / "s", TEXTS)
    score(store, [ratio()])
    (found,) = aggregate(store.snapshot())
    letters, words = sum(map(len, TEXTS)), sum(len(text.split()) for text in TEXTS)
    assert found.value == letters / words
    assert found.value != pytest.approx(sum(len(t) / len(t.split()) for t in TEXTS) / len(TEXTS))
    assert (found.n, found.n_scored, found.n_items, found.value_expected) == (6, 6, 6, None)


def test_the_standard_error_is_the_jackknife_over_items_with_all_their_epochs(tmp_path):
    store = fill(tmp_path / "s", TEXTS, epochs=3)
    score(store, [ratio()])
    (found,) = aggregate(store.snapshot())
    lines = [TEXTS[:i] + TEXTS[i + 1 :] for i in range(len(TEXTS))]
    left = [sum(map(len, t)) / sum(len(x.split()) for x in t) for t in lines]
    expected = math.sqrt((len(left) - 1) / len(left) * sum((v - sum(left) / len(left)) ** 2 for v in left))
    assert found.stderr == pytest.approx(expected, rel=1e-12)
    assert found.n_items == 6


def test_without_sums_it_is_the_bootstrap_over_items_with_all_their_epochs(tmp_path):
    store = fill(tmp_path / "s", TEXTS, epochs=3)
    score(store, [median()])
    (found,) = aggregate(store.snapshot())
    ways = itertools.product([len(text) for text in TEXTS], repeat=len(TEXTS))  # every draw there is
    assert found.stderr == pytest.approx(np.std([float(np.median(way)) for way in ways]), rel=0.2)
    assert found.stderr == aggregate(store.snapshot())[0].stderr


def test_the_calibration_error_varies_as_its_standard_error_says():
    rng = np.random.default_rng(6)
    spec = get_metric("calibration_error")
    values, errors, left = [], [], []
    for world in range(80):
        said = rng.uniform(0.3, 1, 60)
        rows = np.column_stack([said, rng.random(60) < said]).astype(float)
        values.append(spec.result(rows)["debiased"])
        if world < 6:
            labels = [f"[{c!r},{r!r}]" for c, r in rows.tolist()]
            errors.append(whole_run(spec, spec.ids[0], labels, np.arange(60))[1])
            without = [spec.result(np.delete(rows, i, axis=0))["debiased"] for i in range(60)]
            left.append(math.sqrt(59 * np.var(without)))
    assert 0.8 < np.mean(errors) / np.std(values) < 1.5
    assert np.mean(left) / np.std(values) > 1.5  # the jackknife, which is for smooth metrics


@metric(kind="continuous", needs=("output",), grain="run", statistics=("x", "n"), additive=True, name="test_average")
def average():
    return lambda r: (0.0, 1.0)


@average.result
def _(stats):
    return float(stats[:, 0].sum() / stats[:, 1].sum())


def test_a_log_sorted_by_difficulty_has_the_standard_error_of_any_other():
    rng = np.random.default_rng(7)
    x, n = np.sort(rng.random(9_000)), 9_000
    labels = [f"[{v!r},1.0]" for v in x.tolist()]
    expected = x.std(ddof=1) / math.sqrt(n)
    value, stderr = whole_run(average(), average().id, labels, np.arange(n))
    assert stderr == pytest.approx(expected, rel=0.06)
    order = rng.permutation(n)
    mixed = whole_run(average(), average().id, [labels[i] for i in order], order)
    assert mixed == (pytest.approx(value, rel=1e-12), pytest.approx(stderr, rel=1e-9))
    # dealt in the order of the log every part is like every other, and nothing seems to vary
    parts = np.array([x[k::2_000].sum() for k in range(2_000)])
    sizes = np.array([x[k::2_000].size for k in range(2_000)])
    left = (x.sum() - parts) / (n - sizes)
    assert math.sqrt(1_999 * np.var(left)) < 0.7 * expected


def test_the_jackknife_of_a_mean_is_its_standard_error_also_with_many_items():
    @metric(kind="continuous", needs=("output",), grain="run", statistics=("x", "n"), additive=True, name="test_mean")
    def mean():
        return lambda r: (0.0, 1.0)

    mean.result(lambda stats: float(stats[:, 0].sum() / stats[:, 1].sum()))
    rng = np.random.default_rng(5)
    x = rng.normal(size=1_500)
    value, stderr = whole_run(mean(), mean().id, [f"[{v!r},1.0]" for v in x.tolist()], np.arange(1_500))
    assert value == pytest.approx(x.mean())
    assert stderr == pytest.approx(x.std(ddof=1) / math.sqrt(1_500), rel=1e-9)
    # 1,000 of 3,000 items in a draw
    parts = []
    for _ in range(20):
        x = rng.normal(size=3_000)
        parts.append(whole_run(median(), median().id, [f"[{v!r}]" for v in x.tolist()], np.arange(3_000))[1])
    assert np.mean(parts) == pytest.approx(math.sqrt(math.pi / 2 / 3_000), rel=0.35)


def test_undefined_is_no_number(tmp_path):
    assert whole_run(ratio(), ratio().id, [], np.array([], np.uint64)) == (None, None)
    assert whole_run(ratio(), ratio().id, ["[0.0,0.0]"], np.array([1], np.uint64)) == (None, None)
    assert whole_run(ratio(), ratio().id, ["[4.0,2.0]"], np.array([1], np.uint64)) == (2.0, None)


def test_values_in_different_units_are_never_averaged(tmp_path):
    @metric(kind="continuous", needs=("output",), unit=PER_ROW, higher_is_better=None, name="test_length_whole")
    def length():
        def measure(r):
            if r.output == "seven":
                raise ValueError("cannot count")
            return Quantity(len(r.output), "letters" if " " in r.output else "signs")

        return measure

    store = fill(tmp_path / "s", TEXTS)
    score(store, [length()])
    found = aggregate(store.snapshot())
    assert [(a.unit, a.value, a.n_scored, a.n, a.failed) for a in found] == [
        ("letters", (3 + 13 + 17 + 5) / 4, 4, 5, 1),
        ("signs", 2.0, 1, 2, 1),
    ]
