"""The twin of a metric that left its trend."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from foreshock.alarms._twin import change_of, look_at_twin

X = np.arange(40.0)
FORM = (X >= 30) * 1.0


def verdicts(slope: float, jumps: float, noise: float, *, same_link: bool = False) -> dict[str, float]:
    """Share of each word where the metric jumps by 4 and the twin does so ``jumps`` times as much."""
    rng, said, worlds = np.random.default_rng(5), [], 150
    for _ in range(worlds):
        hard = 0.15 * X + 4 * FORM + rng.standard_normal(40)
        soft = slope * (0.15 * X + 4 * jumps * FORM) + noise * rng.standard_normal(40)
        said.append(look_at_twin(hard, soft, X, FORM, same_link=same_link).verdict)
    return {word: said.count(word) / worlds for word in ("break", "metric-only", "twin undecided")}


def test_the_change_is_that_of_ordinary_least_squares() -> None:
    z = np.random.default_rng(1).standard_normal(40) + FORM
    model = sm.OLS(z, np.column_stack([np.ones(40), X, FORM])).fit()
    found = change_of(z, X, FORM)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(tuple(model.conf_int()[2]))
    assert (found.value, found.noise) == pytest.approx((model.params[2], np.sqrt(model.scale)))


def test_a_twin_that_jumps_too_is_never_called_smooth() -> None:
    said = verdicts(0.6, 1.0, 0.5)
    assert said["break"] > 0.9
    assert said["metric-only"] < 0.03


def test_a_twin_that_stays_makes_it_metric_only() -> None:
    assert verdicts(0.6, 0.0, 0.5)["metric-only"] > 0.8


def test_a_noisy_twin_says_nothing() -> None:
    assert verdicts(0.6, 0.0, 6.0)["twin undecided"] > 0.8


def test_a_twin_that_never_moved_tells_only_on_the_same_link() -> None:
    assert verdicts(0.0, 0.0, 0.2)["twin undecided"] > 0.85
    assert verdicts(0.0, 0.0, 0.2, same_link=True)["metric-only"] > 0.85


def test_the_direction_of_the_twin_is_learned() -> None:
    rng = np.random.default_rng(6)
    hard = 0.15 * X + 4 * FORM + rng.standard_normal(40)
    loss = -0.6 * (0.15 * X + 4 * FORM) + 0.5 * rng.standard_normal(40)
    found = look_at_twin(hard, loss, X, FORM)
    assert found.verdict == "break"
    assert found.expected is not None
    assert found.expected < 0


def test_too_few_points_are_undecided() -> None:
    assert look_at_twin(X[:3], X[:3], X[:3], np.array([0, 0, 1.0])).verdict == "twin undecided"
