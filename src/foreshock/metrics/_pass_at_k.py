"""pass@k: does at least one of k attempts succeed?"""

from __future__ import annotations

import math
from typing import Any

from foreshock._base import MetricError
from foreshock.metrics._gold import WHOLE, whole
from foreshock.metrics._registry import get_metric
from foreshock.metrics._response import FIELDS, Given, Response
from foreshock.metrics._score import score_batch
from foreshock.metrics._spec import Function, Inapplicable, metric
from foreshock.records import ScoreStatus


def _needs(*, of: str, **_: Any) -> tuple[tuple[str, ...], ...]:
    """What the other metric needs beside the answer: an attempt without one has failed, it is not left out."""
    return tuple(tuple(n for n in alternative if n != "answer") or alternative for alternative in get_metric(of).needs)


@metric(
    kind="hard",
    link="any-of-T",
    grain="item",
    needs=_needs,
    uses=("answer", "output"),
    unless=lambda of, **_: get_metric(of).unless,
    range=(0, 1),
    twins=lambda of, threshold, **_: (str(get_metric("pass_rate", of=of, threshold=threshold)),),
)
def pass_at_k(*, k: int = 2, of: str = "exact_match", threshold: float = 1.0) -> Function:
    """Probability that at least one of ``k`` attempts passes, estimated without bias from the n attempts at an item.

    ``1 - C(n-c, k) / C(n, k)`` with c attempts that passed (Chen et al. 2021, arXiv:2107.03374): the share of the sets
    of k attempts that hold one that passed. Attempts are the item's responses that arrived, over epochs and samples;
    one from which no answer could be extracted has failed. Refused and undelivered responses are no attempts. Items
    with fewer than k attempts are left out. Every response of the item carries the value.

    Args:
        k: Attempts.
        of: The metric that an attempt has to pass, as :func:`get_metric` takes it; ``harness`` is the harness's own
            score of the attempt, and ``harness(score=NAME)`` one of several.
        threshold: From where it has passed.

    Examples:
        >>> attempts = [Response(answer=a, targets=["4"], output=a) for a in ("4", "5", "6", "7")]
        >>> pass_at_k(k=1).function(attempts), pass_at_k(k=2).function(attempts), pass_at_k(k=4).function(attempts)
        (0.25, 0.5, 1.0)
    """
    _check(k)
    spec = get_metric(of)
    if spec.grain != "response":
        raise MetricError(f"{of} has grain {spec.grain}", expected="a metric of one response")

    def score(responses: list[Response]) -> float:
        columns = {name: [getattr(r, name) for r in responses] for name in FIELDS}
        found = score_batch(spec, columns)
        if ScoreStatus.FAILED in found.statuses:
            raise ValueError(found.labels[found.statuses.index(ScoreStatus.FAILED)])
        tried = [v for v, s in zip(found.values, found.statuses, strict=True) if s != ScoreStatus.NEEDS]
        if not tried:
            raise Inapplicable(found.labels[0])
        passed = sum(value is not None and value >= threshold for value in tried)
        if len(tried) < k:
            raise Inapplicable(f"the item has {len(tried)} attempts, fewer than {k}")
        return at_least_one(len(tried), passed, k)

    return score


@metric(
    kind="hard",
    link="any-of-T",
    needs=WHOLE,
    range=(0, 1),
    twins=("gold_logprob(per=token)", "gold_logprob"),
)
def pass_at_k_exact(*, k: int = 2) -> Function:
    """Probability that at least one of ``k`` samples at temperature 1 is the gold answer: 1 - (1 - p)^k.

    p is :func:`gold_probability`, so nothing is sampled and there is no noise; other spellings of the right answer
    count as wrong. It is accurate for the smallest p.

    Args:
        k: Attempts.

    Examples:
        >>> import math
        >>> pass_at_k_exact(k=2)({"gold_logprob": math.log(0.5)})
        0.75
    """
    _check(k)

    def score(response: Given) -> float:
        p = math.exp(whole(response))
        return 1.0 if p == 1 else -math.expm1(k * math.log1p(-p))

    return score


def at_least_one(n: int, c: int, k: int) -> float:
    """1 - C(n-c, k) / C(n, k), as a product of factors in [0, 1].

    Examples:
        >>> at_least_one(10, 3, 5)
        0.9166666666666666
    """
    if n - c < k:
        return 1.0
    return 1.0 - math.prod(1.0 - k / i for i in range(n - c + 1, n + 1))


def _check(k: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise MetricError(f"k={k!r}", expected="a whole number from 1")
