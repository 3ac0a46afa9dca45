"""A value with a unit of its own."""

from __future__ import annotations

from typing import NamedTuple

PER_ROW = "per row"
"""The unit of a metric whose values come as :class:`Quantity`, each with its own unit."""


class Quantity(NamedTuple):
    """A value whose unit is known for its row only; the unit is stored as the label of the score.

    Attributes:
        value: A finite number.
        unit: What it counts: ``tokens of gpt-4o``, ``characters``.
    """

    value: float
    unit: str
