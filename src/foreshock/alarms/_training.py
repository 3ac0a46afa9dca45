"""Checkpoints of one training run: the same detector after drift has been taken out, without a promise.

Checkpoints share the run that they come from, and what a checkpoint has above its trend the next one has in part. The
upper bound of the correlation of neighbours is taken out of scores and line (Cochrane and Orcutt 1949), and the
detector runs on what is left. A jump looks like correlation, so the likeliest jump is allowed for while the
correlation is bounded: without that, larger jumps were found less often than small ones. An estimate from a few dozen
points promises nothing: the rate that comes with such an alarm is the one measured on simulated runs, the worst over
correlations from 0 to 0.9.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from foreshock.alarms._alarm import TrendAlarm
from foreshock.alarms._autocorrelation import likelihood, whitened
from foreshock.alarms._judged import judged
from foreshock.alarms._prepared import Prepared
from foreshock.alarms._residuals import recursion
from foreshock.curves import Curve

Floats = NDArray[np.float64]

RHOS = np.append(np.arange(0.0, 0.9, 0.1), [0.9, 0.95])
"""Correlations of neighbours that are considered."""

BOUND = 1.35
"""Fall of the log-likelihood from its top to the one-sided 95% bound (half the 90% quantile of chi-squared)."""

_TINY = 1e-9


def highest_rho(z: Floats, design: Floats, baseline: int) -> Floats:
    """Upper 95% bound of the correlation of neighbours about a line with at most one jump, of each series, shape (...).

    Args:
        z: Scores, shape (..., points).
        design: Regressors of the line, shape (points, columns).
        baseline: Points in which there is no jump.

    Examples:
        >>> design = np.vander(np.linspace(-1, 1, 40), 2)
        >>> white = np.random.default_rng(1).standard_normal(40)
        >>> bool(highest_rho(white, design, 8) < 0.5 < highest_rho(np.cumsum(white), design, 8))
        True
    """
    flat = np.asarray(z, float).reshape(-1, z.shape[-1])
    jumps = (np.arange(flat.shape[1]) >= np.arange(baseline, flat.shape[1])[:, None]) * 1.0
    q = np.linalg.qr(design)[0]
    apart = jumps - (jumps @ q) @ q.T
    size = np.linalg.norm(apart, axis=1)
    likeliest = np.argmax((flat @ (apart / np.maximum(size, _TINY)[:, None]).T) ** 2, axis=1)
    found = np.empty(flat.shape[0])
    for place in np.unique(likeliest):
        these = likeliest == place
        columns = np.column_stack([design, jumps[place]]) if size[place] > _TINY else design
        curve = np.stack([likelihood(flat[these], columns, float(rho)) for rho in RHOS])
        possible = curve >= curve.max(axis=0) - BOUND
        found[these] = RHOS[RHOS.size - 1 - np.argmax(possible[::-1], axis=0)]
    return found.reshape(z.shape[:-1])


def training_scores(z: Floats, design: Floats, baseline: int) -> tuple[Floats, Floats]:
    """Normal scores of residuals after drift was taken out, shape (..., points), and how much was, shape (...)."""
    rho = highest_rho(z, design, baseline)
    flat, by_series = np.asarray(z, float).reshape(-1, z.shape[-1]), rho.reshape(-1)
    found = np.empty(flat.shape)
    for value in np.unique(by_series):
        these = by_series == value
        found[these] = recursion(whitened(flat[these], float(value)), whitened(design.T, float(value)).T).scores()
    return found.reshape(z.shape), rho


def training_alarm(curve: Curve, ready: Prepared, start: TrendAlarm) -> TrendAlarm:
    """The alarm of checkpoints: everything but the promise."""
    scores, rho = training_scores(ready.weighted, ready.design(), start.asked.baseline)
    note = f"a correlation of neighbouring checkpoints of {float(rho):g}, the highest that fits them, was taken out"
    doubt = "checkpoints of one run are not independent"
    ready = replace(ready, notes=[*ready.notes, note], doubts=[*ready.doubts, doubt])
    return judged(curve, ready, replace(start, rule="training"), scores[start.asked.baseline :])
