"""Forms over columns for metrics of an answer and a target: repetitions, long texts, several targets, chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foreshock.metrics._response import Given, Response
from foreshock.metrics._spec import Columns, Function

LIMIT = 200_000
"""Longest answer or target, in characters, of the metrics that count n-grams. Their time grows with the length: two
texts of 100,000 characters take less than a second of CPU in each of them."""
CHUNK = 1 << 17
"""Characters of answers and targets that are worked on at once: about 20 MB in the counting of n-grams."""
WORDS_CHUNK = 1 << 19
"""The same where the n-grams are of words: about 30 MB."""

_SAMPLE = 2_000

Floats = NDArray[np.float64]
Work = Callable[[Any, Any], Floats]


def refuse_long(response: Given, limit: int = LIMIT) -> None:
    """Raise a ValueError when the answer or a target is longer than ``limit`` characters."""
    lengths = [len(response.answer), *map(len, response.targets)]
    if max(lengths) > limit:
        told = " against ".join(f"{n:,}" for n in lengths[:3])
        raise ValueError(f"longer than {limit:,} characters: {told}")


def batch_but(
    columns: Columns,
    whole: Callable[[Columns], list[Any]],
    function: Function,
    apart: Iterable[int] = (),
    limit: int = LIMIT,
) -> list[Any]:
    """Outcomes of ``whole`` over columns, but of ``function``, which may refuse them, for long rows and ``apart``.

    Args:
        columns: ``answer`` and ``targets`` are there in every row.
        whole: Gives the outcomes of all rows at once.
        function: Gives that of one response; its ValueError is the outcome of the row.
        apart: Further rows that ``whole`` cannot take.
        limit: A row with a text of more characters is long.
    """
    answers, targets = columns["answer"], columns["targets"]
    rows = set(apart)
    if max(chain(map(len, answers), map(len, chain.from_iterable(targets))), default=0) > limit:
        rows |= {i for i, texts in enumerate(zip(answers, targets, strict=True)) if _longest(*texts) > limit}
    if not rows:
        return whole(columns)
    rest = [i for i in range(len(answers)) if i not in rows]
    outcomes: list[Any] = [None] * len(answers)
    found = whole({"answer": [answers[i] for i in rest], "targets": [targets[i] for i in rest]})
    for i, outcome in zip(rest, found, strict=True):
        outcomes[i] = outcome
    for i in rows:
        try:
            outcomes[i] = function(Response(answer=answers[i], targets=targets[i]))
        except ValueError as error:
            outcomes[i] = error
    return outcomes


def _longest(answer: str, targets: Sequence[str]) -> int:
    return max(len(answer), *map(len, targets))


def best_over_targets(columns: Columns, work: Work, *, keep: slice | int = 0, size: int | None = CHUNK) -> list[Any]:
    """Values of rows with ``answer`` and ``targets``.

    Args:
        columns: Both are there in every row, with at least one target.
        work: Gives for n answers and n targets an array of shape (n, k); over the targets of a row the largest value
            in the first column counts, and of equal ones the first.
        keep: Columns of that array which are the outcome: one of them, or several as a list.
        size: Characters that are worked on at once; None when ``work`` needs no memory for each.
    """
    answers, targets = columns["answer"], columns["targets"]
    if not len(answers):
        return []
    if max(map(len, targets)) == 1:
        found = _once_each(answers, [target for (target,) in targets], work, size)
    else:
        counts = np.fromiter(map(len, targets), np.int64, len(targets))
        repeated = [answer for answer, ts in zip(answers, targets, strict=True) for _ in ts]
        found = _once_each(repeated, list(chain.from_iterable(targets)), work, size)
        found = found[_first_best(found[:, 0], counts)]
    values: list[Any] = found[:, keep].tolist()
    return values


def _first_best(values: Floats, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    starts = np.cumsum(counts) - counts
    best = np.repeat(np.maximum.reduceat(values, starts), counts)
    places = np.where(values == best, np.arange(values.size), values.size)
    first: NDArray[np.int64] = np.minimum.reduceat(places, starts)
    return first


def _once_each(answers: Sequence[str], targets: Sequence[str], work: Work, size: int | None) -> Floats:
    """``work`` in chunks; when at least half of a sample of the pairs repeat, each pair is worked on once."""
    step = max(1, len(answers) // _SAMPLE)
    sample = list(zip(answers[::step], targets[::step], strict=True))
    if len(set(sample)) * 2 > len(sample):
        return _in_chunks(answers, targets, work, size)
    seen: dict[tuple[str, str], int] = {}
    place = [seen.setdefault(pair, len(seen)) for pair in zip(answers, targets, strict=True)]
    return _in_chunks([a for a, _ in seen], [t for _, t in seen], work, size)[place]


def _in_chunks(answers: Sequence[str], targets: Sequence[str], work: Work, size: int | None) -> Floats:
    if size is None:
        return work(answers, targets)
    return np.concatenate([work(list(answers[p]), list(targets[p])) for p in chunks(answers, targets, size)])


def chunks(answers: Sequence[str], targets: Sequence[str], size: int) -> Iterator[slice]:
    """Slices whose texts have about ``size`` characters together, and a row at least."""
    lengths = np.fromiter(map(len, answers), np.int64, len(answers)) + 1
    done = np.cumsum(lengths + np.fromiter(map(len, targets), np.int64, len(targets)))
    start, before = 0, 0
    while start < len(answers):
        stop = max(start + 1, int(np.searchsorted(done, before + size, "right")))
        yield slice(start, stop)
        start, before = stop, int(done[stop - 1])
