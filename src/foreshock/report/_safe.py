"""Text that a model or a log wrote is hostile: this file makes it harmless, in one place, for every output.

Escaping for HTML or XML is a second step (Jinja's autoescape, ``html.escape``); it does nothing about characters that
move the cursor, reorder the line or cannot be seen. Those are written out as ``\\x1b`` or ``\\u202e``, so that a reader
sees that they were there.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from foreshock._base import canonical
from foreshock.records import Document

# Control characters except tab and newline, soft hyphen, Arabic letter mark, Hangul fillers (blank letters), Mongolian
# separator, zero-width and bidirectional controls, line and paragraph separators, byte order mark, interlinear marks,
# surrogates, noncharacters and tag characters. Variation selectors stay: emoji need them and they hide nothing.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
# Zero-width joiners are letters' glue in Persian, Indic scripts and emoji; next to ASCII they only deceive.
_LETTER = "[\u0300-\u1fff\u2190-\uffff\U00010000-\U0001ffff]"
_GLUE = re.compile(f"(?<={_LETTER})[\u200c\u200d](?={_LETTER})")
_SURROGATE = re.compile("[\ud800-\udfff]")
_FOR_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}

LINE = 400
"""Longest name or sentence that an output shows; real ones are a tenth of it."""


def clean(text: str, limit: int | None = None) -> str:
    r"""Make ``text`` harmless to look at: no control, invisible or reordering characters; at most ``limit`` of them.

    Newlines and tabs stay. What is cut off is counted in the text itself.

    Examples:
        >>> clean("a\x1b[31mred\u202e")
        'a\\x1b[31mred\\u202e'
        >>> clean("abcdef", 3)
        'abc… (3 more characters)'
    """
    rest = 0 if limit is None else len(text) - limit
    kept = text[:limit] if rest > 0 else text
    kept = kept.replace("\r\n", "\n")
    if not kept.isascii():
        glue = {match.start() for match in _GLUE.finditer(kept)}
        kept = _UNSAFE.sub(lambda match: match[0] if match.start() in glue else _written_out(match[0]), kept)
    else:
        kept = _UNSAFE.sub(lambda match: _written_out(match[0]), kept)
    return f"{kept}… ({rest:,} more characters)" if rest > 0 else kept


def cut(text: str, limit: int) -> str:
    """The first ``limit`` characters of ``text`` as they are, and how many more there were."""
    rest = len(text) - limit
    return f"{text[:limit]}… ({rest:,} more characters)" if rest > 0 else text


def one_line(text: str, limit: int = LINE) -> str:
    r"""Like :func:`clean`, with every run of white space made one space.

    Examples:
        >>> one_line("a\n  b")
        'a b'
    """
    return " ".join(clean(text, limit).split())


def _written_out(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def encode(document: Document) -> bytes:
    """Canonical JSON of a document; lone surrogates, which no UTF-8 file can hold, are written out."""
    try:
        return canonical(document)
    except UnicodeEncodeError:
        return canonical(_without_surrogates(msgspec.to_builtins(document)))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub(lambda match: _written_out(match[0]), value)
    if isinstance(value, list):
        return [_without_surrogates(v) for v in value]
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return value


def for_script(json: bytes) -> str:
    """JSON that can stand inside an HTML ``<script>`` element and still parses to the same value."""
    return json.decode().translate(_FOR_SCRIPT)
