"""A rich console that is given plain text only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from foreshock.report._format import count
from foreshock.report._safe import clean, one_line
from foreshock.report._words import GLOSSARY, mark, used

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

_STYLE = {"good": "green", "warn": "yellow", "bad": "red", "none": "bright_black", "plain": "cyan"}


_GLUE = "\ue000"  # stands for a space at which no line may end; rich would break at a no-break space
_INSIDE = re.compile(r"(?<=[\d%,\u2212]) (?=\[?\u2212?\d+(?:\.\d+)?[\],])")  # inside 84% [71, 93]


@cache
def _glued() -> type[Text]:
    """Rich's text, with spaces that hold together."""
    from rich.containers import Lines
    from rich.text import Text

    class Glued(Text):
        def wrap(self, *args: Any, **options: Any) -> Lines:
            lines = super().wrap(*args, **options)
            for line in lines:
                line.plain = line.plain.replace(_GLUE, " ")
            return lines

    return Glued


@dataclass(frozen=True, slots=True)
class Page:
    """A console that is given plain text only: no markup, no highlighting, nothing it cannot encode.

    Attributes:
        console: Where to.
        said: What was printed since words were last explained.
        explained: Terms of the glossary that were explained.
    """

    console: Console
    said: list[str] = field(default_factory=list)
    explained: set[str] = field(default_factory=set)

    def text(self, said: str, style: str = "") -> Text:
        """Make text harmless and printable."""
        encoding = self.console.encoding
        glued = _INSIDE.sub(_GLUE, clean(said).replace("\u00a0", _GLUE))
        pieces = [piece.encode(encoding, "backslashreplace").decode(encoding) for piece in glued.split(_GLUE)]
        self.said.append(said)
        return _glued()(_GLUE.join(pieces), style=style, overflow="fold")

    def print(self, shown: RenderableType = "") -> None:
        """Print without markup, emoji names or highlighting."""
        self.console.print(shown, highlight=False, markup=False, emoji=False)

    def line(self, said: str, style: str = "", indent: int = 0) -> None:
        """Print text, wrapped, with every line indented."""
        from rich.padding import Padding

        self.print(Padding(self.text(said, style), (0, 0, 0, indent), expand=False))

    def title(self, said: str) -> None:
        """Begin a part."""
        self.print()
        self.line(said.upper(), "bold")

    def badge(self, word: str) -> Text:
        """Mark and word of a state or verdict."""
        m = mark(word)
        utf = self.console.encoding.lower().startswith("utf")
        return self.text(f"{m.glyph if utf else m.ascii} {one_line(m.word, 40)}", _STYLE[m.tone])

    def rows(self, rows: Sequence[Sequence[Text]], widths: Sequence[int], indent: int = 2) -> None:
        """Print columns of fixed width; the last one takes what is left and wraps."""
        from rich.padding import Padding
        from rich.table import Table

        grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
        for width in widths:
            grid.add_column(width=width, overflow="fold")
        grid.add_column(ratio=1, overflow="fold")
        for row in rows:
            grid.add_row(*row)
        self.print(Padding(grid, (0, 0, 0, indent), expand=False))

    def explain(self, indent: int = 2) -> None:
        """Say what the words of the glossary mean that were printed for the first time."""
        for term in used("\n".join(self.said)):
            if term not in self.explained:
                self.explained.add(term)
                self.line(f"{term}: {GLOSSARY[term]}", "dim", indent)
        self.said.clear()

    def more(self, shown: int, total: int, what: str) -> None:
        """Say what was left out, if anything was."""
        if shown < total:
            self.line(f"{count(shown)} of {count(total)} {what} shown; --html and --json have the rest", "dim", 2)
