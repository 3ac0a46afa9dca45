"""The bounds of the share that a break may carry: arithmetic by brute force, rates by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as oracle

from foreshock.mirage._calibrate import critical, null_members, upper_stretch
from foreshock.mirage._design import Design, residual_variance, smooth_fit
from foreshock.mirage._excess import Curves, allowed_share
from foreshock.mirage._share import Share, Windowed, denied, judge_share

GAPS = {"even": np.arange(7.0), "uneven": np.array([0.0, 1.0, 1.5, 3.0, 4.0, 6.0])}


def judge_one(series: Curves) -> Share:
    return judge_share(Windowed.one(series))


def curves(z: np.ndarray, design: Design, within: np.ndarray | None = None) -> Curves:  # type: ignore[type-arg]
    none = np.zeros((design.points, design.points))
    return Curves(np.atleast_2d(z), design, none, None if within is None else np.atleast_2d(within))


@pytest.mark.parametrize("x", GAPS.values(), ids=GAPS)
@pytest.mark.parametrize("bend", [False, True])
def test_residual_variance_equals_least_squares(x: np.ndarray, bend: bool) -> None:  # type: ignore[type-arg]
    design = Design(Design.of(x).position, (1,) * x.size, terms=3 if bend else 2)
    z = np.random.default_rng(0).standard_normal((3, x.size))
    ours = residual_variance(z, design)
    t = np.asarray(design.position)
    smooth = np.vander(t, 3 if bend else 2)
    for i in range(x.size - 1):
        terms = np.column_stack([smooth, np.arange(x.size) > i])
        for row in range(3):
            left = z[row] - terms @ np.linalg.lstsq(terms, z[row], rcond=None)[0]
            df = x.size - np.linalg.matrix_rank(terms)
            if df == x.size - terms.shape[1]:
                assert ours[row, i] == pytest.approx(left @ left / df)
    fitted = smooth @ np.linalg.lstsq(smooth, z[0], rcond=None)[0]
    assert smooth_fit(z, design)[0] == pytest.approx(fitted)


def test_share_is_exact_without_noise() -> None:
    t = np.linspace(0, 1, 6)
    wiggle = 1e-6 * np.cos(40 * t)
    for s in (0.3, 0.5, 0.8):
        z = (1 - s) * t + s * (t > 0.5) + wiggle
        told = judge_one(curves(z, Design.of(t)))
        assert told.value == pytest.approx(s, abs=1e-4)
        assert told.interval == 2
        assert s - 0.02 <= told.low <= s <= told.high
        assert told.slope == pytest.approx(5 * (s + (1 - s) / 5), abs=1e-3)


def test_the_class_decides_where_intervals_are_wide() -> None:
    # 5 points: an interval at 1.9 times the mean slope carries 30% beyond even, yet lies inside the smooth class
    t = np.linspace(0, 1, 5)
    rises = np.array([0.525 / 3, 0.475, 0.525 / 3, 0.525 / 3])
    told = judge_one(curves(np.concatenate([[0], np.cumsum(rises)]) + 1e-5 * np.cos(30 * t), Design.of(t)))
    assert told.value == pytest.approx(0.3, abs=0.01)
    assert told.low == 0.0


def test_an_interval_over_half_the_axis_is_never_denied_its_break() -> None:
    x = np.array([0.0, 1.0, 2.0, 9.0, 10.0])
    line = judge_one(curves(x + 1e-4 * np.cos(9 * x), Design.of(x)))
    assert line.high >= 0.69


def test_no_rise_no_share() -> None:
    z = np.array([0.0, 1.0, -1.0, 0.5, -0.5, 0.1])
    told = judge_one(curves(z, Design.of(range(6))))
    assert not told.rising
    assert (told.low, told.high) == (0.0, 1.0)


@pytest.mark.parametrize("points", [5, 8])
def test_null_members_lie_on_the_border(points: int) -> None:
    design = Design.of(range(points))
    border = allowed_share(design, 0.25, 2.0)
    members = null_members(design, 0.25, 2.0)
    assert all(m[-1] == pytest.approx(1.0) for m in members)
    assert all(np.all(np.diff(m) <= border + 1e-9) for m in members)
    assert max(np.isclose(np.diff(m), border).sum() for m in members) >= 1


@pytest.mark.parametrize(("points", "seeds", "chain"), [(5, 1, 0.0), (8, 1, 0.0), (6, 3, 0.0), (12, 1, 0.5)], ids=str)
def test_bounds_keep_their_rate_at_the_border(points: int, seeds: int, chain: float) -> None:
    """A step of exactly the share asked about: each one-sided bound may miss it in 5% of draws."""
    rng = np.random.default_rng([1, points, seeds])
    design = Design.of(range(points), [seeds] * points, chained=chain > 0)
    t, draws = np.asarray(design.position), 3000
    e = rng.standard_normal((draws, points))
    for i in range(1, points):
        e[:, i] = chain * e[:, i - 1] + np.sqrt(1 - chain**2) * e[:, i]
    within = rng.chisquare(seeds - 1, e.shape) / (seeds - 1) if seeds > 1 else None
    e /= np.sqrt(seeds)
    for rise in (6.0, 30.0):
        z = rise * (0.75 * t + 0.25 * (np.arange(points) > points // 2)) + e
        bundle = Curves(z, design, np.zeros((points, points)), within)
        broke = bundle.excess(0.25, 2.0).max(axis=1) > critical(design, 0.25, 2.0)
        assert broke.mean() <= 0.062
    half = 30 * (0.5 * t + 0.5 * (np.arange(points) > points // 2)) + e
    whole = Curves(half, design, np.zeros((points, points)), within)
    assert denied(whole, 0.5).mean() <= 0.062
    for k in range(20):
        one = Curves(half[k : k + 1], design, whole.sampling, None if within is None else within[k : k + 1])
        assert (judge_one(one).high < 0.5) == denied(one, 0.5)[0]


def test_residual_rule_is_exact_where_the_break_is() -> None:
    # at the interval of a true step the excess is Student's t whatever the size of the step
    rng = np.random.default_rng(2)
    design = Design.of(range(8))
    t = np.asarray(design.position)
    w = design.widths[3]
    border = allowed_share(design, 0.25, 2.0)[3]
    step = (border - w) / (1 - w)
    z = 40 * ((1 - step) * t + step * (np.arange(8) > 3)) + rng.standard_normal((4000, 8))
    at = curves(z, design).excess(0.25, 2.0)[:, 3]
    for tail in (0.1, 0.05, 0.01):
        # what does not last is taken out, so a little less than the tail is left
        assert 0.6 * tail <= np.mean(at > oracle.t.ppf(1 - tail, 5)) <= 1.2 * tail + 0.002


def test_power_at_a_large_step() -> None:
    rng = np.random.default_rng(3)
    design = Design.of(range(8))
    t = np.asarray(design.position)
    z = 13 * (0.2 * t + 0.8 * (np.arange(8) > 3)) + rng.standard_normal((2000, 8))
    found = curves(z, design).excess(0.25, 2.0).max(axis=1) > critical(design, 0.25, 2.0)
    assert found.mean() > 0.9
    # shuffled along the axis the step is gone: what is found then is noise
    mixed = rng.permuted(z, axis=1)
    found = curves(mixed, design).excess(0.25, 2.0).max(axis=1) > critical(design, 0.25, 2.0)
    assert found.mean() < 0.2


def test_replicates_near_a_threshold_count_locally() -> None:
    # seeds disagree wildly at one point only: pooled spread alone would call its step certain
    t = np.linspace(0, 1, 6)
    z = 0.4 * t + 0.6 * (t > 0.5)
    design = Design.of(t, [3] * 6)
    calm = judge_one(curves(z, design, np.full(6, 1e-4)))
    wild = judge_one(curves(z, design, np.array([1e-4, 1e-4, 1e-4, 0.09, 1e-4, 1e-4])))
    assert calm.low > 0.5
    assert wild.low < 0.25


def test_a_point_without_replicates_is_not_as_calm_as_the_others() -> None:
    # seeds agree at the small sizes, where there are several; the large models, one seed each, are not calm
    z = np.array([0.0, 0.1, 0.25, 0.3, 0.4, 0.3, 0.4, 1.0])
    calm = np.full(8, 1e-4)
    several = judge_one(curves(z, Design.of(range(8), [3] * 8), calm))
    alone = judge_one(curves(z, Design.of(range(8), [3, 3, 3, 3, 1, 1, 1, 1]), calm))
    assert several.low > 0.5
    assert alone.low < several.low - 0.1
    assert alone.high > several.high + 0.15


def test_the_way_back_from_a_model_that_is_off_is_no_break() -> None:
    t = np.linspace(0, 1, 8)
    z = t + 1e-4 * np.cos(30 * t)
    z[3] -= 0.6
    told = judge_one(curves(z, Design.of(t, [3] * 8), np.full(8, 1e-4)))
    assert told.value > 0.6
    assert told.low < 0.25


def test_item_sampling_is_a_floor_of_the_noise() -> None:
    t = np.linspace(0, 1, 8)
    z = 0.2 * t + 0.8 * (t > 0.5) + 1e-3 * np.cos(20 * t)
    design = Design.of(t)
    assert judge_one(Curves(z[None], design, np.zeros((8, 8)))).low > 0.7
    assert judge_one(Curves(z[None], design, np.eye(8) * 0.04)).low < 0.5
    # fully shared item noise moves all points alike and costs nothing
    assert judge_one(Curves(z[None], design, np.ones((8, 8)) * 0.04)).low > 0.7


def test_chained_points_need_a_larger_quantile() -> None:
    free, chained = Design.of(range(12)), Design.of(range(12), chained=True)
    assert upper_stretch(free.bent()) == 1.0
    assert upper_stretch(chained.bent()) > 1.15
