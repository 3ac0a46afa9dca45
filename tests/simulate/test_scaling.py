"""Simulated scaling curves: what the prior says of them is true, and each seed gives one curve."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.simulate import SCALING_KINDS, scaling_curve


@pytest.mark.parametrize("kind", SCALING_KINDS)
def test_every_kind_is_what_the_prior_says(kind: str) -> None:
    for seed in range(25):
        drawn = scaling_curve(np.random.default_rng(seed), kind)
        span, reach = np.log(drawn.x[-1] / drawn.x[0]), np.log(drawn.ahead_x[-1] / drawn.x[-1])
        assert drawn.kind == kind
        assert 4 <= drawn.x.size <= 80
        assert 1.0 - 1e-9 <= span <= 9.0 + 1e-9
        assert reach <= min(3.0, span) + 1e-9
        assert (np.diff(np.concatenate([drawn.x, drawn.ahead_x])) > 0).all()
        for values in (drawn.y, drawn.ahead_y, drawn.truth):
            assert np.isfinite(values).all()
            assert (values > 0).all()


def test_a_seed_is_a_curve_and_the_kinds_are_mixed() -> None:
    one, two = (scaling_curve(np.random.default_rng(7)) for _ in range(2))
    assert one.y.tolist() == two.y.tolist()
    drawn = {scaling_curve(np.random.default_rng(seed)).kind for seed in range(300)}
    assert drawn == set(SCALING_KINDS)


def test_noise_is_as_large_as_it_says() -> None:
    off = []
    for seed in range(400):
        drawn = scaling_curve(np.random.default_rng(seed), "flat")
        off.append(np.log(drawn.ahead_y[0] / drawn.truth[0]) / drawn.noise)
    assert 0.8 < np.std(off) < 1.3
    assert abs(np.mean(off)) < 0.2


def test_shapes_differ_as_named() -> None:
    falls = {
        kind: np.median(
            [
                np.log(c.y[0] / c.truth[-1])
                for c in (scaling_curve(np.random.default_rng(seed), kind) for seed in range(40))
            ]
        )
        for kind in ("flat", "power law", "sharp turn")
    }
    assert abs(falls["flat"]) < 0.05
    assert falls["power law"] > 0.2
    assert falls["sharp turn"] > falls["power law"]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no kind of scaling curve"):
        scaling_curve(np.random.default_rng(0), "straight up")
