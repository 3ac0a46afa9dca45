"""Longest common subsequences: their length, and the union that ROUGE-Lsum counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

STEPS = 8_000_000
"""Most steps back through the tables of all pairs of sentences: about 3 s of CPU."""


def union_hits(given: Sequence[str], wanted: Sequence[str]) -> int:
    """Tokens of the target that the union of the common subsequences of its sentences with the answer's covers.

    A token of a sentence of the target counts when it is in the longest common subsequence with any sentence of the
    answer; each occurrence in either text counts once. Of several longest subsequences the one is taken that
    rouge-score takes: from the end, a step back in the answer only when the table demands it.

    Args:
        given, wanted: Sentences, one character per token.

    Raises:
        ValueError: There are too many and too long sentences.
    """
    others = list(dict.fromkeys(given))
    steps = sum(map(len, wanted)) * len(others) + sum(map(len, others)) * len(wanted)
    if steps > STEPS:
        raise ValueError(f"{len(wanted):,} lines against {len(given):,} need {steps:,} steps, more than {STEPS:,}")
    left, right = (Counter("".join(text)) for text in (given, wanted))
    hits = 0
    for sentence in wanted:
        symbols = set(sentence)
        union: set[int] = set()
        for other in others:
            if not symbols.isdisjoint(other):
                union.update(common_places(sentence, other))
        for token in map(sentence.__getitem__, sorted(union)):
            if left[token] and right[token]:
                hits, left[token], right[token] = hits + 1, left[token] - 1, right[token] - 1
    return hits


def common_places(first: str, second: str) -> list[int]:
    """Places in ``first`` of one longest common subsequence, from the last to the first.

    Row i of the table of lengths is kept as one integer (Hyyro 2004): bit j is 0 where the length grows between j and
    j + 1 characters of ``second``.
    """
    rows = _rows(first, second)
    places = []
    i, j = len(first), len(second)
    length = j - rows[i].bit_count()
    while i and j:
        if first[i - 1] == second[j - 1]:
            i, j, length = i - 1, j - 1, length - 1
            places.append(i)
        elif not rows[i] >> (j - 1) & 1:
            i -= 1  # the length grows here, and without a match it can only have come from above
        else:
            above = j - (rows[i - 1] & ((1 << j) - 1)).bit_count()
            i, j = (i, j - 1) if length > above else (i - 1, j)
    return places


def _rows(first: str, second: str) -> list[int]:
    full = (1 << len(second)) - 1
    masks: dict[str, int] = {}
    for j, character in enumerate(second):
        masks[character] = masks.get(character, 0) | 1 << j
    row, rows = full, [full]
    for character in first:
        matched = row & masks.get(character, 0)
        row = ((row + matched) | (row - matched)) & full
        rows.append(row)
    return rows
