"""The mixture Shiryaev-Roberts e-detector on normal scores of recursive residuals.

For every look at which the trend may have changed there is a product of likelihood ratios, a martingale that starts
at 1 at that look when nothing changed; the detector is the sum over all such looks, averaged over a mixture of
changes (Shin, Ramdas and Rinaldo 2024, doi 10.51387/23-NEJSDS51, section 3). Its value after n looks, less n, is then
a supermartingale.

The changes are jumps and new slopes, up and down. The line is fitted again at every look, also after a change, and so
takes the change in: a jump of the level is a large residual that fades. What each change leaves in the residuals is
known beforehand for equal steps along the axis (:func:`templates`), and the likelihood ratios bet on exactly that.
For other places the bet is a little off, which costs power; the law under no change is the same for all places, as
scores are independent standard normal whatever the places are.

Chosen on simulated noise only, of the shapes in `tools/alarm_thresholds.py`, before any real series was looked at:
scores are clipped at 2.5. At 3 a single outlier counts more: one threshold for noise of all those shapes was twice as
high (899 against 402 for jumps of 2, baseline 8, 60 looks), and found fewer of the changes. At 2 real jumps were
found later.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from foreshock.alarms._residuals import design_of, recursion

Floats = NDArray[np.float64]

CLIP = 2.5
"""Largest normal score that counts: heavier tails than the normal one cannot raise an alarm by one outlier."""

JUMPS = (2.0, 3.0)
"""Jumps of the level that are bet on, in standard deviations of the noise of a point."""

SLOPES = (0.1, 0.3)
"""Changes of slope that are bet on, in standard deviations for each step."""

PACE = 15.0
"""The detector grows with the number of looks; it is read relative to that number and this many more.

A fixed threshold leaves early looks, at which the sum has few terms, with little of the promised rate. Of jumps of 3 at
look 20 of 60 it found .51 within four looks, this .56, at the cost of .03 for those at look 40 (same noise)."""


@functools.lru_cache(maxsize=32)
def templates(baseline: int, looks: int) -> Floats:
    """What each change leaves in the residuals, for equal steps along the axis.

    Args:
        baseline: Points before the first look, at least 3.
        looks: Looks.

    Returns:
        Mean of the residual in standard deviations, shape (changes, looks of change, looks); 0 before the change.
    """
    points = baseline + looks
    steps, start = np.arange(float(points)), np.arange(baseline, points)[:, None]
    jump, slope = np.asarray((steps >= start) * 1.0), np.clip(steps - start + 1, 0.0, None)
    design = design_of(steps)
    left = [recursion(np.asarray(shape), design).w[:, baseline:] for shape in (jump, slope)]
    found = np.stack([size * left[0] for size in JUMPS] + [size * left[1] for size in SLOPES])
    found = np.where(np.abs(found) < 1e-9, 0.0, found)
    found.flags.writeable = False
    return found


def shiryaev_roberts(scores: Floats, baseline: int, clip: float = CLIP) -> Floats:
    """Value of the detector after every look.

    Args:
        scores: Normal scores at the looks, in order, shape (..., looks).
        baseline: Points before the first look, at least 3.
        clip: Largest score that counts.

    Returns:
        Shape (..., looks), at least 0; its expectation without a change is at most the number of looks so far.

    Examples:
        >>> calm = shiryaev_roberts(np.zeros(20), 8)
        >>> broken = shiryaev_roberts(np.array([0.0] * 16 + [2.4, 2.2, 2.0, 1.8]), 8)
        >>> bool(calm.max() < 20 < broken.max())
        True
    """
    parts = by_change(scores, baseline, clip)
    return np.asarray(parts.sum(axis=(0, 1)) / (parts.shape[0] * parts.shape[1]))


def evidence(scores: Floats, baseline: int) -> Floats:
    """The detector relative to the number of looks so far (and :data:`PACE`): what thresholds are held against.

    Args:
        scores: Normal scores at the looks, in order, shape (..., looks).
        baseline: Points before the first look, at least 3.

    Returns:
        Shape (..., looks); its expectation without a change is below 1.
    """
    values = shiryaev_roberts(scores, baseline)
    return np.asarray(values / (np.arange(1, values.shape[-1] + 1) + PACE))


def by_change(scores: Floats, baseline: int, clip: float = CLIP) -> Floats:
    """The detector's parts: shape (2 directions, changes, ..., looks); up is first."""
    u = np.clip(np.asarray(scores, float), -clip, clip)
    flat = u.reshape(-1, u.shape[-1])
    shapes = np.ascontiguousarray(templates(baseline, u.shape[-1]).transpose(2, 1, 0))  # look, place, change
    prices = np.exp(-0.5 * shapes**2)
    looks, changes = shapes.shape[0], shapes.shape[2]
    found = np.empty((2, changes, *flat.shape))
    up, down = np.ones((looks, changes, flat.shape[0])), np.ones((looks, changes, flat.shape[0]))
    for j in range(looks):
        here = slice(None, j + 1)  # places at which the change may have begun
        gain = np.exp(shapes[j, here, :, None] * flat[:, j])
        price = prices[j, here, :, None]
        up[here] *= gain * price
        down[here] *= price / gain
        up[here].sum(axis=0, out=found[0, :, :, j])
        down[here].sum(axis=0, out=found[1, :, :, j])
    return np.asarray(found.reshape(2, changes, *u.shape))
