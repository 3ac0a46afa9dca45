"""What can go wrong, as one tree.

ForeshockError
├── ConfigError            an option, ``foreshock.toml`` or a plugin says something impossible
├── MissingExtraError      a feature needs an optional dependency
├── ReadError              a log or table cannot be read
│   ├── UnknownFormatError no reader recognises the file
│   ├── BrokenFileError    the format is known, the content is damaged
│   └── AmbiguousError     reading on would mean guessing (roles of columns, scale, ids)
├── StoreError             the store on disk is missing, damaged or in use in a way it cannot be
│   └── SchemaVersionError the store was written by a newer Foreshock
├── MetricError            a metric is unknown, misdeclared or failed
├── ModelError             a model cannot be asked: wrong address, key or name, or it stopped answering
└── NotEnoughDataError     an analysis was asked for that these data cannot support

Every message says what was found, what was expected and what to do next; a user's mistake never shows a traceback.
"""

from __future__ import annotations

from typing import Any

_LONGEST = 2_000
_LONGEST_PLACE = 6_000


class ForeshockError(Exception):
    """Base of every error that Foreshock raises on purpose.

    Names and texts of a log may stand in a message, and a log may hold a name of a million characters: ``found``,
    ``expected`` and ``do`` are cut at 2,000 characters each, ``where`` at 6,000, more than the longest path.

    Args:
        found: What was found, in one clause.
        expected: What was expected instead.
        do: The next step for the user, ideally a command.
        where: File, member, line or subject that the message is about.

    Examples:
        >>> print(ForeshockError("the file is empty", expected="an Inspect log", do="remove it", where="a.eval"))
        a.eval: the file is empty; expected an Inspect log; remove it
    """

    def __init__(
        self, found: str, *, expected: str | None = None, do: str | None = None, where: str | None = None
    ) -> None:
        super().__init__(_cut(found))
        self.found, self.expected, self.do = _cut(found), expected and _cut(expected), do and _cut(do)
        self.where = where and _cut(where, _LONGEST_PLACE)

    def __str__(self) -> str:
        parts = [self.found]
        if self.expected:
            parts.append(f"expected {self.expected}")
        if self.do:
            parts.append(self.do)
        return (f"{self.where}: " if self.where else "") + "; ".join(parts)

    def __reduce__(self) -> tuple[Any, ...]:
        # keyword-only fields would be lost on the way back from a worker process
        return _rebuild, (type(self), self.found, self.expected, self.do, self.where)


def _cut(text: str, length: int = _LONGEST) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _rebuild(
    kind: type[ForeshockError], found: str, expected: str | None, do: str | None, where: str | None
) -> ForeshockError:
    return kind(found, expected=expected, do=do, where=where)


class ConfigError(ForeshockError):
    """An option, a configuration file or a plugin says something impossible."""


class MissingExtraError(ForeshockError):
    """A feature needs an optional dependency that is not installed."""


class ReadError(ForeshockError):
    """A log or table cannot be read."""


class UnknownFormatError(ReadError):
    """No reader recognises the file."""


class BrokenFileError(ReadError):
    """The format is known but the content is damaged."""


class AmbiguousError(ReadError):
    """Reading on would mean guessing."""


class StoreError(ForeshockError):
    """The store on disk is missing, damaged or used in a way it cannot be."""


class SchemaVersionError(StoreError):
    """The store was written by a newer Foreshock."""


class MetricError(ForeshockError):
    """A metric is unknown, misdeclared or failed."""


class ModelError(ForeshockError):
    """A model cannot be asked: wrong address, key or name, or it stopped answering."""


class NotEnoughDataError(ForeshockError):
    """An analysis was asked for that these data cannot support."""
