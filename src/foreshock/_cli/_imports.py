"""Metrics and functions of the user's own: Python files and modules that a command runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from foreshock._base import ConfigError
from foreshock._cli._places import Places


def import_all(where: Places, asked: Iterable[str] | None) -> list[Path]:
    """Import what ``import`` in the settings and ``--import`` name.

    A file's folder is put on the path and the file is imported by its stem, so that processes started from this one
    find it as well.

    Returns:
        The files among them, for workers that do not share this machine's path.

    Raises:
        ConfigError: There is no such file or module, it fails, or another module has its name.
    """
    told = [*(_resolved(name, where.base) for name in where.config.imports), *(asked or ())]
    return [path for name in dict.fromkeys(told) if (path := _import(name)) is not None]


def import_function(name: str) -> Callable[..., Any]:
    """A function that is named as ``FILE.py:FUNCTION`` or ``MODULE:FUNCTION``; the file or module is run.

    Raises:
        ConfigError: There is no such file, module or function.
    """
    place, colon, attribute = name.rpartition(":")
    if not (colon and place and attribute):
        raise ConfigError(f"--scorer {name!r:.200}", expected="FILE.py:FUNCTION or MODULE:FUNCTION")
    path = _import(place)
    module = sys.modules[path.stem if path is not None else place]
    found = getattr(module, attribute, None)
    if not callable(found):
        raise ConfigError(
            f"{place[:200]} has no function {attribute!r:.80}",
            expected="a function (output, item) -> number",
            do="correct --scorer",
        )
    return cast("Callable[..., Any]", found)


def _resolved(name: str, base: Path) -> str:
    return str(base / name) if _is_file(name) else name


def _is_file(name: str) -> bool:
    return name.endswith(".py") or "/" in name or "\\" in name


def _import(name: str) -> Path | None:
    if not _is_file(name):
        hint = f"; for a file: --import {name}.py" if Path(f"{name}.py").is_file() else ""
        _run(name, f"install it where foreshock is, or name a file{hint}", name)
        return None
    path = Path(name).resolve()
    if path.suffix != ".py" or not path.is_file():
        raise ConfigError("no such Python file", expected="a file ending in .py", do="correct --import", where=name)
    if not path.stem.isidentifier():
        raise ConfigError(
            f"{path.stem!r} is no name of a module", expected="letters, digits and _", do="rename the file", where=name
        )
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # last: it must not hide a module of Python or of ours
    _run(path.stem, "correct the file", name)
    found = getattr(sys.modules[path.stem], "__file__", None)
    if found is None or Path(found).resolve() != path:
        raise ConfigError(
            f"the name {path.stem} is taken by {found or 'a module of Python'}",
            expected="a name that no other module has",
            do="rename the file",
            where=name,
        )
    return path


def _run(module: str, do: str, name: str) -> None:
    try:
        import_module(module)
    except (Exception, SystemExit) as error:  # the user's own code may raise anything
        told = f"cannot be imported ({type(error).__name__}: {error})"
        raise ConfigError(told, expected="a module with metrics", do=do, where=name) from error
