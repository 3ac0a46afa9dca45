"""Where a command's words go: answers to standard output, everything else to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from foreshock._base import ConfigError, Progress, pretty, quiet

if TYPE_CHECKING:
    from rich.console import Console


_GONE = False


def console(*, stderr: bool = False) -> Console:
    """A console that never reads markup or emoji codes in what it prints: names and outputs come from strangers."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            # rich would end the program with 1, which is the code of a finding that fires; ours is still to come
            _close(self.file)

    return Plain(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=False)


@contextmanager
def until_closed() -> Iterator[None]:
    """Let whoever reads standard output go away (``foreshock check --json - | head``): the code is still to come."""
    try:
        yield
    except BrokenPipeError:
        close_output()


def close_output() -> None:
    """What is still printed goes nowhere."""
    _close(sys.stdout)


def is_closed() -> bool:
    """Whether nobody reads standard output any more."""
    return _GONE


def _close(stream: IO[str]) -> None:
    """Send what is still printed nowhere: nobody stumbles over a closed pipe at the end of the program."""
    global _GONE  # noqa: PLW0603 - one standard output, and one process
    _GONE = _GONE or stream is sys.stdout
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def write_json(value: object, path: Path) -> None:
    """Write a document as JSON to ``path``, or to standard output when it is ``-``."""
    write_text(pretty(msgspec.to_builtins(value)), path)


def write_text(text: str, path: Path) -> None:
    """Write ``text`` to a file or, for ``-``, to standard output.

    Raises:
        ConfigError: The file cannot be written.
    """
    if str(path) == "-":
        with until_closed():
            sys.stdout.write(text)
        return
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigError(
            f"cannot write it ({error.strerror})", expected="a file in a folder that exists", where=str(path)
        ) from None


@contextmanager
def progress(*, silent: bool = False) -> Iterator[Progress]:
    """A progress display on standard error, where that is a terminal; else nothing."""
    if silent or not sys.stderr.isatty():
        yield quiet
        return
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed is not None else "")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Bar(*columns, console=console(stderr=True), transient=True) as bar:
        tasks = {}

        def show(stage: str, done: int, total: int | None, /) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield show
