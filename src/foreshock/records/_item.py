"""What makes two items the same item."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence


def item_key(question: str | None, choices: Sequence[str] = (), targets: Sequence[str] = ()) -> str | None:
    """Identity of an item across harnesses: SHA-256 of its normalised question, choices and targets.

    Text is brought to NFC and runs of white space are folded, so that a reflowed prompt stays the same item. The
    few-shot prefix and the template must not be part of ``question``.

    Returns:
        64 hexadecimal digits, or None when there is no question text to identify the item by.

    Examples:
        >>> item_key("2 + 2  =", targets=["4"]) == item_key("2 + 2 =\\n", targets=["4"])
        True
        >>> item_key(None) is None
        True
    """
    if question is None or not question.strip():
        return None
    # unit and record separators cannot survive _fold, so no two different items share a message
    message = "\x1e".join("\x1f".join(map(_fold, part)) for part in ((question,), choices, targets))
    return hashlib.sha256(message.encode("utf-8", "surrogatepass")).hexdigest()


def _fold(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    # most texts are folded already, which is found out five times faster than folding them again; no white space but
    # the plain space is printable
    if text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text
    return " ".join(text.split())
