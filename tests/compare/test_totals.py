"""Totals without responses: compared from value and standard error, and marked as weaker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_ind_from_stats

from foreshock._base import ConfigError
from foreshock.compare import CompareOptions, compare
from foreshock.compare._totals import Total, judge_totals
from foreshock.records import Batch, Run, State
from foreshock.report import markdown, render_html
from foreshock.store import Store
from tests.compare.conftest import sides

Put = Callable[..., Run]


@pytest.fixture
def put(store: Store) -> Put:
    def written(model: str, task: str = "sums", conditions: dict[str, str] | None = None, **facts: Any) -> Run:
        run = Run(
            run_key=f"{model}/{task}",
            format="test",
            reader="test@1",
            model=model,
            task=task,
            conditions=conditions or {},
        )
        columns = {"metric_id": "acc", "low": 0.0, "high": 1.0, "higher_is_better": True, "source": "harness", **facts}
        return store.write(run, [Batch("aggregates", {name: [value] for name, value in columns.items()})])

    return written


def test_the_test_is_welchs() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        a, b = rng.random(2)
        s, t = rng.uniform(0.01, 0.1, 2)
        n, m = (int(k) for k in rng.integers(5, 400, 2))
        told = judge_totals(Total(a, s, n), Total(b, t, m))
        oracle = ttest_ind_from_stats(b, t * np.sqrt(m), m, a, s * np.sqrt(n), n, equal_var=False)
        assert told.p == pytest.approx(oracle.pvalue, rel=1e-9)
        edge = (b - a) - told.low  # a difference at the edge of the interval has p = alpha
        assert told.high - (b - a) == pytest.approx(edge)
        assert judge_totals(Total(0.0, s, n), Total(edge, t, m)).p == pytest.approx(0.05, rel=1e-6)


def test_equal_models_are_told_apart_at_the_stated_rate_and_unequal_ones_are_told_apart() -> None:
    rng, n = np.random.default_rng(8), 200
    fired = {0.6: 0, 0.75: 0}
    for share in fired:
        right = rng.binomial(n, (0.6, share), (2_000, 2)) / n
        errors = np.sqrt(right * (1 - right) / (n - 1))
        for value, error in zip(right, errors, strict=True):
            told = judge_totals(Total(value[0], error[0], n), Total(value[1], error[1], n))
            fired[share] += told.p <= 0.05
    assert 60 <= fired[0.6] <= 145  # 5% of 2,000, four standard errors
    assert fired[0.75] > 1_600


def test_two_totals_give_a_verdict_that_says_what_it_is(store: Store, put: Put) -> None:
    old, new = put("old", value=0.60, stderr=0.015, n=1_000), put("new", value=0.50, stderr=0.016, n=1_000)
    document = compare(store, sides(old, new))
    (row,) = document.tables["compare"]
    finding = document.findings[0]
    assert (finding.code, finding.verdict, finding.state) == ("FS901", "regression", State.FIRING)
    assert row["unpaired"]
    assert (row["first_value"], row["second_value"], row["items"]) == (0.60, 0.50, 1_000)
    assert row["difference"] == pytest.approx(-0.10)
    assert finding.title == "new is worse than old by 10.0 points (totals only, unpaired)"
    text = markdown(document)
    assert text.replace("\\", "").startswith("## new is worse than old on sums (acc; totals only, unpaired: weaker)")
    assert "paired by" not in text
    assert "totals only" in render_html(document)


def test_many_totals_share_one_allowance(store: Store, put: Put) -> None:
    tasks = [f"t{i}" for i in range(10)]
    old = [put("old", task, value=0.60, stderr=0.015, n=1_000) for task in tasks]
    new = [put("new", task, value=0.55 if task == "t0" else 0.6, stderr=0.015, n=1_000) for task in tasks]
    document = compare(store, sides(old, new))
    assert "on 10 tasks (acc)" in markdown(document).replace("\\", "")
    rows = {row["task"]: row for row in document.tables["compare"]}
    assert rows["t0"]["p"] < 0.05 < rows["t0"]["p_holm"] == pytest.approx(10 * rows["t0"]["p"])
    assert rows["t0"]["verdict"] == "undecided"


@pytest.mark.parametrize("lack", [{"stderr": None}, {"n": None}, {"stderr": 0.0}, {"n": 1}])
def test_without_an_error_or_a_number_of_items_both_values_are_shown_and_nothing_is_said(
    store: Store, put: Put, lack: dict[str, Any]
) -> None:
    old, new = (
        put("old", value=0.60, stderr=0.015, n=1_000),
        put("new", **{"value": 0.1, "stderr": 0.016, "n": 9, **lack}),
    )
    document = compare(store, sides(old, new))
    (row,) = document.tables["compare"]
    assert (row["verdict"], row["first_value"], row["second_value"], row["p"]) == ("undecided", 0.6, 0.1, None)
    assert document.findings[0].state is State.NO_DATA
    assert document.findings[0].needs[0].what.startswith("a standard error")
    assert "60.0% → 10.0%" in markdown(document)


def test_conditions_and_metrics_are_held_as_with_responses(store: Store, put: Put) -> None:
    facts = {"value": 0.6, "stderr": 0.015, "n": 1_000}
    old, new = put("old", conditions={"shots": "5"}, **facts), put("new", conditions={"shots": "0"}, **facts)
    with pytest.raises(ConfigError, match="shots is 5 in old, 0 in new"):
        compare(store, sides(old, new))
    across = CompareOptions(across_conditions=True)
    assert compare(store, sides(old, new), across).tables["compare"][0]["verdict"] == "undecided"
    with pytest.raises(ConfigError, match="only totals, and none that all"):
        compare(store, sides(old, new), CompareOptions(across_conditions=True, metric="f1"))


def test_larger_is_worse_where_the_total_says_so(store: Store, put: Put) -> None:
    facts = {"stderr": 0.1, "n": 1_000, "metric_id": "word_perplexity", "low": None, "high": None}
    old, new = (put(name, value=v, higher_is_better=False, **facts) for name, v in (("old", 12.0), ("new", 14.0)))
    assert compare(store, sides(old, new)).findings[0].verdict == "regression"
