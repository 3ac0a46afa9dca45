"""YAML of strangers: plain data only, tags of functions as opaque names, and no more than a design can need."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from foreshock._base import BrokenFileError, require
from foreshock.lint._files import read_text

MAX_DEPTH = 40
MAX_EVENTS = 200_000
MAX_ALIASES = 100
# of merge keys each level of aliases multiplies; with so few the most that can come of it is 3^4 times as much
MAX_ALIASES_MERGED = 12


class Opaque(NamedTuple):
    """A value with a tag of its own (``!function utils.score``), which is never looked up.

    Attributes:
        tag: The tag.
        text: What stands behind it.
    """

    tag: str
    text: str


def load_yaml(path: Path) -> Any:
    """Read a YAML file into dictionaries, lists and plain values.

    Raises:
        MissingExtraError: PyYAML is not installed.
        BrokenFileError: It is not YAML, or more than a design can need.
    """
    yaml = require("yaml", "design", "reading task files of lm-evaluation-harness")
    text = read_text(path)
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_size(yaml.parse(text, Loader=base), yaml, path)
        return yaml.load(text, Loader=_loader(base))  # a subclass of the safe loader
    except yaml.YAMLError as error:
        raise BrokenFileError(f"not valid YAML{_place(error)}", expected="a task file", where=str(path)) from None
    except (ValueError, OverflowError, RecursionError):  # numbers of more digits than Python converts, and the like
        raise BrokenFileError("a value cannot be read", expected="plain values", where=str(path)) from None


def _check_size(events: Any, yaml: Any, path: Path) -> None:
    depth = aliases = merges = 0
    for count, event in enumerate(events):
        depth += isinstance(event, yaml.events.CollectionStartEvent) - isinstance(event, yaml.events.CollectionEndEvent)
        aliases += isinstance(event, yaml.events.AliasEvent)
        merges += isinstance(event, yaml.events.ScalarEvent) and event.value == "<<"
        most = MAX_ALIASES_MERGED if merges else MAX_ALIASES
        if count > MAX_EVENTS or depth > MAX_DEPTH or aliases > most:
            found = (
                f"{aliases} aliases"
                if aliases > most
                else f"{depth} levels"
                if depth > MAX_DEPTH
                else "too many values"
            )
            raise BrokenFileError(
                f"holds {found}",
                expected=f"at most {most} aliases, {MAX_DEPTH} levels and {MAX_EVENTS:,} values",
                where=str(path),
            )


def _loader(base: Any) -> Any:
    class Loader(base):  # type: ignore[misc]
        pass

    def opaque(_: Any, suffix: str, node: Any) -> Opaque:
        text = node.value if isinstance(node.value, str) else ""
        return Opaque(f"!{suffix}"[:80], text[:200])

    Loader.add_multi_constructor("!", opaque)
    # a date is text here: "2024-02-30" is a version to somebody and an error to nobody
    Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda _, node: str(node.value))
    return Loader


def _place(error: Any) -> str:
    mark = getattr(error, "problem_mark", None)
    return f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
