"""Values that say more than a float: one with a unit of its own, and columns known to be plain floats."""

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


class Finite(NamedTuple):
    """What a form over columns returns when it gave every row a finite float itself; nobody looks at each again.

    Looking takes as long as a third of comparing a million short texts does, so only a form that can do nothing but
    choose between constants should promise it.

    Attributes:
        values: One float per row.
    """

    values: list[float]
