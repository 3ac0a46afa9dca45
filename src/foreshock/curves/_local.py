"""Local trends: forecasts from level and slope at the end of the history, and how far they may be off.

Level and slope are those of a continuous-time state-space model, an integrated Ornstein-Uhlenbeck process seen with
noise. Between two places at distance ``d`` the slope keeps ``exp(-phi d)`` of itself and the level moves by
``(1 - exp(-phi d)) / phi`` times the slope: with ``phi`` 0 that is a smoothing spline (Wahba 1978), with ``phi``
above 0 a damped trend (Gardner & McKenzie 1985) for steps of any length. How much the slope wanders for the noise of a
score is not known: forecasts are averaged over a grid of ratios by their likelihood. Nothing is assumed of the whole
curve, so these forecasts fail elsewhere than fitted laws do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DAMPING = {"straight trend": 0.0, "damped trend": 0.3, "strongly damped trend": 1.0}
"""Local forms with their ``phi``: per factor of e on a log axis, per sixth of the history's length on a linear one."""
RATIOS = 10.0 ** np.arange(-4.0, 3.1, 0.5)
"""Variance of the slope's wandering (per cubed unit) over that of a score: from one straight line through everything to
a curve that follows each of ten points in a nat. Wider did worse on simulated curves and on published ones."""
LEAST = 3
"""Different places that a trend needs: two make its line and one its noise."""
_CLIP = 4.0


@dataclass(frozen=True, slots=True)
class LocalTrend:
    """A local forecast on the link.

    Attributes:
        z: Forecasts, shape (targets,).
        sd: Standard deviation of a new score about them if the model holds, shape (targets,).
        evidence: Log likelihood of the best ratio, up to a constant that all ``phi`` of one history share.
    """

    z: Floats
    sd: Floats
    evidence: float


def local_trends(t: Floats, z: Floats, at: Floats, *, unit: float = 1.0) -> dict[str, LocalTrend]:
    """Local forecasts at places beyond the last.

    Args:
        t: Places on the scale on which the axis is read, ascending, equal ones are repeats, shape (points,).
        z: Scores on the link, finite, shape (points,).
        at: Places to forecast, shape (targets,).
        unit: Length in which the damping and the wandering count.

    Returns:
        Forecasts by name; none where there are fewer than :data:`LEAST` different places.

    Examples:
        >>> found = local_trends(np.arange(6.0), 1.0 - 0.5 * np.arange(6.0), np.array([6.0]))
        >>> {name: round(float(trend.z[0]), 3) for name, trend in found.items()}
        {'straight trend': -2.0, 'damped trend': -1.876, 'strongly damped trend': -1.683}
    """
    places, mean, count = merged(t / unit, z)
    if places.size < LEAST:
        return {}
    ahead = at / unit - places[-1]
    return {name: _trend(places, mean, count, ahead, phi) for name, phi in DAMPING.items()}


def last_value(t: Floats, z: Floats) -> float:
    """Mean of the scores at the last place: persistence."""
    return float(np.mean(z[t == t[-1]]))


def merged(t: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    """Different places, the mean score at each and how many scores that is."""
    places, inverse, count = np.unique(t, return_inverse=True, return_counts=True)
    return places, np.bincount(inverse, z) / count, count.astype(float)


def _trend(t: Floats, z: Floats, count: Floats, ahead: Floats, phi: float) -> LocalTrend:
    """Filter twice: the second time, what is beyond four standard deviations moves the state no further than that."""
    plain = _filtered(t, z, count, phi, np.inf)
    state = plain if z.size < 6 else _filtered(t, z, count, phi, _CLIP**2 * plain.variance)
    gain, _, cov = _step(ahead[:, None], phi)
    centre = state.level + gain * state.slope
    spread = state.p11 + 2 * gain * state.p12 + gain**2 * state.p22 + RATIOS * cov[0] + 1.0
    weight = np.exp(state.evidence - state.evidence.max())
    weight /= weight.sum()
    mean = np.asarray(centre @ weight)
    variance = (spread * state.variance + (centre - mean[:, None]) ** 2) @ weight
    return LocalTrend(mean, np.sqrt(variance), float(state.evidence.max()))


@dataclass(slots=True)
class _State:
    """Level, slope, their covariance in units of the noise variance, that variance and the likelihood, by ratio."""

    level: Floats
    slope: Floats
    p11: Floats
    p12: Floats
    p22: Floats
    variance: Floats
    evidence: Floats


def _step(d: Floats | float, phi: float) -> tuple[Floats, Floats, tuple[Floats, Floats, Floats]]:
    """What a step of length ``d`` adds of the slope, keeps of it, and the covariance of what is new, per ratio 1."""
    d = np.asarray(d, float)
    if phi == 0.0:
        return d, np.ones_like(d), (d**3 / 3, d**2 / 2, d)
    keep = np.exp(-phi * d)
    gain = -np.expm1(-phi * d) / phi
    q22 = -np.expm1(-2 * phi * d) / (2 * phi)
    # the difference of nearly equal numbers, where the step is short: its series instead
    q11 = np.where(phi * d < 1e-2, d**3 / 3 * (1 - 0.75 * phi * d), (d - 2 * gain + q22) / phi**2)
    return gain, keep, (q11, gain**2 / 2, q22)


def _filtered(t: Floats, z: Floats, count: Floats, phi: float, limit: Floats | float) -> _State:
    """Kalman's filter over all ratios at once, begun exactly by the first two places.

    ``limit`` bounds the squared innovation over its variance in units of the noise variance.
    """
    gap = t[1] - t[0]
    noise = 1.0 / count
    one = np.ones_like(RATIOS)
    s = _State(
        z[1] * one,
        (z[1] - z[0]) / gap * one,
        noise[1] * one,
        noise[1] / gap * one,
        (noise[0] + noise[1]) / gap**2 + RATIOS * gap / 3,
        one,
        0 * one,
    )
    total = np.zeros_like(RATIOS)
    steps = [_step(d, phi) for d in np.diff(t)]
    for i in range(2, z.size):
        gain, keep, (q11, q12, q22) = steps[i - 1]
        level = s.level + gain * s.slope
        slope = keep * s.slope
        p11 = s.p11 + 2 * gain * s.p12 + gain**2 * s.p22 + RATIOS * q11
        p12 = keep * (s.p12 + gain * s.p22) + RATIOS * q12
        p22 = keep**2 * s.p22 + RATIOS * q22
        variance = p11 + noise[i]
        new = z[i] - level
        new = new * np.sqrt(np.minimum(1.0, limit * variance / np.maximum(new**2, 1e-300)))
        k1, k2 = p11 / variance, p12 / variance
        s.level, s.slope = level + k1 * new, slope + k2 * new
        s.p11, s.p12, s.p22 = p11 * (1 - k1), p12 * (1 - k1), p22 - k2 * p12
        s.evidence = s.evidence - 0.5 * np.log(variance)
        total = total + new**2 / variance
    seen = z.size - 2
    # a curve without noise: what rounding leaves of it, not zero
    s.variance = (total + (1e-9 * max(float(np.ptp(z)), 1e-12)) ** 2) / seen
    s.evidence = s.evidence - 0.5 * seen * np.log(s.variance)
    return s
