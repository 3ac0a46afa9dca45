"""`foreshock compact`: fewer, larger files."""

from __future__ import annotations

from foreshock._cli import _options as o
from foreshock._cli._out import console, progress
from foreshock._cli._places import open_store, places


def compact(store: o.StoreOption = None, quiet: o.QuietOption = False) -> None:
    """Rewrite the store into few large files; answers stay the same, reading becomes faster.

    Examples:

      foreshock compact
    """
    opened = open_store(places(store))
    before = sum(len(opened.snapshot().segments(table)) for table in ("responses", "items", "scores"))
    with progress(silent=quiet) as show:
        opened.compact(progress=show)
    after = sum(len(opened.snapshot().segments(table)) for table in ("responses", "items", "scores"))
    if not quiet:
        console().print(f"{before:,} files of rows became {after:,}.")
