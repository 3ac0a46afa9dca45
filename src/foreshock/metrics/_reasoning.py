"""Reasoning depth: how long, in how many steps, how often it turns back."""

from __future__ import annotations

import re

from foreshock._base import MetricError
from foreshock.metrics._quantity import PER_ROW, Quantity
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Function, Inapplicable, metric
from foreshock.metrics._steps import split_phrases, steps_of

BACKTRACK_MARKERS: tuple[str, ...] = (
    "wait",
    "actually",
    "hold on",
    "hmm",
    "oops",
    "no wait",
    "on second thought",
    "let me re-check",
    "let me recheck",
    "let me double-check",
    "let me double check",
    "let me reconsider",
    "let me re-examine",
    "let me start over",
    "let me try again",
    "let me try another",
    "let me try a different",
    "that's not right",
    "that's wrong",
    "that is not right",
    "that is wrong",
    "i made a mistake",
    "i made an error",
    "scratch that",
    "going back",
    "but wait",
)
"""English openings of a sentence that takes something back."""

_OF = ("reasoning", "output")
_BY = {"paragraphs": re.compile(r"\n[ \t\r]*\n"), "lines": re.compile(r"\n")}
_SEGMENT = re.compile(r"(?:^|\n|[.!?…:;]['\")\]]*[ \t]+)[ \t]*(?:[-*•>]+[ \t]+)?")


@metric(
    kind="continuous",
    needs=lambda unit: {
        "auto": (("reasoning_tokens", "token_unit"), ("reasoning",), ("trace",)),
        "tokens": (("reasoning_tokens", "token_unit"),),
        "characters": (("reasoning",), ("trace",)),
    }[unit],
    uses=("meta",),
    range=(0, None),
    higher_is_better=None,
    unit=PER_ROW,
)
def reasoning_length(*, unit: str = "auto") -> Function:
    """How much was thought: tokens where the log counts them, else characters of the reasoning text.

    Tokens of one model are not those of another, and characters are neither: the unit stands beside every value, and
    values of different units are kept apart.

    Args:
        unit: ``tokens``: only the log's count of reasoning tokens, with whose tokens they are; ``characters``: only
            those of the reasoning in all turns of the trace, else of the last turn's reasoning text; ``auto``: tokens
            where the log has them, else characters.

    Examples:
        >>> reasoning_length()({"reasoning_tokens": 120, "token_unit": "gpt-4o"})
        Quantity(value=120.0, unit='tokens of gpt-4o')
        >>> reasoning_length()({"reasoning": "First,"})
        Quantity(value=6.0, unit='characters')
    """
    if unit not in ("auto", "tokens", "characters"):
        raise MetricError(f"unit={unit!r} is unknown", expected="auto, tokens or characters")

    def score(response: Given) -> Quantity:
        if unit != "characters" and response.reasoning_tokens is not None and response.token_unit is not None:
            return Quantity(float(response.reasoning_tokens), f"tokens of {response.token_unit}")
        thoughts = [s for s in (steps_of(response) if response.trace else ()) if s.kind == "reasoning"]
        if thoughts and all(step.unit == "characters" and step.tokens is not None for step in thoughts):
            return Quantity(float(sum(step.tokens or 0 for step in thoughts)), "characters")
        if response.reasoning is None:
            raise Inapplicable("the log has no reasoning apart from the answer")
        return Quantity(float(len(response.reasoning)), "characters")

    return score


@metric(
    kind="continuous",
    needs=lambda of, by: ("trace",) if by == "segments" else (of,),
    uses=("meta",),
    range=(0, None),
    higher_is_better=None,
    unit=lambda by, **_: by,
)
def reasoning_steps(*, of: str = "reasoning", by: str = "paragraphs") -> Function:
    """Number of steps of a chain of thought.

    Args:
        of: ``reasoning``: the text kept apart from the answer, or ``output`` for a chain of thought in the answer.
        by: ``paragraphs`` (between blank lines) or ``lines``, blank ones not counted; or ``segments``: reasoning steps
            of the trace, all turns together, whatever ``of`` says.

    Examples:
        >>> reasoning_steps()({"reasoning": "First, 2 + 2.\\n\\nSo 4.\\n"})
        2.0
    """
    _check_of(of)
    if by not in (*_BY, "segments"):
        raise MetricError(f"by={by!r} is unknown", expected=f"one of {', '.join(_BY)}, segments")

    def score(response: Given) -> float:
        if by == "segments":
            return float(sum(step.kind == "reasoning" for step in steps_of(response)))
        return float(sum(bool(part.strip()) for part in _BY[by].split(getattr(response, of))))

    return score


@metric(
    kind="continuous",
    needs=lambda of, **_: (of,),
    range=(0, None),
    higher_is_better=None,
    unit="backtracks",
)
def backtracks(*, of: str = "reasoning", markers: str = "|".join(BACKTRACK_MARKERS)) -> Function:
    """How often a text takes something back: segments that begin with one of ``markers``.

    A segment begins at the start of the text or of a line (after a list mark), and after ``. ! ? … : ;`` and a space. A
    marker counts when it stands there as whole words, without regard to case; a marker anywhere else ("you can wait")
    does not. It is a list of words, not an understanding of the text: compare models that write the same language in
    the same style.

    Args:
        of: ``reasoning`` or ``output``.
        markers: Openings to look for, separated by ``|``.

    Examples:
        >>> backtracks()({"reasoning": "It is 5. Wait, no: 4. Actually I can wait. Let me re-check the sum."})
        3.0
    """
    _check_of(of)
    words = sorted(split_phrases(markers), key=len, reverse=True)
    found = re.compile("|".join(map(_spaced, words)), re.IGNORECASE)

    def score(response: Given) -> float:
        text = getattr(response, of).replace("’", "'")
        return float(sum(found.match(text, place.end()) is not None for place in _SEGMENT.finditer(text)))

    return score


def _spaced(marker: str) -> str:
    """A pattern for a marker as whole words, with any white space between them."""
    body = r"\s+".join(map(re.escape, marker.replace("’", "'").split(" ")))
    return rf"{body}(?!\w)" if marker[-1].isalnum() else body


def _check_of(of: str) -> None:
    if of not in _OF:
        raise MetricError(f"of={of!r} is unknown", expected=f"one of {', '.join(_OF)}")
