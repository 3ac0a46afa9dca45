"""`foreshock export`: stored runs for other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from foreshock._base import ConfigError, count_of
from foreshock._cli import _options as o
from foreshock._cli._ls import matches
from foreshock._cli._out import console, progress
from foreshock._cli._places import open_store, places
from foreshock.export import write_every_eval_ever
from foreshock.report import one_line


class Format(StrEnum):
    """What is written."""

    EVERY_EVAL_EVER = "every-eval-ever"


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write into; data/ is made in it.")],
    form: Annotated[Format, typer.Option("--format", help="Format of the files.")] = Format.EVERY_EVAL_EVER,
    task: o.TaskOption = None,
    model: o.ModelOption = None,
    store: o.StoreOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """Write stored runs as Every Eval Ever; what that format cannot hold is listed at the end.

    Examples:

      foreshock export shared/

      foreshock export shared/ --format every-eval-ever --task 'mmlu*'
    """
    snapshot = open_store(places(store)).snapshot()
    wanted = [run.run_key for run in snapshot.runs() if matches(run.task, task) and matches(run.model, model)]
    if not wanted:
        raise ConfigError("no run fits", expected="a task and a model of the store", do="list them: foreshock ls")
    assert form is Format.EVERY_EVAL_EVER
    with progress(silent=quiet) as show:
        done = write_every_eval_ever(snapshot, folder, runs=wanted, progress=show)
    if quiet:
        return
    out = console()
    told = f"Wrote {count_of(len(done.files), 'run')}, {count_of(done.lines, 'line')} of samples, to {folder / 'data'}."
    out.print(one_line(told), soft_wrap=True)
    if done.notes:
        out.print("What the format could not hold:")
    for what, times in done.notes.items():
        out.print(f"  {times:,} x {what}")
