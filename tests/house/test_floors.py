"""A room imports only from floors below its own; rooms on one floor never import each other."""

from __future__ import annotations

import ast
import functools
import re
from itertools import pairwise
from pathlib import Path

import pytest

FLOORS = [
    {"_base"},
    {"records", "stats"},
    {"readers", "metrics", "simulate", "tasks"},
    {"store", "models"},
    {"scoring"},
    {"series"},
    {"curves", "irt", "integrity"},
    {"alarms"},
    {"mirage", "lint", "compare", "export", "signals", "order", "evolve", "probes"},
    {"check"},
    {"replay"},
    {"report"},
    {"dashboard"},
    {"_cli"},
]
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
PACKAGE = Path(__file__).resolve().parents[2] / "src" / "foreshock"
ROOMS = sorted(p.name for p in PACKAGE.iterdir() if p.is_dir() and (p / "__init__.py").exists())
DATA = {"demo"}  # shipped data with its loader: below the command line, above nothing


@functools.cache
def parsed(path: Path) -> ast.Module:
    """The file's tree, parsed once for all tests: parsing is most of their time."""
    return ast.parse(path.read_text("utf-8"))


def imported_rooms(path: Path) -> set[str]:
    """Rooms of this package that a file imports, at any depth of nesting."""
    rooms: set[str] = set()
    for node in ast.walk(parsed(path)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names] if node.module else []
        rooms |= {name.split(".")[1] for name in names if name.startswith("foreshock.") and name.count(".") >= 1}
    return rooms


def violations(room: str, imports: set[str]) -> set[str]:
    """The imports that a room on its floor may not have."""
    own = FLOOR_OF[room]
    return {other for other in imports - {room, "_version"} if other in FLOOR_OF and FLOOR_OF[other] >= own}


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in DATA])
def test_a_room_imports_only_lower_floors(room: str) -> None:
    assert room in FLOOR_OF, f"{room} has no floor: add it to FLOORS and to docs/design/house.md"
    for path in (PACKAGE / room).rglob("*.py"):
        bad = violations(room, imported_rooms(path))
        assert not bad, f"{path.relative_to(PACKAGE)} imports {sorted(bad)} from its own floor or above"


def test_the_rule_sees_a_violation() -> None:
    assert violations("stats", {"records", "_base"}) == {"records"}
    assert violations("series", {"store", "mirage"}) == {"mirage"}


def test_private_files_are_not_imported_across_rooms() -> None:
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0]
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("foreshock."):
                parts = node.module.split(".")
                if len(parts) > 2 and parts[1] != room:
                    assert not parts[2].startswith("_"), f"{path}: reaches into {node.module}"


def rooms_on_the_page() -> list[tuple[int, str]]:
    """Floor and room of every row of the table in docs/design/house.md."""
    page = PACKAGE.parents[1] / "docs" / "design" / "house.md"
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", page.read_text("utf-8"), re.M)
    return [(int(floor), room) for floor, room in rows]


def test_every_room_is_on_the_page_about_the_house() -> None:
    assert sorted(room for _, room in rooms_on_the_page()) == sorted(set(ROOMS) - DATA)


def test_the_page_shows_the_floors_that_are_enforced() -> None:
    floors = [(floor, FLOOR_OF[room]) for floor, room in rooms_on_the_page()]
    assert floors == sorted(floors)
    assert all((a == c) == (b == d) for (a, b), (c, d) in pairwise(floors))
