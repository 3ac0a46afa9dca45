"""Rank of the right choice among the choices."""

from __future__ import annotations

import math

from foreshock._base import MetricError
from foreshock.metrics._multiple_choice import check_gold
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Function, metric

_TIES = ("mid", "worst", "best")
_TWINS = ("choice_probability", "brier", "choice_margin")


@metric(
    kind="hard",
    link="argmax",
    needs=("choice_logprobs", "gold_index"),
    range=(1, None),
    higher_is_better=False,
    chance=lambda choices, **_: (choices + 1) / 2,
    twins=_TWINS,
)
def gold_rank(*, ties: str = "mid") -> Function:
    """Place of the right choice when choices are sorted by likelihood, 1 is the likeliest.

    Third of 4 choices and third of 10 are not the same: compare ranks of items with equally many choices.

    Args:
        ties: Choices as likely as the right one share the ``mid`` of their places (1.5 for two on top), or the right
            one has the ``worst`` or the ``best`` of these places.

    Examples:
        >>> gold_rank()({"choice_logprobs": [-1.0, -3.0, -2.0], "gold_index": 1})
        3.0
        >>> gold_rank()({"choice_logprobs": [-1.0, -1.0], "gold_index": 1})
        1.5
    """
    _check(ties)
    return lambda response: _rank(response, ties)


@metric(
    kind="hard",
    link="argmax",
    needs=("choice_logprobs", "gold_index"),
    range=(0, 1),
    chance=lambda choices, **_: math.fsum(1 / place for place in range(1, choices + 1)) / choices,
    twins=_TWINS,
)
def reciprocal_rank(*, ties: str = "mid") -> Function:
    """1 / :func:`gold_rank`; its mean over items is the mean reciprocal rank (MRR).

    Args:
        ties: As in :func:`gold_rank`. With ``mid`` it is 1 over the mean of the tied places.

    Examples:
        >>> reciprocal_rank()({"choice_logprobs": [-1.0, -3.0, -2.0], "gold_index": 2})
        0.5
    """
    _check(ties)
    return lambda response: 1 / _rank(response, ties)


def _check(ties: str) -> None:
    if ties not in _TIES:
        raise MetricError(f"ties={ties!r} is unknown", expected=f"one of {', '.join(_TIES)}")


def _rank(response: Given, ties: str) -> float:
    values: list[float] = response.choice_logprobs
    gold: int = response.gold_index
    check_gold(values, gold)
    better = sum(value > values[gold] for value in values)
    equal = sum(value == values[gold] for value in values)  # the right one itself included
    return better + {"best": 1.0, "mid": (1 + equal) / 2, "worst": float(equal)}[ties]
