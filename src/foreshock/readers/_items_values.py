"""Cells turned into values, with the refusals that keep a guess from becoming a result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from foreshock._base import AmbiguousError, BrokenFileError
from foreshock.readers._lm_eval_item import literal_list

_TRUE = frozenset({"true", "yes", "correct", "pass", "passed", "right", "c"})
_MAX_LABEL = 200
# highest scores that people use
_SCALES = (1, 5, 10, 100)
_FALSE = frozenset({"false", "no", "incorrect", "fail", "failed", "wrong", "i"})


def as_text(value: Any) -> str | None:
    """A cell as text; whole floats lose their point (``12.0`` is the id 12), objects become JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else msgspec.json.encode(value).decode()


def as_list(value: Any, where: str) -> list[str] | None:
    """Choices or accepted answers: a list, or a text that is one in JSON or Python.

    Raises:
        BrokenFileError: It is something else.
    """
    if value is None:
        return None
    found = value
    if isinstance(value, str):
        found = _parsed(value)
    elif isinstance(value, dict) and isinstance(value.get("text"), list):
        found = value["text"]
    if not isinstance(found, list):
        raise BrokenFileError("choices that are no list", expected='a list such as ["yes", "no"]', where=where)
    return [as_text(v) or "" for v in found]


def _parsed(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return literal_list(text)


def as_score(value: Any, scale: float | None, where: str) -> tuple[float | None, str | None]:
    """Score on [0, 1] and the word it was written as.

    Raises:
        AmbiguousError: The score is neither 0 nor 1 and nobody said what the highest one is.
        BrokenFileError: It is no number, or above ``scale``.
    """
    label = None
    if isinstance(value, str):
        label = value.strip()
        word = label.lower()
        value = 1.0 if word in _TRUE else 0.0 if word in _FALSE else _number(label)
    if value is None:
        if label:
            raise BrokenFileError(f"{label[:40]!r} is no score", expected="a number, or true and false", where=where)
        return None, None
    if not isinstance(value, int | float):
        raise BrokenFileError("a score that is no number", expected="a number, or true and false", where=where)
    number = _float(value)
    if not math.isfinite(number):
        return None, label or str(value)[:_MAX_LABEL]
    if scale is None:
        if number not in (0.0, 1.0):
            raise AmbiguousError(
                f"the score {number:g} is neither 0 nor 1",
                expected="right or wrong, or the highest score said",
                do=scale_told(number),
                where=where,
            )
        return number, label
    if not 0 <= number <= scale:
        raise BrokenFileError(
            f"the score {number:g} is outside 0 to {scale:g}",
            expected="scores within --scale",
            do="give the highest possible score as --scale",
            where=where,
        )
    return number / scale, label


def scale_told(largest: float, *, percent: bool = False) -> str:
    """How to say the highest possible score, when ``largest`` is the largest one seen.

    Args:
        largest: A number that the scale has to hold.
        percent: Scores above 1 are percentages rather than marks.

    Examples:
        >>> scale_told(7)
        'say it: --scale 10 for marks up to 10 (the largest here is 7), --scale 100 for percentages'
        >>> scale_told(1200)
        'give the highest possible score: --scale NUMBER (the largest here is 1200)'
    """
    scale = next((s for s in _SCALES if largest <= s and (s > 10 or not percent)), None)
    if largest < 0:
        return "write scores from 0 up, or leave out those that stand for something else"
    if scale is None:
        return f"give the highest possible score: --scale NUMBER (the largest here is {largest:g})"
    if scale == 1:
        return "say it: --scale 1 for shares, --scale 100 for percentages, --scale 5 for marks up to 5"
    if scale == 100:
        return f"say it: --scale 100 for percentages (the largest here is {largest:g})"
    marks = f"--scale {scale} for marks up to {scale} (the largest here is {largest:g})"
    return f"say it: {marks}, --scale 100 for percentages"


def largest_score(rows: Iterable[Sequence[Any]]) -> float | None:
    """The largest number among cells that hold scores; None when one is below 0, or none is a number."""
    numbers = (_number(c.strip()) if isinstance(c, str) else c for cells in rows for c in cells)
    finite = [found for n in numbers if _is_number(n) and math.isfinite(found := _float(n))]
    return max(finite) if finite and min(finite) >= 0 else None


def scores_of(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """The cells that hold the scores of a row: one, or one of each column of scores."""
    found = values.get("score")
    return found if isinstance(found, tuple) else (found,)


def scale_of(values: Mapping[str, Any], scale: float | None, where: str) -> float | None:
    """The highest score of a row: the row's own (role ``total``), else that of the file.

    Raises:
        BrokenFileError: The row's own is not above 0.
    """
    total = values.get("total")
    if total is None:
        return scale
    number = _number(total.strip()) if isinstance(total, str) else _float(total) if _is_number(total) else None
    if number is None or not 0 < number < math.inf:
        raise BrokenFileError(
            f"the highest score is {as_text(total) or '':.40}", expected="a number above 0 (role total)", where=where
        )
    return number


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(text: str) -> float | None:
    try:
        return float(text.removesuffix("%"))
    except ValueError:
        return None


def as_int(value: Any) -> int | None:
    """A whole number, also as text or float; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = _float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if abs(number) < 2**63 and number.is_integer() else None


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer beyond every float
        return math.inf


def gold_of(index: Any, target: Any, choices: list[str] | None) -> int | None:
    """Index of the right choice: as told, or from a target that is an index, a letter or the text of one choice."""
    n = len(choices or ())
    told = as_int(index)
    if told is not None:
        return told if not n or 0 <= told < n else None
    if not choices or target is None:
        return None
    text = as_text(target) or ""
    if choices.count(text) == 1:
        return choices.index(text)
    if len(text) == 1 and "A" <= text <= "Z":
        return ord(text) - ord("A") if ord(text) - ord("A") < n else None
    number = as_int(target)
    return number if number is not None and not isinstance(target, float) and 0 <= number < n else None
