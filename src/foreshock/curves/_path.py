"""Whether the end of a history is still on the path of what came before it."""

from __future__ import annotations

import functools

import numpy as np

from foreshock.curves._combine import thinned
from foreshock.curves._curve import Curve
from foreshock.curves._local import local_trends, merged

UNLIKELY = 0.05
"""A history whose end is less probable than this, seen from before it, has left its path. The bound is not reached:
the local trends allow for a slope that wanders, and the three views are alike."""
ORIGINS = {1: 0.05, 2: 0.1, 3: 0.2}
"""Places before the end from which the end is foreseen: at least so many, and at least this share of all, as a turn in
a dense history is spread over many places."""
LEAST = 4
"""Different places before an origin: two degrees of freedom for the noise."""


@functools.lru_cache(maxsize=256)
def off_path(curve: Curve) -> float:
    """Probability of an end at least as far from what the places before it foretold, if the path goes on.

    The score at the last place is foreseen from each of :data:`ORIGINS` by the local trends of the places up to there
    (:mod:`foreshock.curves._local`), which know the noise and how much the slope has wandered. Its distance in their
    standard deviations is read in Student's t with what the noise had of degrees of freedom; the least of the
    probabilities counts, times their number (Bonferroni). Of power laws, straight or onto a floor, of 6 to 80 places
    fewer than 1.5% fell below .05 with normal or autocorrelated noise, up to 3.5% with Student's t of 3 degrees.

    A turn under way, a wild last score and the end of a schedule look alike.

    Args:
        curve: A history.

    Returns:
        A probability; 1 where there are too few places to say, or a score is not finite on the link.

    Examples:
        >>> x = np.geomspace(1e6, 1e9, 12)
        >>> wave = 1 + 0.001 * np.cos(np.arange(12.0) ** 2)
        >>> straight = Curve(x, 400 * x**-0.1 * wave, low=0.0)
        >>> turned = Curve(x, 400 * x**-0.1 * wave * np.where(x < 4e8, 1, 0.9), low=0.0)
        >>> off_path(straight) > UNLIKELY, off_path(turned) <= UNLIKELY
        (True, True)
    """
    from scipy.special import stdtr

    short = thinned(curve)
    t, z = short.t, short.z
    if not np.isfinite(z).all():
        return 1.0
    places, mean, _ = merged(t, z)
    unit = 1.0 if curve.log_x else float(np.ptp(t)) / 6
    found = []
    for least, share in ORIGINS.items():
        back = max(least, round(share * places.size))
        if places.size - back >= LEAST:
            before = t < places[-back]
            trends = local_trends(t[before], z[before], places[-1:], unit=unit).values()
            sd = float(np.sqrt(np.mean([trend.sd[0] ** 2 for trend in trends])))
            off = abs(float(mean[-1] - np.mean([trend.z[0] for trend in trends])))
            found.append(2 * float(stdtr(places.size - back - 2, -off / sd)))
    return min(1.0, len(found) * min(found)) if found else 1.0
