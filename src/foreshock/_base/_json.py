"""One canonical JSON form, so that equal values have equal bytes and equal hashes."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec


def canonical(value: Any) -> bytes:
    """Encode ``value`` as JSON with sorted keys and no spaces; NaN and infinities become null.

    Examples:
        >>> canonical({"b": 1, "a": float("nan")})
        b'{"a":null,"b":1}'
    """
    return msgspec.json.encode(value, order="sorted")


def pretty(value: Any) -> str:
    """Encode ``value`` like :func:`canonical`, indented for people, ending in a newline."""
    return msgspec.json.format(canonical(value), indent=2).decode() + "\n"


def digest(value: Any, length: int = 64) -> str:
    """SHA-256 of the canonical form, as ``length`` hexadecimal digits.

    Examples:
        >>> digest({"a": 1, "b": 2}, 12) == digest({"b": 2, "a": 1}, 12)
        True
    """
    return hashlib.sha256(canonical(value)).hexdigest()[:length]
