"""Does the product of per-position accuracies give the exact match?"""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.mirage import check_positions
from foreshock.simulate import token_world


def by_hand(positions: np.ndarray) -> list[float]:  # type: ignore[type-arg]
    out = []
    for point in positions:
        total = 0.0
        lengths = (~np.isnan(point)).sum(axis=1)
        for n in set(lengths.tolist()):
            rows = point[lengths == n][:, :n]
            total += len(rows) * float(np.prod([column.mean() for column in rows.T]))
        out.append(total / len(point))
    return out


@pytest.mark.parametrize("lengths", [3, [1, 2, 5]], ids=str)
def test_product_equals_brute_force(lengths: object) -> None:
    w = token_world(np.random.default_rng(0), items=300, points=4, lengths=lengths)  # type: ignore[arg-type]
    assert w.positions is not None
    told = check_positions(w.positions, np.random.default_rng(1), draws=50)
    assert told.product == pytest.approx(by_hand(w.positions))
    assert told.exact == pytest.approx(w.hard.mean(axis=1))
    assert told.gap == pytest.approx(told.exact - told.product)


def test_independent_tokens_leave_no_gap_and_the_interval_covers() -> None:
    covered = []
    for k in range(60):
        w = token_world(
            np.random.default_rng([2, k]), items=200, points=4, lengths=4, difficulty=0.0, surprise=0.0, noise=0.0
        )
        assert w.positions is not None
        told = check_positions(w.positions, np.random.default_rng(k), draws=200)
        covered.append((told.low <= 0) & (told.high >= 0))
    assert 0.90 <= np.mean(covered) <= 0.985


def test_dependence_inside_items_is_found_and_goes_when_pairing_goes() -> None:
    w = token_world(np.random.default_rng(3), items=600, points=4, lengths=5, dependence=0.5)
    assert w.positions is not None
    told = check_positions(w.positions, np.random.default_rng(4), draws=200)
    assert np.all(told.low[1:] > 0.02)
    # the same accuracies dealt anew over the items, position by position: errors no longer share an item
    mixed = w.positions.copy()
    rng = np.random.default_rng(5)
    for point in mixed:
        for column in point.T:
            rng.shuffle(column)
    apart = check_positions(mixed, np.random.default_rng(6), draws=200)
    assert apart.product == pytest.approx(told.product)
    assert np.all(np.abs(apart.gap) < 0.06)


def test_lengths_with_few_items_share_accuracies() -> None:
    rng = np.random.default_rng(7)
    positions = (rng.random((1, 200, 3)) < 0.8).astype(float)
    positions[0, :5, 2] = np.nan
    told = check_positions(positions, rng, draws=20)
    pooled = np.nanmean(positions[0], axis=0)
    rest = np.prod(positions[0, 5:].mean(axis=0))
    assert told.product[0] == pytest.approx((195 * rest + 5 * pooled[0] * pooled[1]) / 200)
