"""Starts by linear least squares: most parameters of most forms are linear once a few are fixed.

With its limit ``e`` fixed, the logarithm of what a power law or a broken one has above it is linear in all but the
places and widths of breaks. So a grid over few parameters, the rest solved exactly, covers what random starts would
need thousands for. This is where M4's authors fit as well (``log(y - e) = kappa + c t + a log(e0 - y)``); here it only
gives starts, because near ``e`` noise makes it a poor objective.
"""

from __future__ import annotations

import numpy as np

from foreshock.curves._curve import Floats
from foreshock.curves._fit_frame import Frame

_RIDGE = 1e-8


def linear(features: Floats, wanted: Floats, weight: Floats) -> Floats:
    """Weighted least squares for every pair of a set of features and a set of wanted values.

    Args:
        features: Shape (sets, points, coefficients).
        wanted: Shape (targets, points).
        weight: Shape (targets, points).

    Returns:
        Coefficients, shape (targets, sets, coefficients).
    """
    size = features.shape[2]
    products = features[:, :, :, None] * features[:, :, None, :]
    sets, points = features.shape[:2]
    flat = products.transpose(1, 0, 2, 3).reshape(points, -1)
    normal = (weight @ flat).reshape(-1, sets, size, size)
    right = ((weight * wanted) @ features.transpose(1, 0, 2).reshape(points, -1)).reshape(-1, sets, size)
    diagonal = np.einsum("egkk->egk", normal)
    least = _RIDGE * diagonal + 1e-12 * diagonal.max(axis=2, keepdims=True) + 1e-300
    normal[:, :, np.arange(size), np.arange(size)] += least
    with np.errstate(all="ignore"):
        found = np.linalg.solve(normal, right[..., None])[..., 0]
    return np.asarray(np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0))


def limits(frame: Frame) -> tuple[Floats, Floats]:
    """Limits that a curve may have and the sign of what is left: below all scores (+1) or above them (-1)."""
    low, high = float(frame.y.min()), float(frame.y.max())
    reach = max(high - low, 1e-9 * max(abs(high), 1e-9))
    above = high + reach * np.array([0.01, 0.05, 0.2, 1.0, 4.0])
    if frame.kind == "log":
        below = low * np.array([0.0, 0.3, 0.6, 0.8, 0.9, 0.97, 0.995])
    else:
        below = low - reach * np.array([0.01, 0.05, 0.2, 1.0, 4.0])
    return np.concatenate([below, above]), np.repeat([1.0, -1.0], [below.size, above.size])


def excess(frame: Frame, limit: Floats, sign: Floats) -> tuple[Floats, Floats]:
    """Log of what lies between scores and limits, and weights with which noise of the frame enters it.

    Returns:
        Both of shape (limits, points).
    """
    left = sign[:, None] * (frame.y - limit[:, None])
    left = np.maximum(left, 1e-12)
    relative = left / frame.y if frame.kind == "log" else left
    weight = frame.count * relative**2
    return np.log(left), weight / np.maximum(weight.max(axis=1, keepdims=True), 1e-300)
