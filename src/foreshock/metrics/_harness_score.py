"""The harness's own score of a response, as something that other metrics can be made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foreshock.metrics._harness import harness_metric
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Function, Inapplicable, metric

if TYPE_CHECKING:
    from foreshock.metrics._spec import Kind, Link

_SHOWN = 5


def _kind(*, score: str | None) -> Kind:
    known = harness_metric(score) if score is not None else None
    return known.kind or "hard" if known else "hard"


def _link(*, score: str | None) -> Link:
    known = harness_metric(score) if score is not None else None
    return known.link or "identity" if known else "threshold"


def _twins(*, score: str | None) -> tuple[str, ...]:
    if _kind(score=score) == "continuous":
        return ()
    return ("pass_rate(of=harness)" if score is None else f"pass_rate(of=harness(score={score}))",)


@metric(kind=_kind, link=_link, needs=("harness_scores",), higher_is_better=None, twins=_twins)
def harness(*, score: str | None = None) -> Function:
    """The harness's own score of a response, unchanged: a recorded pass or fail, for ``pass_at_k(of=harness)``.

    What it measures is the harness's business: no range and no direction are assumed. It counts as hard, which pass or
    fail is, unless ``score`` is the name of a well-known continuous one.

    Args:
        score: Which score, by the harness's name. None is the only one there is; a response that has several is not
            applicable then, because nothing says which of them means that it passed.

    Examples:
        >>> harness()({"harness_scores": {"passed": 1.0}})
        1.0
        >>> harness(score="acc")({"harness_scores": {"acc": 0.0, "acc_norm": 1.0}})
        0.0
    """

    def value(response: Given) -> float:
        scores = response.harness_scores
        if score is None and len(scores) == 1:
            return float(*scores.values())
        if score in scores:
            return float(scores[score])
        names = ", ".join(sorted(scores)[:_SHOWN]) + (", ..." if len(scores) > _SHOWN else "")
        if score is None:
            raise Inapplicable(f"the harness gave several scores; name one with harness(score=NAME): {names}")
        raise Inapplicable(f"the harness gave no {score}: {names}")

    return value
