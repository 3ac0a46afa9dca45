"""Per-position accuracy: what an all-or-nothing match is made of."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq

import msgspec

from foreshock._base import MetricError
from foreshock.metrics._edit import check_choices, unless_choices
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Function, Inapplicable, metric
from foreshock.metrics._text import normaliser, tokenizer

LIMIT = 256
"""Longest target, in positions; a longer one is not what per-position accuracy is for."""


@metric(
    kind="continuous",
    grain="position",
    needs=("answer", "targets"),
    unless=unless_choices,
    range=(0, 1),
)
def position_accuracy(
    *, tokens: str = "characters", align: str = "left", normalise: str = "strip", choices: str = "refuse"
) -> Function:
    """0 or 1 at each position of the target, and at its end: does the answer have the same there?

    The last position is the end: 1 when the answer has as many positions as the target. So the product of all
    positions is exact match (with the same normalisation, for ``characters``), and the product of their mean
    accuracies is what exact match would be if positions were independent. With several targets the one with the
    highest mean counts, the first among equals. The value stored is the mean over positions; the label holds the list.

    Args:
        tokens: What a position is: ``characters``, or another tokenizer of :func:`tokenizer`.
        align: ``left``: compare from the start, or ``right``: from the end (numbers written most significant first).
        normalise: Steps done first, as in ``exact_match``.
        choices: ``refuse`` items with choices, or ``allow`` them.

    Examples:
        >>> position_accuracy()({"answer": "1294", "targets": ["1234"]})
        [1.0, 1.0, 0.0, 1.0, 1.0]
        >>> position_accuracy(align="right")({"answer": "234", "targets": ["1234"]})
        [0.0, 1.0, 1.0, 1.0, 0.0]
    """
    check_choices(choices)
    if align not in ("left", "right"):
        raise MetricError(f"align={align!r} is unknown", expected="left or right")
    clean, cut = normaliser(normalise), tokenizer(tokens)

    def score(response: Given) -> list[float]:
        answer = cut(clean(response.answer))
        targets = [cut(clean(target)) for target in response.targets]
        if all(len(target) > LIMIT for target in targets):
            raise Inapplicable(f"every target has more than {LIMIT} positions")
        found = [_compare(answer, target, align) for target in targets if len(target) <= LIMIT]
        return found[0] if len(found) == 1 else max(found, key=lambda positions: sum(positions) / len(positions))

    return score


def positions(label: str | None) -> list[float] | None:
    """The list in the label of a stored position score; None when there is none.

    Examples:
        >>> positions("[1.0,0.0]"), positions(None)
        ([1.0, 0.0], None)
    """
    return msgspec.json.decode(label, type=list[float]) if label and label.startswith("[") else None


def _compare(answer: Sequence[str], target: Sequence[str], align: str) -> list[float]:
    same_end = float(len(answer) == len(target))
    if align == "right":
        return [*reversed(_same(answer[::-1], target[::-1])), same_end]
    return [*_same(answer, target), same_end]


def _same(answer: Sequence[str], target: Sequence[str]) -> list[float]:
    same = list(map(float, map(eq, answer, target)))
    return same + [0.0] * (len(target) - len(same))
