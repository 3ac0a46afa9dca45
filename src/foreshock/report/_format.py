"""How numbers are written: every value with its unit and, where there is one, its interval."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

MISSING = "–"
FRACTION = "fraction"
_PERCENT = frozenset({FRACTION, "share"})  # units whose values are parts of 1
POINTS = "points"  # a difference of two parts of 1, shown in percentage points
DATE_AXES = frozenset({"date", "created", "released"})
_UNNAMED = frozenset({None, "", "score"})  # a unit that says no more than the metric's name
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_TINY = 1e-100
_LARGE = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def count(value: int | None) -> str:
    """A count with thousands separated.

    Examples:
        >>> count(12032), count(None)
        ('12,032', '–')
    """
    return MISSING if value is None else f"{value:,}"


def plural(number: int, word: str, many: str | None = None) -> str:
    """A count with its noun.

    Examples:
        >>> plural(1, "item"), plural(3000, "category", "categories")
        ('1 item', '3,000 categories')
    """
    return f"{number:,} {word if number == 1 else many or word + 's'}"


def number(value: float | None, decimals: int | None = None) -> str:
    """A bare number, with three significant digits unless ``decimals`` is given.

    Examples:
        >>> number(0.61693), number(-2.5, 1), number(12345.6), number(3e-7)
        ('0.617', '−2.5', '12,346', '3.0 × 10⁻⁷')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    size = abs(value)
    if size and (size < 1e-4 or size >= 1e9):
        return power_of_ten(value)
    if decimals is None:
        decimals = 0 if size >= 100 or value == int(value) else max(0, 2 - math.floor(math.log10(size)))
    text = f"{value:,.{decimals}f}"
    return "−" + text[1:] if text.startswith("-") and text.strip("-0.,") else text.removeprefix("-")


def power_of_ten(value: float) -> str:
    """A number in scientific notation.

    Examples:
        >>> power_of_ten(1.23e21)
        '1.2 × 10²¹'
    """
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa.replace('-', '−')} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def quantity(value: float | None, low: float | None = None, high: float | None = None, unit: str | None = None) -> str:
    """A value with its interval and unit; the digits follow the width of the interval.

    Args:
        value: The value, in raw units.
        low, high: Interval; left out when either is unknown.
        unit: ``fraction`` and ``share`` are shown in percent, ``points`` in percentage points; other units are written
            behind the number.

    Examples:
        >>> quantity(0.617, 0.604, 0.629, "fraction")
        '61.7% [60.4, 62.9]'
        >>> quantity(-2.31, -2.4, -2.22, "nats")
        '−2.310 [−2.400, −2.220] nats'
        >>> quantity(0.25, unit="fraction"), quantity(None)
        ('25.0%', '–')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    percent = unit in _PERCENT
    scale = 100.0 if percent or unit == POINTS else 1.0
    digits = _digits(value * scale, None if low is None or high is None else (high - low) * scale / 2)
    if scale > 1 and digits is None:
        digits = 1
    sign = "%" if percent else ""
    text = number(value * scale, digits) + sign
    if low is not None and high is not None:
        text += f" [{number(low * scale, digits)}, {number(high * scale, digits)}]"
    return text if percent or unit in _UNNAMED else f"{text} {unit}"


def _digits(value: float, half_width: float | None) -> int | None:
    """Decimals that show two digits of the uncertainty; None lets :func:`number` choose."""
    if half_width is None or not math.isfinite(half_width) or half_width <= 0 or abs(value) >= 1e9:
        return None
    return min(6, max(0, 1 + math.ceil(-math.log10(half_width) - 1e-9)))


def share(value: float | None) -> str:
    """A fraction in percent without interval.

    Examples:
        >>> share(0.051), share(0.0004), share(1.0)
        ('5.1%', '0.04%', '100%')
    """
    if value is None:
        return MISSING
    if value in (0.0, 1.0):
        return f"{value:.0%}"
    return f"{100 * value:.1f}%" if 0.001 <= value <= 0.999 else f"{100 * value:.2g}%"


def level(value: float) -> str:
    """The level of an interval.

    Examples:
        >>> level(0.95), level(0.999)
        ('95%', '99.9%')
    """
    return f"{100 * value:.4g}%"


def probability(value: float | None) -> str:
    """A p-value with two significant digits; it is never rounded to zero, and very small ones are called so.

    Examples:
        >>> probability(0.0005), probability(0.0123), probability(2e-8), probability(4.8e-157)
        ('0.0005', '0.012', '2.0 × 10⁻⁸', '< 10⁻¹⁰⁰')
    """
    if value is None:
        return MISSING
    if 0 <= value < _TINY:
        return "< 10⁻¹⁰⁰"
    return power_of_ten(value) if 0 < value < 1e-4 else f"{float(f'{value:.1e}'):.15g}"


def equals(name: str, value: float | None) -> str:
    """A p-value with its name.

    Examples:
        >>> equals("p", 0.03), equals("q", 1e-120)
        ('p = 0.03', 'q < 10⁻¹⁰⁰')
    """
    text = probability(value)
    return f"{name} {text}" if text.startswith("<") else f"{name} = {text}"


def on_axis(value: float | None, axis: str) -> str:
    """A place on an axis: dates as dates, FLOPs as powers of ten, sizes with k, M, B, T.

    Examples:
        >>> on_axis(1.4e9, "parameters"), on_axis(143000, "step"), on_axis(20000, "date"), on_axis(3e21, "flops")
        ('1.4B', '143k', '2024-10-04', '3.0 × 10²¹')
    """
    if value is None:
        return MISSING
    if axis in DATE_AXES:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=value)).date().isoformat()
    if abs(value) >= 1e15:
        return power_of_ten(value)
    for size, letter in _LARGE:
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def short(value: float, unit: str | None) -> str:
    """A tick label of a value axis."""
    if unit in _PERCENT:
        return f"{100 * value:.4g}%"
    return power_of_ten(value) if value and not 1e-3 <= abs(value) < 1e6 else f"{value:.4g}".replace("-", "−")
