"""The 4-choice rendering of a held-out problem: the answer and three plausible wrong ones, made by a fixed rule.

In this order, skipping what equals the answer, repeats, or has another number of digits:

1. a carry error: the answer with one place off by one, at a place that the sum carries into (any place of a product);
2. the answer of a neighbouring problem: the second operand one off in its units (a product) or in its tens (a sum);
3. two adjacent digits of the answer swapped;
4. one digit replaced by another.

The place, the sign and the position of the answer among the four come from a generator seeded with the problem.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .problems import HELD_OUT_SEED, Problems

N_CHOICES = 4


@dataclass(frozen=True)
class Choices:
    """Four values and the index of the right one."""

    values: tuple[int, ...]
    gold: int


def _carry_error(a: int, b: int, answer: int, product: bool, rng: np.random.Generator) -> Iterator[int]:
    digits = len(str(answer))
    places = [k for k in range(1, digits) if product or a % 10**k + b % 10**k >= 10**k] or list(range(1, digits))
    for place in rng.permutation(places):
        yield answer - 10 ** int(place)
        yield answer + 10 ** int(place)


def _neighbour(answer: int, step: int, rng: np.random.Generator) -> Iterator[int]:
    yield from (answer + int(s) * step for s in rng.permutation([-1, 1]))


def _swap(answer: int, rng: np.random.Generator) -> Iterator[int]:
    text = str(answer)
    for at in rng.permutation(len(text) - 1):
        yield int(text[:at] + text[at + 1] + text[at] + text[at + 2 :])


def _other_digit(answer: int, rng: np.random.Generator) -> Iterator[int]:
    text = str(answer)
    for at in rng.permutation(len(text)):
        for digit in rng.permutation(10):
            yield int(f"{text[:at]}{digit}{text[at + 1 :]}")


def choices(a: int, b: int, product: bool) -> Choices:
    """The four choices of one problem.

    >>> four = choices(5678, 4444, False)
    >>> four.values[four.gold], len(set(four.values)), {len(str(v)) for v in four.values}
    (10122, 4, {5})
    """
    rng = np.random.default_rng([HELD_OUT_SEED, 2, int(product), a, b])
    answer = a * b if product else a + b
    rules = (
        _carry_error(a, b, answer, product, rng),
        _neighbour(answer, a if product else 10, rng),
        _swap(answer, rng),
        *(_other_digit(answer, rng) for _ in range(N_CHOICES - 1)),
    )
    wrong: list[int] = []
    for candidates in rules:
        fits = (v for v in candidates if v != answer and v not in wrong and len(str(v)) == len(str(answer)))
        wrong.extend(itertools.islice(fits, 1 if len(wrong) < N_CHOICES - 1 else 0))
    gold = int(rng.integers(N_CHOICES))
    return Choices((*wrong[:gold], answer, *wrong[gold:]), gold)


def choice_values(problems: Problems) -> tuple[np.ndarray, np.ndarray]:
    """Values, int64, shape ``[n, 4]``, and gold indices, shape ``[n]``."""
    each = [choices(int(a), int(b), bool(p)) for a, b, p in zip(problems.a, problems.b, problems.product, strict=True)]
    return np.array([c.values for c in each], dtype=np.int64), np.array([c.gold for c in each], dtype=np.int64)
