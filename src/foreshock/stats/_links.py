"""Scales on which progress is judged, with explicit floors.

A probability of exactly 0 or 1 is an observation about the number of trials, not a value on a link. The caller says
what the floor is (half a success in n trials) and is told which values stand on it; nothing is clipped in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Link:
    """A strictly increasing map of the open interval (0, 1) onto the line.

    Attributes:
        name: How reports call it.
        forward: Probability to link; 0 and 1 give -inf and inf.
        inverse: Link to probability.
    """

    name: str
    forward: Callable[[Floats], Floats]
    inverse: Callable[[Floats], Floats]


def _loglog(p: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return -np.log(-np.log(p))


def _loglog_inverse(z: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.exp(-np.exp(-z))


def _cloglog(p: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(-np.log1p(-p))


def _cloglog_inverse(z: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return -np.expm1(-np.exp(z))


def _logit(p: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log1p(-p)


def _logit_inverse(z: Floats) -> Floats:
    return 0.5 * (1 + np.tanh(z / 2))


def _same(x: Floats) -> Floats:
    return x


loglog = Link("-log(-log p)", _loglog, _loglog_inverse)
"""Minus the log of the loss -log p: rises with p, and a power law in the axis is a straight line on it."""

cloglog = Link("log(-log(1-p))", _cloglog, _cloglog_inverse)
"""The log of the loss of the complement: one of T attempts succeeds with 1 - (1-p)^T, which moves it by log T."""

logit = Link("logit p", _logit, _logit_inverse)
"""Log-odds: the scale of a choice between options."""

identity = Link("p", _same, _same)
"""The share itself."""


def floored(p: ArrayLike, n: ArrayLike) -> tuple[Floats, Bools]:
    """Pull shares of exactly-or-nearly 0 and 1 to half a trial, and say which were pulled.

    Args:
        p: Shares in [0, 1].
        n: Trials behind each share.

    Returns:
        Shares within [1/(2n), 1 - 1/(2n)] and a mask of those that were outside.

    Raises:
        ValueError: A share lies outside [0, 1].

    Examples:
        >>> floored([0.0, 0.5], 50)
        (array([0.01, 0.5 ]), array([ True, False]))
    """
    share, trials = np.broadcast_arrays(np.asarray(p, float), np.asarray(n, float))
    if np.any((share < 0) | (share > 1)):
        raise ValueError("a share lies outside [0, 1]")
    floor = 0.5 / np.maximum(trials, 1.0)
    return np.clip(share, floor, 1 - floor), (share < floor) | (share > 1 - floor)
