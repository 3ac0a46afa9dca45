"""Odds ratios of 2x2 tables against scipy, against enumeration, and their rates on simulated tables."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from foreshock.stats import exact_odds


@pytest.mark.parametrize("seed", range(40))
def test_one_table_equals_scipy(seed: int) -> None:
    from scipy.stats import fisher_exact
    from scipy.stats.contingency import odds_ratio

    rng = np.random.default_rng(seed)
    table = rng.integers(0, [4, 30, 200][seed % 3], (2, 2)) + (seed % 2)
    if (table.sum(axis=0) == 0).any() or (table.sum(axis=1) == 0).any():
        assert math.isnan(exact_odds(table).conditional)
        return
    told, oracle = exact_odds(table), odds_ratio(table)
    ends = oracle.confidence_interval(0.95)
    assert told.p == pytest.approx(fisher_exact(table).pvalue, rel=1e-9)
    assert told.conditional == pytest.approx(oracle.statistic, rel=1e-9)
    assert told.low == pytest.approx(ends.low, rel=1e-9)
    assert told.high == pytest.approx(ends.high, rel=1e-9)


def test_the_sample_ratio_is_that_of_scipy_and_of_mantel_and_haenszel() -> None:
    from scipy.stats.contingency import odds_ratio
    from statsmodels.stats.contingency_tables import StratifiedTable  # type: ignore[import-untyped]

    tables = np.array([[[8, 3], [2, 9]], [[5, 1], [6, 7]], [[10, 12], [3, 9]]])
    assert exact_odds(tables[0]).ratio == pytest.approx(odds_ratio(tables[0], kind="sample").statistic, rel=1e-12)
    oracle = StratifiedTable(list(tables.astype(float)))
    assert exact_odds(tables).ratio == pytest.approx(oracle.oddsratio_pooled, rel=1e-12)


def enumerated(tables: np.ndarray, ratio: float) -> dict[int, float]:
    """Distribution of the sum of the first cells, by going through every combination of tables."""
    each = []
    for (a, b), (c, d) in tables.tolist():
        low, high = max(0, a - d), min(a + b, a + c)
        each.append([(k, math.comb(a + b, k) * math.comb(c + d, a + c - k) * ratio**k) for k in range(low, high + 1)])
    total: dict[int, float] = {}
    for cells in product(*each):
        k = sum(cell[0] for cell in cells)
        total[k] = total.get(k, 0.0) + math.prod(cell[1] for cell in cells)
    whole = sum(total.values())
    return {k: w / whole for k, w in total.items()}


def test_strata_equal_an_enumeration_of_all_tables() -> None:
    tables = np.array([[[4, 2], [1, 5]], [[3, 1], [2, 4]], [[2, 2], [2, 3]]])
    told, observed = exact_odds(tables), int(tables[:, 0, 0].sum())
    null = enumerated(tables, 1.0)
    assert told.p == pytest.approx(sum(w for w in null.values() if w <= null[observed] * (1 + 1e-9)), rel=1e-12)
    at_low, at_high = enumerated(tables, told.low), enumerated(tables, told.high)
    assert sum(w for k, w in at_low.items() if k >= observed) == pytest.approx(0.025, rel=1e-9)
    assert sum(w for k, w in at_high.items() if k <= observed) == pytest.approx(0.025, rel=1e-9)
    middle = enumerated(tables, told.conditional)
    assert sum(k * w for k, w in middle.items()) == pytest.approx(observed, rel=1e-9)


def test_ends_of_the_support_give_open_intervals() -> None:
    told = exact_odds([[5, 0], [0, 5]])
    assert told.ratio == told.conditional == told.high == math.inf
    assert told.low > 1
    nothing = exact_odds([[5, 0], [4, 0]])
    assert (nothing.low, nothing.high, nothing.p) == (0.0, math.inf, 1.0)
    assert math.isnan(nothing.ratio)


@pytest.mark.parametrize("bad", [[[1, 2, 3]], [[1.5, 2], [3, 4]], [[-1, 2], [3, 4]]])
def test_what_is_no_table_of_counts_is_refused(bad: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"counts|shape"):
        exact_odds(bad)


def test_rate_of_the_test_and_cover_of_the_interval() -> None:
    """Exact: at most 5% of null worlds are rejected and at least 95% of intervals hold the truth."""
    rng = np.random.default_rng(5)
    rejected = covered = 0
    worlds = 150
    for _ in range(worlds):
        same = rng.binomial([12, 30], 0.6)
        rejected += exact_odds([[same[0], 12 - same[0]], [same[1], 30 - same[1]]]).p <= 0.05
        apart = rng.binomial([12, 30], [0.75, 0.5])
        told = exact_odds([[apart[0], 12 - apart[0]], [apart[1], 30 - apart[1]]])
        covered += told.low <= 3.0 <= told.high
    # three standard errors
    assert rejected / worlds <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / worlds)
    assert covered / worlds >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / worlds)


def test_a_planted_ratio_is_found() -> None:
    rng = np.random.default_rng(6)
    found = 0
    for _ in range(100):
        apart = rng.binomial([40, 120], [0.9, 0.6])
        found += exact_odds([[apart[0], 40 - apart[0]], [apart[1], 120 - apart[1]]]).p <= 0.05
    assert found >= 85  # power of this design is .96
