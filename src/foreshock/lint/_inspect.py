"""Tasks of Inspect as their source states them; the file is parsed and never run or imported."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from foreshock.lint._facts import Benchmark, Metric
from foreshock.lint._files import data_rows, read_text
from foreshock.lint._reported import attempts_of, named_metric
from foreshock.lint._sampling import sampled_at
from foreshock.lint._source import Place, Source, Value
from foreshock.lint._syntax import Function, calls_in, name_of
from foreshock.lint._twins import of_answers

_DEPTH = 10  # functions that call functions
_MOST = 50  # scorers of a task
# the log-probabilities that Inspect logs are those of what the model wrote, not of the right answer
_ADVICE = "run with --epochs 10 --temperature 0.7 for a pass rate"
_HARD = {"CORRECT", "INCORRECT", "NOANSWER", "C", "I", "N", 0, 1}
_NONE = (
    "no Task(...) was found in it or in the functions of this file that it calls, which are followed some calls deep, "
    "so nothing is read of it"
)


def is_task_source(text: str) -> bool:
    """Whether source may define tasks of Inspect, by a cheap look."""
    return "@task" in text or ".task" in text


def tasks_of(path: Path) -> list[tuple[str, Benchmark]]:
    """Tasks of one file, by name.

    Raises:
        BrokenFileError: It is not Python.
        ReadError: It cannot be read.
    """
    source = Source(read_text(path), path, expected="a task file of Inspect")
    named = [(name, node) for node in source.all_functions if (name := _task_name(node))]
    return [
        (name, _benchmark(name, _built(source, source.entered(node), [], set()), source, path)) for name, node in named
    ]


class _Built(NamedTuple):
    """Where a task is made.

    Attributes:
        task: The call of ``Task``.
        way: The functions that lead there, the outermost first.
    """

    task: Value
    way: Sequence[Place]


def _built(source: Source, place: Place, way: list[Place], tried: set[str]) -> _Built | None:
    """The call of ``Task`` in a function, or in what it calls of the file; each function is looked at once."""
    way = [*way, place]
    for call in calls_in(place.function, "Task"):
        return _Built(Value(call, place.scope), way)
    for call in calls_in(place.function) if len(way) < _DEPTH else ():
        value = Value(call, place.scope)
        function = source.called(value)
        if function is None or function.name in tried:
            continue
        tried.add(function.name)
        found = _built(source, source.entered(function, value), way, tried)
        if found is not None:
            return found
    return None


def _task_name(node: Function) -> str | None:
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        if name_of(call.func if call else decorator) == "task":
            told = (
                [k.value.value for k in call.keywords if k.arg == "name" and isinstance(k.value, ast.Constant)]
                if call
                else []
            )
            # an escape in source may be half a character, which no file of ours can hold
            name = told[0] if told and isinstance(told[0], str) and told[0] else node.name
            return name.encode("utf-8", "replace").decode()
    return None


def _benchmark(name: str, built: _Built | None, source: Source, path: Path) -> Benchmark:
    if built is None:
        return Benchmark(place=str(path), task=name, twin_advice=_ADVICE, notes=(_NONE,))
    task, way = built
    epochs, reducers = (1, []) if source.lacks(task, "epochs") else _epochs(source.keyword(task, "epochs"), source)
    scorers = list(islice(_scorers(source.keyword(task, "scorer"), source), _MOST))
    sampled = sampled_at(_temperature(built, source), None)
    metrics = [*(_metric(s, source) for s in scorers), *(m for r in reducers if (m := _reducer(r)) is not None)]
    items, options = _dataset(source.keyword(task, "dataset", first=True), source, path.parent)
    chosen = "choice" in scorers or any(True for place in way for _ in calls_in(place.function, "multiple_choice"))
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
    # the source does not say what its targets are, but for a few samples that stand in it
    return (*rate, *of_answers(scorers, numbers=False)) if scorers and not chosen else rate


def _metric(name: str, source: Source) -> Metric:
    """A scorer by its name; one that is written in the file is hard if right and wrong are all that it says."""
    function = source.functions.get(name)
    if function is None:
        return named_metric(name)
    place = source.entered(function)
    said = [source.keyword(Value(call, place.scope), "value", first=True) for call in calls_in(function, "Score")]
    hard = bool(said) and all(_right_or_wrong(value) for value in said)
    return Metric(name, "hard", None, 0.0, 1.0) if hard else Metric(name)


def _right_or_wrong(value: Value | None) -> bool:
    waiting = [] if value is None else [value.node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.IfExp):
            waiting += [node.body, node.orelse]
        elif (node.value if isinstance(node, ast.Constant) else name_of(node)) not in _HARD:
            return False
    return value is not None


def _reducer(name: str) -> Metric | None:
    k = attempts_of(name)
    return None if k is None else Metric(name, "hard", "any-of-T", 0.0, 1.0, attempts=k)


def _epochs(value: Value | None, source: Source) -> tuple[int | None, list[str]]:
    if value is None:
        return None, []
    if isinstance(value.node, ast.Call) and name_of(value.node.func) == "Epochs":
        count = _constant(source.keyword(value, "epochs", first=True), int)
        args = value.node.args
        told = source.resolve(Value(args[1], value.scope)) if len(args) > 1 else source.keyword(value, "reducer")
        return count, [text for part in _parts(told, source) if (text := _constant(part, str))]
    # without any it is asked once
    return (1 if isinstance(value.node, ast.Constant) and value.node.value is None else _constant(value, int)), []


def _parts(value: Value | None, source: Source) -> list[Value | None]:
    """Members of a list that is written out; of anything else, itself."""
    if value is None:
        return []
    if isinstance(value.node, ast.List | ast.Tuple):
        return [source.resolve(Value(node, value.scope)) for node in value.node.elts[:_MOST]]
    return [value]


def _scorers(value: Value | None, source: Source, depth: int = 0) -> Iterator[str]:
    """Names of scorers; lists in lists are followed two levels deep, or a name could stand for ever more of them."""
    if depth > 2 or value is None:
        return
    if isinstance(value.node, ast.List | ast.Tuple):
        for part in _parts(value, source):
            yield from _scorers(part, source, depth + 1)
    elif isinstance(value.node, ast.Call):
        name = name_of(value.node.func)
        if name == "multi_scorer":
            yield from _scorers(source.keyword(value, "scorers", first=True), source, depth + 1)
        elif name:
            yield name


def _temperature(built: _Built, source: Source) -> float | None:
    """Temperature as a number in the task's configuration or in a call of ``generate``."""
    beside = (Value(c, p.scope) for p in built.way for c in calls_in(p.function, "GenerateConfig", "generate"))
    for call in (built.task, source.keyword(built.task, "config"), *beside):
        value = source.keyword(call, "temperature")
        if value is not None and isinstance(value.node, ast.Constant) and isinstance(value.node.value, int | float):
            with contextlib.suppress(OverflowError):  # a whole number may have any length
                return float(value.node.value)
    return None


def _dataset(value: Value | None, source: Source, folder: Path) -> tuple[int | None, tuple[int, int] | None]:
    """Number of items, and of options where they are written out."""
    if value is not None and isinstance(value.node, ast.Call) and name_of(value.node.func) == "MemoryDataset":
        value = source.keyword(value, "samples", first=True)
    if value is None:
        return None, None
    if isinstance(value.node, ast.List | ast.Tuple):
        if any(isinstance(part, ast.Starred) for part in value.node.elts):
            return None, None
        counts = [_choices(Value(part, value.scope), source) for part in value.node.elts]
        known = [count for count in counts if count is not None]
        return len(counts), (min(known), max(known)) if known and len(known) == len(counts) else None
    if not isinstance(value.node, ast.Call):
        return None, None
    limit = _constant(source.keyword(value, "limit"), int)
    name = _constant(source.keyword(value, "json_file", first=True), str)
    local = name and name_of(value.node.func) in ("json_dataset", "csv_dataset")
    rows = data_rows(name, folder) if local else None
    known_sizes = [size for size in (rows, limit) if size is not None]
    return (min(known_sizes) if known_sizes else None), None


def _choices(value: Value, source: Source) -> int | None:
    if not (isinstance(value.node, ast.Call) and name_of(value.node.func) == "Sample"):
        return None
    told = source.keyword(value, "choices")
    return len(told.node.elts) if told is not None and isinstance(told.node, ast.List | ast.Tuple) else None


def _constant(value: Value | None, kind: type) -> Any:
    found = value.node.value if value is not None and isinstance(value.node, ast.Constant) else None
    return found if type(found) is kind else None
