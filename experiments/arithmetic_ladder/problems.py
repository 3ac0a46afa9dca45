"""Problems as strings and as token arrays; the held-out sets. Numpy only.

A problem is ``a+b=`` or ``a*b=``. The answer is written least significant digit first and ends with ``$``:
``57+68=`` -> ``521$``. A row of tokens has ``PROMPT`` columns of prompt, right-aligned at ``=`` and padded on the
left, then ``ANSWER`` columns of answer, padded on the right. The padding is a token of its own, visible to the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]

VOCABULARY = "0123456789+*=$_"
PLUS, TIMES, EQUALS, END, PAD = (VOCABULARY.index(c) for c in "+*=$_")
PROMPT = 10  # dddd+dddd=
ANSWER = 6  # ddddd$
HELD_OUT_SEED = 20261130
HELD_OUT = 500


@dataclass(frozen=True)
class Problems:
    """A batch of problems: operands ``a``, ``b`` (int64, shape ``[n]``), and whether each is a product."""

    a: Ints
    b: Ints
    product: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.a)

    def answers(self) -> Ints:
        """True answers, int64, shape ``[n]``."""
        return np.where(self.product, self.a * self.b, self.a + self.b)

    def take(self, index: npt.NDArray[np.bool_] | Ints) -> Problems:
        """The problems at ``index``."""
        return Problems(self.a[index], self.b[index], self.product[index])

    def keys(self) -> Ints:
        """One integer per unordered problem: ``3+4`` and ``4+3`` share a key, ``3*4`` has another."""
        low, high = np.minimum(self.a, self.b), np.maximum(self.a, self.b)
        return (self.product.astype(np.int64) * 10_000 + low) * 10_000 + high


def concatenate(parts: list[Problems]) -> Problems:
    """The problems of several batches, in order."""
    return Problems(
        np.concatenate([p.a for p in parts]),
        np.concatenate([p.b for p in parts]),
        np.concatenate([p.product for p in parts]),
    )


def prompt_text(a: int, b: int, product: bool) -> str:
    """The prompt as a string.

    >>> prompt_text(57, 68, False)
    '57+68='
    """
    return f"{a}{'*' if product else '+'}{b}="


def answer_text(value: int) -> str:
    """The answer as the model writes it, without the end token.

    >>> answer_text(125)
    '521'
    """
    return str(value)[::-1]


def _lengths(values: Ints) -> Ints:
    """Number of decimal digits of non-negative integers below 100,000; 0 has one."""
    lengths: Ints = 1 + np.searchsorted(10 ** np.arange(1, 5), values, side="right")
    return lengths


def _digit(values: Ints, place: Ints | int) -> Ints:
    digit: Ints = values // 10 ** np.clip(place, 0, 9) % 10
    return digit


def prompt_tokens(problems: Problems) -> Ints:
    """Prompt tokens, int64, shape ``[n, PROMPT]``, ``=`` in the last column, padding on the left."""
    out = np.full((len(problems), PROMPT), PAD, dtype=np.int64)
    out[:, -1] = EQUALS
    length_a, length_b = _lengths(problems.a), _lengths(problems.b)
    for column in range(PROMPT - 1):
        place = PROMPT - 2 - column + np.zeros_like(length_a)  # 0 = units of b
        in_a = (place > length_b) & (place <= length_b + length_a)
        out[:, column] = np.where(place < length_b, _digit(problems.b, place), out[:, column])
        out[:, column] = np.where(in_a, _digit(problems.a, place - length_b - 1), out[:, column])
        sign = np.where(problems.product, TIMES, PLUS)
        out[:, column] = np.where(place == length_b, sign, out[:, column])
    return out


def answer_tokens(values: Ints) -> Ints:
    """Answer tokens, int64, shape ``[n, ANSWER]``: digits from the units up, ``$``, padding."""
    place = np.arange(ANSWER)[None, :]
    length = _lengths(values)[:, None]
    digits = _digit(values[:, None], place)
    return np.where(place < length, digits, np.where(place == length, END, PAD))


def decode(tokens: Ints) -> str:
    """Text of one row of answer tokens up to the end token (all of it where there is none)."""
    text = "".join(VOCABULARY[t] for t in tokens)
    return text.split("$", 1)[0]


def held_out_additions() -> Problems:
    """500 sums of two 4-digit numbers, a third of them chosen to carry at three or more places."""
    rng = np.random.default_rng([HELD_OUT_SEED, 0])
    a, b = rng.integers(1000, 10_000, (2, 20 * HELD_OUT))
    pool = Problems(a, b, np.zeros(len(a), dtype=bool))
    _, first = np.unique(pool.keys(), return_index=True)
    pool = pool.take(np.sort(first))
    many = carries(pool) >= 3
    n_many = HELD_OUT // 3
    chosen = np.concatenate([np.flatnonzero(many)[:n_many], np.flatnonzero(~many)[: HELD_OUT - n_many]])
    return pool.take(np.sort(chosen))


def held_out_multiplications() -> Problems:
    """500 products of two 2-digit numbers, no two of them equal up to order."""
    rng = np.random.default_rng([HELD_OUT_SEED, 1])
    low, high = np.triu_indices(90)
    chosen = rng.permutation(len(low))[:HELD_OUT]
    swap = rng.random(HELD_OUT) < 0.5
    a, b = low[chosen] + 10, high[chosen] + 10
    return Problems(np.where(swap, b, a), np.where(swap, a, b), np.ones(HELD_OUT, dtype=bool))


def carries(problems: Problems) -> Ints:
    """Number of places at which the sum ``a + b`` carries, int64, shape ``[n]``."""
    carry = np.zeros(len(problems), dtype=np.int64)
    total = np.zeros(len(problems), dtype=np.int64)
    for k in range(4):
        carry = (_digit(problems.a, k) + _digit(problems.b, k) + carry >= 10).astype(np.int64)
        total += carry
    return total


def held_out_keys() -> Ints:
    """Sorted keys that training must never show, in either order of the operands."""
    return np.sort(np.concatenate([held_out_additions().keys(), held_out_multiplications().keys()]))
