"""Rules about links: every target exists, every anchor exists, every page can be reached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from _docs.markdown import Page, Problem, read_page

OUTSIDE = ("https://", "http://", "mailto:")
# Addresses that a reader can be sent to; anything else is more likely a slip than a source.
HOSTS = (
    "aclanthology.org",
    "arxiv.org",
    "doi.org",
    "docs.python.org",
    "foreshock.readthedocs.io",
    "github.com",
    "inspect.aisi.org.uk",
    "json-schema.org",
    "keepachangelog.com",
    "reproducible-builds.org",
    "semver.org",
    "www.apache.org",
)


def check_links(pages: list[Page], root: Path) -> Iterator[Problem]:
    """Relative links and anchors that lead nowhere, undefined references and outside addresses nobody vouched for."""
    known = {page.path.resolve(): page for page in pages}
    for page in pages:
        for name, line in page.undefined_references:
            yield Problem(page.at(line), f"reference [{name}] is not defined")
        for target, line in page.links:
            fault = _fault(page, target, known, root)
            if fault:
                yield Problem(page.at(line), fault)


def _fault(page: Page, target: str, known: dict[Path, Page], root: Path) -> str | None:
    if target.startswith(OUTSIDE):
        host = target.split("/")[2] if "//" in target else ""
        return None if not host or host in HOSTS else f"link to {host}, which is not among the hosts of tools/_docs"
    path, _, anchor = target.partition("#")
    file = (page.path.parent / unquote(path)).resolve() if path else page.path.resolve()
    if not file.is_relative_to(root.resolve()):
        return f"link {target} leaves the repository"
    if not file.exists():
        return f"link {target}: there is no such file"
    if anchor and file.suffix == ".md":
        other = known.get(file) or read_page(file, root.resolve())
        if anchor not in other.anchors:
            return f"link {target}: {other.name} has no heading with the anchor #{anchor}"
    return None


def check_reachable(pages: list[Page], root: Path) -> Iterator[Problem]:
    """Pages that no chain of links leads to from the README."""
    by_path = {page.path.resolve(): page for page in pages}
    start = (root / "README.md").resolve()
    seen: set[Path] = set()
    waiting = [start] if start in by_path else []
    while waiting:
        page = by_path[waiting.pop()]
        seen.add(page.path.resolve())
        for target, _ in page.links:
            file = (page.path.parent / unquote(target.partition("#")[0])).resolve()
            if file in by_path and file not in seen:
                waiting.append(file)
    for path, page in by_path.items():
        if path not in seen and page.name.startswith("docs/"):
            yield Problem(page.name, "no chain of links leads here from README.md")
