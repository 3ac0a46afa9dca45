"""`foreshock watch`: look at a folder again and again, and tell what newly fires."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from foreshock._base import ConfigError, canonical, count_of
from foreshock._cli import _options as o
from foreshock._cli._alarms import CODES, WORDS, FailOn, ReleaseOption, StateOption
from foreshock._cli._alarms_shown import show_alarms, warn_idle
from foreshock._cli._check import firing
from foreshock._cli._fail_on import refuse_unknown, refuse_without_lines
from foreshock._cli._out import console, is_closed, progress, write_json
from foreshock._cli._places import Places, places
from foreshock._cli._reading import Reading, reads_files
from foreshock.records import Document
from foreshock.report import one_line

if TYPE_CHECKING:
    from foreshock.alarms import WatchOptions
    from foreshock.check import AlarmLook
    from foreshock.readers import ReadOptions


class _Asked(NamedTuple):
    """What every round is done with."""

    folder: Path
    where: Places
    reading: ReadOptions
    options: WatchOptions
    state: Path | None
    talk: bool


@reads_files
def watch(
    folder: Annotated[Path, typer.Argument(help="Folder of logs; whatever comes to lie in it is added.")],
    *,
    store: o.StoreOption = None,
    task: o.TaskOption = None,
    axis: o.AxisOption = None,
    release: ReleaseOption = None,
    notify: Annotated[
        str | None,
        typer.Option("--notify", metavar="CMD", help="Run this when an alarm newly fires, with the JSON on its input."),
    ] = None,
    every: Annotated[float, typer.Option("--every", min=1, help="Seconds between two looks into the folder.")] = 60.0,
    once: Annotated[bool, typer.Option("--once", help="Look once and end, as in continuous integration.")] = False,
    state: StateOption = None,
    fail_on: FailOn = None,
    asked: Reading,
    json: o.JsonOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """Add what comes to lie in a folder, look at every series against its trend, and tell what newly fires.

    Lines of alarms.thresholds in the settings are looked at as well: one that is newly crossed is told like an alarm.

    It goes on until Ctrl-C; everything that was done by then is kept. The command of --notify is started without a
    shell and with its own words only; the alarms are on its standard input. If it fails there is a warning, and it is
    told again at the next look.

    Examples:

      foreshock watch logs/ --notify "python tell_the_team.py"

      foreshock watch logs/ --once --state alarms.json --fail-on FS401 --fail-on FS403
    """
    from foreshock.alarms import WatchOptions, command_words
    from foreshock.series import load_models

    where = places(store)
    names = fail_on or where.config.fail_on
    refuse_unknown(fail_on or [], WORDS, CODES)
    refuse_without_lines(fail_on or [], where.config.alarms)
    if not folder.is_dir():
        raise ConfigError("there is no such folder", expected="a folder of logs", where=str(folder))
    words = None if notify is None else command_words(notify)
    options = WatchOptions(task or (), axis=axis, corrections=load_models(where.models), release=release)
    round_ = _Asked(folder, where, asked.options, options, state, talk=not quiet and str(json) != "-")
    unread: dict[str, str] = {}
    waiting: set[str] = set()
    document: Document | None = None
    while True:
        found = _look(round_, unread, first=document is None)
        if found is not None:
            waiting, document = _waiting(found, waiting, unread)
            if json is not None:
                write_json(document, json)
        if document is not None and waiting and (words is None or _told(words, document)):
            _keep_told(round_, waiting)
            waiting = set()
        if once:
            raise typer.Exit(0 if document is None else firing(document, names))
        if is_closed():
            raise BrokenPipeError
        time.sleep(every)


def _look(asked: _Asked, unread: dict[str, str], *, first: bool) -> AlarmLook | None:
    """Add what is new and look at it; None where nothing is. ``unread`` gains what could not be read, by path."""
    from foreshock.alarms import export_state, import_state
    from foreshock.check import look_at_alarms
    from foreshock.store import Store, add_paths

    store = Store.open(asked.where.store, create=True)
    with progress(silent=not asked.talk) as show:
        added = add_paths(store, [asked.folder], asked.reading, progress=show)
        for failure in added.failures:
            message = one_line(str(failure.error), 2_000)
            # a log that is being written may fail at every look until it is whole
            if unread.get(str(failure.path)) != message:
                console(stderr=True).print(f"not read: {message}", soft_wrap=True)
            unread[str(failure.path)] = message
        if not (added.added or first):
            return None
        if asked.state is not None and asked.state.exists():
            import_state(store, asked.state)
        found = look_at_alarms(store, asked.where.config, asked.options, progress=show)
    if asked.state is not None:
        export_state(store, asked.state)
    if asked.talk:
        if added.added:
            console().print(f"{count_of(len(added.added), 'run')} added.")
        show_alarms(console(), found)
    if first:
        warn_idle(console(stderr=True), [one.row() for one in found.idle])
    return found


def _waiting(found: AlarmLook, before: set[str], unread: dict[str, str]) -> tuple[set[str], Document]:
    """Alarms and lines that nobody was told of yet, and the document with them as its table ``changed``."""
    changed = found.changed(before)
    failures = [{"path": path, "message": message} for path, message in unread.items()]
    document = found.document(["foreshock", *sys.argv[1:]], changed=changed, failures=failures)
    return {row["id"] for row in changed}, document


def _keep_told(asked: _Asked, ids: set[str]) -> None:
    """Lines that are crossed were handed on: the next look, of whichever process, does not tell them again."""
    from foreshock.alarms import export_state, tell_lines
    from foreshock.store import Store

    store = Store.open(asked.where.store)
    if tell_lines(store, ids) and asked.state is not None:
        export_state(store, asked.state)


def _told(words: Sequence[str], document: Document) -> bool:
    """Run the user's command; a failure is a warning, and the alarms wait for the next round."""
    from foreshock.alarms import notify

    problem = notify(words, canonical(document))
    if problem is not None:
        console(stderr=True).print(
            f"warning: --notify {one_line(words[0])}: {one_line(problem, 600)}; it is tried again", soft_wrap=True
        )
    return problem is None
