"""`foreshock rm`: take a run out of sight."""

from __future__ import annotations

from typing import Annotated

import typer

from foreshock._base import count_of
from foreshock._cli import _options as o
from foreshock._cli._out import console
from foreshock._cli._places import open_store, places
from foreshock._cli._runs import find_runs


def rm(
    runs: Annotated[list[str], typer.Argument(help="Run keys (or their beginnings) or model names.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the store.")],
    store: o.StoreOption = None,
) -> None:
    """Take runs out of every answer from now on; the rows stay in the store and the removal can be undone.

    Examples:

      foreshock rm 3f9c21ab --reason "wrong prompt template"
    """
    opened = open_store(places(store))
    found = find_runs(opened.snapshot(), runs)
    for run in found:
        opened.remove(run.run_key, reason)
    console().print(f"{count_of(len(found), 'run')} removed. To undo: foreshock add --again PATH")
