"""Edit similarity: how much of the answer would have to be rewritten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from foreshock._base import MetricError
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Columns, Function, metric
from foreshock.metrics._text import normaliser, tokenizer

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


@char_similarity.batch
def _char_batch(columns: Columns, *, normalise: str, **_: Any) -> list[float]:
    return _batch(columns, normaliser(normalise))


@token_similarity.batch
def _token_batch(columns: Columns, *, tokens: str, normalise: str, **_: Any) -> list[float]:
    clean, cut = normaliser(normalise), tokenizer(tokens)
    if tokens == "words" and normalise == "strip":
        return _batch(columns, str.split)  # splitting strips already
    return _batch(columns, lambda text: cut(clean(text)))


def _batch(columns: Columns, prepare: Callable[[str], Any]) -> list[float]:
    similarity = _similarity()
    answers, targets = columns["answer"], columns["targets"]
    if max(map(len, answers), default=0) > LIMIT or any(len(t) > LIMIT for ts in targets for t in ts):
        raise ValueError("a text is too long")  # the form over rows says which
    if _repeats(answers, targets):
        return _remembered(answers, targets, prepare)
    pairs = zip(answers, targets, strict=True)
    if max(map(len, targets), default=0) == 1:
        return [similarity(prepare(answer), prepare(target)) for answer, (target,) in pairs]
    return [_best(similarity, prepare(answer), [*map(prepare, ts)]) for answer, ts in pairs]


def _remembered(answers: Sequence[str], targets: Sequence[list[str]], prepare: Callable[[str], Any]) -> list[float]:
    similarity = _similarity()
    seen: dict[tuple[str, ...], float] = {}
    values = []
    for answer, ts in zip(answers, targets, strict=True):
        key = (answer, *ts)
        value = seen.get(key)
        if value is None:
            value = seen[key] = _best(similarity, prepare(answer), [*map(prepare, ts)])
        values.append(value)
    return values


def _repeats(answers: Sequence[str], targets: Sequence[list[str]], look: int = 2_000) -> bool:
    """Whether at least half of a sample of the pairs are repetitions, so that remembering them pays."""
    step = max(1, len(answers) // look)
    sample = [(a, *t) for a, t in zip(answers[::step], targets[::step], strict=True)]
    return len(set(sample)) * 2 <= len(sample)


def _best(similarity: Compare, answer: Any, targets: Sequence[Any]) -> float:
    if len(answer) > LIMIT or any(len(target) > LIMIT for target in targets):
        raise ValueError(f"longer than {LIMIT:,}: {len(answer):,} against {', '.join(f'{len(t):,}' for t in targets)}")
    return max(similarity(answer, target) for target in targets)


def _similarity() -> Compare:
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity
