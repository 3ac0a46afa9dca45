"""Scores of a few models: the belief against other ways to the same numbers, its rate on worlds, and odd histories."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.curves import Curve, forecast
from foreshock.curves._score_posterior import Observed, draws, posterior, quantiles
from foreshock.curves._score_shapes import Shapes, design_along, shapes
from foreshock.curves._scores import MOST_POINTS, SHARES, came_on_link, score_prediction, share_ends
from foreshock.simulate import SCORE_KINDS, score_curve
from foreshock.stats import logit


def one_shape(floor: float = 0.0, ceiling: float = 1.0, noise: float = 1e-6) -> Shapes:
    columns = (np.array([value]) for value in (floor, ceiling, 0.0, noise))
    return Shapes(*columns, np.array([False]), np.zeros(1))


def observed(y: np.ndarray, items: float, place: np.ndarray, spread: tuple[float, float] = (50.0, 50.0)) -> Observed:
    design = design_along(place, one_shape())
    return Observed(design, y, np.full(y.size, items), np.array(spread), np.ones(y.size))


def history(y: list[float], items: float | None = 500.0, **more: object) -> Curve:
    x = np.geomspace(1e8, 1e9, len(y))
    counts = None if items is None else np.full(len(y), items)
    return Curve(x, np.array(y), counts, **({"low": 0.0, "high": 1.0} | more))  # type: ignore[arg-type]


def of_world(kind: str | None, number: int, **more: float) -> tuple[Curve, np.ndarray, np.ndarray]:
    drawn = score_curve(np.random.default_rng([31, number]), kind, **more)  # type: ignore[arg-type]
    curve = Curve(drawn.x, drawn.y, np.full(drawn.x.size, float(drawn.items)), low=0.0, high=1.0)
    return curve, drawn.ahead_x, drawn.ahead_y


def coverage(numbers: range, **more: float) -> float:
    """Share of curves of which one held-out score is inside its 90% interval, of those that have a forecast there."""
    inside = []
    for number in numbers:
        curve, x, y = of_world(None, number, **more)
        told = forecast(curve, x[:1], identify=False)
        if told.lacking[0] is None:
            inside.append(bool(told.low[0] <= y[0] <= told.high[0]))
    assert len(inside) > 0.6 * len(numbers)
    return float(np.mean(inside))


def errors(kind: str, numbers: range, **more: float) -> tuple[float, float]:
    """Mean error of the forecast and of the last value at the furthest place of worlds."""
    found = []
    for number in numbers:
        curve, x, y = of_world(kind, number, **more)
        told = score_prediction(curve, x[-1:])
        found.append([abs(logit.inverse(z)[0] - y[-1]) for z in (told.centre, told.last)])
    ours, still = np.mean(found, axis=0)
    return float(ours), float(still)


def test_a_straight_shape_without_noise_is_binomial_regression() -> None:
    from scipy.optimize import minimize

    place = np.linspace(0, 1, 6)
    right = np.array([45, 80, 120, 210, 250, 330])
    found = posterior(observed(right / 500, 500.0, place), one_shape())
    design = np.column_stack([np.ones(6), place - 1])

    def loss(at: np.ndarray) -> float:
        return float((500 * np.logaddexp(0, design @ at) - right * (design @ at)).sum())

    best = minimize(loss, np.zeros(2), tol=1e-10).x
    chance = 1 / (1 + np.exp(-design @ best))
    covariance = np.linalg.inv(design.T @ (design * (500 * chance * (1 - chance))[:, None]))
    assert found.mode[0] == pytest.approx(best, abs=0.02)
    assert found.root[0] @ found.root[0].T == pytest.approx(covariance, rel=0.05)


def test_draws_agree_with_integration_on_a_grid() -> None:
    place, y, items, noise = np.array([0.0, 0.4, 1.0]), np.array([0.35, 0.42, 0.6]), 300.0, 0.1
    shape = one_shape(0.25, 0.9, noise)
    seen = Observed(design_along(place, shape), y, np.full(3, items), np.array([3.0, 2.5]), np.ones(3))
    normals = np.random.default_rng(1).standard_normal((20_000, 4))
    share, weight = draws(posterior(seen, shape), design_along(np.array([1.5]), shape), np.nan, normals)
    low, middle, high = quantiles(share, weight, np.array([0.1, 0.5, 0.9]))[0]
    level, rise = np.meshgrid(np.linspace(-3, 3, 241), np.linspace(-4, 8, 241), indexing="ij")
    odds = level[..., None] + rise[..., None] * (np.append(place, 1.5) - 1)
    p = 0.25 + 0.65 / (1 + np.exp(-odds))
    variance = p * (1 - p) / items + (p * (1 - p) * noise) ** 2
    fit = -0.5 * ((y - p[..., :3]) ** 2 / variance[..., :3] + np.log(variance[..., :3])).sum(axis=-1)
    height = np.exp(fit - 0.5 * ((level / 3) ** 2 + (rise / 2.5) ** 2))
    z = np.log(p[..., 3] / (1 - p[..., 3]))[..., None] + noise * np.linspace(-3, 3, 13)
    mass = height[..., None] * np.exp(-0.5 * np.linspace(-3, 3, 13) ** 2)
    order = np.argsort(z, axis=None)
    reached = np.cumsum(mass.ravel()[order]) / mass.sum()
    exact = 1 / (1 + np.exp(-z.ravel()[order][np.searchsorted(reached, [0.1, 0.5, 0.9])]))
    assert (low, middle, high) == pytest.approx(tuple(exact), abs=0.012)


def test_evidence_prefers_the_shape_that_made_the_scores() -> None:
    place = np.linspace(0, 1, 8)
    bent = 0.05 + 0.9 / (1 + np.exp(-3 * (1 - np.exp(-3 * place)) + 1.5))
    grid = shapes()
    found = posterior(
        Observed(design_along(place, grid), bent, np.full(8, 1e4), np.array([3.0, 2.5]), np.ones(8)), grid
    )
    by_damping = {d: float(found.weight[(grid.damping == d) & ~grid.flat].sum()) for d in np.unique(grid.damping)}
    assert by_damping[2.0] + by_damping[4.0] > 0.9
    assert found.weight[grid.flat].sum() < 1e-6


def test_intervals_keep_their_rate_on_worlds() -> None:
    # of at most 24 curves: at a rate of .9 the chance of seven tenths or fewer inside is below 1 in 100
    assert coverage(range(24)) > 0.7


@pytest.mark.slow
@pytest.mark.parametrize("points", [3, 5, 8])
@pytest.mark.parametrize(("noise", "least"), [(0.05, 0.82), (0.15, 0.8), (0.3, 0.6)])
def test_intervals_keep_their_rate_by_models_and_noise(points: int, noise: float, least: float) -> None:
    # a guard against getting worse, set below what was measured: the promise is on average over curves, and three
    # models do not tell that they are as noisy as one curve in thirty (measured at noise .3: .74, .86, .87; see docs)
    assert coverage(range(1000, 1060), points=points, noise=noise) >= least


def test_a_trend_that_goes_on_is_foretold_better_than_by_the_last_value() -> None:
    ours, still = errors("along sizes", range(16), points=6, noise=0.05)
    assert ours < 0.9 * still


def test_where_there_is_no_trend_none_is_foretold() -> None:
    ours, still = errors("flat", range(12), points=6, noise=0.1)
    assert ours < 1.15 * still


def test_zero_of_n_is_inside_its_interval_and_nothing_is_foretold_above_it() -> None:
    told = forecast(history([0.0] * 5), [1.7e9])  # the next step; further on a score at its floor has no forecast
    assert told.low[0] == 0.0
    assert 0.0 < told.high[0] < 0.5
    assert told.value[0] < 0.01
    # more items say more
    assert forecast(history([0.0] * 5, items=20_000.0), [1.7e9]).high[0] < told.high[0]


def test_all_right_is_the_mirror_of_none_right() -> None:
    none, every = forecast(history([0.0] * 5), [1.7e9]), forecast(history([1.0] * 5), [1.7e9])
    assert every.high[0] == 1.0
    assert every.value[0] > 0.95
    assert none.value[0] < 0.05


def test_scores_below_guessing_do_not_jump_to_it() -> None:
    told = forecast(history([0.365, 0.36, 0.37, 0.365, 0.365], items=104.0, chance=0.5), [3e9])
    assert told.value[0] == pytest.approx(0.365, abs=0.03)


def test_the_scale_of_a_score_does_not_matter() -> None:
    shares, percent = [0.2, 0.3, 0.45, 0.5], [20.0, 30.0, 45.0, 50.0]
    one, hundred = forecast(history(shares), [2e9]), forecast(history(percent, low=0.0, high=100.0), [2e9])
    for name in ("value", "low", "high"):
        assert getattr(hundred, name)[0] == pytest.approx(100 * getattr(one, name)[0])


def test_a_stated_error_stands_for_items() -> None:
    y = np.array([0.2, 0.3, 0.4])
    stated = Curve(np.array([1e8, 3e8, 1e9]), y, stderr=np.sqrt(y * (1 - y) / 500), low=0.0, high=1.0)
    counted = Curve(stated.x, y, np.full(3, 500.0), low=0.0, high=1.0)
    at = np.array([2e9])
    assert score_prediction(stated, at).centre == pytest.approx(score_prediction(counted, at).centre)


def test_same_input_same_bytes_and_the_seed_moves_little() -> None:
    curve, at = history([0.2, 0.3, 0.45, 0.5]), np.array([2e9, 4e9])
    first, again, other = (score_prediction(curve, at, seed=seed) for seed in (0, 0, 1))
    for name in ("centre", "down", "up"):
        assert getattr(first, name).tobytes() == getattr(again, name).tobytes()
    assert first.centre == pytest.approx(other.centre, abs=0.05)
    assert sum(SHARES.values()) == pytest.approx(1)


def test_a_long_history_is_thinned_and_keeps_its_end() -> None:
    x = np.geomspace(1e6, 1e9, 20 * MOST_POINTS)
    y = 0.1 + 0.8 / (1 + np.exp(-0.8 * (np.log(x) - 18)))
    told = score_prediction(Curve(x, y, np.full(x.size, 1e4), low=0.0, high=1.0), np.array([2e9]))
    assert told.last[0] == pytest.approx(logit.forward(y[-1:])[0])
    assert logit.inverse(told.centre)[0] == pytest.approx(0.1 + 0.8 / (1 + np.exp(-0.8 * (np.log(2e9) - 18))), abs=0.02)


def test_repeats_at_one_place_and_unknown_items() -> None:
    x = np.array([1e8, 1e8, 3e8, 1e9, 1e9])
    told = score_prediction(Curve(x, np.array([0.2, 0.22, 0.3, 0.4, 0.42]), low=0.0, high=1.0), np.array([2e9]))
    assert np.isfinite([told.centre, told.down, told.up]).all()
    assert told.last[0] == pytest.approx(np.mean(logit.forward(np.array([0.4, 0.42]))))


def test_what_cannot_be_forecast_is_refused() -> None:
    with pytest.raises(ValueError, match="two different places"):
        score_prediction(history([0.5]), np.array([2e9]))
    with pytest.raises(ValueError, match="open end"):
        score_prediction(Curve(np.array([1.0, 2.0, 3.0]), np.ones(3), low=0.0), np.array([4.0]))
    assert forecast(history([0.3, 0.4]), [2e9]).refused is not None


def test_ends_within_half_an_item_are_the_ends() -> None:
    curve = history([0.1, 0.2, 0.3], items=50.0)
    low, high = share_ends(curve, np.array([0.009, 0.02]), np.array([0.9, 0.995]))
    assert low.tolist() == [0.0, 0.02]
    assert high.tolist() == [0.9, 1.0]
    assert came_on_link(curve, np.array([0.0, 1.0])) == pytest.approx(logit.forward(np.array([0.01, 0.99])))


def test_the_simulated_kinds_are_all_drawn_and_look_as_they_say() -> None:
    assert sum(SCORE_KINDS.values()) == pytest.approx(1)
    with pytest.raises(ValueError, match="no kind of score curve"):
        score_curve(np.random.default_rng(0), "wishful")
    for kind in SCORE_KINDS:
        drawn = score_curve(np.random.default_rng(5), kind, points=8, noise=0.0)
        assert drawn.kind == kind
        assert drawn.ahead_x.size == drawn.ahead_y.size == drawn.truth.size
        assert ((drawn.y >= 0) & (drawn.y <= 1)).all()
    assert np.ptp(score_curve(np.random.default_rng(5), "flat", noise=0.0).truth) == 0.0
