"""Write ``docs/tables.md`` from the table schemas and the docstrings of a run, or check that it is up to date.

Usage: ``python tools/table_reference.py [--check]``. Fails when a column has no meaning.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

from _docs.generated import cell, outcome, write_or_check
from _docs.names import first_line

HEAD = """# Tables

<!-- Written by `make docs` from the schemas; edits here are lost. -->

What a store holds, table by table. Every column may be null, which means that the log does not say; NaN never enters a
table. Columns are only ever added. `Snapshot.scan` gives a table as a Polars frame, and the SQL door of the `sql` extra
has a view of the same name for each; the one of `scores` also has `run_key`, `task` and `model` of the run.
"""
RUNS = """## runs

One row for each run that counts. The fields of its model card begin `card_`; `conditions` and `meta` are JSON text,
`sources` are paths.
"""
_ATTRIBUTE = re.compile(r"^ {4}(\w+(?:, \w+)*): (.*(?:\n {8}.*)*)", re.M)
_INSIDE = {"card", "schema", "expected", "counts"}


def attributes(kind: Any) -> dict[str, str]:
    """Meanings of the fields of a class, from the ``Attributes:`` section of its docstring."""
    doc = inspect.getdoc(kind) or ""
    section = doc.partition("Attributes:\n")[2]
    return {name: first_line(text) for names, text in _ATTRIBUTE.findall(section) for name in names.split(", ")}


def tables() -> dict[str, list[tuple[str, str, str]]]:
    """Name, kind and meaning of every column, by table."""
    from foreshock.records import TABLES, Counts, ModelCard, Run

    fields = [(f"{name}", attributes(Run).get(name, "")) for name in Run.__struct_fields__ if name not in _INSIDE]
    fields += [(name, attributes(Counts).get(name, "")) for name in Counts.__struct_fields__]
    fields += [(f"card_{name}", attributes(ModelCard).get(name, "")) for name in ModelCard.__struct_fields__]
    found = {"runs": [(name, "", doc) for name, doc in fields]}
    return found | {name: [(c.name, c.kind, c.doc) for c in columns] for name, columns in TABLES.items()}


def render(found: dict[str, list[tuple[str, str, str]]]) -> str:
    """The whole page."""
    parts = [HEAD]
    for name, columns in found.items():
        kinds = name != "runs"
        head = (
            ["| column | kind | meaning |", "| --- | --- | --- |"]
            if kinds
            else ["| column | meaning |", "| --- | --- |"]
        )
        rows = [f"| `{column}` | {f'{kind} | ' if kinds else ''}{cell(doc)} |" for column, kind, doc in columns]
        parts.append("\n".join([RUNS if name == "runs" else f"## {name}\n", *head, *rows, ""]))
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    """Write or check the page; the exit code says whether all is well."""
    found = tables()
    problems = [
        f"{table}.{name} has no meaning" for table, columns in found.items() for name, _, doc in columns if not doc
    ]
    page = Path(__file__).resolve().parents[1] / "docs" / "tables.md"
    problems += write_or_check(page, render(found), "--check" in arguments)
    return outcome(f"tables: {len(found)} tables, {sum(map(len, found.values()))} columns", problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
