"""The probabilities that a model gives to the choices, and the proper score of them."""

from __future__ import annotations

import math

from foreshock._base import MetricError
from foreshock.metrics._multiple_choice import check_gold
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Function, metric

_FORMS = ("multiclass", "binary")


def softmax(logprobs: list[float]) -> list[float]:
    """Probabilities of the choices given that one of them is said: exp(l_k) / sum_j exp(l_j).

    Examples:
        >>> softmax([-1000.0, -1000.0])
        [0.5, 0.5]
    """
    top = max(logprobs)
    if math.isinf(top):
        raise ValueError("every choice has probability 0")
    weights = [math.exp(value - top) for value in logprobs]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


@metric(
    kind="continuous",
    needs=("choice_logprobs", "gold_index"),
    range=lambda form: (0, 2) if form == "multiclass" else (0, 1),
    higher_is_better=False,
    chance=lambda choices, form: 1 - 1 / choices if form == "multiclass" else (1 - 1 / choices) ** 2,
)
def brier(*, form: str = "multiclass") -> Function:
    """Brier score of the softmax p of ``choice_logprobs``: lower is better, strictly proper.

    Args:
        form: ``multiclass``: sum over choices k of (p_k - [k is gold])^2, from 0 to 2; or ``binary``:
            (1 - p_gold)^2, from 0 to 1, which looks at the gold choice only.

    Examples:
        >>> brier()({"choice_logprobs": [-1.0, -1.0, -1.0, -1.0], "gold_index": 2})
        0.75
    """
    if form not in _FORMS:
        raise MetricError(f"form={form!r} is unknown", expected=f"one of {', '.join(_FORMS)}")

    def score(response: Given) -> float:
        values: list[float] = response.choice_logprobs
        gold: int = response.gold_index
        check_gold(values, gold)
        shares = softmax(values)
        if form == "binary":
            return (1 - shares[gold]) ** 2
        return math.fsum((share - (k == gold)) ** 2 for k, share in enumerate(shares))

    return score


@metric(
    kind="continuous",
    needs=("choice_logprobs", "gold_index"),
    range=(0, 1),
    chance=lambda choices: 1 / choices,
)
def choice_probability() -> Function:
    """Probability of the right choice among the choices: the softmax of ``choice_logprobs`` at ``gold_index``.

    Examples:
        >>> choice_probability()({"choice_logprobs": [-1.0, -1.0], "gold_index": 0})
        0.5
    """

    def score(response: Given) -> float:
        gold: int = response.gold_index
        check_gold(response.choice_logprobs, gold)
        return softmax(response.choice_logprobs)[gold]

    return score
