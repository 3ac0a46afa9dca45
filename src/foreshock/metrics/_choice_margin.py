"""Choice margin: by how much the right choice leads."""

from __future__ import annotations

from foreshock.metrics._multiple_choice import check_gold
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Function, Inapplicable, metric


@metric(kind="continuous", needs=("choice_logprobs", "gold_index"))
def choice_margin() -> Function:
    """Log-likelihood of the right choice minus the largest of the others, natural log; above 0 where it is chosen.

    Examples:
        >>> choice_margin()({"choice_logprobs": [-1.0, -3.0, -2.0], "gold_index": 1})
        -2.0
    """

    def score(response: Given) -> float:
        values, gold = response.choice_logprobs, response.gold_index
        check_gold(values, gold)
        others = [value for k, value in enumerate(values) if k != gold]
        if not others:
            raise Inapplicable("there is only one choice")
        return float(values[gold] - max(others))

    return score
