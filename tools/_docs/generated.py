"""Pages that a tool writes: written, or compared with what they should be."""

from __future__ import annotations

import difflib
from pathlib import Path


def write_or_check(path: Path, text: str, only_check: bool) -> list[str]:
    """Write ``text`` to ``path``, or say how the file differs from it.

    Returns:
        What is wrong, empty when nothing is. Writing is never wrong.
    """
    if not only_check:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return []
    old = path.read_text("utf-8") if path.is_file() else ""
    if old == text:
        return []
    changes = list(difflib.unified_diff(old.splitlines(), text.splitlines(), n=0))[2:22]
    return [f"{path.name} is out of date, run `make docs`:", *(f"    {line}" for line in changes)]


def cell(text: str) -> str:
    """Text that may stand in a cell of a Markdown table; inside inline code ``<`` is harmless and stays.

    Examples:
        >>> cell("a|b <dir> `<x>`")
        'a\\\\|b &lt;dir> `<x>`'
    """
    parts = " ".join(text.split()).replace("|", "\\|").split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts))


def outcome(subject: str, problems: list[str]) -> int:
    """Print what is wrong and one line of summary; the exit code."""
    for problem in problems:
        print(problem)
    print(f"{subject}: {f'{len(problems)} wrong' if problems else 'all true'}")
    return 1 if problems else 0
