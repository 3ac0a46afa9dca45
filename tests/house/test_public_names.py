"""The public names are a promise: sorted, real, and changed only on purpose.

``make docs`` (or running this file) writes ``public_names.txt`` again; the change then shows in the commit.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "foreshock"
PINNED = Path(__file__).with_name("public_names.txt")


def exported(init: Path) -> list[str] | None:
    """What ``__all__`` of a file says, or None."""
    for node in ast.parse(init.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return [str(name) for name in ast.literal_eval(node.value)]
    return None


def modules() -> dict[str, list[str]]:
    """Every room, and the package itself, with its public names."""
    found = {}
    for init in [PACKAGE / "__init__.py", *sorted(PACKAGE.glob("*/__init__.py"))]:
        names = exported(init)
        if names is not None:
            found[".".join(init.parent.relative_to(PACKAGE.parent).parts)] = names
    return found


def order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions: the order in which ruff sorts ``__all__``."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


MODULES = modules()


def test_every_room_says_what_is_public() -> None:
    silent = [i.parent.name for i in PACKAGE.glob("*/__init__.py") if exported(i) is None and i.parent.name != "demo"]
    assert not silent


@pytest.mark.parametrize("module", MODULES)
def test_names_are_sorted_and_resolve(module: str) -> None:
    names = MODULES[module]
    assert names == sorted(names, key=order)
    assert len(names) == len(set(names))
    missing = [name for name in names if not hasattr(import_module(module), name)]
    assert not missing


def listing() -> str:
    return "".join(f"{module}.{name}\n" for module, names in MODULES.items() for name in names)


def test_public_names_are_the_pinned_ones() -> None:
    pinned, now = set(PINNED.read_text("utf-8").split()), set(listing().split())
    assert now == pinned, f"new: {sorted(now - pinned)}, gone: {sorted(pinned - now)}; if meant, run `make docs`"


def test_names_that_are_not_sorted_are_seen() -> None:
    assert sorted(["b", "LIMIT", "Box", "a"], key=order) == ["LIMIT", "Box", "a", "b"]


if __name__ == "__main__":
    PINNED.write_text(listing(), "utf-8")
