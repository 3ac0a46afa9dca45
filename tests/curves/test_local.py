"""Local trends against the dense Gaussian computation of the same model, and what they must not do."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.curves._local import DAMPING, RATIOS, local_trends, without_spikes


def dense(t: np.ndarray, z: np.ndarray, at: float, phi: float, ratio: float) -> tuple[float, float, float]:
    """Mean, variance (noise variance 1) and log likelihood given the first two points, by the joint Gaussian law.

    State at the first two points is fixed by them as the filter does: level and slope with the noise of both.
    """
    steps = np.diff(np.append(t[1:], at))
    noise = np.eye(2)
    gap = t[1] - t[0]
    mean = np.array([z[1], (z[1] - z[0]) / gap])
    jac = np.array([[0.0, 1.0], [-1 / gap, 1 / gap]])
    cov = jac @ noise @ jac.T + np.diag([0.0, ratio * gap / 3])
    # joint law of the states at t[2:], at: built up by brute force
    means, blocks = [], {}
    moves = []
    for d in steps:
        if phi == 0:
            move, q = np.array([[1, d], [0, 1]]), ratio * np.array([[d**3 / 3, d**2 / 2], [d**2 / 2, d]])
        else:
            s = np.linspace(0, d, 4001)
            g, e = (1 - np.exp(-phi * s)) / phi, np.exp(-phi * s)
            move = np.array([[1, g[-1]], [0, e[-1]]])
            q = ratio * np.array(
                [[np.trapezoid(g * g, s), np.trapezoid(g * e, s)], [np.trapezoid(g * e, s), np.trapezoid(e * e, s)]]
            )
        mean, cov = move @ mean, move @ cov @ move.T + q
        means.append(mean)
        moves.append(move)
        blocks[len(means) - 1] = cov
    n = len(means)
    joint = np.zeros((n, n))
    for i in range(n):
        carry = np.eye(2)
        for j in range(i, n):
            carry = moves[j] @ carry if j > i else carry
            joint[i, j] = joint[j, i] = (blocks[i] @ carry.T)[0, 0]
    level = np.array([m[0] for m in means])
    seen = joint[:-1, :-1] + np.eye(n - 1)
    gain = np.linalg.solve(seen, joint[:-1, -1])
    off = z[2:] - level[:-1]
    value = level[-1] + gain @ off
    spread = joint[-1, -1] + 1 - gain @ joint[:-1, -1]
    size = off @ np.linalg.solve(seen, off) / off.size
    return value, spread * size, -0.5 * np.linalg.slogdet(seen)[1] - 0.5 * off.size * np.log(size)


@pytest.mark.parametrize("name", list(DAMPING))
def test_the_filter_is_the_gaussian_law_of_its_model(name: str) -> None:
    rng = np.random.default_rng(5)
    t = np.cumsum(rng.uniform(0.2, 1.0, 9))
    z = -0.3 * t + 0.05 * rng.normal(size=9)
    found = local_trends(t, z, np.array([t[-1] + 0.7]))[name]
    told = np.array([dense(t, z, t[-1] + 0.7, DAMPING[name], ratio) for ratio in RATIOS])
    weight = np.exp(told[:, 2] - told[:, 2].max())
    weight /= weight.sum()
    mean = weight @ told[:, 0]
    assert found.z[0] == pytest.approx(mean, abs=1e-6)
    assert found.sd[0] ** 2 == pytest.approx(weight @ (told[:, 1] + (told[:, 0] - mean) ** 2), rel=1e-4)


def test_unit_of_score_and_axis_do_not_matter() -> None:
    rng = np.random.default_rng(2)
    t, at = np.sort(rng.uniform(0, 6, 20)), np.array([6.5, 7.5])
    z = np.exp(-t) + 0.01 * rng.normal(size=20)
    plain = local_trends(t, z, at)
    other = local_trends(100 + 3 * t, 5 - 40 * z, 100 + 3 * at, unit=3.0)
    for name in DAMPING:
        np.testing.assert_allclose(other[name].z, 5 - 40 * plain[name].z, rtol=1e-6)
        np.testing.assert_allclose(other[name].sd, 40 * plain[name].sd, rtol=1e-5)


def test_a_model_that_holds_is_covered_at_its_own_rate() -> None:
    rng = np.random.default_rng(11)
    inside = []
    for _ in range(200):
        t = np.linspace(0.0, 5.0, 26)
        z = 1.0 - 0.4 * t + 0.02 * rng.normal(size=26)
        found = local_trends(t[:25], z[:25], t[25:])["straight trend"]
        inside.append(abs(found.z[0] - z[25]) <= 1.645 * found.sd[0])
    assert 0.84 <= np.mean(inside) <= 0.96


def test_one_wild_score_moves_little() -> None:
    rng = np.random.default_rng(3)
    t = np.linspace(0, 5, 30)
    z = -0.4 * t + 0.01 * rng.normal(size=30)
    wild = z.copy()
    wild[22] += 3.0
    for name in DAMPING:
        plain, shaken = (local_trends(t, one, np.array([5.5]))[name].z[0] for one in (z, wild))
        assert abs(plain - shaken) < 0.02, name


def test_damping_bounds_the_move() -> None:
    t = np.arange(8.0)
    found = local_trends(t, -t, np.array([1e4]))
    assert found["strongly damped trend"].z[0] > -7.0 - 1.01
    assert found["straight trend"].z[0] == pytest.approx(-1e4, rel=1e-6)


def test_repeats_and_too_few_places() -> None:
    assert local_trends(np.array([0.0, 0.0, 1.0]), np.zeros(3), np.ones(1)) == {}
    once = local_trends(np.arange(5.0), np.arange(5.0) ** 0.5, np.array([5.0]))
    twice = local_trends(np.repeat(np.arange(5.0), 2), np.repeat(np.arange(5.0) ** 0.5, 2), np.array([5.0]))
    assert once["damped trend"].z == pytest.approx(twice["damped trend"].z, abs=0.01)


def test_a_true_bend_is_no_spike() -> None:
    t = np.linspace(0, 5, 30)
    z = -0.1 * t - 3.0 * np.maximum(t - 3.0, 0) + 1e-4 * np.random.default_rng(1).normal(size=30)
    assert without_spikes(t, z).tolist() == z.tolist()
    step = np.where(t > 3, z - 1.0, z)
    assert without_spikes(t, step).tolist() == step.tolist()
