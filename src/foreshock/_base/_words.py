"""Numbers with their nouns, as sentences need them."""

from __future__ import annotations


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """``number`` with thousands separators and the noun in its right form.

    Examples:
        >>> count_of(1, "run"), count_of(1200, "run"), count_of(2, "reply", "replies")
        ('1 run', '1,200 runs', '2 replies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
