"""Python source as a tree: which names are given a value, and what is called; it is never run."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from foreshock._base import BrokenFileError

Function = ast.FunctionDef | ast.AsyncFunctionDef

_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.comprehension)


def name_of(node: ast.expr) -> str:
    """Last part of a name; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def calls_in(node: ast.AST, *names: str) -> Iterator[ast.Call]:
    """Calls by the last part of their names, outer ones first; without names all."""
    for found in ast.walk(node):
        if isinstance(found, ast.Call) and (not names or name_of(found.func) in names):
            yield found


def parsed(text: str, path: Path, *, expected: str) -> ast.Module:
    """Source as a tree.

    Raises:
        BrokenFileError: It is not Python.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of strangers' escape sequences
            return ast.parse(text)
    except SyntaxError as error:
        place = f" (line {error.lineno})" if error.lineno else ""
        raise BrokenFileError(f"not valid Python{place}", expected=expected, where=str(path)) from None
    except (ValueError, RecursionError, MemoryError):
        raise BrokenFileError("not valid Python", expected=expected, where=str(path)) from None


def nodes(body: list[ast.stmt], *, deep: bool) -> Iterator[ast.AST]:
    """Nodes of some statements; without ``deep`` none inside further functions, classes and comprehensions."""
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        yield node
        if deep or not isinstance(node, _INNER):
            waiting += ast.iter_child_nodes(node)


def assigned(body: list[ast.stmt], *, deep: bool) -> dict[str, ast.expr | None]:
    """Names with the value that each is given; None for one that is given several, or one that cannot be told."""
    found: dict[str, ast.expr | None] = {}
    times: Counter[str] = Counter()
    for node in nodes(body, deep=deep):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            times[node.id] += 1
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node.value
    return {name: found.get(name) if count == 1 else None for name, count in times.items()}


def returned(function: Function) -> ast.expr | None:
    """What a plain function returns, where it does so in one place."""
    if function.decorator_list or not isinstance(function, ast.FunctionDef):
        return None
    told = [node.value for node in nodes(function.body, deep=False) if isinstance(node, ast.Return)]
    return told[0] if len(told) == 1 else None
