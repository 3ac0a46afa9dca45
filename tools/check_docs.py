"""Check that the documentation is true: links, blocks, commands, names, codes and words.

Usage: ``python tools/check_docs.py [ROOT]``. Lists what is wrong and exits 1 when anything is. The conventions of a
page stand at the top of ``tools/_docs/blocks.py`` and in CONTRIBUTING.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

from _docs.blocks import check_commands, check_runs, check_shapes, steps_of
from _docs.commands import CommandLine, load_commands
from _docs.generated import outcome
from _docs.links import check_links, check_reachable
from _docs.markdown import Problem, read_pages
from _docs.words import check_codes, check_names, check_words


def check(root: Path) -> tuple[list[Problem], str]:
    """Apply every rule to the repository at ``root``.

    Returns:
        The problems, and one line that says what was looked at.
    """
    pages = read_pages(root)
    command_line, broken = _command_line(root)
    problems = [
        *broken,
        *check_shapes(pages),
        *check_links(pages, root),
        *check_reachable(pages, root),
        *check_names(pages, root),
        *check_codes(pages, root),
        *check_words(pages, root),
        *check_commands(pages, root, command_line),
        *check_runs(pages),
    ]
    links, steps = sum(len(page.links) for page in pages), sum(len(steps_of(page)) for page in pages)
    looked = f"{len(pages)} pages, {links} links, {steps} blocks and commands run"
    if command_line is None:
        looked += "; without a command line no command was checked"
    return problems, looked


def _command_line(root: Path) -> tuple[CommandLine | None, list[Problem]]:
    try:
        return load_commands(root), []
    except ImportError as error:
        return None, [Problem("foreshock._cli", f"cannot be imported: {error}")]


def main(arguments: list[str]) -> int:
    """Print the problems; the exit code says whether there are any."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1]
    problems, looked = check(root)
    return outcome(f"docs: {looked}", [str(problem) for problem in problems])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
