"""Error rates: edits per word or character of the target, of one response or of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from foreshock.metrics._edit import LIMIT, check_choices, compared, refuse_many, unless_choices
from foreshock.metrics._pairs import batch_but, best_over_targets
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Columns, Factory, Function, Inapplicable, metric
from foreshock.metrics._text import normaliser, tokenizer

if TYPE_CHECKING:
    from foreshock.metrics._pairs import Floats

_NOTHING = "the targets are empty"
_STATISTICS = ("edits", "target_length")


@metric(kind="continuous", needs=("answer", "targets"), unless=unless_choices, range=(0, None), higher_is_better=False)
def word_error_rate(*, normalise: str = "strip", choices: str = "refuse") -> Function:
    """Levenshtein distance in words over the number of words of the target; above 1 when the answer is much longer.

    Insertions, deletions and substitutions cost 1. Of several targets the smallest rate counts. An empty target has
    rate 0 with an empty answer and none otherwise: such an item is not applicable.

    Args:
        normalise: Steps done first to answer and targets, as in :func:`exact_match`.
        choices: ``refuse`` items with choices, or ``allow`` them.

    Examples:
        >>> word_error_rate()({"answer": "the cat sat", "targets": ["the cat sat down"]})
        0.25
    """
    return _rate(normalise, "words", choices)


@metric(kind="continuous", needs=("answer", "targets"), unless=unless_choices, range=(0, None), higher_is_better=False)
def character_error_rate(*, normalise: str = "strip", choices: str = "refuse") -> Function:
    """:func:`word_error_rate` in characters (Unicode code points, white space included).

    Examples:
        >>> character_error_rate()({"answer": "1234", "targets": ["12345"]})
        0.2
    """
    return _rate(normalise, "characters", choices)


@metric(
    kind="continuous",
    grain="run",
    needs=("answer", "targets"),
    unless=unless_choices,
    range=(0, None),
    higher_is_better=False,
    statistics=_STATISTICS,
    additive=True,
)
def corpus_word_error_rate(*, normalise: str = "strip", choices: str = "refuse") -> Function:
    """All edits of a run over all words of its targets, so that long targets weigh more; see :func:`word_error_rate`.

    Of several targets the one with the smallest rate counts, and of equal rates the first.
    """
    return _counts(normalise, "words", choices)


@metric(
    kind="continuous",
    grain="run",
    needs=("answer", "targets"),
    unless=unless_choices,
    range=(0, None),
    higher_is_better=False,
    statistics=_STATISTICS,
    additive=True,
)
def corpus_character_error_rate(*, normalise: str = "strip", choices: str = "refuse") -> Function:
    """All edits of a run over all characters of its targets; see :func:`corpus_word_error_rate`."""
    return _counts(normalise, "characters", choices)


def _of_corpus(stats: Floats, **_: Any) -> float:
    edits, length = stats[0].tolist()
    return edits / length if length else 0.0  # without a word in any target there was none in the answers


def _of_each(stats: Floats, **_: Any) -> Floats:
    import numpy as np

    edits, lengths = stats.T
    rates: Floats = np.divide(edits, lengths, out=np.zeros(len(stats)), where=lengths > 0)
    return rates


def _rate(normalise: str, tokens: str, choices: str) -> Function:
    counts = _counts(normalise, tokens, choices)

    def score(response: Given) -> float:
        edits, length = counts(response)
        return edits / length if length else 0.0

    return score


def _counts(normalise: str, tokens: str, choices: str) -> Callable[[Any], list[float]]:
    """Function of one response: edits and length of the target of the smallest rate."""
    from rapidfuzz.distance import Levenshtein

    check_choices(choices)
    clean, cut = normaliser(normalise), str.split if tokens == "words" else str

    def counts(response: Given) -> list[float]:
        answer, *targets = (cut(clean(text)) for text in (response.answer, *response.targets))
        usable = [target for target in targets if target or not answer]
        if not usable:
            raise Inapplicable(_NOTHING)
        refuse_many(answer, usable)
        pairs = [(Levenshtein.distance(answer, target), len(target)) for target in usable]
        edits, length = min(pairs, key=lambda pair: pair[0] / max(pair[1], 1))
        return [float(edits), float(length)]

    return counts


def _batch_of(factory: Factory, tokens: str, keep: slice | int, finish: Callable[[list[Any]], list[Any]]) -> None:
    @factory.batch
    def batch(columns: Columns, *, normalise: str, choices: str) -> list[Any]:
        clean, cut = normaliser(normalise), str.split if tokens == "words" else str

        def work(answers: Sequence[str], targets: Sequence[str]) -> Floats:
            return _of_pairs(answers, targets, lambda text: cut(clean(text)), normalise in ("none", "strip"))

        def whole(columns: Columns) -> list[Any]:
            return finish(best_over_targets(columns, work, keep=keep, size=None))

        return batch_but(columns, whole, factory.make(normalise=normalise, choices=choices), limit=LIMIT)


def _of_pairs(answers: Sequence[str], targets: Sequence[str], prepare: Callable[[str], Any], shorter: bool) -> Floats:
    """Negative rate, rate, edits and length of each pair; an empty target with an answer has a rate of infinity."""
    import numpy as np
    from rapidfuzz.distance import Levenshtein

    edits = compared(Levenshtein.distance, prepare, answers, targets, 0.0, shorter)
    lengths = np.fromiter((len(prepare(target)) for target in targets), np.float64, len(targets))
    rates = np.divide(edits, lengths, out=np.where(edits > 0, np.inf, 0.0), where=lengths > 0)
    return np.stack((-rates, rates, edits, lengths), axis=1)


def _finish_rates(found: list[Any]) -> list[Any]:
    return [Inapplicable(_NOTHING) if rate == float("inf") else rate for rate in found]


def _finish_counts(found: list[Any]) -> list[Any]:
    return [Inapplicable(_NOTHING) if rate == float("inf") else counts for rate, *counts in found]


for _factory, _tokens in ((word_error_rate, "words"), (character_error_rate, "characters")):
    _batch_of(_factory, _tokens, 1, _finish_rates)
for _factory, _tokens in ((corpus_word_error_rate, "words"), (corpus_character_error_rate, "characters")):
    _batch_of(_factory, _tokens, slice(1, None), _finish_counts)
    _factory.result(_of_corpus)
    _factory.alone(_of_each)


@metric(
    kind="continuous",
    needs=("answer", "targets"),
    unless=unless_choices,
    range=(0, None),
    higher_is_better=False,
    unit=lambda *, tokens, **_: tokens,
)
def edit_distance(*, tokens: str = "characters", normalise: str = "strip", choices: str = "refuse") -> Function:
    """Levenshtein distance: the least number of tokens to insert, delete or substitute. The nearest target counts.

    Args:
        tokens: ``characters``, ``words``, ``bytes``, or as in :func:`token_similarity`.
        normalise: Steps done first to answer and targets, as in :func:`exact_match`.
        choices: ``refuse`` items with choices, or ``allow`` them.

    Examples:
        >>> edit_distance()({"answer": "kitten", "targets": ["sitting"]})
        3.0
    """
    from rapidfuzz.distance import Levenshtein

    check_choices(choices)
    clean, cut = normaliser(normalise), tokenizer(tokens)

    def score(response: Given) -> float:
        answer, *targets = (cut(clean(text)) for text in (response.answer, *response.targets))
        refuse_many(answer, targets)
        return float(min(Levenshtein.distance(answer, target) for target in targets))

    return score


@edit_distance.batch
def _distances(columns: Columns, *, tokens: str, normalise: str, choices: str) -> list[Any]:
    from rapidfuzz.distance import Levenshtein

    clean, cut = normaliser(normalise), tokenizer(tokens)
    shorter = normalise in ("none", "strip") and tokens in ("characters", "words", "wordpunct")

    def work(answers: Sequence[str], targets: Sequence[str]) -> Floats:
        return -compared(Levenshtein.distance, lambda text: cut(clean(text)), answers, targets, 0.0, shorter)[:, None]

    def whole(columns: Columns) -> list[Any]:
        return [-value for value in best_over_targets(columns, work, size=None)]

    function = edit_distance.make(tokens=tokens, normalise=normalise, choices=choices)
    return batch_but(columns, whole, function, limit=LIMIT)
