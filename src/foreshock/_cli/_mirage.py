"""`foreshock mirage`: is a jump real, or made by the metric?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from foreshock._cli import _options as o
from foreshock._cli._check import firing, write_outputs
from foreshock._cli._fail_on import refuse_unknown
from foreshock._cli._imports import import_all
from foreshock._cli._looking import Asked
from foreshock._cli._looking import document as made
from foreshock._cli._out import console
from foreshock._cli._places import places
from foreshock._cli._reading import Reading, family_or_column, reads_files
from foreshock.check import mirage_document
from foreshock.mirage import CODES

WORDS = ("any", "break", "unreadable")


@reads_files
def mirage(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TASK|PATH]...",
            help="Tasks (names or glob patterns), or log files and folders to add first; what exists as a path is one.",
            show_default=False,
        ),
    ] = None,
    *,
    store: o.StoreOption = None,
    task: o.TaskOption = None,
    model: o.ModelOption = None,
    family: o.FamilyOption = None,
    axis: o.AxisOption = None,
    step: o.StepOption = None,
    axis_from: o.AxisFromOption = None,
    hard: Annotated[
        list[str] | None,
        typer.Option(
            "--hard",
            metavar="METRIC",
            help="Hard metrics to judge (names or glob patterns), instead of the one that speaks for a task.",
        ),
    ] = None,
    length: o.LengthOption = None,
    imports: o.ImportOption = None,
    select: o.SelectOption = None,
    ignore: o.IgnoreOption = None,
    fail_on: Annotated[
        list[str] | None, typer.Option("--fail-on", help="Exit with 1 on: FS301, FS302, break, unreadable, or any.")
    ] = None,
    asked: Reading,
    html: o.HtmlOption = None,
    json: o.JsonOption = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write a summary for a CI page.")] = None,
    seed: o.SeedOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """Is a jump real, or made by the metric? One verdict for each task and line of models.

    A hard metric is read against a continuous one of the same responses, its twin: break, mirage, smooth, or unresolved
    with what would settle it.

    Examples:

      foreshock mirage gsm8k

      foreshock mirage logs/ --family pythia --html mirage.html

      foreshock mirage scores.csv --twin log_perplexity --n 5153

      foreshock mirage --task 'addition*' --length 4 --fail-on break

      foreshock mirage humaneval --hard 'pass_at_k(k=10)' --hard refused
    """
    where = places(store)
    names = fail_on or where.config.fail_on
    refuse_unknown(fail_on or [], WORDS, CODES, "foreshock check has lights and the other findings")
    talk = not quiet and str(json) != "-"
    options, family = family_or_column(asked, family)
    paths, tasks = apart(what or [])
    request = Asked(where, store, [*paths, *asked.tables], options, quiet, talk)
    tasks += task or []
    judged = hard or where.config.mirage.hard
    if judged or imports:
        import_all(where, imports)
    given = {
        "tasks": tasks,
        "models": model,
        "families": family,
        "axis": axis,
        "step_pattern": step,
        "length": length,
        "hard": judged,
    }
    document = made(mirage_document, request, axis_from, {**given, "select": select, "ignore": ignore, "seed": seed})
    write_outputs(document, html=html, json=json, markdown=markdown)
    if talk:
        from foreshock.report import terminal

        terminal(document, console())
        if html is not None:
            console().print(f"Report: {html}")
    raise typer.Exit(firing(document, names))


def apart(what: list[str]) -> tuple[list[Path], list[str]]:
    """Paths, and names or patterns of tasks; what exists is a path."""
    paths = [Path(word) for word in what if os.path.exists(word)]  # noqa: PTH110 - a name too long for a path is a task
    return paths, [word for word in what if Path(word) not in paths]
