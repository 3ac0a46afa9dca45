"""How `foreshock lint` shows its findings: one line for each, as linters do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from foreshock._base import count_of
from foreshock.records import Document
from foreshock.report import one_line

if TYPE_CHECKING:
    from rich.console import Console

_LONG = 1_000
_FOLD = 3  # places that have the same to say beyond which one line stands for all
_NUMBER = re.compile(r"\d[\d,.]*")
_STYLE = {"firing": "bold red", "pending": "yellow", "no-data": "dim"}
_GLYPH = {"firing": "", "pending": "maybe: ", "no-data": "cannot tell: "}

Row = Mapping[str, Any]


def show_lint(document: Document, out: Console) -> None:
    """Print ``place: CODE message`` for every finding, what to do, and how many there are."""
    rows = document.tables["lint"]
    for state in ("firing", "pending"):
        _lines([row for row in rows if row["state"] == state], out)
    unknown = [row for row in rows if row["state"] == "no-data"]
    if unknown:
        out.print("\nNot judged, for want of data:" if len(unknown) < len(rows) else "Not judged, for want of data:")
        _lines(unknown, out)
    for failure in document.tables["failures"]:
        out.print(f"{one_line(failure['path'])}: not read: {one_line(failure['message'], _LONG)}", soft_wrap=True)
    if rows:
        out.print()
    out.print(_summary(rows, document), soft_wrap=True)
    codes = sorted({row["code"] for row in rows})
    if codes:
        out.print(f"What a code means: foreshock lint --explain {codes[0]}", style="dim", soft_wrap=True)


def _lines(rows: Sequence[Row], out: Console) -> None:
    from rich.text import Text

    alike: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        alike.setdefault((row["code"], row["verdict"], _NUMBER.sub("#", row["hint"])), []).append(row)
    for (code, _, _), members in alike.items():
        folded = len(members) > _FOLD
        for row in members[:1] if folded else members:
            more = f" and {len(members) - 1:,} more" if folded else ""
            line = Text(f"{one_line(row['place'], 200)}{more}: ")
            line.append(code, style=_STYLE[row["state"]])
            line.append(
                f" {_GLYPH[row['state']] if row['state'] == 'pending' else ''}{one_line(row['message'], _LONG)}"
            )
            out.print(line, soft_wrap=True)
        out.print(f"    → {one_line(members[0]['hint'], _LONG)}", style="dim", soft_wrap=True)


def _summary(rows: Sequence[Row], document: Document) -> str:
    states = Counter(row["state"] for row in rows)
    looked = {row["code"]: row["places"] for row in document.tables["rules"]}
    tasks = max((looked[code] for code in looked if code not in ("FS204", "FS205", "FS207")), default=0)
    lines = max((looked[code] for code in looked if code in ("FS204", "FS207")), default=0)
    where = f"{count_of(tasks, 'task')} and {count_of(lines, 'line of models', 'lines of models')}"
    problems = states["firing"] + states["pending"]
    unknown = f"; {states['no-data']:,} could not be judged" if states["no-data"] else ""
    if not problems:
        return f"No problems in {where}{unknown}."
    doubt = f" ({states['pending']:,} in doubt)" if states["pending"] else ""
    return f"{count_of(problems, 'problem')}{doubt} in {where}{unknown}."


def show_blind(document: Document, out: Console) -> None:
    """Print which damage each scorer notices, and what it is blind to."""
    from rich.table import Table

    words, rows = document.tables["blind_words"], document.tables["blind"]
    table = Table(box=None, pad_edge=False, header_style="bold")
    kinds = [name for name in (words[0] if words else {}) if name != "scorer"]
    shares = {(row["scorer"], row["degradation"]): _share(row) for row in rows}
    table.add_column("damage", overflow="fold")
    for row in words:
        table.add_column(one_line(row["scorer"], 80), overflow="fold")
    for kind in kinds:
        cells = (f"{one_line(str(row[kind]), 40)} {shares.get((row['scorer'], kind), '')}" for row in words)
        table.add_row(one_line(kind.replace("_", " ")), *cells)
    out.print(table)
    out.print("Share of damaged answers on which the score falls, with its 95% interval.", style="dim")
    for line in _untold(rows, kinds):
        out.print(line, style="dim", soft_wrap=True)
    for finding in document.findings:
        out.print(f"{finding.code} {one_line(finding.title, _LONG)}", soft_wrap=True)
        out.print(f"    → {one_line(finding.advice, _LONG)}", style="dim", soft_wrap=True)


def _untold(rows: Sequence[Row], kinds: Sequence[str]) -> list[str]:
    """Why cells say that they cannot tell, and how many answers would do: one line for each reason."""
    alike: dict[tuple[str, int | None], list[Row]] = {}
    for row in rows:
        if row["said"] == "cannot tell" and row["degradation"] in kinds and row["why"]:
            alike.setdefault((row["why"], row["enough"]), []).append(row)
    lines = []
    for (why, enough), members in alike.items():
        whom: dict[str, list[str]] = {}
        for row in members:
            whom.setdefault(row["degradation"], []).append(row["scorer"])
        scorers = len({row["scorer"] for row in rows})
        told = (f"{kind.replace('_', ' ')}{_of(names, scorers)}" for kind, names in whom.items())
        needs = "" if enough is None else f"; {count_of(enough, 'answer')} that can be damaged would do"
        lines.append(f"Cannot tell: {', '.join(told)}: {one_line(why, _LONG)}{needs}.")
    return lines


def _of(names: Sequence[str], scorers: int) -> str:
    """Which scorers it is about; nothing where it is all of them."""
    if len(names) == scorers:
        return ""
    return f" ({', '.join(one_line(name, 80) for name in names)})"


def _share(row: Row) -> str:
    if row["share"] is None:
        return ""
    if row["low"] is None or row["high"] is None:
        return f"{row['share']:.0%}"
    return f"{row['share']:.0%} [{row['low']:.0%}, {row['high']:.0%}]"
