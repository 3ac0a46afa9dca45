"""Confidence, and how far it is from the share that is right."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from foreshock._base import MetricError
from foreshock.metrics._brier import softmax
from foreshock.metrics._multiple_choice import check_gold
from foreshock.metrics._registry import get_metric
from foreshock.metrics._reliability import check_bins, reliability
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Function, Inapplicable, metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PER = ("answer", "token")
_CHOICES = ("choice_logprobs", "gold_index")


def _needs(*, of: str, correct: str, **_: object) -> tuple[tuple[str, ...], ...]:
    if of == "choices":
        return (_CHOICES,)
    return tuple(("output_token_logprobs", *alternative) for alternative in get_metric(correct).needs)


def _unless(*, of: str, correct: str, **_: object) -> tuple[str, ...]:
    return () if of == "choices" else get_metric(correct).unless


@metric(
    kind="continuous",
    needs=lambda of, **_: ("choice_logprobs",) if of == "choices" else ("output_token_logprobs",),
    range=(0, 1),
    higher_is_better=None,
    chance=lambda choices, of, **_: 1 / choices if of == "choices" else 0.0,
)
def confidence(*, of: str = "choices", per: str = "answer") -> Function:
    """Probability that the model gives to what it says, whether right or wrong.

    Args:
        of: ``choices``: the largest of the softmax of ``choice_logprobs``; or ``generation``: of the generated text,
            from ``output_token_logprobs``.
        per: For a generation, the probability of the whole ``answer``, a product over its tokens, which falls with the
            length of the text; or the geometric mean of a ``token``.

    Examples:
        >>> confidence()({"choice_logprobs": [-1.0, -1.0]})
        0.5
        >>> round(confidence(of="generation", per="token")({"output_token_logprobs": [-0.5, -1.5]}), 3)
        0.368
    """
    return _confidence(of, per)


@metric(
    kind="continuous",
    grain="run",
    needs=_needs,
    unless=_unless,
    range=(-1, 1),
    higher_is_better=False,
    names=("debiased", "plain", "null", "squared_debiased", "squared"),
    statistics=("confidence", "correct"),
)
def calibration_error(
    *, of: str = "choices", bins: int = 15, by: str = "width", correct: str = "exact_match", per: str = "answer"
) -> Function:
    """Expected calibration error (ECE) of a run, and the part of it that chance alone would show.

    With n_b rows, mean confidence c_b and share right a_b in bin b:

    - ``plain``: sum of n_b/n abs(a_b - c_b) (Guo et al. 2017, arXiv:1706.04599). It is never below 0, so that noise in
      a_b always adds to it: the fewer rows and the more bins, the larger, even for a perfectly calibrated model.
    - ``null``: what ``plain`` would be on average if every confidence were exactly the probability of being right;
      exact, from the distribution of the number of right answers in each bin.
    - ``debiased``, the headline: ``plain`` - ``null``. It is 0 on average for a calibrated model and may be negative.
      For a badly calibrated one, whose noise adds less, it is too small by ``null`` at the most.
    - ``squared``: sum of n_b/n (a_b - c_b)^2, and ``squared_debiased``: the same less the estimated variance of a_b,
      a_b(1-a_b)/(n_b-1) (Kumar et al. 2019, arXiv:1909.10155), without bias for any model, given the bins.

    All of them see only what differs between bins: errors that cancel inside a bin are not found.

    Args:
        of: ``choices``: confidence is the largest softmax of ``choice_logprobs``, and right is whether the first choice
            of that likelihood is ``gold_index``; or ``generation``: see ``correct`` and :func:`confidence`.
        bins: Number of bins.
        by: Bins of equal ``width`` or of equal ``mass``; see :func:`reliability`.
        correct: For a generation, the metric that says whether it is right (a value of at least 1).
        per: For a generation, as in :func:`confidence`.

    Examples:
        >>> import numpy as np
        >>> found = calibration_error(bins=1).result(np.array([[0.75, 0.0], [0.75, 1.0], [0.75, 1.0], [0.75, 0.0]]))
        >>> found["plain"], round(found["null"], 4), round(found["debiased"], 4)
        (0.25, 0.1582, 0.0918)
    """
    check_bins(bins, by)
    sure = _confidence(of, per)
    right = _choice_is_right if of == "choices" else _judge(correct)

    def statistics(response: Given) -> list[float] | None:
        verdict = right(response)
        return None if verdict is None else [sure(response), float(verdict)]

    return statistics


@calibration_error.result
def _result(stats: NDArray[np.float64], *, bins: int, by: str, **_: object) -> dict[str, float]:
    if len(stats) == 1:  # every response is scored alone once; the general way takes 50 times as long
        said, right = stats[0].tolist()
        chance = said * (1 - said)
        return _values(abs(right - said), 2 * chance, (right - said) ** 2, chance)
    table = reliability(stats[:, 0], stats[:, 1], bins=bins, by=by)
    share = table.n / table.n.sum()
    plain, null, squared, noise = (
        float(share @ column) for column in (table.gap, table.null_gap, table.gap**2, table.noise)
    )
    return _values(plain, null, squared, noise)


def _values(plain: float, null: float, squared: float, noise: float) -> dict[str, float]:
    return {
        "debiased": plain - null,
        "plain": plain,
        "null": null,
        "squared_debiased": squared - noise,
        "squared": squared,
    }


def _confidence(of: str, per: str) -> Callable[[Given], float]:
    if of not in ("choices", "generation"):
        raise MetricError(f"of={of!r} is unknown", expected="choices or generation")
    if per not in _PER:
        raise MetricError(f"per={per!r} is unknown", expected=f"one of {', '.join(_PER)}")

    def of_choices(response: Given) -> float:
        check_gold(response.choice_logprobs, 0)
        return max(softmax(response.choice_logprobs))

    def of_generation(response: Given) -> float:
        values = response.output_token_logprobs
        if any(value is None or math.isnan(value) for value in values):
            raise Inapplicable("the log-probability of a token is missing")
        total = math.fsum(values)
        return math.exp(min(total if per == "answer" else total / len(values), 0.0))

    return of_choices if of == "choices" else of_generation


def _choice_is_right(response: Given) -> bool:
    values = response.choice_logprobs
    check_gold(values, response.gold_index)
    return bool(values.index(max(values)) == response.gold_index)


def _judge(correct: str) -> Callable[[Given], bool | None]:
    spec = get_metric(correct)
    if spec.grain != "response" or spec.names:
        raise MetricError(f"{correct} does not say of one response whether it is right", expected="grain response")

    def right(response: Given) -> bool | None:
        value = spec.function(response)
        return None if value is None else float(value) >= 1  # type: ignore[arg-type]

    return right
