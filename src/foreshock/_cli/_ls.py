"""`foreshock ls`: what the store holds."""

from __future__ import annotations

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
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("run", "task", "model"):
        table.add_column(name, overflow="fold")
    for name in ("responses", "lost"):
        table.add_column(name, justify="right")
    table.add_column("status")
    table.add_column("created")
    for row in rows:
        lost = row["refused"] + row["error"] + row["missing"]
        status = row["status"] if not show_all or row["state"] == "live" else f"{row['status']}, {row['state']}"
        of = "" if row["expected"] is None else f"/{row['expected']:,}"
        table.add_row(
            row["run_key"][:8],
            one_line(row["task"]),
            one_line(row["model"]),
            f"{row['delivered']:,}{of}" if row["delivered"] or lost else "totals only",
            f"{lost:,}" if lost else "",
            status,
            (row["created"] or "")[:10],
        )
    out = console()
    out.print(table)
    tasks, models = {row["task"] for row in rows}, {row["model"] for row in rows}
    many = ((rows, "run"), (tasks, "task"), (models, "model"))
    out.print(", ".join(count_of(len(group), noun) for group, noun in many))
