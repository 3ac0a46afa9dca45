"""n-grams that two sequences share, counted for many pairs at once and without hashing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import ne

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

_ROOM = 63
_SYMBOL_BITS = 21  # a code point


def shared_ngrams(answers: Sequence[str], targets: Sequence[str], orders: int) -> Counts:
    """Matches of n-grams in each pair: for every n-gram the smaller of its two counts, summed.

    Equal pairs are told from their lengths. For the others each order costs one sort of the places where an n-gram may
    match: those at which the shorter ones, at this place and at the next, have matched. A key is made of the number of
    the n-gram so far, the next character and the place, which all fit into 63 bits, so no two n-grams share one.

    Args:
        answers, targets: n pairs of texts whose characters are the symbols; all together less than 2**21 symbols.
        orders: Largest n.

    Returns:
        Shape (n, orders).

    Raises:
        ValueError: There are too many symbols.
    """
    found = ngram_totals(np.fromiter(map(len, answers), np.int64, len(answers)), orders)
    different = np.flatnonzero(np.fromiter(map(ne, answers, targets), bool, len(answers)))
    if different.size:
        kept = different.tolist()
        texts = list(chain.from_iterable((answers[i], targets[i]) for i in kept))
        found[different] = _matches(texts, orders)
    return found


def ngram_totals(lengths: Counts, orders: int) -> Counts:
    """Number of n-grams of each order in sequences of these lengths: shape (n, orders)."""
    totals: Counts = np.maximum(lengths[:, None] - np.arange(orders), 0)
    return totals


def _matches(texts: list[str], orders: int) -> Counts:
    """Matches of neighbours: texts 0 and 1 are a pair, 2 and 3 the next."""
    symbols = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
    if 2 * max(symbols.size, len(texts)).bit_length() + _SYMBOL_BITS > _ROOM:
        raise ValueError(f"{symbols.size:,} symbols in {len(texts):,} texts are too many at once")
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    text = np.repeat(np.arange(len(texts)), lengths)
    ends = np.repeat(np.cumsum(lengths), lengths)
    found = np.zeros((len(texts) // 2, orders), np.int64)
    place, group = np.arange(symbols.size), text >> 1
    for n in range(orders):
        if not place.size:
            break
        place, group = _one_order(symbols, text, place, group, n, found)
        matched = np.zeros(symbols.size + 1, bool)
        matched[place] = True
        longer = matched[place + 1] & (place + n + 1 < ends[place])
        place, group = place[longer], group[longer]
    return found


def _one_order(
    symbols: Counts, text: Counts, place: Counts, group: Counts, n: int, found: Counts
) -> tuple[Counts, Counts]:
    """Count the n-grams that start at ``place`` and keep the places, and a number for the n-gram, where one matched."""
    bits = int(symbols.size).bit_length()
    keys = ((group << _SYMBOL_BITS | symbols[place + n]) << bits) | place
    keys.sort()
    place = keys & ((1 << bits) - 1)
    keys >>= bits
    heads = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    sizes = np.diff(heads, append=keys.size)
    owner = text[place]
    of_target = np.add.reduceat(owner & 1, heads)
    both = np.minimum(of_target, sizes - of_target)
    found[:, n] = np.bincount(owner[heads] >> 1, weights=both, minlength=len(found))
    alive = both > 0
    matched = sizes[alive]
    return place[np.repeat(alive, sizes)], np.repeat(np.arange(matched.size), matched)
