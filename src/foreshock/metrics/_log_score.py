"""Log score: the logarithm of the probability that the right choice was given."""

from __future__ import annotations

import math

from foreshock._base import MetricError
from foreshock.metrics._multiple_choice import check_gold
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Function, metric

_NATS = {"bits": math.log(2), "nats": 1.0}


@metric(
    kind="continuous",
    needs=("choice_logprobs", "gold_index"),
    range=lambda floor, **_: (floor, 0),
    chance=lambda choices, unit, floor: max(-math.log(choices) / _NATS[unit], -math.inf if floor is None else floor),
    unit=lambda unit, **_: unit,
)
def log_score(*, unit: str = "bits", floor: float | None = None) -> Function:
    """Logarithm of the probability of the right choice among the choices: 0 at best, strictly proper.

    It is computed from log-likelihoods without passing through probabilities, so a very small one is not rounded to 0.
    A right choice of probability exactly 0 has the score minus infinity, which no mean survives: it is ``failed`` and
    says so, unless ``floor`` states what it shall count.

    Args:
        unit: ``bits`` (logarithm to base 2) or ``nats``.
        floor: Smallest value, in ``unit``; None is unbounded. With a floor the score is no longer proper below it.

    Examples:
        >>> log_score()({"choice_logprobs": [-1.0, -1.0, -1.0, -1.0], "gold_index": 2})
        -2.0
        >>> log_score(floor=-10)({"choice_logprobs": [0.0, -1000.0], "gold_index": 1})
        -10.0
    """
    if unit not in _NATS:
        raise MetricError(f"unit={unit!r} is unknown", expected=f"one of {', '.join(_NATS)}")
    if floor is not None and not -math.inf < floor < 0:
        raise MetricError(f"floor={floor!r}", expected="a number below 0, or None")

    def score(response: Given) -> float:
        values: list[float] = response.choice_logprobs
        gold: int = response.gold_index
        check_gold(values, gold)
        found = log_share(values, gold) / _NATS[unit]
        if floor is not None:
            return max(found, float(floor))
        if found == -math.inf:
            raise ValueError("the right choice has probability 0, its log score is minus infinity: set floor=")
        return found

    return score


def log_share(values: list[float], k: int) -> float:
    """Logarithm of the softmax of ``values`` at ``k``.

    Examples:
        >>> log_share([-2000.0, 0.0], 0)
        -2000.0
    """
    top = max(values)
    if math.isinf(top):
        raise ValueError("every choice has probability 0")
    if values[k] == top:  # what the others weigh is added to 1, and counts where they weigh very little
        rest = math.fsum(math.exp(value - top) for i, value in enumerate(values) if i != k)
        return 0.0 - math.log1p(rest)
    return values[k] - top - math.log(math.fsum(math.exp(value - top) for value in values))
