"""`foreshock add`: read logs into the store."""

from __future__ import annotations

from typing import Annotated

import typer

from foreshock._base import ConfigError
from foreshock._cli import _options as o
from foreshock._cli._out import console, progress
from foreshock._cli._places import places
from foreshock._cli._report_added import exit_code, show_added


def add(
    paths: o.AddPaths = None,
    store: o.StoreOption = None,
    mapping: o.MapOption = None,
    preset: o.PresetOption = None,
    scale: o.ScaleOption = None,
    csv: o.CsvOption = None,
    x: o.XOption = None,
    y: o.YOption = None,
    group: o.GroupOption = None,
    n: o.NOption = None,
    chance: o.ChanceOption = None,
    task_name: o.TaskNameOption = None,
    model_name: o.ModelNameOption = None,
    again: Annotated[bool, typer.Option("--again", help="Bring back runs that were removed.")] = False,
    quiet: o.QuietOption = False,
) -> None:
    """Read logs into the store; what is there already stays as it is.

    Examples:

      foreshock add logs/

      foreshock add outputs.zip --preset mmlu-pro

      foreshock add --csv scores.csv --x size --y accuracy --group task --n 500

      foreshock add out.jsonl --map output=text,target=gold,item=id --task-name gsm8k
    """
    from foreshock.store import Store, add_paths

    where = places(store)
    everything = [*(paths or []), *(csv or [])]
    if not everything:
        raise ConfigError("no path was given", expected="a file or folder of logs", do="run: foreshock add PATH")
    options = o.read_options(
        mapping=mapping,
        preset=preset,
        scale=scale,
        task=task_name,
        model=model_name,
        csv={"x": x, "y": y, "group": group},
        n=n,
        chance=chance,
    )
    with progress(silent=quiet) as show:
        added = add_paths(Store.open(where.store, create=True), everything, options, again=again, progress=show)
    if not quiet:
        show_added(console(), added, where.store)
    raise typer.Exit(exit_code(added, console(stderr=True)))
