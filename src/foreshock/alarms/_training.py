"""Checkpoints of one training run: the same detector after drift has been taken out, without a promise.

Checkpoints share the run that they come from, and what a checkpoint has above its trend the next one has in part. The
correlation of neighbours is estimated, its upper bound is taken out of scores and line (Cochrane and Orcutt 1949),
and the detector runs on what is left. An estimate from a few dozen points promises nothing: the rate that comes with
such an alarm is the one measured on simulated runs, the worst over correlations from 0 to 0.9.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from foreshock.alarms._autocorrelation import likelihood, whitened
from foreshock.alarms._prepared import Prepared
from foreshock.alarms._residuals import recursion
from foreshock.curves import Curve

if TYPE_CHECKING:
    from foreshock.alarms._trend_alarm import TrendAlarm

Floats = NDArray[np.float64]

RHOS = np.append(np.arange(0.0, 0.9, 0.1), [0.9, 0.95])
"""Correlations of neighbours that are considered."""

BOUND = 1.35
"""Fall of the log-likelihood from its top to the one-sided 95% bound (half the 90% quantile of chi-squared)."""


def highest_rho(z: Floats, design: Floats) -> Floats:
    """Upper 95% bound of the correlation of neighbours about a line, of each series, shape (...).

    Examples:
        >>> design = np.vander(np.linspace(-1, 1, 40), 2)
        >>> white = np.random.default_rng(1).standard_normal(40)
        >>> bool(highest_rho(white, design) < 0.5 < highest_rho(np.cumsum(white), design))
        True
    """
    found = np.stack([likelihood(z, design, float(rho)) for rho in RHOS])
    possible = found >= found.max(axis=0) - BOUND
    last = RHOS.size - 1 - np.argmax(possible[::-1], axis=0)
    return np.asarray(RHOS[last])


def training_scores(z: Floats, design: Floats) -> Floats:
    """Normal scores of recursive residuals after the drift was taken out, shape (..., points)."""
    flat = np.asarray(z, float).reshape(-1, z.shape[-1])
    rho, found = highest_rho(flat, design), np.empty(flat.shape)
    for value in np.unique(rho):
        these = rho == value
        found[these] = recursion(whitened(flat[these], float(value)), whitened(design.T, float(value)).T).scores()
    return found.reshape(z.shape)


def training_alarm(curve: Curve, ready: Prepared, start: TrendAlarm) -> TrendAlarm:
    """The alarm of checkpoints: everything but the promise."""
    from foreshock.alarms._trend_alarm import judged

    rho = float(highest_rho(ready.weighted, ready.design()))
    scores = training_scores(ready.weighted, ready.design())[start.asked.baseline :]
    note = f"neighbouring checkpoints: a correlation of {rho:g}, the highest that they allow for, was taken out"
    doubt = "checkpoints of one run are not independent"
    ready = replace(ready, notes=[*ready.notes, note], doubts=[*ready.doubts, doubt])
    return judged(curve, ready, replace(start, rule="training"), scores)
