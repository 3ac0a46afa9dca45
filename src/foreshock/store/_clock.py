"""Moments as logs write them."""

from __future__ import annotations

import calendar
import os
import re
from datetime import UTC, datetime

from foreshock._base import utc_now

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


def now() -> str:
    """The present moment, fine enough to tell commits apart; that of ``SOURCE_DATE_EPOCH`` when it is set."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return utc_now()
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def moment(text: str | None) -> datetime | None:
    """The moment that ISO 8601 ``text`` stands for, or None when there is none or it cannot be read.

    A year, month or day stands for its last second: a result dated "2024-05" cannot be assumed known before June.
    A time without a zone is taken as UTC.

    Examples:
        >>> moment("2024-02").isoformat()
        '2024-02-29T23:59:59+00:00'
        >>> moment("2024-02-01T10:00:00+02:00").isoformat()
        '2024-02-01T08:00:00+00:00'
        >>> moment("yesterday") is None
        True
    """
    if text is None:
        return None
    try:
        if date := _DATE.fullmatch(text.strip()):
            return _end_of(*(int(part) if part else None for part in date.groups()))
        found = datetime.fromisoformat(text.strip())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _end_of(year: int | None, month: int | None, day: int | None) -> datetime:
    assert year is not None
    month = month or 12
    day = day or calendar.monthrange(year, month)[1]
    return datetime(year, month, day, 23, 59, 59, tzinfo=UTC)
