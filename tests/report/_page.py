"""Reading a page back as a browser would: elements, attributes, text, scripts."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "br", "img", "input", "wbr", "hr"}


class Page(HTMLParser):
    """What an HTML file says.

    Attributes:
        tags: Every element with its attributes.
        text: All text outside of scripts and styles.
        scripts: Attributes and content of each script.
        open: Elements never closed.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.open: list[str] = []
        self.faults: list[str] = []
        self._pieces: list[str] = []
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        return " ".join("".join(self._pieces).split())

    @property
    def ids(self) -> list[str]:
        return [value or "" for _, attributes in self.tags for name, value in attributes.items() if name == "id"]

    @property
    def data(self) -> dict[str, Any]:
        (content,) = [content for attributes, content in self.scripts if attributes.get("id") == "foreshock-data"]
        found: dict[str, Any] = json.loads(content)
        return found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if len(attrs) != len(dict(attrs)):
            self.faults.append(f"doubled attribute in {tag}: {attrs}")
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:]} in line {self.getpos()[0]}")
            return
        self.open.pop()
        self._pieces.append(" ")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            attributes, content = self.scripts[-1]
            self.scripts[-1] = (attributes, content + data)
        elif not self.open or self.open[-1] != "style":
            self._pieces.append(data)
