"""Write ``docs/api.md`` from the public names and their docstrings, or check that it is up to date.

Usage: ``python tools/api_reference.py [--check]``. The source is parsed, never imported. Fails when a public name has
no docstring.
"""

from __future__ import annotations

import sys
from pathlib import Path

from _docs.generated import cell, outcome, write_or_check
from _docs.names import Room, rooms

HEAD = """# Public names

<!-- Written by `make docs` from the docstrings; edits here are lost. -->

One table for each room, in alphabetical order of rooms. The full docstrings, with units, ranges, errors and examples,
are where Python keeps them: `help(foreshock.records.Run)`. How the rooms fit together is in
[the house](design/house.md); how they are used is in [Python](python.md). Names that start with an underscore may
change without notice; `foreshock._base` is listed because its errors and callbacks are part of many signatures.
"""


def render(found: list[Room]) -> str:
    """The whole page."""
    return "\n".join([HEAD, *(_table(room) for room in found)])


def _table(room: Room) -> str:
    rows = [f"| `{name.signature.replace('|', chr(92) + '|')}` | {cell(name.doc)} |" for name in room.names]
    return "\n".join([f"## foreshock.{room.name}", "", room.doc, "", "| name | meaning |", "| --- | --- |", *rows, ""])


def main(arguments: list[str]) -> int:
    """Write or check the page; the exit code says whether all is well."""
    root = Path(__file__).resolve().parents[1]
    found = rooms(root)
    names = [name for room in found for name in room.names]
    problems = [f"foreshock.{name.room}.{name.name} ({name.kind}) has no docstring" for name in names if not name.doc]
    problems += write_or_check(root / "docs" / "api.md", render(found), "--check" in arguments)
    return outcome(f"api: {len(names)} names in {len(found)} rooms", problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
