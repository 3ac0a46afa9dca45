"""Commands that a message advises, completed so that they look into the store that was asked for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

_COMMANDS = re.compile(
    r"\bforeshock (?:add|alarms(?: (?:ack|mute))?|check|compact|compare|export|forecast|lint|"
    r"ls|meta|mirage|models|rm|score|sql|watch)\b(?! --help)"
)


def store_in(arguments: Sequence[str]) -> str | None:
    """The folder that ``--store`` names in a command line; None where it names none.

    Examples:
        >>> store_in(["ls", "--store", "s"]), store_in(["ls", "--store=s"]), store_in(["ls"])
        ('s', 's', None)
    """
    for place, argument in enumerate(arguments):
        if argument == "--":
            return None
        if argument == "--store" and place + 1 < len(arguments):
            return arguments[place + 1]
        if argument.startswith("--store="):
            return argument.partition("=")[2]
    return None


def with_store(text: str, store: object) -> str:
    """A text whose commands of ours name the store that was given; unchanged where none was, or where they do.

    Examples:
        >>> with_store("see: foreshock ls", "my logs")
        "see: foreshock ls --store 'my logs'"
        >>> with_store("see: foreshock ls", None)
        'see: foreshock ls'
    """
    if store is None or "--store" in text:
        return text
    place = f" --store {shlex.quote(str(store))}"
    return _COMMANDS.sub(lambda found: found[0] + place, text)
