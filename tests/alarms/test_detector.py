"""The detector against a loop over its definition, its bound, and that a frozen baseline voids it."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.alarms._detector import CLIP, JUMPS, PACE, SLOPES, by_change, evidence, shiryaev_roberts, templates
from foreshock.alarms._residuals import design_of, recursion
from foreshock.alarms._threshold import threshold

BASELINE, LOOKS = 8, 20


def by_definition(u: np.ndarray, baseline: int) -> np.ndarray:
    """For every look: the mean over changes of the sum over places of products of likelihood ratios."""
    shapes, looks, found = templates(baseline, u.size), u.size, []
    for n in range(looks):
        total = 0.0
        for k in range(len(shapes)):
            for sign in (1, -1):
                for place in range(n + 1):
                    product = 1.0
                    for j in range(place, n + 1):
                        mean = sign * shapes[k, place, j]
                        product *= np.exp(mean * np.clip(u[j], -CLIP, CLIP) - mean**2 / 2)
                    total += product
        found.append(total / (2 * len(shapes)))
    return np.array(found)


def test_it_is_what_its_definition_says() -> None:
    u = np.random.default_rng(1).standard_normal((3, 10)) * 2
    for row, values in zip(u, shiryaev_roberts(u, BASELINE), strict=True):
        assert values == pytest.approx(by_definition(row, BASELINE))


def test_templates_are_the_residuals_of_a_change_without_noise() -> None:
    shapes = templates(BASELINE, LOOKS)
    points = np.arange(float(BASELINE + LOOKS))
    jump = recursion(JUMPS[1] * (points >= BASELINE + 5), design_of(points)).w[BASELINE:]
    slope = recursion(SLOPES[0] * np.clip(points - BASELINE - 4, 0, None), design_of(points)).w[BASELINE:]
    assert shapes[1, 5] == pytest.approx(jump, abs=1e-9)
    assert shapes[len(JUMPS), 5] == pytest.approx(slope, abs=1e-9)
    assert templates(BASELINE, 9) == pytest.approx(shapes[:, :9, :9], abs=1e-9)


def test_without_clipping_its_expectation_is_the_number_of_looks() -> None:
    # exact in the normal class: this is what makes looks over threshold a bound
    rng = np.random.default_rng(2)
    values = shiryaev_roberts(rng.standard_normal((20000, 6)), BASELINE, clip=np.inf)
    assert values.mean(axis=0) == pytest.approx(np.arange(1, 7), rel=0.12)
    assert np.mean(values.max(axis=1) >= 6 / 0.05) <= 0.05


def test_evidence_is_the_detector_by_the_number_of_looks() -> None:
    u = np.random.default_rng(5).standard_normal((2, 7))
    assert evidence(u, BASELINE) * (np.arange(1, 8) + PACE) == pytest.approx(shiryaev_roberts(u, BASELINE))


def test_directions_mirror_each_other() -> None:
    u = np.random.default_rng(3).standard_normal((2, 12))
    assert by_change(-u, BASELINE)[0] == pytest.approx(by_change(u, BASELINE)[1])


def frozen_scores(z: np.ndarray, first: int) -> np.ndarray:
    """Scores of looks from ``first`` on against the line of the points before it, as a frozen baseline has them."""
    x = np.arange(float(z.size))
    u = recursion(z, design_of(x)).scores()
    m = BASELINE + first
    slope, start = np.polyfit(x[:m], z[:m], 1)
    left = z - start - slope * x
    noise = np.sqrt(left[:m] @ left[:m] / (m - 2))
    past = x[:m] - x[:m].mean()
    error = noise * np.sqrt(1 + 1 / m + (x - x[:m].mean()) ** 2 / (past @ past))
    u[m:] = (left / error)[m:]
    return u[BASELINE:]


def test_a_baseline_frozen_after_first_evidence_breaks_the_rate() -> None:
    # one error of the frozen line is in every later residual: they are no longer independent
    rng, looks, series = np.random.default_rng(4), 60, 300
    z = rng.standard_normal((series, BASELINE + looks))
    free = evidence(recursion(z, design_of(np.arange(z.shape[1] * 1.0))).scores()[:, BASELINE:], BASELINE)
    limit = threshold(BASELINE, looks, 0.05)
    frozen = 0
    for row, values in zip(z, free, strict=True):
        begun = np.flatnonzero(values >= 1)
        u = frozen_scores(row, int(begun[0])) if begun.size else None
        frozen += int((values if u is None else evidence(u, BASELINE)).max() >= limit)
    assert np.mean(free.max(axis=1) >= limit) < 0.08
    assert frozen / series > 0.15
