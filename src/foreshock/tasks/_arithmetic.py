"""Addition and multiplication of whole numbers, with examples before each question.

The two tasks on which Schaeffer et al. (2023, section 3) looked at the GPT-3 family: products of two 2-digit numbers
and sums of two 4-digit numbers, two examples each. Their items and prompts are not published; these are generated.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from foreshock._base import ConfigError, NotEnoughDataError, count_of

OPERATIONS = {"multiplication": 2, "addition": 4}
"""Operation to the number of digits of its operands in the paper."""

_SIGNS = {"multiplication": ("*", "times"), "addition": ("+", "plus")}
_POOL = 200
_LISTED = 2
"""Digits of operands up to which all pairs are listed (4,950 of them) instead of drawn."""
_DRAWS = 400
"""Draws for each problem that is wanted before it is said that no more were found. Of larger numbers only short answers
run out: of sums of up to 4 digits, every pair of single digits is met in 8,000 draws but for one in 500 times."""
_MOST_DIGITS = 9
_MOST_ITEMS = 100_000

_NUMBER = re.compile(r"(?<![\w.,])[-+\u2212]?[0-9][0-9,]*(?:\.[0-9]+)?")
_GROUPED = re.compile(r"[-+\u2212]?(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)")


class Problem(NamedTuple):
    """One question with the examples that stand before it.

    Attributes:
        item_id: ``24*57``.
        question: The question alone, without examples.
        target: The right answer in digits.
        a: First operand.
        b: Second operand.
        examples: Questions with their answers; none of them is asked in the same task, in either order.
    """

    item_id: str
    question: str
    target: str
    a: int
    b: int
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Generated problems of one operation.

    Attributes:
        operation: ``addition`` or ``multiplication``.
        digits: Digits of the operands.
        lengths: Lengths of the answers that were asked for, equally often; None where operands were drawn uniformly.
        shots: Examples before each question.
        seed: Seed that the problems come from.
        problems: The problems, all different also when their operands are exchanged.
        notes: What could not be had, one sentence each: there are only 20 sums with one digit.
    """

    operation: str
    digits: int
    lengths: tuple[int, ...] | None
    shots: int
    seed: int
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the task: ``2-digit-multiplication``, or ``...-by-length``."""
        return f"{self.digits}-digit-{self.operation}" + ("" if self.lengths is None else "-by-length")


def arithmetic(
    operation: str,
    *,
    items: int = 500,
    digits: int | None = None,
    lengths: Sequence[int] | None = None,
    shots: int = 2,
    seed: int = 0,
) -> Arithmetic:
    """Generate a task. The same arguments give the same problems, on every machine and with every version of Python.

    Args:
        operation: ``addition`` or ``multiplication``.
        items: Problems, 1 to 100,000.
        digits: Digits of both operands, 1 to 9; the paper's by default.
        lengths: Draw operands of 1 to ``digits`` digits, so that answers of each of these lengths come equally often.
            Where not so many are found, ``notes`` says so.
        shots: Examples before each question.
        seed: From 0.

    Raises:
        ConfigError: An argument is out of range.
        NotEnoughDataError: There are fewer problems than items, or no example is left beside them.

    Examples:
        >>> task = arithmetic("multiplication", items=3)
        >>> task.name, len(task.problems), len(task.problems[0].examples)
        ('2-digit-multiplication', 3, 2)
    """
    digits = OPERATIONS.get(operation, 0) if digits is None else digits
    wanted = None if lengths is None else tuple(sorted(set(lengths)))
    _check(operation, items, digits, wanted, shots, seed)
    draws = _Draws(f"foreshock-arithmetic-1/{operation}/{digits}/{wanted}/{seed}")
    pairs, notes = _pairs(draws, operation, items, digits, wanted)
    taken = {_unordered(pair) for pair in pairs}
    pool = list(_different(draws, operation, _POOL, digits, None, taken)) if shots else []
    if len(pool) < shots:
        raise NotEnoughDataError(
            f"{len(pairs):,} problems leave {len(pool)} others as examples",
            expected=f"{shots} or more",
            do="ask for fewer items, or for more digits",
        )
    problems = tuple(_problem(draws, operation, pair, pool, shots) for pair in pairs)
    return Arithmetic(operation, digits, wanted, shots, seed, problems, notes)


def extract_number(text: str, pick: str = "first") -> str | None:
    """The whole number that a text answers with, in plain digits; None when there is none.

    Commas that part groups of three are taken out; a number with a fraction is not a whole one and gives None, so that
    its digits never pass as an answer.

    Args:
        text: What the model wrote.
        pick: ``first`` number of the first line that is not empty (a text that was continued), or ``last`` number of
            the whole text (a chat that may explain first).

    Examples:
        >>> extract_number(" 1,368\\nQ: What is"), extract_number("24 times 57 is 1368.", "last")
        ('1368', '1368')
        >>> extract_number("I do not know"), extract_number("13.5")
        (None, None)
    """
    if pick not in ("first", "last"):
        raise ConfigError(f"pick={pick!r}", expected="first or last")
    if pick == "first":
        text = next((line for line in text.splitlines() if line.strip()), "")
    found = _NUMBER.findall(text[:10_000] if pick == "first" else text[-10_000:])
    if not found:
        return None
    number = found[0 if pick == "first" else -1].rstrip(",")
    if not _GROUPED.fullmatch(number):
        return None
    digits = number.replace(",", "").replace("\u2212", "-").removeprefix("+")
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    return sign + (digits.lstrip("0") or "0")


class _Draws:
    """Whole numbers from a text, the same for ever: no library promises that of its generators."""

    def __init__(self, text: str) -> None:
        self._text, self._count = text, 0

    def below(self, n: int) -> int:
        """A number from 0 to n - 1; 64 bits leave a bias below n / 2**64."""
        self._count += 1
        data = hashlib.sha256(f"{self._text}/{self._count}".encode()).digest()
        return int.from_bytes(data[:8], "big") % n

    def number(self, digits: int) -> int:
        """A number of so many digits, without a leading zero."""
        low = int(10 ** (digits - 1))
        return low + self.below(9 * low)


def _pairs(
    draws: _Draws, operation: str, items: int, digits: int, lengths: tuple[int, ...] | None
) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
    if lengths is None:
        pairs = list(_different(draws, operation, items, digits, None, set()))
        if len(pairs) < items:
            raise NotEnoughDataError(
                f"there are {len(pairs):,} different problems of {operation} with {digits} digits",
                expected=f"{items:,}",
                do=f"ask for fewer: --items {len(pairs) // 2}",
            )
        return pairs, ()
    pairs, notes = [], []
    for place, length in enumerate(lengths):
        share = items // len(lengths) + (place < items % len(lengths))
        found = list(_different(draws, operation, share, digits, length, set()))
        if len(found) < share:
            told = count_of(len(found), "problem")
            notes.append(f"answers of {count_of(length, 'digit')}: {told}, not {share:,}; no more were found")
        pairs += found
    if not pairs:
        raise NotEnoughDataError("no problem has an answer of these lengths", do="give other --lengths")
    return pairs, tuple(notes)


def _different(
    draws: _Draws, operation: str, wanted: int, digits: int, length: int | None, taken: set[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Up to ``wanted`` pairs that differ from each other and from ``taken`` in any order."""
    seen, found = set(taken), 0
    source = _listed(draws, digits, length) if digits <= _LISTED else _drawn(draws, wanted, digits, length)
    for pair in source:
        if found == wanted:
            return
        fits = length is None or len(str(_answer(operation, *pair))) == length
        if fits and _unordered(pair) not in seen:
            seen.add(_unordered(pair))
            found += 1
            yield pair


def _listed(draws: _Draws, digits: int, length: int | None) -> Iterator[tuple[int, int]]:
    """Every pair of small numbers once, in random order and each in a random order of its operands."""
    low = 1 if length is not None else int(10 ** (digits - 1))
    numbers = range(low, 10**digits)
    left = [(a, b) for a in numbers for b in numbers if a <= b]
    while left:
        place = draws.below(len(left))
        left[place], left[-1] = left[-1], left[place]
        a, b = left.pop()
        yield (a, b) if draws.below(2) else (b, a)


def _drawn(draws: _Draws, wanted: int, digits: int, length: int | None) -> Iterator[tuple[int, int]]:
    """Pairs of large numbers, drawn until it is said that there are no more."""
    for _ in range(_DRAWS * max(wanted, 20)):
        if length is None:
            yield draws.number(digits), draws.number(digits)
        else:
            first, second = 1 + draws.below(digits), 1 + draws.below(digits)
            yield draws.number(first), draws.number(second)


def _problem(
    draws: _Draws, operation: str, pair: tuple[int, int], pool: Sequence[tuple[int, int]], shots: int
) -> Problem:
    left = list(pool)
    examples = [left.pop(draws.below(len(left))) for _ in range(shots)]
    shown = tuple((_question(operation, *each), str(_answer(operation, *each))) for each in examples)
    sign = _SIGNS[operation][0]
    target = str(_answer(operation, *pair))
    return Problem(f"{pair[0]}{sign}{pair[1]}", _question(operation, *pair), target, *pair, shown)


def _question(operation: str, a: int, b: int) -> str:
    return f"What is {a} {_SIGNS[operation][1]} {b}?"


def _answer(operation: str, a: int, b: int) -> int:
    return a * b if operation == "multiplication" else a + b


def _unordered(pair: tuple[int, int]) -> tuple[int, int]:
    return min(pair), max(pair)


def _check(operation: str, items: int, digits: int, lengths: tuple[int, ...] | None, shots: int, seed: int) -> None:
    if operation not in OPERATIONS:
        raise ConfigError(f"the operation {operation!r}", expected=" or ".join(OPERATIONS))
    if not 1 <= items <= _MOST_ITEMS or not 1 <= digits <= _MOST_DIGITS or not 0 <= shots <= 50 or seed < 0:
        raise ConfigError(
            f"{items} items, {digits} digits, {shots} examples, seed {seed}",
            expected=f"1 to {_MOST_ITEMS:,} items, 1 to {_MOST_DIGITS} digits, 0 to 50 examples, a seed from 0",
        )
    if lengths is not None and (not lengths or lengths[0] < 1 or lengths[-1] > 2 * digits):
        raise ConfigError(f"answers of {lengths} digits", expected=f"lengths between 1 and {2 * digits}")
