"""`foreshock ls`: what the store holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any

import msgspec
import typer

from foreshock import __version__
from foreshock._base import count_of, utc_now
from foreshock._cli import _options as o
from foreshock._cli._out import console, write_json
from foreshock._cli._places import open_store, places
from foreshock.records import Counts, Document, Run
from foreshock.report import one_line
from foreshock.store import Ingest


def ls(
    store: o.StoreOption = None,
    task: o.TaskOption = None,
    model: o.ModelOption = None,
    show_all: Annotated[bool, typer.Option("--all", help="Also superseded and removed runs, and why.")] = False,
    json: o.JsonOption = None,
) -> None:
    """List the runs of the store with their counts.

    Examples:

      foreshock ls

      foreshock ls --task 'mmlu*' --json -
    """
    snapshot = open_store(places(store)).snapshot()
    runs = [run for run in snapshot.runs(all=show_all) if matches(run.task, task) and matches(run.model, model)]
    rows = [_row(run, snapshot.ingests[run.ingest_id]) for run in runs]
    if json is not None:
        total = Counts.total(run.counts for run in runs)
        document = Document(
            foreshock=__version__,
            command=["ls"],
            generated_at=utc_now(),
            counts=msgspec.to_builtins(total),
            tables={"runs": rows},
        )
        write_json(document, json)
        return
    _show(rows, show_all=show_all)


def matches(name: str, patterns: list[str] | None) -> bool:
    """Whether ``name`` fits one of the glob patterns; no patterns fit everything.

    Examples:
        >>> matches("mmlu_pro", ["mmlu*"]), matches("gsm8k", None), matches("gsm8k", ["mmlu*"])
        (True, True, False)
    """
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _row(run: Run, ingest: Ingest) -> dict[str, Any]:
    return {
        "run_key": run.run_key,
        "model": run.model,
        "task": run.task,
        "status": run.status.value,
        "state": ingest.state,
        "created": run.created,
        "format": run.format,
        "writer": run.writer,
        "conditions": run.conditions,
        **msgspec.to_builtins(run.counts),
        "sources": [source.path for source in run.sources],
        "warnings": run.warnings,
    }


def _show(rows: list[dict[str, Any]], *, show_all: bool) -> None:
    from rich.cells import cell_len

    out = console()
    cells = [_cells(row, show_all=show_all) for row in rows]
    table = _lines([_HEAD, *cells])
    # what no terminal shows is read by programs: one line for each run
    fits = not out.is_terminal or max(map(cell_len, table)) <= out.width
    for line in table if fits else [line for row in cells for line in _two_lines(row)]:
        out.print(line, soft_wrap=True)
    tasks, models = {row["task"] for row in rows}, {row["model"] for row in rows}
    many = ((rows, "run"), (tasks, "task"), (models, "model"))
    out.print(", ".join(count_of(len(group), noun) for group, noun in many))


_HEAD = ("run", "task", "model", "responses", "lost", "status", "created")
_RIGHT = ("responses", "lost")


def _cells(row: dict[str, Any], *, show_all: bool) -> tuple[str, ...]:
    """The texts of one run, in the order of the header."""
    lost = row["refused"] + row["error"] + row["missing"]
    of = "" if row["expected"] is None else f"/{row['expected']:,}"
    return (
        row["run_key"][:8],
        one_line(row["task"]),
        one_line(row["model"]),
        f"{row['delivered']:,}{of}" if row["delivered"] or lost else "totals only",
        f"{lost:,}" if lost else "",
        row["status"] if not show_all or row["state"] == "live" else f"{row['status']}, {row['state']}",
        (row["created"] or "")[:10],
    )


def _lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as aligned columns, without blanks at their ends."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        blanks = [" " * (width - cell_len(text)) for width, text in zip(widths, row, strict=True)]
        parts = zip(_HEAD, row, blanks, strict=True)
        lines.append(
            "  ".join(blank + text if name in _RIGHT else text + blank for name, text, blank in parts).rstrip()
        )
    return lines


def _two_lines(row: Sequence[str]) -> Iterator[str]:
    """A run on a terminal too narrow for the table: what it is, and below it how it went."""
    key, task, model, responses, lost, status, created = row
    yield f"{key}  {task} \u00b7 {model}"
    told = [text for text in (responses, f"{lost} lost" if lost else "", status, created) if text]
    yield " " * (len(key) + 2) + " \u00b7 ".join(told)
