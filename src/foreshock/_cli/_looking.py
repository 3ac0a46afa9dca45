"""What every command does that may be given paths: add them first, then look at their runs only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import typer

from foreshock._base import ConfigError, Progress, count_of
from foreshock._cli._hints import with_store
from foreshock._cli._out import console, progress
from foreshock._cli._places import Places, open_store
from foreshock._cli._report_added import exit_code, in_full, refuse_without_logs, show_added
from foreshock.check import CODES, CheckOptions
from foreshock.readers import ReadOptions
from foreshock.records import Document
from foreshock.series import load_models
from foreshock.store import Added, Snapshot, Store, add_paths

Make = Callable[..., Document]


class Asked(NamedTuple):
    """What a command was asked for.

    Attributes:
        where: Settings.
        store: The folder that --store named.
        paths: Logs to add first.
        reading: How to read them.
        quiet: Whether nothing is shown.
        talk: Whether the report goes to the terminal.
    """

    where: Places
    store: Path | None
    paths: Sequence[Path]
    reading: ReadOptions
    quiet: bool
    talk: bool


def document(make: Make, asked: Asked, axis_from: str | None, given: dict[str, Any]) -> Document:
    """Add the paths, if there are any, and have the document made.

    Args:
        make: :func:`foreshock.check.check` or another with its parameters.
        asked: What the command was asked for.
        axis_from: Where the training step is written, or ``created``.
        given: Fields of :class:`CheckOptions`; None stands for the configured or usual value.

    Raises:
        typer.Exit: Nothing could be read.
    """
    where, config = asked.where, asked.where.config
    _refuse_unknown([*(given.get("select") or []), *(given.get("ignore") or [])])
    usual: dict[str, Any] = {"select": config.select, "ignore": config.ignore, "seed": config.seed}
    if axis_from == "created":
        given = {**given, "axis": "created"}
    with progress(silent=asked.quiet) as show:
        added = _add(asked, show)
        # a seed of 0 is one that was asked for
        told = {name: usual.get(name) if value is None or value == [] else value for name, value in given.items()}
        options = CheckOptions(
            runs=_read(where, added),
            step_from=None if axis_from == "created" else axis_from,
            corrections=load_models(where.models),
            **{name: value for name, value in told.items() if value is not None},
        )
        return make(
            open_store(where),
            options,
            command=["foreshock", *sys.argv[1:]],
            failures=[(str(f.path), with_store(in_full(f.error), asked.store)) for f in added.failures]
            if added
            else [],
            progress=show,
        )


def _refuse_unknown(prefixes: Sequence[str]) -> None:
    """Refuse what fits no code: nothing would be told, and that would look as if nothing were wrong."""
    for prefix in prefixes:
        if not prefix or not any(code.startswith(prefix) for code in CODES):
            raise ConfigError(
                f"no code of check or mirage begins with {prefix!r:.80}", expected=f"one of {', '.join(CODES)}"
            )


def _add(asked: Asked, show: Progress) -> Added | None:
    if not asked.paths:
        return None
    refuse_without_logs(asked.paths, asked.reading)
    added = add_paths(Store.open(asked.where.store, create=True), asked.paths, asked.reading, progress=show)
    if exit_code(added, console(stderr=True), asked=asked.store, told_later=asked.talk):
        raise typer.Exit(2)
    if asked.talk:
        show_added(console(stderr=True), added, asked.where.store, asked=asked.store, options=asked.reading)
    return added


def _tell_eclipsed(added: Added, snapshot: Snapshot) -> None:
    """Say that another reading of the same runs counts: what was asked for now is not what is shown."""
    ingests = snapshot.ingests
    read = (*added.added, *added.unchanged)
    eclipsed = [run for run in read if run.ingest_id in ingests and ingests[run.ingest_id].state == "superseded"]
    if eclipsed:
        console(stderr=True).print(
            f"note: {count_of(len(eclipsed), 'run')} were read before in another way, and that reading counts, since "
            "it holds more responses or is the later one; the options given now change nothing for them. To read them "
            "anew: --store with another folder",
            soft_wrap=True,
        )


def _read(where: Places, added: Added | None) -> frozenset[str] | None:
    """Keys of the runs that come from the given paths, whether they were new or known."""
    if added is None:
        return None
    keys = {run.run_key for run in (*added.added, *added.unchanged)}
    skipped = {str(path.absolute()) for path in added.skipped}
    snapshot = open_store(where).snapshot()
    _tell_eclipsed(added, snapshot)
    for run in snapshot.runs():
        if any(source.path in skipped for source in run.sources):
            keys.add(run.run_key)
    return frozenset(keys)
