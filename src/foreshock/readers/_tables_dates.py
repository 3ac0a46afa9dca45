"""Dates as people write them, read only where one reading is possible."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Literal

Order = Literal["day first", "month first"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = r"(?:[ T,]+(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*([ap]\.?m\.?)?)?"
_SLASHED = re.compile(rf"(\d{{1,2}})[/.\-](\d{{1,2}})[/.\-]((?:19|20)\d\d){_TIME}", re.I)
_YEAR_FIRST = re.compile(rf"((?:19|20)\d\d)[/.](\d{{1,2}})[/.](\d{{1,2}}){_TIME}", re.I)
_DAY_WORD = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th)?[ \-]([a-z]{{3,9}})\.?,?[ \-]((?:19|20)\d\d){_TIME}", re.I)
_WORD_DAY = re.compile(rf"([a-z]{{3,9}})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? ((?:19|20)\d\d){_TIME}", re.I)
_WORD_YEAR = re.compile(r"([a-z]{3,9})\.?,? ((?:19|20)\d\d)", re.I)


def order_of(dates: Iterable[str]) -> Order | None:
    """Whether the day or the month stands first in dates such as ``23/7/2024``; None when no date proves it.

    Dates that prove both prove nothing.

    Examples:
        >>> order_of(["1/7/2024", "23/7/2024"]), order_of(["1/7/2024"])
        ('day first', None)
    """
    day = month = False
    for text in dates:
        match = _SLASHED.fullmatch(text.strip())
        if match:
            day |= int(match[1]) > 12
            month |= int(match[2]) > 12
    return None if day == month else "day first" if day else "month first"


def moment(date: str | None, order: Order | None = None) -> str | None:
    """A date or time in ISO 8601; a year, or a year and month, is their first day; None for any other spelling.

    Args:
        date: ``2024-05-01``, ``2024/5/1``, ``20240501``, ``2024-05``, ``2024``, ``1 May 2024 4:28pm``,
            ``May 1, 2024``, ``May 2024``, or any form of ISO 8601.
        order: What :func:`order_of` found for the column; without it ``5/1/2024`` is not read.

    Examples:
        >>> moment("2024-05-01"), moment("2024"), moment("23/7/2024"), moment("23/7/2024", "day first")
        ('2024-05-01', '2024-01-01', None, '2024-07-23')
        >>> moment("17 November 2025 4:28pm")
        '2025-11-17T16:28:00'
    """
    if date is None:
        return None
    text = date.strip()
    if re.fullmatch(r"(?:19|20)\d\d", text):
        return f"{text}-01-01"
    if re.fullmatch(r"(?:19|20)\d\d[-/](?:0?[1-9]|1[0-2])", text):
        return f"{text[:4]}-{int(text[5:]):02d}-01"
    if re.fullmatch(r"(?:19|20)\d{6}", text):
        return _iso(text[:4], text[4:6], text[6:])
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return _spelled(text, order)
    return text


def _spelled(text: str, order: Order | None) -> str | None:
    if match := _YEAR_FIRST.fullmatch(text):
        return _iso(match[1], match[2], match[3], match.group(4, 5, 6, 7))
    if match := _DAY_WORD.fullmatch(text):
        return _iso(match[3], _month(match[2]), match[1], match.group(4, 5, 6, 7))
    if match := _WORD_DAY.fullmatch(text):
        return _iso(match[3], _month(match[1]), match[2], match.group(4, 5, 6, 7))
    if match := _WORD_YEAR.fullmatch(text):
        return _iso(match[2], _month(match[1]), "1")
    match = _SLASHED.fullmatch(text) if order else None
    if match is None:
        return None
    day, month = (1, 2) if order == "day first" else (2, 1)
    return _iso(match[3], match[month], match[day], match.group(4, 5, 6, 7))


def _month(word: str) -> str | None:
    short = word[:3].lower()
    return str(_MONTHS.index(short) + 1) if short in _MONTHS else None


def _iso(year: str, month: str | None, day: str, time: tuple[str | None, ...] = ()) -> str | None:
    if month is None:
        return None
    try:
        if not time or time[0] is None:
            return datetime(int(year), int(month), int(day)).date().isoformat()
        hour = int(time[0])
        if time[3]:
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + (12 if time[3].lower().startswith("p") else 0)
        return datetime(int(year), int(month), int(day), hour, int(time[1] or 0), int(time[2] or 0)).isoformat()
    except ValueError:
        return None
