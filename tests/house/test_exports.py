"""The names at the top of the package: lazy, complete, and the same for people, editors and the type checker."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import foreshock

INIT = Path(foreshock.__file__)


def seen_by_type_checkers() -> dict[str, str]:
    """Names imported under ``TYPE_CHECKING``, with the room each comes from."""
    found = {}
    for node in ast.parse(INIT.read_text("utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                assert isinstance(line, ast.ImportFrom)
                assert line.module is not None
                found |= {alias.name: line.module.removeprefix("foreshock.") for alias in line.names}
    return found


def test_type_checkers_see_what_is_loaded() -> None:
    assert seen_by_type_checkers() == foreshock._HOMES


def test_everything_that_is_promised_is_there() -> None:
    assert set(foreshock.__all__) == {*foreshock._HOMES, "__version__"}
    assert set(foreshock.__all__) <= set(dir(foreshock))


@pytest.mark.parametrize("name", foreshock._ROOMS)
def test_rooms_are_attributes(name: str) -> None:
    assert getattr(foreshock, name).__name__ == f"foreshock.{name}"
    assert name in dir(foreshock)


def test_every_room_of_the_house_is_among_them() -> None:
    rooms = {p.parent.name for p in INIT.parent.glob("*/__init__.py") if not p.parent.name.startswith("_")}
    assert set(foreshock._ROOMS) == rooms


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'forsooth'"):
        _ = foreshock.forsooth
    assert not hasattr(foreshock, "__wrapped__")  # inspect asks every module for it
