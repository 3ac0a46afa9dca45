"""Edit similarity: how much of the answer would have to be rewritten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from foreshock._base import MetricError
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Columns, Function, metric
from foreshock.metrics._text import normaliser, tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LIMIT = 40_000
"""Longest answer or target that is compared, in characters or tokens. The time grows with the product of both lengths:
two unlike lists of 40,000 tokens, or texts of as many characters of a large alphabet, take 0.2 s on an idle core and
less than 0.5 s on a busy one; of 100,000 they take 1.5 s and 3.6 s."""

Compare = Callable[[Any, Any], float]


def unless_choices(*, choices: str, **_: Any) -> tuple[str, ...]:
    """Declaration of metrics that compare spellings: they do not apply to items with choices unless told to."""
    return ("choices",) if choices == "refuse" else ()


def check_choices(choices: str) -> None:
    """Refuse an unknown value of the parameter ``choices``."""
    if choices not in ("refuse", "allow"):
        raise MetricError(f"choices={choices!r} is unknown", expected="refuse or allow")


@metric(
    kind="continuous",
    needs=("answer", "targets"),
    unless=unless_choices,
    range=(0, 1),
    chance=None,
)
def char_similarity(*, normalise: str = "strip", choices: str = "refuse") -> Function:
    """1 - d / max(length of answer, length of target) for the Levenshtein distance d in characters.

    Insertions, deletions and substitutions cost 1. The best over the targets counts; two empty texts have
    similarity 1. It is 1 exactly where :func:`exact_match` with the same normalisation is 1.

    Args:
        normalise: Steps done first to answer and targets, as in :func:`exact_match`.
        choices: ``refuse`` items with choices (how alike "A" and "B" are spelt means nothing), or ``allow`` them.

    Examples:
        >>> char_similarity()({"answer": "1234", "targets": ["1235"]})
        0.75
    """
    check_choices(choices)
    clean = normaliser(normalise)

    def score(response: Given) -> float:
        return _best(_similarity(), clean(response.answer), [clean(t) for t in response.targets])

    return score


@metric(
    kind="continuous",
    needs=("answer", "targets"),
    unless=unless_choices,
    range=(0, 1),
    chance=None,
)
def token_similarity(*, tokens: str = "words", normalise: str = "strip", choices: str = "refuse") -> Function:
    """1 - d / max(tokens of answer, tokens of target) for the Levenshtein distance d in tokens.

    The best over the targets counts; two texts without tokens have similarity 1.

    Args:
        tokens: ``words``, ``wordpunct``, ``characters``, ``bytes``, or a function defined at the top of a module that
            cuts a text into a list of strings (given as itself or as ``"module:function"``).
        normalise: Steps done first to answer and targets, as in :func:`exact_match`.
        choices: ``refuse`` items with choices, or ``allow`` them.

    Examples:
        >>> token_similarity()({"answer": "the cat sat", "targets": ["the cat sat down"]})
        0.75
    """
    check_choices(choices)
    clean, cut = normaliser(normalise), tokenizer(tokens)

    def score(response: Given) -> float:
        answer, *targets = (cut(clean(text)) for text in (response.answer, *response.targets))
        return _best(_similarity(), answer, targets)

    return score


@metric(
    kind="continuous",
    needs=("answer", "targets"),
    unless=unless_choices,
    range=(0, 1),
    chance=None,
)
def byte_similarity(*, normalise: str = "strip", choices: str = "refuse") -> Function:
    """1 - d / max(length of answer, length of target) for the Levenshtein distance d in bytes of UTF-8.

    The same as ``token_similarity(tokens=bytes)``; the best over the targets counts.

    Args:
        normalise: Steps done first to answer and targets, as in :func:`exact_match`.
        choices: ``refuse`` items with choices, or ``allow`` them.

    Examples:
        >>> byte_similarity()({"answer": "é", "targets": ["è"]})
        0.5
    """
    check_choices(choices)
    clean = normaliser(normalise)

    def score(response: Given) -> float:
        return _best(_similarity(), _bytes(clean(response.answer)), [_bytes(clean(t)) for t in response.targets])

    return score


@char_similarity.batch
def _char_batch(columns: Columns, **params: Any) -> list[Any]:
    return _batch(columns, normaliser(params["normalise"]), char_similarity.make(**params), params["normalise"])


@byte_similarity.batch
def _byte_batch(columns: Columns, **params: Any) -> list[Any]:
    clean = normaliser(params["normalise"])
    return _batch(columns, lambda text: _bytes(clean(text)), byte_similarity.make(**params))


@token_similarity.batch
def _token_batch(columns: Columns, **params: Any) -> list[Any]:
    clean, cut = normaliser(params["normalise"]), tokenizer(params["tokens"])
    function = token_similarity.make(**params)
    if params["tokens"] == "words" and params["normalise"] == "strip":
        return _batch(columns, str.split, function, "strip", 1.0)  # splitting strips already
    return _batch(columns, lambda text: cut(clean(text)), function, equal=1.0)


def _batch(
    columns: Columns, prepare: Callable[[str], Any], function: Function, steps: str = "", equal: float | None = None
) -> list[Any]:
    from foreshock.metrics._pairs import batch_but, best_over_targets

    def work(answers: Sequence[str], targets: Sequence[str]) -> Any:
        return compared(_similarity(), prepare, answers, targets, equal, steps in ("none", "strip"))[:, None]

    def whole(columns: Columns) -> list[Any]:
        return best_over_targets(columns, work, size=None)

    return batch_but(columns, whole, function, limit=LIMIT)


def compared(
    measure: Compare,
    prepare: Callable[[str], Any],
    answers: Sequence[str],
    targets: Sequence[str],
    equal: float | None,
    shorter: bool,
) -> NDArray[np.float64]:
    """``measure`` of each pair, prepared one by one: a list of lists would set off the garbage collector.

    Args:
        measure: Compares two texts or two lists of tokens.
        prepare: What is done to every text first.
        answers, targets: Texts within the limit.
        equal: Value of a pair of equal texts; None when comparing costs less than asking.
        shorter: Whether ``prepare`` never makes more of a text than its characters; else lengths are looked at again.

    Raises:
        ValueError: Something is too long; the form over rows finds out what.
    """
    import numpy as np

    def checked(text: str) -> Any:
        found = prepare(text)
        if len(found) > LIMIT:
            raise ValueError("a text is too long")
        return found

    do = prepare if shorter else checked
    if equal is None:
        from rapidfuzz.process import cpdist

        # the loop in C takes 0.45 s for a million short pairs, one call for each 0.65 s
        # a scorer of rapidfuzz, as `measure` is wherever equal texts are not passed over; its stubs want more of a type
        scorer: Any = measure
        return np.asarray(cpdist(answers, targets, processor=do, scorer=scorer, dtype=np.float64, workers=1))
    pairs = zip(answers, targets, strict=True)
    values = (equal if answer == target else measure(do(answer), do(target)) for answer, target in pairs)
    return np.fromiter(values, np.float64, len(answers))


def _bytes(text: str) -> str:
    """One character per byte."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def _best(similarity: Compare, answer: Any, targets: Sequence[Any]) -> float:
    refuse_many(answer, targets)
    return max(similarity(answer, target) for target in targets)


def refuse_many(answer: Any, targets: Iterable[Any]) -> None:
    """Raise a ValueError when answer or targets are longer than what is compared."""
    lengths = [len(target) for target in targets]
    if max(len(answer), *lengths) > LIMIT:
        raise ValueError(f"longer than {LIMIT:,}: {len(answer):,} against {', '.join(f'{n:,}' for n in lengths)}")


def _similarity() -> Compare:
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity
