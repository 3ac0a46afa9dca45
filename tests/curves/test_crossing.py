"""Where a score stands to a line: exact bounds against scipy, their rate, and places of crossing by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as oracle

from foreshock.curves import Curve, exact_bounds, first_crossing, side_of, standing


def shares(*hits: int, n: int = 40) -> Curve:
    y = np.array(hits) / n
    return Curve(np.arange(1.0, len(hits) + 1), y, items=np.full(len(hits), float(n)), low=0.0, high=1.0, log_x=False)


@pytest.mark.parametrize(("hits", "n"), [(0, 59), (3, 40), (40, 40), (17, 20)])
def test_the_bounds_are_those_of_the_beta_distribution(hits: int, n: int) -> None:
    low, high = exact_bounds(hits / n, n)
    assert low == pytest.approx(0.0 if hits == 0 else oracle.beta.ppf(0.05, hits, n - hits + 1))
    assert high == pytest.approx(1.0 if hits == n else oracle.beta.ppf(0.95, hits + 1, n - hits))


def test_none_of_n_enters_with_its_exact_upper_bound() -> None:
    found = standing(shares(0, 0, 0), 0.05, "above")
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 40))
    assert found.answer == "at the line"
    assert found.needed is not None
    assert 1 - 0.05 ** (1 / found.needed) < 0.05 <= 1 - 0.05 ** (1 / (found.needed - 1))
    assert standing(shares(0, 0, 0), 0.1, "above").answer == "clear"


def test_crossed_needs_the_nearer_bound_beyond_the_line() -> None:
    assert standing(shares(0, 10), 0.2, "above").answer == "at the line"
    assert standing(shares(0, 16), 0.2, "above").answer == "crossed"
    assert standing(shares(40, 20), 0.8, "below").answer == "crossed"


def test_at_most_one_in_twenty_at_the_line_is_called_crossed() -> None:
    n, line = 60, 0.2
    hits = np.arange(n + 1)
    called = [standing(shares(int(k), n=n), line, "above").answer == "crossed" for k in hits]
    assert oracle.binom.pmf(hits, n, line)[called].sum() <= 0.05
    # and it is not that low because nothing is ever called
    assert oracle.binom.pmf(hits, n, 0.5)[called].sum() > 0.99


def test_repeats_of_the_newest_place_count_together() -> None:
    curve = Curve(
        np.array([1.0, 2.0, 2.0]), np.array([0.5, 0.0, 0.1]), items=np.array([10.0, 30.0, 10.0]), low=0.0, high=1.0
    )
    found = standing(curve, 0.5, "above")
    assert (found.value, found.items) == (pytest.approx(1 / 40), 40)


def test_a_standard_error_gives_normal_bounds_and_nothing_gives_none() -> None:
    known = Curve(np.array([1.0]), np.array([2.0]), stderr=np.array([0.1]))
    assert standing(known, 2.1, "above").high == pytest.approx(2.0 + 0.1 * oracle.norm.ppf(0.95))
    bare = Curve(np.array([1.0]), np.array([2.0]))
    assert math.isnan(standing(bare, 2.1, "above").high)
    assert standing(bare, 2.1, "above").answer == "clear"
    assert standing(bare, 1.9, "above").answer == "crossed"
    assert standing(bare, 2.0, "above").answer == "at the line"


def test_the_side_is_the_one_on_which_the_score_is_not() -> None:
    assert side_of(shares(4), 0.2) == "above"
    assert side_of(shares(20), 0.2) == "below"


def test_the_place_of_crossing_is_read_along_straight_lines() -> None:
    assert first_crossing((10.0, 0.0), [100.0, 1000.0], [0.1, 0.3], 0.2, "above") == pytest.approx(10**2.5)
    assert first_crossing((1.0, 1.0), [2.0, 3.0], [0.9, 0.5], 0.7, "below", log_x=False) == pytest.approx(2.5)
    assert first_crossing((1.0, 0.0), [2.0], [0.1], 0.2, "above", log_x=False) is None
    assert first_crossing((1.0, 0.3), [2.0], [0.1], 0.2, "above", log_x=False) == 1.0
    # a gap in the band is stepped over
    assert first_crossing((1.0, 0.0), [2.0, 3.0], [np.nan, 0.4], 0.2, "above", log_x=False) == pytest.approx(2.0)
