"""Numbers as people write them: percent signs, separators of thousands, decimal commas, intervals."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Literal, NamedTuple

from foreshock._base import AmbiguousError

Decimal = Literal[".", ","]

BLANK = frozenset({"", "-", "–", "—", "n/a", "na", "#n/a", "nan", "none", "null", "tbd", "?"})
"""What stands in a cell that holds nothing, in lower case."""
_PLUS_MINUS = re.compile(r"\s*(?:±|\+/-|\+-)\s*")
_SPACES = re.compile(r"[\s\u00a0\u202f']")
_BARE = re.compile(r"([+-]?)((?:\d[\d.,]*)|(?:[.,]\d+))((?:[eE][+-]?\d+)?)")
_PLAIN = re.compile(r"[+-]?\d+(?:\.(\d*))?")
_SHORT = 32
_SIGNS = str.maketrans({"−": "-", "％": "%"})


class Figure(NamedTuple):
    """A number as a cell states it.

    Attributes:
        value: The number; 85 for ``85%``.
        percent: It has a percent sign.
        error: What stands behind ``±``, on the scale of ``value``.
        ulp: Half a unit of the last digit that is written, on the scale of ``value``.
        error_ulp: The same for ``error``.
    """

    value: float
    percent: bool = False
    error: float | None = None
    ulp: float = 0.0
    error_ulp: float = 0.0


def is_blank(text: str | None) -> bool:
    """Whether a cell holds nothing.

    Examples:
        >>> is_blank(None), is_blank(" N/A "), is_blank("0")
        (True, True, False)
    """
    return text is None or text.strip().lower() in BLANK


class Separators:
    """What the comma means in one column, found from all its cells.

    ``0,85`` and ``12,5`` prove a decimal comma, ``1,234.5`` and ``1,234,567`` separators of thousands; ``1,234`` alone
    proves nothing.

    Args:
        column: Name of the column, for messages.
    """

    def __init__(self, column: str) -> None:
        self._column = column
        self._proof: dict[str, tuple[str, str]] = {}

    def see(self, text: str, where: str) -> None:
        """Take note of a cell at ``where``."""
        if "," not in text and text.count(".") < 2:
            if "." in text:
                self._proof.setdefault("point", (text, where))
            return
        for part in _PLUS_MINUS.split(text):
            match = _BARE.fullmatch(_SPACES.sub("", part.translate(_SIGNS)).strip("%$€£"))
            if match is not None and (found := _proves(match[2])) is not None:
                self._proof.setdefault(found, (text, where))

    def decimal(self, *, whole: bool = False) -> Decimal:
        """The mark before the decimals.

        Args:
            whole: The column holds whole numbers, so a comma before three digits separates thousands.

        Raises:
            AmbiguousError: The cells contradict each other, or a comma may be either.
        """
        comma, thousands = self._proof.get(","), self._proof.get(".") or self._proof.get("point")
        unclear = self._proof.get("unclear")
        if comma and thousands:
            raise self._error(
                f"{comma[0]!r} has a decimal comma and {thousands[0]!r} ({thousands[1]}) a decimal point", comma[1]
            )
        if unclear and not comma and not self._proof.get(".") and not whole:
            raise self._error(f"the comma in {unclear[0]!r} may separate thousands or decimals", unclear[1])
        return "," if comma else "."

    def _error(self, found: str, where: str) -> AmbiguousError:
        return AmbiguousError(
            f"{found} (column {self._column!r})",
            expected="one way of writing numbers in a column",
            do="write decimals with a point and thousands without a separator",
            where=where,
        )


def _proves(digits: str) -> str | None:
    """``,`` or ``.`` as the decimal mark that a number proves, ``unclear``, or None when it tells nothing."""
    if "," in digits and "." in digits:
        return "," if digits.rindex(",") > digits.rindex(".") else "."
    mark = "," if "," in digits else "."
    first, *rest = digits.split(mark)
    grouped = 1 <= len(first) <= 3 and first != "0" and not first.startswith("00") and all(len(r) == 3 for r in rest)
    if len(rest) > 1:
        return ("." if mark == "," else ",") if grouped else None
    if mark == ".":
        return None
    return "unclear" if grouped else ","


def figure(text: str, decimal: Decimal = ".") -> Figure | None:
    """The number in a cell; None when it is none.

    Examples:
        >>> figure("85.2%").value, figure("25.32 ± 1.70").error, figure("1,234.5").value, figure("0,85", ",").value
        (85.2, 1.7, 1234.5, 0.85)
        >>> figure("12 of 13") is None
        True
    """
    return _short(text, decimal) if len(text) <= _SHORT else _figure(text, decimal)


@lru_cache(16_384)  # shots, steps and counts stand in every row of a table
def _short(text: str, decimal: Decimal) -> Figure | None:
    plain = _PLAIN.fullmatch(text) if decimal == "." else None
    if plain is None:
        return _figure(text, decimal)
    return Figure(float(text), ulp=0.5 * 10.0 ** -len(plain[1] or ""))


def _figure(text: str, decimal: Decimal) -> Figure | None:
    parts = _PLUS_MINUS.split(text.translate(_SIGNS).strip())
    if len(parts) > 2:
        return None
    found = [_bare(part, decimal) for part in parts]
    if found[0] is None or found[-1] is None:
        return None
    value, ulp = found[0]
    percent = any(part.rstrip().endswith("%") for part in parts)
    if len(parts) == 1:
        return Figure(value, percent, ulp=ulp)
    error, error_ulp = found[1] or (0.0, 0.0)
    return Figure(value, percent, error, ulp, error_ulp)


def _bare(text: str, decimal: Decimal) -> tuple[float, float] | None:
    """A number and half a unit of its last digit."""
    match = _BARE.fullmatch(_SPACES.sub("", text).removesuffix("%").removeprefix("$"))
    if match is None:
        return None
    sign, digits, exponent = match[1], match[2], match[3]
    other = "," if decimal == "." else "."
    whole, _, rest = digits.partition(decimal)
    if other in rest or decimal in rest or not _grouped(whole.split(other)):
        return None
    try:
        value = float(f"{sign}{whole.replace(other, '') or '0'}.{rest or '0'}{exponent}")
        ulp = 0.5 * 10.0 ** (int(exponent[1:] or 0) - len(rest))
    except (ValueError, OverflowError):
        return None
    return (value, ulp) if math.isfinite(value) else None


def _grouped(groups: list[str]) -> bool:
    return len(groups) == 1 or (1 <= len(groups[0]) <= 3 and all(len(g) == 3 for g in groups[1:]))
