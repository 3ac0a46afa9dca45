"""What a form is, and which there are.

A form is written in the frame of a curve (:mod:`foreshock.curves._fit_frame`): ``tau`` from -1 at the first point to 0
at the last, scores without a unit. The last column of ``theta`` is a sign that is chosen with the start and not fitted:
a curve falls to its end from above or rises to it from below.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from foreshock.curves._curve import Floats
from foreshock.curves._fit_frame import Frame, Kind


@dataclass(frozen=True, slots=True, eq=False)
class Starts:
    """Where a fit begins: rows of parameters with their bounds, each of shape (starts, parameters + 1)."""

    theta: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A family of curves.

    Attributes:
        name: How reports call it.
        equation: In the units of the axis and the score; ``t`` is ``log x``, or ``x`` where the axis is linear.
        parameters: Names of what is fitted, in the order of ``theta``.
        frames: Link of a curve (``log``, ``identity``, ``logit``) to the frame in which the form is fitted there; on
            other links the form has no meaning.
        slopes: ``(theta, tau, frame)`` to values (starts, points) and their derivatives (starts, parameters, points).
        starts: Starts with bounds for a frame.
        published: One row of ``theta`` as the parameters of the equation.
        profiled: Columns of ``theta`` that the form is refused without: places of breaks, or free ends.
        places: Whether they are places of the axis.
        weak: Columns with a weak prior, and its scale: about as much as one point says.
        needs_chance: Whether the score of guessing must be known.
        source: Where it is from.
    """

    name: str
    equation: str
    parameters: tuple[str, ...]
    frames: Mapping[str, Kind]
    slopes: Callable[[Floats, Floats, Frame], tuple[Floats, Floats]]
    starts: Callable[[Frame], Starts]
    published: Callable[[Floats, Frame], dict[str, float]]
    profiled: tuple[int, ...] = ()
    places: bool = False
    weak: tuple[tuple[int, float], ...] = ()
    needs_chance: bool = False
    source: str = ""

    @property
    def size(self) -> int:
        """Number of fitted parameters."""
        return len(self.parameters)

    @property
    def least(self) -> int:
        """Different places that a curve must have: one more than parameters, and never fewer than three."""
        return max(self.size + 1, 3)

    def value(self, theta: Floats, tau: Floats, frame: Frame) -> Floats:
        """Values at places of the frame, shape (starts, points)."""
        return self.slopes(theta, tau, frame)[0]


@functools.cache
def forms() -> Mapping[str, Form]:
    """All forms by name.

    Examples:
        >>> forms()["m2"].equation
        'y = e + b x^c'
    """
    from foreshock.curves._forms_broken import BROKEN
    from foreshock.curves._forms_power import POWER
    from foreshock.curves._forms_score import SCORE

    return MappingProxyType({form.name: form for form in (*POWER, *BROKEN, *SCORE)})


def softplus(s: Floats) -> tuple[Floats, Floats]:
    """``log(1 + exp s)`` and its derivative, the logistic function, without overflow."""
    small = np.exp(-np.abs(s))
    plus = np.maximum(s, 0.0) + np.log1p(small)
    return plus, np.where(s > 0, 1.0, small) / (1 + small)


def boxed(theta: Floats, low: Floats, high: Floats) -> Starts:
    """Starts within one box for all rows; bounds of shape (parameters + 1,)."""
    shape = theta.shape
    return Starts(np.clip(theta, low, high), np.broadcast_to(low, shape).copy(), np.broadcast_to(high, shape).copy())


def joined(*parts: Starts) -> Starts:
    """Starts one after the other."""
    return Starts(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("theta", "low", "high")))
