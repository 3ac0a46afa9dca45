"""How likely the model found the gold answer."""

from __future__ import annotations

import math

from foreshock._base import MetricError
from foreshock.metrics._multiple_choice import check_gold
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Function, Inapplicable, metric

WHOLE = (("gold_logprob",), ("gold_token_logprobs",), ("choice_logprobs", "gold_index"))
"""Where the log-probability of a whole gold answer may come from."""
_TOKENS = (("gold_token_logprobs",),)


@metric(
    kind="continuous",
    needs=lambda per: _TOKENS if per == "token" else WHOLE,
    range=(None, 0),
)
def gold_logprob(*, per: str = "answer") -> Function:
    """Log-probability of the gold answer, natural log.

    Taken from ``gold_logprob``, else the sum of ``gold_token_logprobs``, else ``choice_logprobs`` at ``gold_index``.

    Args:
        per: ``answer`` for the whole answer, or ``token`` for the mean of ``gold_token_logprobs``, which alone can be
            compared between answers of different lengths.

    Examples:
        >>> gold_logprob()({"gold_token_logprobs": [-1.0, -3.0]})
        -4.0
        >>> gold_logprob(per="token")({"gold_token_logprobs": [-1.0, -3.0]})
        -2.0
    """
    if per not in ("answer", "token"):
        raise MetricError(f"per={per!r} is unknown", expected="answer or token")

    def score(response: Given) -> float:
        if per == "answer":
            return whole(response)
        return _total(response.gold_token_logprobs) / len(response.gold_token_logprobs)

    return score


@metric(
    kind="continuous",
    link="all-of-N",
    needs=WHOLE,
    range=(0, 1),
)
def gold_probability() -> Function:
    """Probability of the gold answer as a whole: exp of :func:`gold_logprob`, a product over its tokens.

    It is what exact match would be on average over samples at temperature 1, without their noise; being a product it
    bends as exact match does. Among choices use ``choice_probability``.

    Examples:
        >>> gold_probability()({"gold_logprob": 0.0})
        1.0
    """
    return lambda response: math.exp(whole(response))


def whole(response: Given) -> float:
    """Log-probability of the whole gold answer, from whichever column has it."""
    if response.gold_logprob is not None:
        return float(response.gold_logprob)
    if response.gold_token_logprobs:
        return _total(response.gold_token_logprobs)
    values, gold = response.choice_logprobs, response.gold_index
    check_gold(values, gold)
    return float(values[gold])


def _total(tokens: list[float]) -> float:
    if None in tokens:
        raise Inapplicable("the log-probability of a token is missing")
    return math.fsum(tokens)
