"""What the metrics of a trace have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from foreshock._base import MetricError
from foreshock.metrics._response import Given, Step
from foreshock.metrics._spec import Factory, Function, Inapplicable, metric
from foreshock.records import Delivery

WITH_STEPS = tuple(d.value for d in Delivery if d is not Delivery.MISSING)
"""Deliveries on which traces are counted: an agent that timed out after 40 calls has made 40 calls."""


class Meta(msgspec.Struct, frozen=True):
    """The parts of ``meta`` that a metric looks at."""

    trace_left_out: Any = None
    stop_reason: Any = None


_META = msgspec.json.Decoder(Meta)
_NOTHING = Meta()


def step_metric(**declared: Any) -> Callable[[Callable[..., Function]], Factory]:
    """:func:`metric` with what every count of steps declares; the direction and the unit are the metric's own."""
    return metric(
        kind="continuous", needs=("trace",), uses=("meta",), range=(0, None), deliveries=WITH_STEPS, **declared
    )


def steps_of(response: Given) -> list[Step]:
    """The steps of a response.

    Raises:
        Inapplicable: The reader left steps out, so that counts would be too small.
    """
    left_out = meta_of(response).trace_left_out
    if left_out:
        raise Inapplicable(f"the trace was cut, {left_out} steps are missing")
    return response.trace  # type: ignore[no-any-return]


def split_phrases(text: str) -> list[str]:
    """Phrases separated by ``|``, white space folded.

    Raises:
        MetricError: There are none, or one has a character that the name of a metric cannot hold.
    """
    found = [" ".join(phrase.split()) for phrase in str(text).split("|")]
    found = [phrase for phrase in found if phrase]
    if not found or any(mark in phrase for phrase in found for mark in ",()"):
        raise MetricError(f"phrases {text!r:.80}", expected="some, separated by |, without commas and brackets")
    return found


def calls_of(response: Given) -> list[Step]:
    """The tool calls of a response, in order."""
    return [step for step in steps_of(response) if step.kind == "tool"]


def meta_of(response: Given) -> Meta:
    """What else the log says; nothing when that cannot be read."""
    try:
        return _META.decode(response.meta) if response.meta else _NOTHING
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return _NOTHING
