"""Rules about words: public names and finding codes are documented, and no page says what it must not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from _docs.markdown import Page, Problem
from _docs.names import CODE, codes_in, rooms

CODE_HEADINGS = ("Meaning", "Null and rate", "What to do")
# A path that begins at the root of one machine's disk means nothing on another; /dev and /proc mean the same on all.
_MACHINE = re.compile(r"(?<![\w.:/])/(?:work|tmp|home|root|Users|mnt|scratch|opt|var)/[\w.]+")
# A page describes what there is; what there will be belongs into the issue tracker.
_PROMISES = re.compile(
    r"\b(?:TODO|FIXME|TBD|coming soon|not yet (?:implemented|supported|built|available)|"
    r"will be (?:added|supported|implemented)|planned for|in a (?:future|later) (?:version|release))\b",
    re.I,
)


def check_names(pages: list[Page], root: Path) -> Iterator[Problem]:
    """Public names that no page under ``docs/`` mentions as code (prose does not count: ``check`` is a word too)."""
    said: set[str] = set()
    for page in pages:
        if page.name.startswith("docs/"):
            code = [*(text for line in page.lines for text in line.code), *(block.text for block in page.blocks)]
            said |= set(re.findall(r"\w+", "\n".join(code)))
    for room in rooms(root):
        for name in room.names:
            if name.name not in said:
                yield Problem(f"foreshock.{room.name}", f"public name {name.name} is on no page under docs/")


def check_codes(pages: list[Page], root: Path) -> Iterator[Problem]:
    """Codes that the source raises without a page of the right shape, and pages of codes that nothing raises."""
    folder = root / "docs" / "codes"
    by_name = {page.name: page for page in pages}
    raised = codes_in(root)
    for code, place in raised.items():
        page = by_name.get(f"docs/codes/{code}.md")
        if page is None:
            yield Problem(place, f"finding code {code} has no page docs/codes/{code}.md")
            continue
        for heading in CODE_HEADINGS:
            if heading not in page.headings:
                yield Problem(page.name, f"lacks the heading '{heading}'")
    for path in sorted(folder.glob("FS*.md")):
        if path.stem not in raised:
            yield Problem(path.relative_to(root).as_posix(), f"describes {path.stem}, which nothing in src raises")


def check_words(pages: list[Page], root: Path) -> Iterator[Problem]:
    """Paths of one machine, promises, and codes that no page explains, anywhere in a page, blocks included."""
    for page in pages:
        for number, line in enumerate(page.path.read_text("utf-8").splitlines(), start=1):
            for found in _MACHINE.findall(line):
                yield Problem(page.at(number), f"{found!r} is a path of one machine")
            for found in _PROMISES.findall(line):
                yield Problem(page.at(number), f"{found!r} promises what is not there")
            for code in CODE.findall(line):
                if not (root / "docs" / "codes" / f"{code}.md").is_file():
                    yield Problem(page.at(number), f"{code} has no page docs/codes/{code}.md")
