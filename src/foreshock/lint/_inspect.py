"""Tasks of Inspect as their source states them; the file is parsed and never run or imported."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from foreshock._base import BrokenFileError
from foreshock.lint._facts import Benchmark, Metric
from foreshock.lint._files import data_rows, read_text
from foreshock.lint._reported import attempts_of, named_metric
from foreshock.lint._sampling import sampled_at

_DEPTH = 10  # names that stand for names
_MOST = 50  # scorers of a task
_ADVICE = "run with --logprobs --top-logprobs 5, or --epochs 10 --temperature 0.7 for a pass rate"
_DECODED = ("numeric_closeness", "char_similarity")
_GRADED = ("model_graded_qa", "model_graded_fact")

Scope = dict[str, ast.expr]


def is_task_source(text: str) -> bool:
    """Whether source may define tasks of Inspect, by a cheap look."""
    return "@task" in text or ".task" in text


def tasks_of(path: Path) -> list[tuple[str, Benchmark]]:
    """Tasks of one file, by name.

    Raises:
        BrokenFileError: It is not Python.
        ReadError: It cannot be read.
    """
    tree = _parse(read_text(path), path)
    outer = _assigned(tree.body)
    return [
        (name, _benchmark(name, node, outer, path))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (name := _task_name(node))
    ]


def _parse(text: str, path: Path) -> ast.Module:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of strangers' escape sequences
            return ast.parse(text)
    except SyntaxError as error:
        place = f" (line {error.lineno})" if error.lineno else ""
        raise BrokenFileError(f"not valid Python{place}", expected="a task file of Inspect", where=str(path)) from None
    except (ValueError, RecursionError, MemoryError):
        raise BrokenFileError("not valid Python", expected="a task file of Inspect", where=str(path)) from None


def _task_name(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        if _name(call.func if call else decorator) == "task":
            told = _keyword(call, "name") if call else None
            # an escape in source may be half a character, which no file of ours can hold
            return (_constant(told, str) or node.name).encode("utf-8", "replace").decode()
    return None


def _benchmark(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef, outer: Scope, path: Path) -> Benchmark:
    scope = outer | _defaults(node) | _assigned(ast.walk(node))
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call) and _name(n.func) == "Task"]
    if not calls:
        note = "no Task(...) stands in it, so nothing is read of it"
        return Benchmark(place=str(path), task=name, twin_advice=_ADVICE, notes=(note,))
    task = calls[0]
    epochs, reducers = _epochs(_resolve(_keyword(task, "epochs"), scope), scope)
    scorers = list(islice(_scorers(_resolve(_keyword(task, "scorer"), scope), scope), _MOST))
    temperature = _temperature(node, task, scope)
    sampled = sampled_at(temperature, None)
    metrics = [*(named_metric(s) for s in scorers), *(m for r in reducers if (m := _reducer(r)) is not None)]
    items, options = _dataset(_resolve(_first(task, "dataset"), scope), scope, path.parent)
    chosen = "choice" in scorers or any(_called(n, "multiple_choice") for n in ast.walk(node))
    return Benchmark(
        place=str(path),
        task=name,
        metrics=tuple(metrics),
        twins=_twins(scorers, epochs, sampled, chosen=chosen),
        twin_advice=_ADVICE,
        items=items,
        repeats=epochs,
        sampled=sampled,
        options=options if chosen else (0, 0),
        guess=1 / options[0] if chosen and options and 0 < options[0] == options[1] else None,
    )


def _twins(scorers: list[str], epochs: int | None, sampled: bool | None, *, chosen: bool) -> tuple[str, ...]:
    rate = ("pass_rate",) if (epochs or 1) > 1 and sampled is not False else ()
    text = not chosen and any(name not in _GRADED for name in scorers)
    return (*rate, *_DECODED) if text else rate


def _reducer(name: str) -> Metric | None:
    k = attempts_of(name)
    return None if k is None else Metric(name, "hard", "any-of-T", 0.0, 1.0, attempts=k)


def _epochs(node: ast.expr | None, scope: Scope) -> tuple[int | None, list[str]]:
    if node is None:
        return 1, []
    if isinstance(node, ast.Call) and _name(node.func) == "Epochs":
        count = _constant(_resolve(_first(node, "epochs"), scope), int)
        told = node.args[1] if len(node.args) > 1 else _keyword(node, "reducer")
        parts = told.elts if isinstance(told, ast.List | ast.Tuple) else [told] if told is not None else []
        return count, [text for part in parts if (text := _constant(part, str))]
    return _constant(node, int), []


def _scorers(node: ast.expr | None, scope: Scope, depth: int = 0) -> Iterator[str]:
    """Names of scorers; lists in lists are followed two levels deep, or a name could stand for ever more of them."""
    if depth > 2:
        return
    if isinstance(node, ast.List | ast.Tuple):
        for part in node.elts[:_MOST]:
            yield from _scorers(_resolve(part, scope), scope, depth + 1)
    elif isinstance(node, ast.Call) and _name(node.func) == "multi_scorer":
        yield from _scorers(_resolve(_first(node, "scorers"), scope), scope, depth + 1)
    elif isinstance(node, ast.Call) and (name := _name(node.func)):
        yield name


def _temperature(node: ast.AST, task: ast.Call, scope: Scope) -> float | None:
    """Temperature as a number in the task's configuration or in a call of ``generate``."""
    calls = [
        task,
        *(n for n in ast.walk(node) if isinstance(n, ast.Call) and _name(n.func) in ("GenerateConfig", "generate")),
    ]
    for call in calls:
        value = _resolve(_keyword(call, "temperature"), scope)
        if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
            with contextlib.suppress(OverflowError):  # a whole number may have any length
                return float(value.value)
    return None


def _dataset(node: ast.expr | None, scope: Scope, folder: Path) -> tuple[int | None, tuple[int, int] | None]:
    """Number of items, and of options where they are written out."""
    if isinstance(node, ast.Call) and _name(node.func) == "MemoryDataset":
        node = _resolve(_first(node, "samples"), scope)
    if isinstance(node, ast.List | ast.Tuple):
        if any(isinstance(part, ast.Starred) for part in node.elts):
            return None, None
        counts = [_choices(part) for part in node.elts]
        known = [count for count in counts if count is not None]
        return len(node.elts), (min(known), max(known)) if known and len(known) == len(counts) else None
    if not isinstance(node, ast.Call):
        return None, None
    limit = _constant(_resolve(_keyword(node, "limit"), scope), int)
    name = _constant(_resolve(node.args[0] if node.args else _keyword(node, "json_file"), scope), str)
    rows = data_rows(name, folder) if name and _name(node.func) in ("json_dataset", "csv_dataset") else None
    known_sizes = [size for size in (rows, limit) if size is not None]
    return (min(known_sizes) if known_sizes else None), None


def _choices(node: ast.expr) -> int | None:
    told = _keyword(node, "choices") if isinstance(node, ast.Call) and _name(node.func) == "Sample" else None
    return len(told.elts) if isinstance(told, ast.List | ast.Tuple) else None


def _assigned(nodes: Any) -> Scope:
    """Names that are given a value once; one that is given several stands for none of them."""
    found: Scope = {}
    twice = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            twice |= {name} & found.keys()
            found[name] = node.value
    return {name: value for name, value in found.items() if name not in twice}


def _defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Scope:
    """Parameters with their defaults: what the task is without arguments."""
    places = node.args.args[len(node.args.args) - len(node.args.defaults) :]
    found = dict(zip((a.arg for a in places), node.args.defaults, strict=True))
    named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return found | {a.arg: value for a, value in named if value is not None}


def _resolve(node: ast.expr | None, scope: Scope) -> ast.expr | None:
    for _ in range(_DEPTH):
        if not isinstance(node, ast.Name) or node.id not in scope:
            return node
        node = scope[node.id]
    return None


def _first(call: ast.Call, name: str) -> ast.expr | None:
    return call.args[0] if call.args else _keyword(call, name)


def _keyword(node: ast.expr | None, name: str) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    return next((keyword.value for keyword in node.keywords if keyword.arg == name), None)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _called(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) == name


def _constant(node: ast.expr | None, kind: type) -> Any:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) is kind else None
