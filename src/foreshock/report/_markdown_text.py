"""Text and tables that stay what they are in GitHub-flavoured Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from foreshock.report._format import MISSING
from foreshock.report._safe import LINE, one_line

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$])")
_LINKS = re.compile(r":(?=[/\w+-])|(?<=www)\.", re.IGNORECASE)  # bare addresses and :emoji: names
# An entity cannot start a mention, a link or a tag, whatever the renderer makes of backslashes.
_ENTITY = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"})


def safe(text: str | None, limit: int = LINE) -> str:
    """Text that stays text: one line, nothing that Markdown or HTML would read."""
    if text is None:
        return MISSING
    escaped = _SPECIAL.sub(r"\\\1", one_line(text, limit)).translate(_ENTITY)
    return _LINKS.sub(lambda match: f"&#{ord(match[0])};", escaped)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are safe already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
