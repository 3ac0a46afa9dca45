"""The command line as data: which commands and options there are, and whether a line of a page would be understood."""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

PROGRAM = "foreshock"
_SEPARATORS = {"|", "||", "&&", ";", ">", ">>", "<", "2>", "&"}


class Command(NamedTuple):
    """One command: the words that reach it, the parser's own object and a context to ask it questions in."""

    words: tuple[str, ...]
    command: Any
    context: Any

    @property
    def name(self) -> str:
        """What a user types before the options."""
        return " ".join((PROGRAM, *self.words))


class CommandLine:
    """The commands of a typer application.

    Args:
        app: The application object.
    """

    def __init__(self, app: Any) -> None:
        from typer.main import get_command

        self.root: Any = get_command(app)

    def commands(self) -> list[Command]:
        """Every visible command that does something, in the order of ``--help``."""
        return list(self._below((), self.root, None))

    def _below(self, words: tuple[str, ...], command: Any, parent: Any) -> Iterator[Command]:
        context = _context(command, words[-1] if words else PROGRAM, parent)
        if not hasattr(command, "commands"):
            yield Command(words, command, context)
            return
        if words and command.invoke_without_command:
            yield Command(words, command, context)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if not child.hidden:
                yield from self._below((*words, name), child, context)

    def fault(self, words: list[str], *, whole: bool = True) -> str | None:
        """Why the parser would refuse ``words`` (without the program's name), or None.

        Values are not looked at: a page may name files that are not here. Without ``whole`` what a command requires may
        be left out: a sentence speaks of a command and does not call it.
        """
        command, parent, path, rest = self.root, None, PROGRAM, words
        while True:
            context = _context(command, path, parent)
            try:
                given, rest, _ = command.make_parser(context).parse_args(args=list(rest))
            except Exception as error:  # noqa: BLE001 - the parser's exceptions are private names of its library
                return f"`{path}`: {getattr(error, 'message', error)}"
            if not hasattr(command, "commands"):
                return _leaf_fault(command, context, path, given, rest) if whole or rest else None
            if not rest:
                return None if given or command.invoke_without_command else f"`{path}` is not a whole command"
            name, *rest = rest
            child = command.get_command(context, name)
            if child is None:
                return f"there is no command `{path} {name}`"
            command, parent, path = child, context, f"{path} {name}"


def _context(command: Any, name: str, parent: Any) -> Any:
    return command.context_class(command, info_name=name, parent=parent)


def _leaf_fault(command: Any, context: Any, path: str, given: dict[str, Any], rest: list[str]) -> str | None:
    if rest:
        return f"`{path}` takes no argument {rest[0]!r}"
    if given.get("help"):
        return None
    for parameter in command.get_params(context):
        if parameter.required and not _was_given(given, parameter.name):
            return f"`{path}` needs {parameter.name.upper()}"
    return None


def _was_given(given: dict[str, Any], name: str) -> bool:
    value = given.get(name)
    # the parser marks "absent" by None or by a private sentinel, depending on its version
    return value is not None and "UNSET" not in repr(value)


def load_commands(root: Path) -> CommandLine | None:
    """The command line of this checkout, or None where it has none."""
    if not (root / "src" / "foreshock" / "_cli" / "_app.py").is_file():
        return None
    return CommandLine(importlib.import_module("foreshock._cli._app").app)


def calls_in(line: str) -> list[list[str]]:
    """The arguments of every call of the program in one line of shell.

    Examples:
        >>> calls_in("SOURCE_DATE_EPOCH=0 foreshock check logs --json - | jq .counts")
        [['check', 'logs', '--json', '-']]
    """
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    calls: list[list[str]] = []
    part: list[str] = []
    for word in [*lexer, ";"]:
        if word not in _SEPARATORS:
            part.append(word)
            continue
        calls.append(part)
        part = []
    return [call[1:] for part in calls if (call := _without_assignments(part)) and Path(call[0]).name == PROGRAM]


def _without_assignments(words: list[str]) -> list[str]:
    while words and words[0].split("=", maxsplit=1)[0].isidentifier() and "=" in words[0]:
        words = words[1:]
    return words
