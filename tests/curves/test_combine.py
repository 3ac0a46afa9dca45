"""Combination of forms and learning from other curves: oracles, planted forms, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.curves import Curve
from foreshock.curves._combine import (
    ALL_FORMS,
    MOST_PLACES,
    PERSISTENCE,
    Candidates,
    candidates,
    combine,
    features_of,
    scale_of,
    thinned,
)
from foreshock.curves._learn import (
    Known,
    chosen_weights,
    curve_errors,
    error_products,
    learned_scale,
    learned_weights,
)

EQUAL = dict.fromkeys(ALL_FORMS, 1.0)


def made(z: np.ndarray, names: tuple[str, ...] = ALL_FORMS) -> Candidates:
    targets = z.shape[1]
    return Candidates(names, z, 0.0, np.ones(targets), np.ones(targets))


def test_the_mean_is_the_weighted_one_on_the_link() -> None:
    z = np.random.default_rng(0).normal(size=(len(ALL_FORMS), 3))
    weights = dict(zip(ALL_FORMS, np.arange(1.0, len(ALL_FORMS) + 1), strict=True))
    centre, spread, used = combine(made(z), weights)
    w = np.arange(1.0, len(ALL_FORMS) + 1)
    np.testing.assert_allclose(centre, np.average(z, axis=0, weights=w))
    np.testing.assert_allclose(spread**2, np.average((z - centre) ** 2, axis=0, weights=w))
    assert sum(used.values()) == pytest.approx(1.0)


def test_a_form_without_a_forecast_gives_its_weight_to_the_others() -> None:
    z = np.ones((len(ALL_FORMS), 2))
    z[0, 1] = np.nan
    z[1:] *= np.arange(1.0, len(ALL_FORMS))[:, None]
    centre, _, used = combine(made(z), EQUAL)
    assert ALL_FORMS[0] not in used
    assert centre[0] == pytest.approx(np.mean(np.arange(1.0, len(ALL_FORMS))))
    with pytest.raises(ValueError, match="no form"):
        combine(made(np.full((len(ALL_FORMS), 1), np.nan)), EQUAL)


def test_one_runaway_form_moves_little() -> None:
    z = np.random.default_rng(1).normal(size=(len(ALL_FORMS), 1)) * 0.01
    wild = z.copy()
    wild[3] = 1e6
    assert abs(combine(made(wild), EQUAL)[0][0] - combine(made(z), EQUAL)[0][0]) < 0.05


def test_all_lengths_double_with_the_curve() -> None:
    rng = np.random.default_rng(4)
    x = np.geomspace(1, 1e3, 15)
    y = 3 - np.log(x) / 4 + 0.05 * rng.normal(size=15)
    at = np.array([1.3e3, 2e3])
    lengths = []
    for size in (1.0, 2.0):
        found = candidates(Curve(x, 10 + size * y), at)
        centre, spread, _ = combine(found, EQUAL)
        lengths.append(features_of(found, centre, spread))
    np.testing.assert_allclose(lengths[1], 2 * lengths[0], rtol=1e-3)


def test_wider_where_forms_disagree() -> None:
    features = np.array([[1.0, 1.0], [0.1, 2.0], [0.0, 0.0], [0.0, 0.0]])
    near, far = scale_of(features, np.array([1.0, 0.5, 0.0, 0.0]))
    assert far > near
    assert far == pytest.approx(np.hypot(1.0, 1.0))


def test_every_form_takes_part_and_persistence_is_the_last_value() -> None:
    x = np.geomspace(1e6, 1e9, 14)
    y = 1.2 + 300 * x**-0.35 * np.exp(0.01 * np.random.default_rng(0).normal(size=14))
    found = candidates(Curve(x, y, low=0.0), np.array([2e9]))
    assert found.names == ALL_FORMS
    rows = dict(zip(found.names, found.z[:, 0], strict=True))
    assert rows[PERSISTENCE] == pytest.approx(np.log(y[-1]))
    # the law that made the curve is among them, and all that can follow it come near
    truth = np.log(1.2 + 300 * 2e9**-0.35)
    assert rows["m2"] == pytest.approx(truth, abs=0.02)
    assert rows["bnsl1"] == pytest.approx(truth, abs=0.05)


def test_a_long_history_is_thinned_to_the_same_curve() -> None:
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(1.0, 1e4, 5000))
    short = thinned(Curve(x, 1 + x**-0.5 + 0.001 * rng.normal(size=5000), low=0.0))
    assert short.points <= MOST_PLACES
    assert np.abs(short.y - (1 + short.x**-0.5)).max() < 0.02


def world(rng: np.random.Generator, best: int | None, groups: int, each: int) -> list[Known]:
    """Forms with independent errors; one of them with a tenth of the others' error."""
    size = np.ones(len(ALL_FORMS))
    if best is not None:
        size[best] = 0.1
    return [
        Known(made(size[:, None] * rng.normal(size=(len(ALL_FORMS), 2))), np.zeros(2), np.full(2, 0.1), f"group {g}")
        for g in range(groups)
        for _ in range(each)
    ]


def test_error_of_a_mean_is_the_brute_force_one() -> None:
    rng = np.random.default_rng(3)
    known = world(rng, None, 2, 3)
    weight = rng.dirichlet(np.ones(len(ALL_FORMS)))
    expected = [np.sqrt(np.mean((weight @ one.found.z - one.came) ** 2)) for one in known]
    np.testing.assert_allclose(curve_errors(weight, error_products(known)), expected)


def test_a_planted_better_form_gets_the_weight() -> None:
    known = world(np.random.default_rng(5), 2, 6, 12)
    products, groups = error_products(known), [one.group for one in known]
    weights, strength = chosen_weights(products, groups)
    assert np.isfinite(strength)
    assert weights.argmax() == 2
    assert weights[2] > 3 / len(ALL_FORMS)
    assert curve_errors(weights, products).mean() < 0.8 * curve_errors(np.full(11, 1 / 11), products).mean()


def test_forms_that_are_alike_keep_equal_weights() -> None:
    kept = []
    for seed in range(6):
        known = world(np.random.default_rng(100 + seed), None, 6, 10)
        kept.append(np.isinf(chosen_weights(error_products(known), [one.group for one in known])[1]))
    assert np.mean(kept) >= 0.8  # chance alone passes a two standard errors line now and then


def test_few_groups_learn_no_weights() -> None:
    known = world(np.random.default_rng(6), 2, 2, 20)
    assert np.isinf(chosen_weights(error_products(known), [one.group for one in known])[1])


def test_weights_are_the_best_of_a_brute_force_search() -> None:
    known = world(np.random.default_rng(7), 4, 4, 10)
    products = error_products(known)
    equal = np.full(len(ALL_FORMS), 1 / len(ALL_FORMS))
    base = curve_errors(equal, products).mean()

    def loss(w: np.ndarray) -> float:
        return float(curve_errors(w, products).mean() / base + len(w) * np.sum((w - equal) ** 2))

    found = loss(learned_weights(products, 1.0))
    rng = np.random.default_rng(0)
    tried = rng.dirichlet(np.full(len(ALL_FORMS), 0.5), 4000)
    near = np.abs(learned_weights(products, 1.0) + 0.01 * rng.normal(size=(500, len(ALL_FORMS))))
    near /= near.sum(axis=1, keepdims=True)
    assert found <= min(loss(w) for w in (*tried, *near)) + 1e-6


def test_the_scale_finds_what_errors_are_proportional_to() -> None:
    rng = np.random.default_rng(8)
    features = [np.abs(rng.normal(size=(4, 3))) + 0.1 for _ in range(300)]
    errors = [np.sqrt((1.5 * f[0]) ** 2 + (0.8 * f[2]) ** 2) * rng.laplace(size=3) for f in features]
    parts = learned_scale(features, errors)
    assert parts[0] == pytest.approx(1.5, rel=0.25)
    assert parts[2] == pytest.approx(0.8, rel=0.35)
    assert max(parts[1], parts[3]) < 0.5
    few = learned_scale(features[:50], errors[:50])
    assert few[3] == 0.0
    assert few[0] > 1.0
    assert all(a == b for a, b in zip(parts, learned_scale(features, errors), strict=True))
