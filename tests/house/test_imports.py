"""`import foreshock` stays as cheap as numpy: heavy libraries load when they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["polars", "duckdb", "scipy", "jinja2", "rich", "typer", "rapidfuzz", "pandas", "torch", "zstandard"]
ROOMS = [
    "_base",
    "records",
    "stats",
    "readers",
    "metrics",
    "simulate",
    "store",
    "models",
    "tasks",
    "scoring",
    "lint",
    "series",
    "mirage",
    "check",
    "report",
    "demo",
]


def loaded_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(' '.join(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_package_loads_nothing_heavy() -> None:
    assert loaded_after("import foreshock") == set()


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_a_room_loads_nothing_heavy(room: str) -> None:
    assert loaded_after(f"import foreshock.{room}") == set()


def test_all_rooms_together_load_nothing_heavy() -> None:
    assert loaded_after("; ".join(f"import foreshock.{room}" for room in ROOMS)) == set()


def test_the_check_sees_a_heavy_import() -> None:
    assert loaded_after("import polars") == {"polars"}
