"""What `add` (and `check PATH`) tell about the files they read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from foreshock._base import ConfigError, ForeshockError, count_of
from foreshock._cli._hints import with_store
from foreshock._cli._idle import idle
from foreshock.readers import ReadOptions, holds_logs, readers
from foreshock.records import Run, RunStatus
from foreshock.report import one_line
from foreshock.store import Added

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 20
_TABLES = 3
_NAMED = 3


def refuse_without_logs(paths: Sequence[Path], options: ReadOptions) -> None:
    """Refuse folders in which there is nothing to read, before a store is made for it.

    Raises:
        ConfigError: All paths are folders, and none holds a log or a file with the look of data.
    """
    if any(not os.path.isdir(path) for path in paths) or holds_logs(paths, options):  # noqa: PTH112 - as the readers do
        return
    raise ConfigError(
        f"there are no logs in {', '.join(map(str, paths[:3]))}{', ...' if len(paths) > 3 else ''}",
        expected=f"files of {', '.join(readers())}; looked for by content in every folder below, hidden ones left out",
        do="check the path, or name a file itself to be told why it is not read",
    )


def show_added(
    out: Console, added: Added, store: Path | None, *, asked: Path | None = None, options: ReadOptions | None = None
) -> None:
    """Say what is new, what was there, and what did not complete, and which of ``options`` did nothing.

    ``asked`` is the folder that --store named.
    """
    tasks = {run.task for run in added.added}
    models = {run.model for run in added.added}
    responses = sum(run.counts.delivered for run in added.added)
    told = (count_of(len(tasks), "task"), count_of(len(models), "model"), count_of(responses, "response"))
    parts = [f"{count_of(len(added.added), 'run')} added ({', '.join(told)})"]
    if added.unchanged or added.skipped:
        known = (count_of(len(added.unchanged), "run"), count_of(len(added.skipped), "file"))
        parts.append(f"unchanged: {' and '.join(known)}")
    if added.removed:
        parts.append(f"{count_of(len(added.removed), 'removed run')} left out (--again brings them back)")
    out.print(f"{'; '.join(parts)}." + (f" Store: {store}" if store else ""), soft_wrap=True)
    _show_contact(out, [run.meta["contact"] for run in added.added if run.meta.get("contact")])
    states = Counter(run.status.value for run in added.added if run.status is not RunStatus.COMPLETE)
    if states:
        listed = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        see = with_store("foreshock ls", asked)
        out.print(f"Not complete, and therefore not part of any line of models: {listed}. See: {see}", soft_wrap=True)
    _show_notes(out, added.added, asked)
    _show_beside(out, added.beside, asked)
    unused = idle(options, (*added.added, *added.unchanged)) if options is not None else []
    if unused:
        formats = ", ".join(sorted({run.format for run in (*added.added, *added.unchanged)}))
        verb = "does" if len(unused) == 1 else "do"
        out.print(f"  note: {', '.join(unused)} {verb} nothing for what was read ({formats})", soft_wrap=True)


def _show_notes(out: Console, runs: Sequence[Run], asked: Path | None) -> None:
    """Notes and warnings, the most frequent first, with the files that they are about."""
    files: dict[str, dict[str, None]] = {}
    counts: Counter[str] = Counter()
    for run in runs:
        for note in dict.fromkeys(one_line(said) for said in (*run.warnings, *run.meta.get("notes", []))):
            counts[note] += 1
            files.setdefault(note, {})[Path(run.sources[0].path).name if run.sources else run.run_key] = None
    for note, count in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))[:_SHOWN]:
        names = [one_line(name, 80) for name in files[note]]
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        told = f"{', '.join(names[:_NAMED])}{more}" + (f", {count:,} runs" if count > len(names) else "")
        out.print(f"  note: {note} ({told})", soft_wrap=True)
    if len(counts) > _SHOWN:
        rest = with_store("foreshock ls --json -", asked)
        out.print(f"  ... and {len(counts) - _SHOWN} more notes; {rest} has all of them", soft_wrap=True)


def _show_beside(out: Console, runs: Sequence[Run], asked: Path | None) -> None:
    """Runs of the same files, read in another way before, with the command that takes them out."""
    if not runs:
        return
    names = [f"{one_line(run.model, 80)} ({count_of(run.counts.delivered, 'response')})" for run in runs[:_NAMED]]
    more = f" and {len(runs) - _NAMED:,} more" if len(runs) > _NAMED else ""
    keys = " ".join(run.run_key for run in runs[:_SHOWN])
    command = with_store(f'`foreshock rm {keys} --reason "read again"`', asked)
    out.print(
        f"  note: the same file was read in another way before, as {', '.join(names)}{more}: what is in it now counts "
        f"twice; to take the older reading out: {command}",
        soft_wrap=True,
    )


def _show_contact(out: Console, tables: list[list[str]]) -> None:
    """What tables looked like that were understood without being told."""
    for line in (line for lines in tables[:_TABLES] for line in lines):
        out.print(f"  {one_line(line, 2_000)}", soft_wrap=True)
    if len(tables) > _TABLES:
        out.print(f"  ... and {count_of(len(tables) - _TABLES, 'more table')}")


def exit_code(
    added: Added, err: Console, named: Sequence[Path] = (), *, asked: Path | None = None, told_later: bool = False
) -> int:
    """Show what could not be read; 2 when nothing could be, or not one of the files that were ``named`` themselves.

    Args:
        added: What became of the files.
        err: Where to.
        named: Paths that were given.
        asked: The folder that --store named.
        told_later: A report follows that names the files and reasons; unless nothing could be read, nothing is shown.
    """
    read = added.added or added.unchanged or added.removed or added.skipped
    for failure in () if told_later and read else added.failures:
        err.print(f"not read: {with_store(one_line(str(failure.error), 2_000), asked)}", soft_wrap=True)
        for line in getattr(failure.error, "__notes__", []):
            err.print(f"  {with_store(one_line(line, 2_000), asked)}", soft_wrap=True)
    names = {os.path.abspath(path) for path in named}  # noqa: PTH100 - a name too long for a path: the reader refuses it
    missed = any(os.path.abspath(failure.path) in names for failure in added.failures)  # noqa: PTH100
    return 2 if missed or (added.failures and not read) else 0


def in_full(error: ForeshockError) -> str:
    """A message with what was noted beside it: the header of a table, its first row, a command that would read it."""
    return "; ".join([str(error), *getattr(error, "__notes__", [])])
