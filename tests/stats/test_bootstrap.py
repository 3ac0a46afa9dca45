"""The joint bootstrap against the analytic standard error; pairing must be kept."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.stats import item_weights, joint_means, percentile_interval, weighted_means


@pytest.mark.parametrize("items", [20, 59, 60, 2000])
def test_weights_have_the_moments_of_resampling(items: int) -> None:
    w = item_weights(np.random.default_rng(0), 4000, items)
    assert w.shape == (4000, items)
    assert w.mean() == pytest.approx(1.0, abs=0.02)
    assert w.var() == pytest.approx(1.0, abs=0.06)
    assert np.all(w.sum(axis=1) > 0)


@pytest.mark.parametrize("items", [30, 500])
def test_spread_equals_the_standard_error(items: int) -> None:
    v = np.random.default_rng(1).random(items)
    draws = joint_means(v, np.random.default_rng(2), 6000)
    assert draws.std() == pytest.approx(v.std() / np.sqrt(items), rel=0.05)


def test_all_rows_share_their_weights() -> None:
    rng = np.random.default_rng(3)
    hard = (rng.random(400) < 0.5).astype(float)
    rows = np.stack([[hard, hard * 0.5], [np.roll(hard, 1), hard + 0.25]])
    draws = joint_means(rows, np.random.default_rng(4), 500)
    assert draws.shape == (500, 2, 2)
    # pairing: a row that is another plus a constant must differ from it by that constant in every draw
    assert np.allclose(draws[:, 1, 1] - draws[:, 0, 0], 0.25)
    # and a row of the same values in another order must not
    assert (draws[:, 1, 0] - draws[:, 0, 0]).std() > 0.02


def test_chunks_do_not_change_the_distribution_and_a_seed_fixes_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    v = np.random.default_rng(5).random(1000)
    whole = joint_means(v, np.random.default_rng(6), 300)
    again = joint_means(v, np.random.default_rng(6), 300)
    assert whole.tobytes() == again.tobytes()
    monkeypatch.setattr("foreshock.stats._bootstrap._CELLS", 10_000)
    parts = joint_means(v, np.random.default_rng(6), 300)
    assert parts.shape == whole.shape
    assert parts.std() == pytest.approx(whole.std(), rel=0.2)


def test_clusters_move_together() -> None:
    labels = np.repeat(np.arange(40), 5)
    w = item_weights(np.random.default_rng(7), 50, 200, labels)
    assert np.all(w.reshape(50, 40, 5) == w.reshape(50, 40, 5)[:, :, :1])
    with pytest.raises(ValueError, match="3 cluster labels"):
        item_weights(np.random.default_rng(7), 5, 4, [1, 2, 3])


def test_missing_scores_do_not_count() -> None:
    v = np.array([[1.0, np.nan, 0.0], [np.nan, np.nan, np.nan]])
    means = weighted_means(v, np.array([[1.0, 5.0, 3.0]]))
    assert means[0, 0] == 0.25
    assert np.isnan(means[0, 1])


def test_percentile_interval_leaves_nan_draws_out() -> None:
    draws = np.array([[0.0, np.nan], [1.0, np.nan], [2.0, np.nan], [np.nan, np.nan]])
    low, high = percentile_interval(draws, 0.5)
    assert (low[0], high[0]) == (0.5, 1.5)
    assert np.isnan(low[1])
    assert np.isnan(high[1])


def test_interval_covers_a_difference_of_paired_models() -> None:
    # 95% intervals of a paired difference over 300 data sets; dropping the pairing would widen them threefold
    covered, width = 0, 0.0
    for k in range(300):
        rng = np.random.default_rng([8, k])
        ability = rng.random(200)
        a = (rng.random(200) < ability).astype(float)
        b = np.where(rng.random(200) < 0.1, 1.0, a)
        draws = joint_means(np.stack([a, b]), rng, 300)
        low, high = percentile_interval(draws[:, 1] - draws[:, 0])
        covered += bool(low <= 0.05 <= high)
        width += float(high - low) / 300
    assert 0.90 <= covered / 300 <= 0.98
    unpaired = 2 * 1.96 * np.sqrt(2 * 0.25 / 200)
    assert width < 0.5 * unpaired
