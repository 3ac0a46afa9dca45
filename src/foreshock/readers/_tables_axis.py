"""Numbers along an axis: ``1.4B`` parameters, ``300B`` tokens, steps, compute."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from foreshock.readers._tables_numbers import Decimal, figure

AXES: dict[str, tuple[str, ...]] = {
    "parameters": ("parameters", "params", "n_params", "num_parameters", "num_params", "size", "model_size"),
    "tokens": ("tokens", "training_tokens", "n_tokens", "pretraining_tokens", "pretraining_data_size"),
    "flops": ("flops", "flop", "compute", "training_compute", "training_flops"),
    "step": ("step", "steps", "training_step", "checkpoint", "iteration", "iter"),
}
_SUFFIXES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_NUMBER = re.compile(r"([+-]?[\d,.]*\d(?:[eE][+-]?\d+)?)\s*([kmbt]?)(?:\s*(?:params?|parameters|tokens?))?", re.I)
_UNIT = re.compile(r"\(\s*(?:([kmbt])|(1e\d+))\s*\)\s*$|_([kmbt])$", re.I)
# a model has more parameters than this; a smaller "size" is in billions
SMALLEST_COUNT = 1e5


class Axis(NamedTuple):
    """A column of numbers that orders models.

    Attributes:
        kind: Field of the model card, or None for any other quantity.
        column: Name in the table.
        unit: What a bare number in it is to be multiplied with.
        guessed: The unit is not written anywhere.
        decimal: The mark before decimals.
    """

    kind: str | None
    column: str
    unit: float
    guessed: bool
    decimal: Decimal = "."

    def value(self, text: str) -> float | None:
        """The number in a cell in basic units; a suffix of its own wins over the column's unit.

        Examples:
            >>> Axis("parameters", "size", 1.0, False).value("1.4B")
            1400000000.0
        """
        found = number(text, self.decimal)
        return None if found is None else found[0] * (1.0 if found[1] else self.unit)


def number(text: str, decimal: Decimal = ".") -> tuple[float, bool] | None:
    """A number with an optional suffix, and whether it had one."""
    match = _NUMBER.fullmatch(text.strip())
    found = figure(match[1], decimal) if match else None
    if match is None or found is None:
        return None
    suffix = match[2].lower()
    return found.value * _SUFFIXES.get(suffix, 1.0), bool(suffix)


def kind_of(column: str) -> str | None:
    """Which axis a column's name stands for.

    Examples:
        >>> kind_of("Model Size (B)"), kind_of("FLOPs (1E21)"), kind_of("loss")
        ('parameters', 'flops', None)
    """
    plain = plain_name(_UNIT.sub("", column))
    return next((kind for kind, names in AXES.items() if plain in names), None)


def axis_of(column: str, cells: Iterable[str], decimal: Decimal = ".") -> Axis:
    """Kind and unit of a column from its name and numbers."""
    kind, unit = kind_of(column), _UNIT.search(column)
    if unit:
        factor = _SUFFIXES[(unit[1] or unit[3]).lower()] if (unit[1] or unit[3]) else float(unit[2])
        return Axis(kind, column, factor, False, decimal)
    if kind == "parameters":
        bare = [found[0] for text in cells if (found := number(text, decimal)) and not found[1]]
        if bare and max(bare) < SMALLEST_COUNT:
            return Axis(kind, column, 1e9, True, decimal)
    return Axis(kind, column, 1.0, False, decimal)


@lru_cache(4_096)  # a table of 5,000 columns asks some thousand times for each
def plain_name(name: str) -> str:
    """Lower case, anything but letters and digits folded to one underscore."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
