"""Repeated runs of one model on the same items: an exact e-process for a change of its rate, at any number of runs.

Nothing but a constant rate is assumed of the model, and nothing is simulated. For every run at which the rate may have
changed there is a bet: a mixture of rates for the runs before it and another for the runs from it on, against the best
constant rate in hindsight. Numerators are probabilities of the data fixed beforehand, the denominator is at least the
probability under the true rate, so each bet is an e-process (universal inference: Wasserman, Ramdas and Balakrishnan
2020, PNAS 117; here for a composite null of one rate). Their sum over the places of a change, divided by the number of
looks, is one as well: it exceeds 1/level at any time with probability at most level (Ville).

Runs on the same items vary less than binomial ones with the same mean, as some items are surely right and some surely
wrong. That makes the bets safer, not weaker in law (Hoeffding 1956: expectations of convex functions are largest for
the binomial).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_JEFFREYS = 0.5


def rate_changes(right: ArrayLike, items: ArrayLike, baseline: int, looks: int) -> Floats:
    """Value of the mixture e-process after every look.

    Args:
        right: Items right in each run, shape (..., runs).
        items: Items of each run, shape (runs,) or (..., runs).
        baseline: Runs before the first look.
        looks: Looks over which the bets are spread; later ones are not bet on.

    Returns:
        Shape (..., looks so far); alarms are at values of at least 1/level.

    Examples:
        >>> calm = rate_changes(np.full(20, 50.0), np.full(20, 100.0), 8, 60)
        >>> changed = rate_changes(np.array([50.0] * 17 + [75.0] * 3), np.full(20, 100.0), 8, 60)
        >>> bool(calm.max() < 1 < 20 < changed.max())
        True
    """
    k = np.asarray(right, float)
    n = np.broadcast_to(np.asarray(items, float), k.shape)
    sums, totals = np.cumsum(k, axis=-1), np.cumsum(n, axis=-1)
    runs = k.shape[-1]
    found = np.zeros((*k.shape[:-1], max(runs - baseline, 0)))
    for t in range(baseline, runs):
        best = _best(sums[..., t], totals[..., t])
        # a change before run c, for c from the first look on: the runs before it are those up to c - 1
        places = np.arange(baseline, min(t + 1, baseline + looks))
        before = _mixture(sums[..., places - 1], totals[..., places - 1])
        since = _mixture(sums[..., t, None] - sums[..., places - 1], totals[..., t, None] - totals[..., places - 1])
        found[..., t - baseline] = np.exp(np.minimum(before + since - best[..., None], 600.0)).sum(axis=-1) / looks
    return found


def change_of_rate(right: Floats, items: Floats, baseline: int) -> tuple[int, float, float]:
    """The likeliest run at which the rate changed, and the rates before and from it on."""
    sums, totals = np.cumsum(right), np.cumsum(np.broadcast_to(np.asarray(items, float), np.shape(right)))
    places = np.arange(baseline, sums.size)
    before = _best(sums[places - 1], totals[places - 1])
    since = _best(sums[-1] - sums[places - 1], totals[-1] - totals[places - 1])
    at = int(places[np.argmax(before + since)])
    return at, float(sums[at - 1] / totals[at - 1]), float((sums[-1] - sums[at - 1]) / (totals[-1] - totals[at - 1]))


def run_p(right: Floats, items: Floats, baseline: int) -> tuple[float, ...]:
    """Two-sided p-value of each run after the baseline given all before it: exact whatever the constant rate is.

    Given how many are right in all runs so far, those of the newest are hypergeometric (Fisher's exact test).
    """
    from scipy.stats import hypergeom

    k, n = np.round(right).astype(int), np.round(np.broadcast_to(items, np.shape(right))).astype(int)
    after = np.arange(baseline, k.size)
    law = hypergeom(np.cumsum(n)[after], np.cumsum(k)[after], n[after])
    two_sided = 2 * np.minimum(law.cdf(k[after]), law.sf(k[after] - 1))
    return tuple(float(p) for p in np.minimum(1.0, two_sided))


def _mixture(right: Floats, items: Floats) -> Floats:
    """Log-probability of runs with so many right, over Jeffreys' mixture of rates; binomial coefficients cancel."""
    from scipy.special import betaln

    return np.asarray(betaln(right + _JEFFREYS, items - right + _JEFFREYS) - betaln(_JEFFREYS, _JEFFREYS))


def _best(right: Floats, items: Floats) -> Floats:
    """Log-probability under the best constant rate."""
    from scipy.special import xlogy

    return np.asarray(xlogy(right, right / items) + xlogy(items - right, 1 - right / items))
