"""How many would do: held against simulation, against exact enumeration, and against the rule for jumps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from foreshock.lint import _power as power

DRAWS = 3_000


def t_tests(z: np.ndarray, place: np.ndarray) -> np.ndarray:
    """t of every interval's excess by ordinary least squares with a step there, shape (draws, intervals)."""
    found = []
    w = np.diff(place)
    for i in range(w.size):
        step = (np.arange(place.size) > i).astype(float)
        design = np.column_stack([np.ones_like(place), place, step])
        left = z - z @ (design @ np.linalg.pinv(design)).T
        variance = (left**2).sum(axis=1) / (place.size - 3)
        allowed = max(2 * w[i], w[i] + 0.25 * (1 - w[i]))
        c = np.zeros(place.size)
        c[i + 1] += 1
        c[i] -= 1
        c[-1] -= allowed
        c[0] += allowed
        found.append(z @ c / np.sqrt(variance * (c @ c)))
    return np.column_stack(found)


@pytest.mark.parametrize(("points", "scatter"), [(5, 0.03), (6, 0.05), (8, 0.08), (10, 0.05)])
def test_power_is_what_simulation_gives(points: int, scatter: float) -> None:
    rng = np.random.default_rng(points)
    place = np.sort(np.concatenate([[0, 1], rng.uniform(0.1, 0.9, points - 2)]))
    w = np.diff(place)
    limit = stats.t.ppf(1 - 0.05 / w.size, points - 3)
    expected = 0.0
    for i in range(w.size):
        curve = 0.2 * place + 0.8 * (np.arange(points) > i)
        z = curve + scatter * rng.standard_normal((DRAWS, points))
        expected += w[i] * (t_tests(z, place)[:, i] > limit).mean()
    assert power.step_power(list(place), [1] * points, scatter) == pytest.approx(expected, abs=0.06)


@pytest.mark.parametrize("points", [5, 8])
def test_the_test_keeps_its_level_on_smooth_curves(points: int) -> None:
    rng = np.random.default_rng(1)
    place = np.linspace(0, 1, points)
    limit = stats.t.ppf(1 - 0.05 / (points - 1), points - 3)
    for curve in (place, np.minimum(1, 2 * place), 1 / (1 + np.exp(-6 * (place - 0.5)))):
        z = curve + 0.05 * rng.standard_normal((DRAWS, points))
        assert (t_tests(z, place) > limit).any(axis=1).mean() <= 0.06


def test_more_noise_and_a_smaller_step_cost_power_and_seeds_bring_it() -> None:
    place = [float(x) for x in np.linspace(0, 1, 7)]
    by_noise = [power.step_power(place, [1] * 7, s) for s in (0.02, 0.05, 0.1, 0.3)]
    assert by_noise == sorted(by_noise, reverse=True)
    assert by_noise[0] > 0.95
    assert power.step_power(place, [1] * 7, 0.05, step=0.5) < by_noise[1]
    assert power.step_power(place, [4] * 7, 0.1) > by_noise[2]
    assert power.step_power(place[:3], [1] * 3, 0.01) == 0


def test_models_enough_is_the_first_that_is() -> None:
    n = power.models_enough(0.05)
    assert n is not None

    def at(count: int) -> float:
        return power.step_power(list(np.linspace(0, 1, count)), [1] * count, 0.05)

    assert at(n) >= 0.8 > at(n - 1)


@pytest.mark.parametrize("gap", [0.2, 0.34, 0.45, 0.7])
def test_the_hidden_share_is_where_the_smooth_class_ends(gap: float) -> None:
    share = power.hidden_share(gap)
    rise = gap + share * (1 - gap)
    assert rise <= 2 * gap + 1e-12
    if share < 1:
        assert gap + (share + 0.01) * (1 - gap) > 2 * gap


def test_places_in_a_gap_make_every_step_visible() -> None:
    low, high = 1e8, 1e12
    span = 0.8
    inside = power.between(low, high, span, 0.8, log=True)
    edges = np.log([low, *inside, high])
    widths = np.diff(edges) / (edges[-1] - edges[0]) * span
    assert all(power.hidden_share(float(width)) < 0.8 for width in widths)


@pytest.mark.parametrize("headroom", [0.3, 0.05, 0.011])
def test_labels_to_check_by_the_exact_binomial(headroom: float) -> None:
    m = power.labels_enough(headroom)
    assert m is not None
    assert stats.binom.pmf(0, m, headroom) <= 0.05 < stats.binom.pmf(0, m - 1, headroom)
    assert power.labels_enough(1.0) is None


def test_items_between_bounds_the_simulated_power() -> None:
    least, most = power.items_between(0.1)
    rng = np.random.default_rng(3)

    def found(items: int, discordant: float) -> float:
        up = (discordant + 0.1) / 2
        draws = rng.multinomial(items, [up, discordant - up, 1 - discordant], size=3_000)
        return float((_mcnemar(draws[:, 0], draws[:, 1]) < 0.05).mean())

    assert found(most, 0.5) == pytest.approx(0.8, abs=0.04)
    assert found(least, 0.1000001) >= 0.76


def _mcnemar(up: np.ndarray, down: np.ndarray) -> np.ndarray:
    return np.asarray(2 * stats.norm.sf(np.abs(up - down) / np.sqrt(np.maximum(up + down, 1))))


def test_repeats_enough_makes_the_two_variances_equal() -> None:
    assert power.repeats_enough(0.05, 0.2) == 4
    assert power.repeats_enough(0.0, 0.2) is None


@pytest.mark.slow
@pytest.mark.parametrize(("points", "scatter"), [(5, 0.04), (6, 0.077), (8, 0.077), (10, 0.1)])
def test_power_is_near_that_of_the_verdict_on_jumps(points: int, scatter: float) -> None:
    """The verdict is calibrated and has conditions that the formula leaves out; a drift apart must not go unseen."""
    from foreshock.mirage import _design, _needs

    place = np.linspace(0, 1, points)
    noise = _needs.Noise(scatter, 0.0)
    verdict = _needs.power(_design.Design.of(place), noise, noise, 0.5)
    assert power.step_power(list(place), [1] * points, scatter) == pytest.approx(verdict, abs=0.25)


def constants() -> Sequence[tuple[float, float]]:
    """Ours, and those of the verdict on jumps: rooms of one floor cannot import each other, so a test compares them."""
    from foreshock.mirage import _case, _needs, _share

    return (
        (power.RATIO, _share.RATIO),
        (power.SHARE, _share.SHARE),
        (power.ALPHA, _share.ALPHA),
        (power.STEP, _needs.STEP),
        (power.POWER, _needs.POWER),
        (power.POINTS, _case.POINTS),
    )


def test_the_constants_are_those_of_the_verdict_on_jumps() -> None:
    assert all(own == theirs for own, theirs in constants())
