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
_PHI = np.repeat(list(DAMPING.values()), RATIOS.size)
_RATIO = np.tile(RATIOS, len(DAMPING))
_SPIKE = 6.0


@dataclass(frozen=True, slots=True)
class LocalTrend:
    """A local forecast on the link.

    Attributes:
        z: Forecasts, shape (targets,).
        sd: Standard deviation of a new score about them if the model holds, shape (targets,).
    """

    z: Floats
    sd: Floats


def local_trends(t: Floats, z: Floats, at: Floats, *, unit: float = 1.0) -> dict[str, LocalTrend]:
    """Local forecasts at places beyond the last.

    Args:
        t: Places on the scale on which the axis is read, ascending, equal ones are repeats, shape (points,).
        z: Scores on the link, finite, shape (points,).
        at: Places to forecast, shape (targets,); one within the history counts as its end.
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
    mean = without_spikes(places, mean)
    state = _filtered(places, mean, count)
    ahead = np.maximum(at / unit - places[-1], 0.0)[:, None]
    gain, _, (new, _, _) = _step(ahead)
    centre = state.level + gain * state.slope
    spread = state.p11 + 2 * gain * state.p12 + gain**2 * state.p22 + _RATIO * new + 1.0
    found = {}
    for name, phi in DAMPING.items():
        mine = phi == _PHI
        weight = np.exp(state.evidence[mine] - state.evidence[mine].max())
        weight /= weight.sum()
        middle = np.asarray(centre[:, mine] @ weight)
        variance = (spread[:, mine] * state.variance[mine] + (centre[:, mine] - middle[:, None]) ** 2) @ weight
        found[name] = LocalTrend(middle, np.sqrt(variance))
    return found


def last_value(t: Floats, z: Floats) -> float:
    """Mean of the scores at the last place: persistence."""
    return float(np.mean(z[t == t[-1]]))


def merged(t: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    """Different places, the mean score at each and how many scores that is."""
    places, inverse, count = np.unique(t, return_inverse=True, return_counts=True)
    return places, np.bincount(inverse, z) / count, count.astype(float)


def without_spikes(t: Floats, z: Floats) -> Floats:
    """Scores with single wild ones put on the line between their neighbours.

    A score is wild if it is :data:`_SPIKE` robust standard deviations off that line and both neighbours are off theirs
    to the other side, as they are if it alone is wrong. A true bend has neighbours in line and is kept. The ends have
    no two neighbours on either side: nothing tells a wild last score from a turn.

    Examples:
        >>> t = np.arange(9.0)
        >>> without_spikes(t, np.where(t == 4, 70.0, t % 2)).tolist()
        [0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0]
    """
    if z.size < 6:
        return z
    part = (t[2:] - t[1:-1]) / (t[2:] - t[:-2])
    line = part * z[:-2] + (1 - part) * z[2:]
    off = z[1:-1] - line
    size = 1.4826 * float(np.median(np.abs(off)))
    sign = np.sign(off[1:-1])
    least = np.minimum(-sign * off[:-2], -sign * off[2:])
    wild = (np.abs(off[1:-1]) > _SPIKE * size) & (least > 0.25 * np.abs(off[1:-1]))
    clean = z.copy()
    clean[2:-2][wild] = line[1:-1][wild]
    return clean


@dataclass(slots=True)
class _State:
    """Level, slope, their covariance in units of the noise variance, that variance and the likelihood, each (grid,)."""

    level: Floats
    slope: Floats
    p11: Floats
    p12: Floats
    p22: Floats
    variance: Floats
    evidence: Floats


def _step(d: Floats) -> tuple[Floats, Floats, tuple[Floats, Floats, Floats]]:
    """What steps of length ``d`` add of the slope, keep of it, and the covariance of what is new, per ratio 1.

    Each of shape (steps, grid) for ``d`` of shape (steps, 1).
    """
    phi = np.where(_PHI > 0, _PHI, 1.0)
    keep = np.exp(-_PHI * d)
    gain = np.where(_PHI > 0, -np.expm1(-phi * d) / phi, d)
    q22 = np.where(_PHI > 0, -np.expm1(-2 * phi * d) / (2 * phi), d)
    # the difference of nearly equal numbers, where the step is short: its series instead
    short = phi * d < 1e-2
    q11 = np.where((_PHI == 0) | short, d**3 / 3 * (1 - 0.75 * _PHI * d), (d - 2 * gain + q22) / phi**2)
    return gain, keep, (q11, gain**2 / 2, q22)


def _filtered(t: Floats, z: Floats, count: Floats) -> _State:
    """Kalman's filter over all dampings and ratios at once, begun exactly by the first two places."""
    gap, noise, one = t[1] - t[0], 1.0 / count, np.ones_like(_RATIO)
    s = _State(
        z[1] * one,
        (z[1] - z[0]) / gap * one,
        noise[1] * one,
        noise[1] / gap * one,
        (noise[0] + noise[1]) / gap**2 + _RATIO * gap / 3,
        one,
        0 * one,
    )
    total = np.zeros_like(_RATIO)
    gains, keeps, news = _step(np.diff(t)[:, None])
    for i in range(2, z.size):
        gain, keep = gains[i - 1], keeps[i - 1]
        q11, q12, q22 = (_RATIO * q[i - 1] for q in news)
        level = s.level + gain * s.slope
        p11 = s.p11 + gain * (2 * s.p12 + gain * s.p22) + q11
        p12 = keep * (s.p12 + gain * s.p22) + q12
        variance = p11 + noise[i]
        new = z[i] - level
        k1, k2 = p11 / variance, p12 / variance
        s.level, s.slope = level + k1 * new, keep * s.slope + k2 * new
        s.p11, s.p12, s.p22 = p11 * (1 - k1), p12 * (1 - k1), keep**2 * s.p22 + q22 - k2 * p12
        s.evidence = s.evidence - 0.5 * np.log(variance)
        total = total + new**2 / variance
    seen = z.size - 2
    # a curve without noise: what rounding leaves of it, not zero
    s.variance = (total + (1e-9 * max(float(np.ptp(z)), 1e-12)) ** 2) / seen
    s.evidence = s.evidence - 0.5 * seen * np.log(s.variance)
    return s
