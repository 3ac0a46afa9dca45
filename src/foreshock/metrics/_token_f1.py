"""Token F1: how many tokens answer and target share, in whatever order."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from foreshock._base import MetricError
from foreshock.metrics._edit import check_choices, unless_choices
from foreshock.metrics._pairs import WORDS_CHUNK, batch_but, best_over_targets, refuse_long
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Columns, Function, metric
from foreshock.metrics._spelling import Vocabulary, spell_all
from foreshock.metrics._text import normaliser, tokenizer

if TYPE_CHECKING:
    from foreshock.metrics._pairs import Floats

_PARTS = ("f", "precision", "recall")


@metric(kind="continuous", needs=("answer", "targets"), unless=unless_choices, range=(0, 1))
def token_f1(*, normalise: str = "strip", tokens: str = "words", part: str = "f", choices: str = "refuse") -> Function:
    """F-measure of the tokens that answer and target share, each as often as both have it.

    Two texts without tokens have 1, a text with none and one with some 0, as in SQuAD 2.0. The target with the best
    F-measure counts. ``normalise=squad`` equals the evaluation script of SQuAD 2.0. Rajpurkar et al. 2016 and 2018.

    Args:
        normalise: Steps done first to answer and targets, as in :func:`exact_match`; ``squad`` is SQuAD's own.
        tokens: As in :func:`token_similarity`.
        part: ``f``, ``precision`` (share of the answer's tokens) or ``recall`` (share of the target's).
        choices: ``refuse`` items with choices, or ``allow`` them.

    Examples:
        >>> token_f1()({"answer": "the cat sat", "targets": ["the dog sat"]})
        0.6666666666666666
        >>> token_f1(normalise="squad")({"answer": "The cat.", "targets": ["a cat"]})
        1.0
    """
    check_choices(choices)
    if part not in _PARTS:
        raise MetricError(f"part={part!r} is unknown", expected=f"one of {', '.join(_PARTS)}")
    clean, cut = normaliser(normalise), tokenizer(tokens)

    def score(response: Given) -> float:
        refuse_long(response)
        answer, *targets = (Counter(cut(clean(text))) for text in (response.answer, *response.targets))
        found = [_measures((answer & target).total(), answer.total(), target.total()) for target in targets]
        return max(found, key=lambda each: each[0])[_PARTS.index(part)]

    return score


def _measures(shared: int, given: int, wanted: int) -> tuple[float, float, float]:
    if not shared:
        return (1.0, 1.0, 1.0) if given == wanted == 0 else (0.0, 0.0, 0.0)
    precision, recall = shared / given, shared / wanted
    return 2 * precision * recall / (precision + recall), precision, recall


@token_f1.batch
def _batch(columns: Columns, *, normalise: str, tokens: str, part: str, **params: Any) -> list[Any]:
    clean, cut = normaliser(normalise), tokenizer(tokens)
    joined = str.split if tokens == "words" else None

    def work(answers: list[str], targets: list[str]) -> Floats:
        spelt = spell_all([*map(clean, answers), *map(clean, targets)], joined, cut, Vocabulary())
        return _of_pairs(spelt[: len(answers)], spelt[len(answers) :], part)

    def whole(columns: Columns) -> list[Any]:
        return best_over_targets(columns, work, keep=1, size=WORDS_CHUNK)

    function = token_f1.make(normalise=normalise, tokens=tokens, part=part, **params)
    return batch_but(columns, whole, function)


def _of_pairs(given: list[str], wanted: list[str], part: str) -> Floats:
    """F-measure, and the part that was asked for: shape (n, 2)."""
    import numpy as np

    from foreshock.metrics._ngrams import shared_ngrams

    of_given, of_wanted = (np.fromiter(map(len, texts), np.int64, len(texts)) for texts in (given, wanted))
    shared = shared_ngrams(given, wanted, 1)[:, 0]
    nothing = ((of_given == 0) & (of_wanted == 0)).astype(np.float64)
    precision, recall = (
        np.divide(shared, length, out=nothing.copy(), where=shared > 0) for length in (of_given, of_wanted)
    )
    f = np.divide(2 * precision * recall, precision + recall, out=nothing, where=shared > 0)
    return np.stack((f, {"f": f, "precision": precision, "recall": recall}[part]), axis=1)
