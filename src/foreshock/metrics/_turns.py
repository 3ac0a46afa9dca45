"""Turns of a conversation, and how many there were before the first failure."""

from __future__ import annotations

from collections.abc import Sequence

from foreshock._base import MetricError
from foreshock.metrics._response import Given, Step
from foreshock.metrics._spec import Function, Inapplicable, metric
from foreshock.metrics._steps import WITH_STEPS, step_metric, steps_of

_OF = ("any", "tool", "error")
_CENSORED = ("leave-out", "count")


@step_metric(higher_is_better=None, unit="turns")
def turns() -> Function:
    """Number of turns of the assistant.

    Examples:
        >>> turns()({"trace": [Step(0, 0, "turn"), Step(1, 0, "tool", "bash", True), Step(2, 1, "turn")]})
        2.0
    """
    return lambda response: float(_turns(steps_of(response)))


@metric(
    kind="continuous",
    needs=("trace",),
    uses=("meta",),
    range=(0, None),
    deliveries=WITH_STEPS,
    unit="turns",
)
def turns_before_failure(*, failure: str = "any", censored: str = "leave-out") -> Function:
    """Number of turns that were over before the one in which something first failed.

    A failure is a tool call that failed, or an error of kind ``error``. An error that belongs to no turn counts after
    the last turn if it ended the response (its name is ``sample``); others without a turn (a call of the model that was
    tried again) have no place in the conversation and are not counted.

    A mean over responses that did fail says nothing of those that did not: read it beside :func:`step_failed`.

    Args:
        failure: ``any``, or only a ``tool`` or an ``error``.
        censored: A response without a failure is left out (``leave-out``), or has all its turns (``count``), which is
            less than it might have lasted.

    Examples:
        >>> trace = [Step(0, 0, "turn"), Step(1, 0, "tool", "bash", True), Step(2, 1, "turn"),
        ...          Step(3, 1, "tool", "bash", False)]
        >>> turns_before_failure()({"trace": trace})
        1.0
    """
    if censored not in _CENSORED:
        raise MetricError(f"censored={censored!r} is unknown", expected=f"one of {', '.join(_CENSORED)}")
    _check(failure)

    def score(response: Given) -> float:
        steps = steps_of(response)
        first = _first_failure(steps, failure)
        if first is None and censored == "leave-out":
            raise Inapplicable("nothing failed")
        return float(_turns(steps) if first is None else first)

    return score


@metric(
    kind="hard",
    link="any-of-T",
    needs=("trace",),
    uses=("meta",),
    range=(0, 1),
    higher_is_better=False,
    deliveries=WITH_STEPS,
    twins=("tool_errors",),
)
def step_failed(*, failure: str = "any") -> Function:
    """1 when something failed, as :func:`turns_before_failure` defines it, else 0.

    Args:
        failure: ``any``, or only a ``tool`` or an ``error``.
    """
    _check(failure)
    return lambda response: float(_first_failure(steps_of(response), failure) is not None)


def _check(failure: str) -> None:
    if failure not in _OF:
        raise MetricError(f"failure={failure!r} is unknown", expected=f"one of {', '.join(_OF)}")


def _turns(steps: Sequence[Step]) -> int:
    return sum(step.kind == "turn" for step in steps)


def _first_failure(steps: Sequence[Step], failure: str) -> int | None:
    """Turns before the first failure; None when nothing failed."""
    kinds = ("tool", "error") if failure == "any" else (failure,)
    failed = [step for step in steps if step.ok is False and step.kind in kinds]
    places = [step.turn for step in failed if step.turn is not None]
    if any(step.turn is None and step.name == "sample" for step in failed):
        places.append(_turns(steps))
    return min(places, default=None)
