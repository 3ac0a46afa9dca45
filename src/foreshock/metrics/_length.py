"""Length of the output, in units that are kept apart."""

from __future__ import annotations

from foreshock._base import MetricError
from foreshock.metrics._quantity import PER_ROW, Quantity
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Function, metric


@metric(
    kind="continuous",
    needs=lambda unit: {
        "auto": (("output_tokens", "token_unit"), ("output",)),
        "tokens": (("output_tokens", "token_unit"),),
        "characters": (("output",),),
    }[unit],
    range=(0, None),
    higher_is_better=None,
    unit=PER_ROW,
)
def output_length(*, unit: str = "auto") -> Function:
    """How much was written: tokens where the log counts them and says whose they are, else characters of the output.

    Tokens of one model are not those of another, and characters are neither: the unit stands beside every value, and
    values of different units are kept apart. The log's count holds the tokens of reasoning where its harness adds them.

    Args:
        unit: ``tokens``, ``characters``, or ``auto``: tokens where the log has them, else characters.

    Examples:
        >>> output_length()({"output": "four", "output_tokens": 1, "token_unit": "gpt-4o"})
        Quantity(value=1.0, unit='tokens of gpt-4o')
        >>> output_length(unit="characters")({"output": "four", "output_tokens": 1, "token_unit": "gpt-4o"})
        Quantity(value=4.0, unit='characters')
    """
    if unit not in ("auto", "tokens", "characters"):
        raise MetricError(f"unit={unit!r} is unknown", expected="auto, tokens or characters")

    def score(response: Given) -> Quantity:
        if unit != "characters" and response.output_tokens is not None and response.token_unit is not None:
            return Quantity(float(response.output_tokens), f"tokens of {response.token_unit}")
        return Quantity(float(len(response.output)), "characters")

    return score
