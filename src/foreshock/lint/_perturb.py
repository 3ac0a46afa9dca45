"""Ways from a right answer to a wrong one in even steps, and how sharply a score falls along them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreshock.metrics import Response

Floats = NDArray[np.float64]

STEPS = 12
"""Even steps of a way; a quarter of it is three of them."""
LONG = 12
"""Characters of an answer that can be changed one after the other: fewer than steps would not be even."""
WORDS = 4
"""Words of an answer that can be changed one after the other: of three, a quarter of the way takes a whole one."""
_LETTERS, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"
_CHANCES = np.linspace(0.95, 0.05, STEPS + 1)  # probability of the right option or answer, even as such
_EVEN_ODDS = np.log(_CHANCES / (1 - _CHANCES))
_LOG_ODDS = np.linspace(_EVEN_ODDS[0], _EVEN_ODDS[-1], STEPS + 1)
_LOGS = np.linspace(np.log(0.95), np.log(0.05), STEPS + 1)


def sharpness(values: ArrayLike) -> float:
    """Largest share of the whole change that a quarter of the way carries.

    .25 for an even fall, 1 for a jump. Above .5 the metric moves, over that quarter, faster than twice its mean slope,
    which is where verdicts on jumps begin to speak of a sharp metric.

    Args:
        values: Score at each of the ``STEPS + 1`` places of a way.

    Returns:
        The share, at most 1; NaN when the score does not change at all or one value is not finite.

    Examples:
        >>> sharpness(np.linspace(1, 0, 13)), sharpness([1.0] + [0.0] * 12)
        (0.25, 1.0)
    """
    v = np.asarray(values, float)
    if not np.isfinite(v).all():
        return math.nan
    change = float(np.abs(np.diff(v)).sum())
    if change == 0:
        return math.nan
    quarter = max(1, (v.size - 1) // 4)
    moved = np.abs(v[quarter:] - v[:-quarter])
    return float(round(moved.max() / change, 12))


def ways(row: Response, rng: np.random.Generator) -> list[tuple[str, list[Response]]]:
    """Every way that can be gone with a response, each from right to wrong in :data:`STEPS` steps.

    A long answer is changed character by character and word by word, a number is moved away from the target, and the
    probability of the right option or answer falls, evenly as a probability and evenly on the log scale. Values are the
    responses that a metric is asked about, each way under its kind: ``text``, ``number`` or ``probability``.
    """
    found: list[tuple[str, list[Response]]] = []
    target = next((text for text in row.targets or () if text.strip()), None)
    if target is not None:
        texts = [("text", characters(target, rng)), ("text", words(target, rng)), ("number", numbers(target))]
        found += [(kind, [_with_answer(row, text) for text in way]) for kind, way in texts if way]
    if row.choice_logprobs and row.gold_index is not None and 0 <= row.gold_index < len(row.choice_logprobs) > 1:
        for way in (_LOG_ODDS, _EVEN_ODDS):
            found.append(("probability", [_replaced(row, choice_logprobs=_odds(row, float(x))) for x in way]))
    if row.gold_token_logprobs or row.gold_logprob is not None:
        for way in (_LOGS, np.log(_CHANCES)):
            found.append(("probability", [_gold(row, float(x)) for x in way]))
    return found


def characters(text: str, rng: np.random.Generator) -> list[str]:
    """A long answer with more and more of its letters and digits replaced, none at first and all at last.

    Letters are replaced by other letters and digits by other digits, in random places, so that length, words and signs
    stay. Empty when there are fewer than :data:`LONG` of them.

    Examples:
        >>> way = characters("twenty-four thousand", np.random.default_rng(0))
        >>> len(way), way[0], sum(a != b for a, b in zip(way[0], way[1]))
        (13, 'twenty-four thousand', 1)
    """
    text = text[:400]
    places = [i for i, letter in enumerate(text) if letter.isalnum()]
    if len(places) < LONG:
        return []
    order, other = rng.permutation(places), _replaced_letters(text, rng)
    letters, way = list(text), [text]
    done = 0
    for step in range(1, STEPS + 1):
        upto = len(places) * step // STEPS
        for place in order[done:upto]:
            letters[place] = other[place]
        done = upto
        way.append("".join(letters))
    return way


def words(text: str, rng: np.random.Generator) -> list[str]:
    """An answer with more and more of its words replaced by letters of the same length; empty below :data:`WORDS`.

    Examples:
        >>> way = words("one two three four", np.random.default_rng(0))
        >>> len(way), [sum(a == b for a, b in zip(way[0].split(), t.split())) for t in (way[0], way[6], way[-1])]
        (13, [4, 2, 0])
    """
    parts = text[:2_000].split()
    if len(parts) < WORDS:
        return []
    order = rng.permutation(len(parts))
    new = [_replaced_letters(part, rng) for part in parts]
    way = []
    for step in range(STEPS + 1):
        gone = set(order[: len(parts) * step // STEPS].tolist())
        way.append(" ".join(new[i] if i in gone else part for i, part in enumerate(parts)))
    return way


def _replaced_letters(text: str, rng: np.random.Generator) -> str:
    """The text with every letter and digit replaced by another one."""
    draws = rng.integers(0, 2**31, len(text)).tolist()
    return "".join(
        _other(letter, draw) if letter.isalnum() else letter for letter, draw in zip(text, draws, strict=True)
    )


def _other(letter: str, draw: int) -> str:
    among = (_DIGITS if letter.isdigit() else _LETTERS).replace(letter.lower(), "")
    return among[draw % len(among)]


def numbers(text: str) -> list[str]:
    """A number that moves away from itself, to three times its size, in even steps; empty when the text is none.

    Examples:
        >>> numbers("120")[:3], numbers("none")
        (['120', '140', '160'], [])
    """
    plain = text.strip().replace(",", "")
    try:
        value = float(plain)
    except ValueError:
        return []
    if not math.isfinite(value) or value == 0 or abs(value) > 1e12:
        return []
    return [text.strip(), *(f"{value * (1 + 2 * k / STEPS):.12g}" for k in range(1, STEPS + 1))]


def _odds(row: Response, odds: float) -> list[float]:
    """Log-likelihoods whose right option has these log-odds against the others together."""
    assert row.choice_logprobs is not None
    gold = row.gold_index
    others = [x if math.isfinite(x) else -1e3 for i, x in enumerate(row.choice_logprobs) if i != gold]
    top = max(others)
    level = top + math.log(sum(math.exp(x - top) for x in others))
    rest = iter(others)
    return [level + odds if i == gold else next(rest) for i in range(len(row.choice_logprobs))]


def _gold(row: Response, logprob: float) -> Response:
    """The response with another log-probability of the right answer, spread evenly over its tokens."""
    told: dict[str, Any] = {"gold_logprob": float(logprob)}
    if row.gold_token_logprobs:
        count = len(row.gold_token_logprobs)
        told["gold_token_logprobs"] = [float(logprob) / count] * count
    return _replaced(row, **told)


def _with_answer(row: Response, answer: str) -> Response:
    """The response with another answer, and the same answer where it stands in the output."""
    output, old = row.output or "", row.answer or ""
    head, found, tail = output.rpartition(old) if old else ("", "", "")
    return _replaced(row, answer=answer, output=f"{head}{answer}{tail}" if found else answer)


def _replaced(row: Response, **values: Any) -> Response:
    import msgspec

    return msgspec.structs.replace(row, **values)
