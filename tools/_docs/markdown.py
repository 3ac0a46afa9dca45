"""A Markdown page as the checks see it: fenced blocks, prose, links and anchors, each with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*(.*?)\s*$")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_INLINE_CODE = re.compile(r"(`+)(.+?)\1")
_LINK = re.compile(r"\]\(\s*<?([^)\s>]*)>?(?:\s+\"[^\"]*\")?\s*\)")
_HTML_LINK = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)=\"([^\"]*)\"", re.I)
_DEFINITION = re.compile(r"^\s{0,3}\[([^\]]+)\]:\s*<?(\S+?)>?(?:\s+\".*\")?\s*$")
_REFERENCE = re.compile(r"\[([^\]]+)\]\[([^\]]*)\]")


class Problem(NamedTuple):
    """One thing wrong, with the place where a person would mend it."""

    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


class Block(NamedTuple):
    """A fenced block: the first word of its info string, the other words, its text and the line of its fence."""

    language: str
    flags: tuple[str, ...]
    text: str
    line: int
    end: int


class Line(NamedTuple):
    """A line outside every fence; ``text`` has its inline code blanked out, ``code`` lists that code."""

    number: int
    raw: str
    text: str
    code: tuple[str, ...]


@dataclass
class Page:
    """One Markdown file.

    Attributes:
        path: Where it is.
        name: Its path relative to the repository, with forward slashes.
        blocks: Fenced blocks in order; blocks inside HTML comments count too.
        lines: Everything else.
        problems: What is wrong with the Markdown itself.
    """

    path: Path
    name: str
    blocks: list[Block] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def at(self, line: int) -> str:
        """The place of a line, as an editor opens it."""
        return f"{self.name}:{line}"

    @cached_property
    def links(self) -> list[tuple[str, int]]:
        """Targets of links and images with their lines."""
        return [
            (target, line.number)
            for line in self.lines
            for target in [*_LINK.findall(line.text), *_HTML_LINK.findall(line.text), *self._defined(line)]
        ]

    @staticmethod
    def _defined(line: Line) -> list[str]:
        found = _DEFINITION.match(line.text)
        return [found.group(2)] if found else []

    @cached_property
    def undefined_references(self) -> list[tuple[str, int]]:
        """Names in ``[text][name]`` that no line of the page defines."""
        known = {m.group(1).lower() for line in self.lines if (m := _DEFINITION.match(line.text))}
        used = [
            ((name or text).lower(), line.number) for line in self.lines for text, name in _REFERENCE.findall(line.text)
        ]
        return [(name, number) for name, number in used if name not in known]

    @cached_property
    def headings(self) -> list[str]:
        """Texts of the headings, with their inline markup."""
        return [m.group(1) for line in self.lines if (m := _HEADING.match(line.raw))]

    @cached_property
    def anchors(self) -> set[str]:
        """Fragments that links into the page may use, by GitHub's rule."""
        seen: dict[str, int] = {}
        found = set()
        for heading in self.headings:
            anchor = slug(heading)
            repeat = seen.get(anchor, 0)
            seen[anchor] = repeat + 1
            found.add(f"{anchor}-{repeat}" if repeat else anchor)
        found |= set(re.findall(r"<a\s+(?:id|name)=\"([^\"]+)\"", "\n".join(line.text for line in self.lines)))
        return found


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading.

    Examples:
        >>> slug("What `check` does, in 3 steps")
        'what-check-does-in-3-steps'
    """
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


def read_page(path: Path, root: Path) -> Page:
    """Read one Markdown file."""
    page = Page(path, path.relative_to(root).as_posix())
    lines = enumerate(path.read_text("utf-8").splitlines(), start=1)
    for number, raw in lines:
        fence = _FENCE.match(raw)
        if fence:
            _take_block(page, lines, number, fence)
        else:
            code = tuple(m.group(2).strip() for m in _INLINE_CODE.finditer(raw))
            page.lines.append(Line(number, raw, _INLINE_CODE.sub(lambda m: " " * len(m.group()), raw), code))
    return page


def _take_block(page: Page, lines: Iterator[tuple[int, str]], start: int, fence: re.Match[str]) -> None:
    """Use up ``lines`` to the closing fence; an unclosed one swallows the page, which is a problem of its own."""
    indent, mark, info = fence.groups()
    body: list[str] = []
    for number, raw in lines:
        if re.fullmatch(rf"\s*{mark[0]}{{{len(mark)},}}\s*", raw):
            words = info.split()
            text = "\n".join(line.removeprefix(indent) for line in body)
            page.blocks.append(Block(words[0] if words else "", tuple(words[1:]), text, start, number))
            return
        body.append(raw)
    page.problems.append(Problem(page.at(start), "this fence is never closed"))


def read_pages(root: Path) -> list[Page]:
    """Every page that the checks look at: those at the top of the repository and all under ``docs/``."""
    top = [root / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    return [read_page(path, root) for path in [*top, *sorted((root / "docs").rglob("*.md"))] if path.is_file()]
