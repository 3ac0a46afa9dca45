"""Lone surrogates: legal in JSON, impossible in UTF-8, and therefore in every file of the store."""

from __future__ import annotations

from typing import Any


def repair(value: Any) -> Any:
    """``value`` with surrogate pairs joined and lone surrogates replaced by U+FFFD, in strings, lists and mappings.

    Examples:
        >>> repair(["plain", "pair \\ud83d\\ude00", "lone \\ud800"])
        ['plain', 'pair 😀', 'lone �']
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {repair(key): repair(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [repair(part) for part in value]
    return value
