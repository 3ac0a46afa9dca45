"""What is typed after --at, --date and --threshold."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from math import isfinite

from foreshock._base import ConfigError

_SIZE = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([kmbt]?)", re.I)
_FACTOR = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


def place(text: str) -> tuple[float, bool]:
    """A place on an axis (``70e9``, ``70B``, ``143000``, or a date), and whether it is a number without a unit.

    Raises:
        ConfigError: It is none.

    Examples:
        >>> place("70B"), place("2e21"), place("1970-01-02")
        ((70000000000.0, False), (2e+21, True), (1.0, False))
    """
    found = _SIZE.fullmatch(text.strip())
    if found is not None:
        value = float(found[1]) * _FACTOR[found[2].lower()]
        if isfinite(value):
            return value, not found[2]
    if "-" in text.strip("-") and (days := day(text)) is not None:
        return days, False
    raise ConfigError(f"--at {text[:80]!r}", expected="a place such as 70e9, 70B or 2027-03", do="correct --at")


def day(text: str) -> float | None:
    """Days from 1970-01-01 to a date (of a year or a month: its first day); None where it is no date.

    Examples:
        >>> day("1970-02"), day("1971"), day("size") is None, day("2027-13") is None
        (31.0, 365.0, True, True)
    """
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    try:
        at = date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
    except ValueError:
        return None
    return (datetime(at.year, at.month, at.day, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() / 86_400


def line(text: str) -> float:
    """A score that must not be crossed: ``.2`` or ``20%``.

    Raises:
        ConfigError: It is no number.

    Examples:
        >>> line("20%"), line("-1.5")
        (0.2, -1.5)
    """
    percent = text.strip().endswith("%")
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise ConfigError(f"--threshold {text[:80]!r}", expected="a score such as .2 or 20%", do="correct it")
    return value / 100 if percent else value


def dates_and_column(words: list[str]) -> tuple[list[float], str | None]:
    """Dates to forecast at, and the name of a column of dates: what is no date is a name.

    Raises:
        ConfigError: Two words are no dates.

    Examples:
        >>> dates_and_column(["1970-02", "released"])
        ([31.0], 'released')
    """
    found = [(word, day(word)) for word in words]
    names = [word for word, days in found if days is None]
    if len(names) > 1:
        raise ConfigError(
            f"--date {' and '.join(name[:80] for name in names)}",
            expected="dates such as 2027-03, and at most one column beside --csv",
            do="correct --date",
        )
    return [days for _, days in found if days is not None], names[0] if names else None
