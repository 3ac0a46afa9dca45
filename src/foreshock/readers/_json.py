"""Tolerant JSON: msgspec first, the standard library for the tokens that msgspec rightly refuses.

Harnesses written in Python log ``NaN`` and ``Infinity`` and half surrogate pairs; none of them is JSON, all of them are
in real logs. A record with such a token is parsed a second time by :mod:`json` and cleaned, so that nothing but null
reaches a table.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from itertools import islice
from typing import Any, TypeVar, cast

import msgspec

from foreshock._base import BrokenFileError

T = TypeVar("T")

BOMS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
UTF8_BOM = b"\xef\xbb\xbf"

MAX_MEMBERS = 1_000_000
"""Most members of one record, those of its parts counted in."""

_LARGE = 4 * MAX_MEMBERS
_MEMBER = re.compile(rb'"[ \t\r\n]*:')
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_RECORDS = msgspec.json.Decoder(list[msgspec.Raw])


def decode(data: bytes, decoder: msgspec.json.Decoder[T], where: str) -> T:
    """Decode ``data``, falling back to a tolerant parse.

    Args:
        data: UTF-8 JSON; a byte-order mark is accepted.
        decoder: Typed msgspec decoder.
        where: File (and line or member) for the message.

    Raises:
        BrokenFileError: Not JSON, nested too deeply, not UTF-8, or not of the decoder's type.
    """
    data = data.removeprefix(UTF8_BOM)
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise BrokenFileError(f"unexpected content: {error}", where=where) from None
    except msgspec.DecodeError:
        return cast("T", _convert(tolerant(data, where), decoder.type, where))
    except UnicodeDecodeError as error:
        raise _encoding(error, where) from None
    except RecursionError:
        raise _depth(where) from None


def fields(data: bytes, where: str) -> dict[str, msgspec.Raw]:
    """The members of one JSON object, each still encoded: parsing a few again is cheaper than parsing all once."""
    return decode(data, _FIELDS, where)


def check_members(data: bytes, where: str) -> None:
    """Refuse a record with so many members that taking it apart is a danger.

    10 million members of a line of 100 MB take 2 GB, and as much again to look for repeated ones.

    Raises:
        BrokenFileError: There are more than ``MAX_MEMBERS``.
    """
    if len(data) > _LARGE and _many(data):
        raise BrokenFileError(
            f"an object with more than {MAX_MEMBERS:,} members in it", expected="a log record", where=where
        )


def _many(data: bytes) -> bool:
    """Whether there are more than ``MAX_MEMBERS`` members, with or without white space before their colons."""
    if data.count(b":") <= MAX_MEMBERS:
        return False
    return data.count(b'":') > MAX_MEMBERS or next(islice(_MEMBER.finditer(data), MAX_MEMBERS, None), None) is not None


def records(data: bytes, where: str) -> list[msgspec.Raw]:
    """The elements of one JSON array, each still encoded."""
    return decode(data, _RECORDS, where)


def tolerant(data: bytes, where: str) -> Any:
    """Parse with the standard library, then turn NaN and infinities into None and lone surrogates into U+FFFD."""
    try:
        return clean(json.loads(data.decode("utf-8")))
    except UnicodeDecodeError as error:
        raise _encoding(error, where) from None
    except RecursionError:
        raise _depth(where) from None
    except json.JSONDecodeError as error:
        place = f" at line {error.lineno}" if error.lineno > 1 else ""
        raise BrokenFileError(f"not valid JSON{place} (character {error.colno}: {error.msg})", where=where) from None
    except ValueError as error:  # an integer with thousands of digits
        raise BrokenFileError(f"not usable JSON ({error})", where=where) from None


def clean(value: Any) -> Any:
    """Replace what no table can hold: NaN, infinities, lone surrogates."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return [clean(v) for v in value]
    if isinstance(value, dict):
        return {text(k): clean(v) for k, v in value.items()}
    return value


def text(value: str) -> str:
    """The same text with lone surrogates, which UTF-8 cannot hold, replaced by U+FFFD."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def check_encoding(head: bytes, where: str) -> None:
    """Refuse the encodings that are neither UTF-8 nor ASCII while they can still be named."""
    for mark, name in BOMS:
        if head.startswith(mark):
            raise BrokenFileError(
                f"the file is {name}",
                expected="UTF-8",
                do=f"convert it: iconv -f {name} -t UTF-8 FILE > NEW",
                where=where,
            )
    # without a mark, every other byte of text in Latin letters is zero
    begin = head[:64]
    zeros = begin[0::2].count(0), begin[1::2].count(0)
    if len(begin) >= 16 and max(zeros) >= 3 * len(begin) // 8 and min(zeros) == 0:
        name = "UTF-16LE" if zeros[1] else "UTF-16BE"
        raise BrokenFileError(
            f"the file is {name} without a byte-order mark",
            expected="UTF-8",
            do=f"convert it: iconv -f {name} -t UTF-8 FILE > NEW",
            where=where,
        )


def repeated_keys(data: bytes, members: dict[str, msgspec.Raw]) -> list[str]:
    """Keys that occur twice at the top of an object; msgspec and :mod:`json` both keep only the last of them.

    The sizes of the members add up to the size of the object when no key is repeated and the spacing is one of the
    two usual ones; only when they do not is the object parsed again.
    """
    size = len(data.strip().removeprefix(UTF8_BOM))
    held = sum(len(key.encode()) + 2 for key in members) + sum(memoryview(raw).nbytes for raw in members.values())
    n = len(members)
    compact = held + 2 * n + 1
    if size == compact or (size == compact + 2 * n - 1 and b'": ' in data[:4096]):
        return []
    seen: list[str] = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        seen[:] = [key for key, _ in found]  # the outermost object is finished last
        return dict(found)

    # only the keys count here: bytes that are not UTF-8 and endless integers are for whoever reads the values
    try:
        json.loads(data.decode("utf-8-sig", "replace"), object_pairs_hook=pairs, parse_int=str)
    except RecursionError:
        raise _depth("") from None
    except ValueError as error:
        raise BrokenFileError(f"not valid JSON ({error})") from None
    return sorted(key for key, times in Counter(seen).items() if times > 1)


def _convert(value: Any, kind: Any, where: str) -> Any:
    try:
        if kind in (_FIELDS.type, _RECORDS.type):
            # nothing converts to Raw; the cleaned value is encoded and split again
            return msgspec.json.decode(msgspec.json.encode(value), type=kind)
        return msgspec.convert(value, kind)
    except RecursionError:
        raise _depth(where) from None
    except msgspec.ValidationError as error:
        raise BrokenFileError(f"unexpected content: {error}", where=where) from None


def _depth(where: str) -> BrokenFileError:
    return BrokenFileError("nested too deeply to be a log", expected="at most a few hundred levels", where=where)


def _encoding(error: UnicodeDecodeError, where: str) -> BrokenFileError:
    byte = error.object[error.start]
    return BrokenFileError(
        f"byte 0x{byte:02x} at position {error.start} is not UTF-8",
        expected="one encoding, UTF-8, in the whole file",
        do="convert the file (iconv -f LATIN1 -t UTF-8) or remove the line",
        where=where,
    )
