"""Semantic similarity: how near the words of the answer are to those of the target, by vectors of single words."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreshock._base import MetricError, ModelError
from foreshock.metrics._edit import check_choices, unless_choices
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Columns, Function, MetricSpec, metric
from foreshock.metrics._text import normaliser

if TYPE_CHECKING:
    from foreshock.metrics._vectors import Embedded, Vectors

VARIABLE = "FORESHOCK_VECTORS"
"""Environment variable with paths of word vectors (as in ``PATH``), through which worker processes find them."""

LIMIT = 40_000
"""Longest answer or target in characters."""
CHUNK = 2_000
"""Texts that are vectors at once: about 5 MB at a width of 300."""
_WEIGHTINGS = ("mean", "sif")

_known: dict[str, Vectors] = {}


def use_vectors(path: str | Path, **params: Any) -> MetricSpec:
    """Read word vectors, make them known to this process and to those it starts, and give their metric.

    Args:
        path: A text file of words and numbers, an ``.npz``, or a folder of a static model; see ``load_vectors``.
        params: Further parameters of :func:`semantic_similarity`.

    Raises:
        BrokenFileError: The file holds no word vectors.
    """
    from foreshock.metrics._vectors import load_vectors

    found = load_vectors(path)
    _known[found.key] = found
    listed = [each for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]
    own = str(Path(path).resolve())
    if own not in listed:
        os.environ[VARIABLE] = os.pathsep.join([*listed, own])
    return semantic_similarity(vectors=found.key, **params)


@metric(
    kind="continuous",
    needs=("answer", "targets"),
    unless=unless_choices,
    range=(-1, 1),
    chance=None,
)
def semantic_similarity(
    *, vectors: str, weighting: str = "mean", normalise: str = "strip", choices: str = "refuse"
) -> Function:
    """Cosine of the summed word vectors of answer and target.

    A word that the table lacks is like no other word but itself: a direction of its own, as long as the table's words
    are on average. So the value is 1 for equal texts, and an unknown name or number that differs is seen. Order,
    negation and who does what to whom are not seen. Two texts without words have 1, a text with none and one with
    some 0. The best over the targets counts.

    Args:
        vectors: Hash of the table, as :func:`use_vectors` gives it; which words are near is a matter of the table.
        weighting: ``mean``: all words alike. ``sif``: a / (a + p(word)) with a = 0.001, so that frequent words count
            little (Arora et al. 2017, without the step that takes the common direction out of a whole corpus); p is
            from the counts of the table, else by Zipf's law from the order of its words.
        normalise: Steps done first to answer and targets, as in :func:`exact_match`.
        choices: ``refuse`` items with choices, or ``allow`` them.
    """
    check_choices(choices)
    if weighting not in _WEIGHTINGS:
        raise MetricError(f"weighting={weighting!r} is unknown", expected=f"one of {', '.join(_WEIGHTINGS)}")
    clean = normaliser(normalise)

    def score(response: Given) -> float:
        (found,) = _rows([clean(response.answer)], [[clean(t) for t in response.targets]], vectors, weighting)
        if isinstance(found, ValueError):
            raise found
        return found

    return score


@semantic_similarity.batch
def _batch(columns: Columns, *, vectors: str, weighting: str, normalise: str, **_: Any) -> list[float | ValueError]:
    clean = normaliser(normalise)
    answers = [clean(answer) for answer in columns["answer"]]
    return _rows(answers, [[clean(t) for t in ts] for ts in columns["targets"]], vectors, weighting)


def _rows(
    answers: Sequence[str], targets: Sequence[Sequence[str]], key: str, weighting: str
) -> list[float | ValueError]:
    table = _find(key)
    values: list[float | ValueError] = []
    for low in range(0, len(answers), CHUNK):
        some, theirs = answers[low : low + CHUNK], targets[low : low + CHUNK]
        fit = [max(len(a), *map(len, ts)) <= LIMIT for a, ts in zip(some, theirs, strict=True)]
        pairs = [(a, t) for a, ts, ok in zip(some, theirs, fit, strict=True) if ok for t in ts]
        found = iter(_cosines(table, pairs, weighting))
        for ok, ts in zip(fit, theirs, strict=True):
            long = ValueError(f"longer than {LIMIT:,} characters")
            values.append(max(next(found) for _ in ts) if ok else long)
    return values


def _cosines(table: Vectors, pairs: Sequence[tuple[str, str]], weighting: str) -> Iterator[float]:
    places: dict[str, int] = {}
    for text in (text for pair in pairs for text in pair):
        places.setdefault(text, len(places))
    embedded = table.embed(list(places), weighting)
    norms = [_dot(embedded, i, i) ** 0.5 for i in range(len(places))]
    for first, second in pairs:
        i, j = places[first], places[second]
        if first == second or (embedded.empty[i] and embedded.empty[j]):
            yield 1.0
        elif not norms[i] or not norms[j]:
            yield 0.0
        else:
            yield min(1.0, max(-1.0, _dot(embedded, i, j) / (norms[i] * norms[j])))


def _dot(embedded: Embedded, i: int, j: int) -> float:
    known = float(embedded.dense[i] @ embedded.dense[j])
    first, second = embedded.rest[i], embedded.rest[j]
    return known + sum(length * second[word] for word, length in first.items() if word in second)


def _find(key: str) -> Vectors:
    if key not in _known:
        for path in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
            found = _loaded(path)
            _known.setdefault(found.key, found)
    if key not in _known:
        raise ModelError(
            f"the word vectors {key} are not here",
            expected="the file that they were read from",
            do=f"name it: foreshock score --vectors FILE (or set {VARIABLE}=FILE)",
        )
    return _known[key]


@functools.cache
def _loaded(path: str) -> Vectors:
    from foreshock.metrics._vectors import load_vectors

    return load_vectors(path)
