"""The package's public names as data, read from its source without importing it."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

CODE = re.compile(r"FS[1-9]\d\d")


class Name(NamedTuple):
    """A public name: the room that exports it, how it is called, and the first sentence of its docstring."""

    room: str
    name: str
    kind: str
    signature: str
    doc: str


class Room(NamedTuple):
    """A room with its one-line description and its public names."""

    name: str
    doc: str
    names: list[Name]


def rooms(root: Path) -> list[Room]:
    """The public rooms of ``src/foreshock`` (those with ``__all__`` and no leading underscore) and the ground floor."""
    package = root / "src" / "foreshock"
    found = []
    for init in sorted(package.glob("*/__init__.py")):
        tree = ast.parse(init.read_text("utf-8"))
        exported = exports(tree)
        if exported is not None and init.parent.name != "_cli":
            doc = first_line(ast.get_docstring(tree))
            found.append(Room(init.parent.name, doc, [_describe(root, init, tree, name) for name in exported]))
    return found


def exports(tree: ast.Module) -> list[str] | None:
    """The list that ``__all__`` is given, or None."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return [str(name) for name in ast.literal_eval(node.value)]
    return None


def _describe(root: Path, init: Path, tree: ast.Module, name: str) -> Name:
    room = init.parent.name
    module = init.with_name(f"{name}.py")
    if module.is_file():
        return Name(room, name, "module", name, first_line(ast.get_docstring(ast.parse(module.read_text("utf-8")))))
    home = _home(root, tree, name) or (init, name)
    source = ast.parse(home[0].read_text("utf-8"))
    for position, node in enumerate(source.body):
        if home[1] in _targets(node):
            after = source.body[position + 1] if position + 1 < len(source.body) else None
            return Name(room, name, *_shape(node, home[1], after))
    return Name(room, name, "unknown", name, "")


def _home(root: Path, tree: ast.Module, name: str) -> tuple[Path, str] | None:
    """The file that an ``__init__`` imports ``name`` from, and its name there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("foreshock."):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _follow(root, node.module, alias.name)
    return None


def _follow(root: Path, module: str, name: str) -> tuple[Path, str]:
    file = root.joinpath("src", *module.split(".")).with_suffix(".py")
    if file.is_file():
        return file, name
    init = file.with_suffix("") / "__init__.py"
    return _home(root, ast.parse(init.read_text("utf-8")), name) or (init, name)


def _targets(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _shape(node: ast.stmt, name: str, after: ast.stmt | None) -> tuple[str, str, str]:
    """Kind, signature and first sentence of a definition."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return "function", f"{name}({arguments(node.args)})", first_line(ast.get_docstring(node))
    if isinstance(node, ast.ClassDef):
        return "class", name, first_line(ast.get_docstring(node))
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        return "constant", name, first_line(after.value.value)
    return "constant", name, ""


def arguments(args: ast.arguments) -> str:
    """The arguments of a function with their defaults and without their types.

    Examples:
        >>> tree = ast.parse("def f(a, b: int = 2, *, c): ...").body[0]
        >>> arguments(tree.args)
        'a, b=2, *, c'
    """
    positional = [*args.posonlyargs, *args.args]
    gap = len(positional) - len(args.defaults)
    parts = []
    for number, arg in enumerate(positional):
        parts.append(_argument(arg, args.defaults[number - gap] if number >= gap else None))
        if args.posonlyargs and number + 1 == len(args.posonlyargs):
            parts.append("/")
    if args.vararg:
        parts.append(f"*{args.vararg.arg}")
    elif args.kwonlyargs:
        parts.append("*")
    parts += [_argument(arg, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    if args.kwarg:
        parts.append(f"**{args.kwarg.arg}")
    return ", ".join(parts)


def _argument(arg: ast.arg, default: ast.expr | None) -> str:
    return arg.arg if default is None else f"{arg.arg}={ast.unparse(default)}"


def first_line(doc: str | None) -> str:
    """The first paragraph of a docstring on one line, with Sphinx roles and double backticks made Markdown.

    Examples:
        >>> first_line("See :func:`run_key`, or\\n``None``.\\n\\nMore.")
        'See `run_key`, or `None`.'
    """
    paragraph = " ".join((doc or "").strip().split("\n\n")[0].split())
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", paragraph).replace("``", "`")


def codes_in(root: Path) -> dict[str, str]:
    """Finding codes that the source raises, with the first place of each; docstrings do not count."""
    found: dict[str, str] = {}
    for path in sorted((root / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                found.setdefault(node.value, f"{path.relative_to(root).as_posix()}:{node.lineno}")
    return found
