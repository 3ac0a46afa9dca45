"""Scales and ticks of the plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values to pixels, linearly or by logarithm.

    Attributes:
        low, high: Values at the two ends.
        start, stop: Pixels at the two ends.
        log: Whether values are mapped by logarithm.
        zero: On a log scale, the value at which 0 is drawn (None: there is no 0).
    """

    low: float
    high: float
    start: float
    stop: float
    log: bool = False
    zero: float | None = None

    def __call__(self, value: float) -> float:
        """Pixel of ``value``."""
        if self.log:
            low, high, at = math.log(self.low), math.log(self.high), math.log(value if value > 0 else self.zero or 1.0)
        else:
            low, high, at = self.low, self.high, value
        return self.start + (at - low) / (high - low) * (self.stop - self.start)


def nice_ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round values 1, 2 or 5 times a power of ten apart that enclose ``[low, high]``.

    Examples:
        >>> nice_ticks(0, 0.72)
        [0.0, 0.2, 0.4, 0.6, 0.8]
        >>> nice_ticks(-4.1, -2.2)
        [-4.5, -4.0, -3.5, -3.0, -2.5, -2.0]
    """
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-12):
        margin = abs(high) / 2 or 0.5
        low, high = low - margin, high + margin
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((m * power for m in (1, 2, 5, 10)), key=lambda s: abs(math.log(s / rough)))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def log_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Powers of ten inside ``[low, high]``, with 2 and 5 between them when there are few, thinned when there are many.

    Examples:
        >>> log_ticks(70e6, 12e9)
        [100000000.0, 1000000000.0, 10000000000.0]
        >>> log_ticks(100, 600)
        [100.0, 200.0, 500.0]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = [p for p in range(first, last + 1) if low <= 10.0**p * (1 + 1e-9) and 10.0**p <= high * (1 + 1e-9)]
    if len(decades) >= 3:
        stride = math.ceil(len(decades) / most)
        return [10.0**p for p in decades[::stride]]
    ticks = [m * 10.0**p for p in range(first, last + 1) for m in (1, 2, 5)]
    return [t for t in ticks if low <= t * (1 + 1e-9) and t <= high * (1 + 1e-9)] or [low, high]


def x_scale(values: Sequence[float], log: bool, start: float, stop: float) -> Scale:
    """Scale of the axis that orders the models.

    A 0 on a log axis (step 0 of a training run) has no place there; it is drawn one typical gap left of the first
    positive value, and the plot says so.
    """
    low, high = min(values), max(values)
    positive = sorted({v for v in values if v > 0})
    if not log or low < 0 or not positive:
        margin = (high - low) * 0.04 or 0.5
        return Scale(low - margin, high + margin, start, stop)
    zero = None
    if low == 0:
        gap = (positive[-1] / positive[0]) ** (1 / (len(positive) - 1)) if len(positive) > 1 else 2.0
        zero = positive[0] / max(gap, 1.2)
    low = zero or positive[0]
    margin = (positive[-1] / low) ** 0.04 if positive[-1] > low else 1.5
    return Scale(low / margin, positive[-1] * margin, start, stop, log=True, zero=zero)
