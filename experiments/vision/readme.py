"""Write the table of verdicts of the README from ``results/verdicts.csv``: ``python -m experiments.vision.readme``."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from . import plan

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- from results/verdicts.csv by readme.py -->", "<!-- end -->"
_WORDS = ("break", "mirage", "smooth", "unresolved")

Row = dict[str, str]


def verdicts(results: Path = plan.RESULTS) -> list[Row]:
    """Rows of ``verdicts.csv``."""
    with (results / "verdicts.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def counted(rows: Iterable[Row], *, every: bool = False) -> str:
    """How often each verdict was said; with ``every`` also those that were not.

    >>> counted([{"verdict": "smooth"}, {"verdict": "mirage"}, {"verdict": "smooth"}])
    '1 mirage, 2 smooth'
    """
    found = Counter(row["verdict"] for row in rows)
    return ", ".join(f"{found[word]} {word}" for word in _WORDS if found[word] or every)


def made(rows: list[Row]) -> str:
    """The table and the counts below it."""
    together = [row for row in rows if row["seed"] == "all"]
    lines = [
        "| metric | rises from, to | jump | may carry | verdict | each seed alone |",
        "|---|---|---|---|---|---|",
        *(_line(row, rows) for row in together),
        "",
        f"In all {len(rows)} verdicts ({len(together)} metrics, all seeds together and each alone): "
        f"{counted(rows, every=True)}.",
    ]
    return "\n".join(lines)


def _line(row: Row, rows: list[Row]) -> str:
    alone = [r for r in rows if (r["kind"], r["metric"]) == (row["kind"], row["metric"]) and r["seed"] != "all"]
    ends = f"{_share(row['lowest'], 3)}, {_share(row['highest'], 3)}"
    word = f"**{row['verdict']}**" if row["verdict"] != "smooth" else "smooth"
    numbers = f"{_share(row['jump_share'], 2)} | {_share(row['share_high'], 2)}"
    name = row["metric"].replace("error < ", "error below ")
    return f"| {name} | {ends} | {numbers} | {word} | {counted(alone)} |"


def _share(text: str, digits: int) -> str:
    return f"{float(text):.{digits}f}".removeprefix("0") if text else "-"


def with_table(text: str, rows: list[Row]) -> str:
    """The README with its table made anew."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin, "the README has lost its marks"
    assert end, "the README has lost its marks"
    return f"{before}{BEGIN}\n{made(rows)}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text("utf-8"), verdicts()), "utf-8")
