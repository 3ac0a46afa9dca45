"""Metrics of a whole run are made of all its responses together, and values in different units stay apart."""

from __future__ import annotations

import math
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from foreshock.metrics import PER_ROW, Quantity, metric
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
    score(store, [ratio(), median()])
    found = {a.metric_id: a for a in aggregate(store.snapshot())}
    for spec, of in (
        (ratio(), lambda t: sum(map(len, t)) / sum(len(x.split()) for x in t)),
        (median(), lambda t: float(np.median([len(x) for x in t for _ in range(3)]))),
    ):
        left = [of(TEXTS[:i] + TEXTS[i + 1 :]) for i in range(len(TEXTS))]
        expected = math.sqrt((len(left) - 1) / len(left) * sum((v - sum(left) / len(left)) ** 2 for v in left))
        assert found[spec.id].stderr == pytest.approx(expected, rel=1e-12)
        assert found[spec.id].n_items == 6


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
    # 200 parts of 15 items: right on average, so the mean over draws is close
    parts = []
    for _ in range(40):
        x = rng.normal(size=3_000)
        parts.append(whole_run(median(), median().id, [f"[{v!r}]" for v in x.tolist()], np.arange(3_000))[1])
    assert np.mean(parts) == pytest.approx(math.sqrt(math.pi / 2 / 3_000), rel=0.35)


def test_undefined_is_no_number(tmp_path):
    assert whole_run(ratio(), ratio().id, [], np.array([], np.uint64)) == (None, None)
    assert whole_run(ratio(), ratio().id, ["[0.0,0.0]"], np.array([1], np.uint64)) == (None, None)
    assert whole_run(ratio(), ratio().id, ["[4.0,2.0]"], np.array([1], np.uint64)) == (2.0, None)


def test_values_in_different_units_are_never_averaged(tmp_path):
    @metric(kind="continuous", needs=("output",), unit=PER_ROW, higher_is_better=None, name="test_length")
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
