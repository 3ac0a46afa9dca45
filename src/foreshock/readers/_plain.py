"""Values of parsed JSON as columns hold them: what is not of the right kind is None, never an error."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from foreshock._base import canonical, count_of, digest
from foreshock.readers._json import text
from foreshock.records import MAX_ROWS, Batch

Json = dict[str, Any]

MAX_META = 4_096
"""Longest JSON text of what else a log says about a response."""

_LONG = 200
_SHOWN = 3
_INTEGERS = 2**63


def number(value: Any) -> float | None:
    """A finite number; true and false are none.

    Examples:
        >>> number(1), number(True), number(10**400), number("1")
        (1.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def whole(value: Any) -> int | None:
    """An integer that a column can hold; 3.0 is one.

    Examples:
        >>> whole(3.0), whole(3.5), whole(2**64)
        (3, None, None)
    """
    found = number(value)
    if found is None or found != int(found):
        return None
    exact = value if isinstance(value, int) else int(found)
    return exact if -_INTEGERS <= exact < _INTEGERS else None


def words(value: Any) -> str | None:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else None


def written(value: Any) -> str | None:
    """A text, or anything else as JSON; None for null."""
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def mapping(value: Any) -> Json:
    """An object; an empty one when it is something else."""
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[Json]:
    """The objects in a list; none when it is something else."""
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    """The texts in a list, or the only one; none when it is something else."""
    found = value if isinstance(value, list) else [value]
    return [v for v in found if isinstance(v, str)]


def condition(value: Any) -> str:
    """A setting as text; a long one as its hash, since only equality matters."""
    found = text(value) if isinstance(value, str) else canonical(value).decode()
    return found if len(found) <= _LONG else f"sha256:{digest(found, 16)}"


def conditions(found: Json) -> dict[str, str]:
    """Settings as text, without those that say nothing."""
    return {name: condition(value) for name, value in found.items() if value not in (None, "", {}, [])}


def moment(seconds: Any) -> str | None:
    """ISO 8601 time of seconds since 1970; None when they are no plausible date."""
    found = number(seconds)
    if found is None or not 0 < found < 1e11:
        return None
    return datetime.fromtimestamp(found, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def date(value: Any) -> str | None:
    """An ISO 8601 time with ``T`` and, in UTC, ``Z``; None when the text is none.

    Examples:
        >>> date("2023-04-17 22:08:21.904498"), date("yesterday")
        ('2023-04-17T22:08:21.904498', None)
    """
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(value).isoformat().replace("+00:00", "Z")
    except ValueError:
        return None


def meta(found: Json) -> str | None:
    """What else is known of a response as JSON text: without nulls, and only the names when it is too long."""
    kept = {name: value for name, value in found.items() if value not in (None, {}, [])}
    if not kept:
        return None
    encoded = msgspec.json.encode(kept).decode()
    if len(encoded) <= MAX_META:
        return encoded
    return msgspec.json.encode({"too_long": [name[:_LONG] for name in sorted(kept)[:20]]}).decode()


def pieces(batch: Batch) -> Iterator[Batch]:
    """A batch in parts that are small enough; nothing for one without rows."""
    for start in range(0, batch.rows, MAX_ROWS):
        yield Batch(batch.table, {name: values[start : start + MAX_ROWS] for name, values in batch.columns.items()})


class Problems:
    """Records that could not be read: the first few are named, all are counted.

    Args:
        noun: What a record is called.
    """

    def __init__(self, noun: str) -> None:
        self.count = 0
        self._noun = noun
        self._first: list[str] = []

    def add(self, place: object, reason: str) -> None:
        """Note one record."""
        self.count += 1
        if len(self._first) < _SHOWN:
            self._first.append(f"{place} ({reason})")

    def sentences(self) -> list[str]:
        """What to warn about."""
        if not self.count:
            return []
        more = f" and {self.count - len(self._first)} more" if self.count > len(self._first) else ""
        return [f"{count_of(self.count, self._noun)} could not be read and left out: {', '.join(self._first)}{more}"]
