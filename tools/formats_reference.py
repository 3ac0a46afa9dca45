"""Write the table of real logs into ``docs/formats.md`` from ``tests/oracles/formats.json``, or check that it is there.

Usage: ``python tools/formats_reference.py [--check]``. Only what stands between the two markers is written; folders of
many like files are one row, whose counts are sums.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from _docs.generated import cell, outcome, write_or_check

ROOT = Path(__file__).resolve().parents[1]
PAGE, TABLE = ROOT / "docs" / "formats.md", ROOT / "tests" / "oracles" / "formats.json"
BEGIN, END = "<!-- begin: written by `make docs` from tests/oracles/formats.json -->", "<!-- end -->"
MANY = 6
HEAD = ["| file | format | version | runs | items | states of responses | means | remark |", f"|{' --- |' * 8}"]
NOT_A_LOG = ("none", "unreadable")

Row = dict[str, Any]


def alike(rows: dict[str, Row]) -> dict[str, list[str]]:
    """Names that share a row: many files of one folder, format and version without a remark of their own."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, row in rows.items():
        plain = row["format"] not in NOT_A_LOG and "remark" not in row and "items" not in row
        place: tuple[str, ...] = (str(Path(name).parent), row["format"], str(row.get("version"))) if plain else (name,)
        groups.setdefault(place, []).append(name)
    shown: dict[str, list[str]] = {}
    for place, names in groups.items():
        if len(names) >= MANY:
            shown[f"{place[0]}/ ({len(names)} files)"] = names
        else:
            shown |= {name: [name] for name in names}
    return dict(sorted(shown.items()))


def line(shown: str, rows: list[Row]) -> str:
    """One row of the table."""
    first = rows[0]
    if first["format"] in NOT_A_LOG:
        return f"| `{shown}` | {first['format']} | | | | | | {cell(first['remark'])} |"
    states = Counter[str]()
    for row in rows:
        states.update(row.get("states", {}))
    total = {key: sum(row[key] for row in rows if key in row) for key in ("runs", "items", "aggregates")}
    given = {key: f"{n:,}" if any(key in row for row in rows) else "" for key, n in total.items()}
    words = ", ".join(f"{n:,} {state}" for state, n in sorted(states.items(), key=lambda s: (-s[1], s[0])))
    cells = [f"`{shown}`", first["format"], version(rows), given["runs"], given["items"], words, given["aggregates"]]
    return f"| {' | '.join(cells)} | {cell(first.get('remark', ''))} |".replace("  ", " ")


def version(rows: list[Row]) -> str:
    """Version of the log and of its writer; of a folder's files only what all have in common."""
    keys = ("version", "writer") if len(rows) == 1 else ("version",)
    return ", ".join(str(rows[0][key]) for key in keys if key in rows[0])


def render(rows: dict[str, Row]) -> str:
    """What stands between the markers."""
    lines = [line(shown, [rows[n] for n in names]) for shown, names in alike(rows).items()]
    return "\n".join(["", *HEAD, *lines, ""])


def main(arguments: list[str]) -> int:
    """Write or check the page; the exit code says whether all is well."""
    rows: dict[str, Row] = json.loads(TABLE.read_text("utf-8"))["files"]
    before, begin, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        return outcome("formats", [f"{PAGE.name} lacks the lines {BEGIN!r} and {END!r}"])
    problems = write_or_check(PAGE, f"{before}{BEGIN}\n{render(rows)}\n{END}{after}", "--check" in arguments)
    return outcome(f"formats: {len(rows)} files and folders", problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
