"""Tool use: how many calls, how many tools, what failed, what was mended, what was wasted."""

from __future__ import annotations

from collections.abc import Sequence

from foreshock.metrics._response import Step
from foreshock.metrics._spec import Function
from foreshock.metrics._steps import calls_of, step_metric, steps_of

CUT = "…"
"""How a reader ends a text that it cut: what followed is not known, so two such texts are not known to be equal."""


@step_metric(higher_is_better=None, unit="calls")
def tool_calls(*, tool: str | None = None) -> Function:
    """Number of tool calls, whatever became of them.

    Args:
        tool: Count calls of this tool only.

    Examples:
        >>> tool_calls()({"trace": [Step(0, 0, "turn"), Step(1, 0, "tool", "bash", True)]})
        1.0
    """
    return lambda response: float(sum(tool is None or call.name == tool for call in calls_of(response)))


@step_metric(higher_is_better=None, unit="tools")
def distinct_tools() -> Function:
    """Number of different tools that were called; calls of tools that do not exist count as well."""
    return lambda response: float(len({call.name for call in calls_of(response)}))


@step_metric(higher_is_better=None, unit="calls")
def longest_tool_chain() -> Function:
    """Most tool calls with no turn between them that made none: how long it acts before it only speaks again.

    A turn is counted as speaking when it has no call; words beside a call do not end the chain, because a log that
    counts a turn in tokens does not tell words from the call.

    Examples:
        >>> def turn(n, calls):
        ...     return [Step(0, n, "turn"), *(Step(0, n, "tool", "bash", True) for _ in range(calls))]
        >>> longest_tool_chain()({"trace": [*turn(0, 1), *turn(1, 2), *turn(2, 0), *turn(3, 1)]})
        3.0
    """
    return lambda response: float(_longest(steps_of(response)))


@step_metric(higher_is_better=False, unit="calls")
def tool_errors() -> Function:
    """Number of tool calls that failed; a call whose outcome is not in the log is not one of them."""
    return lambda response: float(sum(call.ok is False for call in calls_of(response)))


@step_metric(higher_is_better=None, unit="calls")
def tool_recoveries() -> Function:
    """Number of failed calls that some later successful call of the same tool made good.

    Never more than :func:`tool_errors`; three failures before one success are three recoveries. More of them is not
    better: each needs a failure first.

    Examples:
        >>> calls = [("bash", False), ("python", True), ("bash", True), ("bash", False)]
        >>> tool_recoveries()({"trace": [Step(i, i, "tool", name, ok) for i, (name, ok) in enumerate(calls)]})
        1.0
    """
    return lambda response: float(sum(recovered(calls_of(response))))


@step_metric(higher_is_better=False, unit="calls")
def wasted_calls() -> Function:
    """Number of tool calls that brought nothing: failed without a later recovery, or said once more what was said.

    A call is wasted when (1) it failed and no later call of the same tool succeeded; or (2) it did not fail and an
    earlier call that did not fail had the same tool and the same arguments, character by character. Arguments that the
    log or the reader cut, or does not have, are not known to be the same. Some repetition has a use (waiting, looking
    again at a file that changed), so this is an upper bound of waste.

    Examples:
        >>> calls = [("a", True, "x"), ("a", True, "x"), ("a", True, "y"), ("b", False, "z")]
        >>> wasted_calls()({"trace": [Step(i, i, "tool", n, ok, value=v) for i, (n, ok, v) in enumerate(calls)]})
        2.0
    """
    return lambda response: float(_wasted(calls_of(response)))


def recovered(calls: Sequence[Step]) -> list[bool]:
    """For each call whether it failed and a later call of the same tool succeeded."""
    out = [False] * len(calls)
    succeeded: set[str | None] = set()
    for i in range(len(calls) - 1, -1, -1):
        if calls[i].ok is True:
            succeeded.add(calls[i].name)
        elif calls[i].ok is False:
            out[i] = calls[i].name in succeeded
    return out


def _wasted(calls: Sequence[Step]) -> int:
    mended = recovered(calls)
    seen: set[tuple[str | None, str]] = set()
    wasted = 0
    for call, made_good in zip(calls, mended, strict=True):
        if call.ok is False:  # its value is the error, not the arguments
            wasted += not made_good
        elif call.value is not None and not call.value.endswith(CUT):
            key = (call.name, call.value)
            wasted += key in seen
            seen.add(key)
    return wasted


def _longest(steps: Sequence[Step]) -> int:
    acting = {step.turn for step in steps if step.kind == "tool"}
    longest = current = 0
    for step in steps:
        if step.kind == "tool":
            current += 1
            longest = max(longest, current)
        elif step.kind == "turn" and step.turn not in acting:
            current = 0
    return longest
