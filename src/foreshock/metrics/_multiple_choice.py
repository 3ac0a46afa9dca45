"""The multiple-choice grade: did the model choose the right option?"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any

from foreshock._base import MetricError
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Columns, Function, Inapplicable, metric

_TIES = ("first", "split", "wrong")
_LENGTHS = ("none", "characters", "bytes")
_BY = ("auto", "likelihood", "answer")


def _needs(*, by: str, length: str, **_: Any) -> tuple[tuple[str, ...], ...]:
    scale = () if length == "none" else ("choices",)
    likelihood = ("choice_logprobs", "gold_index", *scale)
    answer = (("answer", "targets", "choices"), ("answer", "choices", "gold_index"))
    return {"auto": (likelihood, *answer), "likelihood": (likelihood,), "answer": answer}[by]


@metric(
    kind="hard",
    link="argmax",
    needs=_needs,
    range=(0, 1),
    chance=lambda choices, **_: 1 / choices,
    twins=("choice_probability", "brier", "choice_margin"),
)
def multiple_choice_grade(*, by: str = "auto", ties: str = "first", length: str = "none") -> Function:
    """1 when the right option was chosen, else 0.

    By likelihood: the option with the largest ``choice_logprobs`` is ``gold_index``. By answer: the extracted answer,
    stripped and without case, is one of the targets, or the text of the right option, or its letter (``B``, ``(B)``,
    ``B.``) where no option is itself that text.

    Args:
        by: ``likelihood``, ``answer``, or ``auto``: likelihood where the log has it, else answer.
        ties: Among options of equal likelihood the ``first`` is chosen (as harnesses do), or the grade is ``split``
            among them (1/ties when the right one is among them), or a tie is ``wrong``.
        length: ``none``, or divide each log-likelihood by the ``characters`` or ``bytes`` of its option (lm-eval's
            ``acc_norm`` uses characters).

    Examples:
        >>> multiple_choice_grade()({"choice_logprobs": [-2.0, -1.0], "gold_index": 1})
        1.0
        >>> multiple_choice_grade(ties="split")({"choice_logprobs": [-1.0, -1.0], "gold_index": 1})
        0.5
        >>> multiple_choice_grade()({"answer": "(b)", "choices": ["3", "4"], "gold_index": 1})
        1.0
    """
    for given, allowed in ((by, _BY), (ties, _TIES), (length, _LENGTHS)):
        if given not in allowed:
            raise MetricError(f"{given!r} is unknown", expected=f"one of {', '.join(allowed)}")

    def score(response: Given) -> float | None:
        likelihood = response.choice_logprobs and response.gold_index is not None
        if by != "answer" and likelihood and (length == "none" or response.choices):
            values = _scaled(response.choice_logprobs, response.choices, length)
            return _grade(values, response.gold_index, ties)
        return by_answer(response)

    return score


@multiple_choice_grade.batch
def _batch(columns: Columns, *, by: str, ties: str, length: str) -> list[float]:
    if by == "answer" or ties != "first" or length != "none":
        raise NotImplementedError  # the form over rows is fast enough for the rarer ones
    grades = []
    for values, gold in zip(columns["choice_logprobs"], columns["gold_index"], strict=True):
        if not 0 <= gold < len(values) or math.isnan(sum(values)):
            raise ValueError(gold)  # the form over rows says what is wrong
        grades.append(1.0 if values.index(max(values)) == gold else 0.0)
    return grades


def check_gold(values: Sequence[Any], gold: int) -> None:
    """Refuse a gold index outside the choices: Python would count a negative one from the end."""
    if not 0 <= gold < len(values):
        raise IndexError(f"gold_index {gold} with {len(values)} choices")
    if None in values:
        raise Inapplicable("the log-likelihood of a choice is missing")
    if any(isinstance(value, float) and math.isnan(value) for value in values):
        raise ValueError("the log-likelihood of a choice is not a number")


def _scaled(values: list[float], choices: list[str] | None, length: str) -> list[float]:
    if length == "none" or choices is None:
        return values
    if len(choices) != len(values):
        raise ValueError(f"{len(values)} log-likelihoods for {len(choices)} choices")
    sizes = [len(c) if length == "characters" else len(c.encode("utf-8", "surrogatepass")) for c in choices]
    if 0 in sizes:
        raise Inapplicable("a choice is empty, so its log-likelihood has no length to be divided by")
    return [v / s for v, s in zip(values, sizes, strict=True)]


def _grade(values: list[float], gold: int, ties: str) -> float:
    check_gold(values, gold)
    best = max(values)
    tied = [i for i, v in enumerate(values) if v == best]
    if len(tied) == 1 or ties == "first":
        return float(tied[0] == gold)
    return float(gold in tied) / len(tied) if ties == "split" else 0.0


def by_answer(response: Given) -> float | None:
    """Grade of an extracted answer; see :func:`multiple_choice_grade`."""
    answer = _fold(response.answer)
    if answer in map(_fold, response.targets or ()):
        return 1.0
    choices = [_fold(choice) for choice in response.choices or ()]
    gold = response.gold_index
    if gold is None:
        return 0.0
    check_gold(choices, gold)
    if answer in choices:
        return float(choices[gold] == answer)
    return float(answer.strip("().: ") == string.ascii_lowercase[gold : gold + 1] != "")


def _fold(text: str) -> str:
    return text.strip().casefold()
