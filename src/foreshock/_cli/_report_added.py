"""What `add` (and `check PATH`) tell about the files they read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from foreshock._base import count_of
from foreshock.records import RunStatus
from foreshock.report import one_line
from foreshock.store import Added

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 20
_TABLES = 3


def show_added(out: Console, added: Added, store: Path | None) -> None:
    """Say what is new, what was there, and what did not complete."""
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
        out.print(f"Not complete, and therefore not part of any line of models: {listed}. See: foreshock ls")
    notes = Counter(one_line(warning) for run in added.added for warning in (*run.warnings, *run.meta.get("notes", [])))
    for warning, count in sorted(notes.items(), key=lambda kv: (-kv[1], kv[0]))[:_SHOWN]:
        out.print(f"  note: {warning}" + (f"  (x{count})" if count > 1 else ""))
    if len(notes) > _SHOWN:
        out.print(f"  ... and {len(notes) - _SHOWN} more notes; foreshock ls --json - has all of them")


def _show_contact(out: Console, tables: list[list[str]]) -> None:
    """What tables looked like that were understood without being told."""
    for line in (line for lines in tables[:_TABLES] for line in lines):
        out.print(f"  {one_line(line, 2_000)}", soft_wrap=True)
    if len(tables) > _TABLES:
        out.print(f"  ... and {count_of(len(tables) - _TABLES, 'more table')}")


def exit_code(added: Added, err: Console, named: Sequence[Path] = ()) -> int:
    """Show what could not be read; 2 when nothing could be, or not one of the files that were ``named`` themselves."""
    for failure in added.failures:
        err.print(f"not read: {one_line(str(failure.error), 2_000)}", soft_wrap=True)
        for line in getattr(failure.error, "__notes__", []):
            err.print(f"  {one_line(line, 2_000)}", soft_wrap=True)
    read = added.added or added.unchanged or added.removed or added.skipped
    asked = {os.path.abspath(path) for path in named}  # noqa: PTH100 - a name too long for a path is refused by the reader
    missed = any(os.path.abspath(failure.path) in asked for failure in added.failures)  # noqa: PTH100
    return 2 if missed or (added.failures and not read) else 0
