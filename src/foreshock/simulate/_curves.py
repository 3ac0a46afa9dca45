"""Shapes of progress along the axis, each from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def _sigmoid(steepness: float) -> Callable[[Floats], Floats]:
    def shape(t: Floats) -> Floats:
        raw = np.tanh(steepness * (t - 0.5))
        return np.asarray((raw / np.tanh(steepness / 2) + 1) / 2)

    return shape


def _knee(t: Floats) -> Floats:
    # two straight lines joined softly: slope 1.7 falling to .3 around the middle
    width = 0.08
    soft = width * np.logaddexp(0.0, (t - 0.5) / width)
    raw = 1.7 * t - 1.4 * (soft - width * np.logaddexp(0.0, -0.5 / width))
    end = 1.7 - 1.4 * width * (np.logaddexp(0.0, 0.5 / width) - np.logaddexp(0.0, -0.5 / width))
    return np.asarray(raw / end)


def _loss_floor(t: Floats) -> Floats:
    # log loss of a power law over three decades that flattens onto an irreducible loss of 15% of the start
    loss = 0.85 * np.exp(-3.0 * t) + 0.15
    drop = -np.log(loss)
    return np.asarray(drop / -np.log(0.85 * np.exp(-3.0) + 0.15))


def _late(t: Floats) -> Floats:
    # accelerating: the slope doubles from the first point to the last
    return np.asarray((2.0 * t + t**2) / 3.0)


def _ramp(t: Floats) -> Floats:
    # flat, then twice the mean slope over the middle half, then flat: as steep as the smooth class allows
    return np.asarray(np.clip(2.0 * (t - 0.25), 0.0, 1.0))


CURVES: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda t: t,
    "sigmoid": _sigmoid(3.4),  # steepest slope 1.8 times the mean
    "steep sigmoid": _sigmoid(4.93),  # 2.5 times the mean: outside the smooth class, reported and not bound
    "soft knee": _knee,
    "loss floor": _loss_floor,
    "late": _late,
    "ramp": _ramp,
}
"""Shapes of progress by name; each maps places in [0, 1] to progress from 0 to 1."""


def curve(name: str, t: ArrayLike) -> Floats:
    """Value of a named shape at places ``t`` in [0, 1].

    Examples:
        >>> [round(float(v), 3) for v in curve("sigmoid", [0.0, 0.5, 1.0])]
        [0.0, 0.5, 1.0]
    """
    return CURVES[name](np.asarray(t, float))
