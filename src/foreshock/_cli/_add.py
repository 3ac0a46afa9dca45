"""`foreshock add`: read logs into the store."""

from __future__ import annotations

from typing import Annotated

import typer

from foreshock._base import ConfigError
from foreshock._cli import _options as o
from foreshock._cli._out import console, progress
from foreshock._cli._places import places
from foreshock._cli._reading import Reading, reads_files, with_family
from foreshock._cli._report_added import exit_code, refuse_without_logs, show_added


@reads_files
def add(
    paths: o.AddPaths = None,
    store: o.StoreOption = None,
    *,
    asked: Reading,
    family: Annotated[
        str | None,
        typer.Option("--family", help="Column of a table of scores that names the model family."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Bring back runs that were removed.")] = False,
    quiet: o.QuietOption = False,
) -> None:
    """Read logs into the store; what is there already stays as it is.

    Examples:

      foreshock add logs/

      foreshock add outputs.zip --preset mmlu-pro

      foreshock add --csv scores.csv --x size --y accuracy --group task --n 500

      foreshock add board.csv --wide --scale 100 --date released

      foreshock add out.jsonl --map output=text,target=gold,item=id --task-name gsm8k
    """
    from foreshock.store import Store, add_paths

    where = places(store)
    everything = [*(paths or []), *asked.tables]
    if not everything:
        raise ConfigError("no path was given", expected="a file or folder of logs", do="run: foreshock add PATH")
    options = with_family(asked, family)
    refuse_without_logs(everything, options)
    with progress(silent=quiet) as show:
        added = add_paths(Store.open(where.store, create=True), everything, options, again=again, progress=show)
    if not quiet:
        show_added(console(), added, where.store, asked=store, options=options)
    raise typer.Exit(exit_code(added, console(stderr=True), named=everything, asked=store))
