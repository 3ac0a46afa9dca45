"""`foreshock add`: read logs into the store."""

from __future__ import annotations

from typing import Annotated

import typer

from foreshock._cli import _options as o
from foreshock._cli._out import console, progress
from foreshock._cli._places import places
from foreshock._cli._report_added import exit_code, show_added


def add(
    paths: o.Paths,
    store: o.StoreOption = None,
    mapping: o.MapOption = None,
    preset: o.PresetOption = None,
    scale: o.ScaleOption = None,
    task_name: o.TaskNameOption = None,
    model_name: o.ModelNameOption = None,
    again: Annotated[bool, typer.Option("--again", help="Bring back runs that were removed.")] = False,
    quiet: o.QuietOption = False,
) -> None:
    """Read logs into the store; what is there already stays as it is.

    Examples:

      foreshock add logs/

      foreshock add outputs.zip --preset mmlu-pro

      foreshock add out.jsonl --map output=text,target=gold,item=id --task-name gsm8k
    """
    from foreshock.store import Store, add_paths

    where = places(store)
    options = o.read_options(mapping, preset, scale, task_name, model_name)
    with progress(silent=quiet) as show:
        added = add_paths(Store.open(where.store, create=True), paths, options, again=again, progress=show)
    if not quiet:
        show_added(console(), added, where.store)
    show_failures_code = exit_code(added, console(stderr=True))
    raise typer.Exit(show_failures_code)
