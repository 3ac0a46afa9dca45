"""Designs on disk: which file is what, and the facts of all of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from foreshock._base import ForeshockError, MissingExtraError, ReadError, UnknownFormatError
from foreshock.lint import _inspect as inspect_tasks
from foreshock.lint import _lm_eval as lm_eval
from foreshock.lint._benchmark_toml import read_benchmark
from foreshock.lint._facts import Benchmark, Facts, ModelLine
from foreshock.lint._files import read_text
from foreshock.lint._options import LintOptions
from foreshock.lint._yaml import load_yaml

MAX_FILES = 50_000
_YAML = (".yaml", ".yml")
_KINDS = (*_YAML, ".py", ".toml")
_SKIPPED = {"node_modules", "__pycache__"}

Named = list[tuple[str, Benchmark]]


def is_design(path: Path) -> bool:
    """Whether a path is a design, or a folder that holds one, by name and, for Python and TOML, by content.

    Raises:
        ReadError: A folder holds more files than are looked at.
    """
    if path.is_dir():
        return any(_is_design_file(file) for file in _files(path))
    return path.suffix in _KINDS


def _is_design_file(path: Path) -> bool:
    """Whether a file found in a folder is meant: there, most YAML, Python and TOML is something else."""
    try:
        if path.suffix in _YAML:
            return lm_eval.is_task_file(load_yaml(path))
        if path.suffix == ".py":
            text = read_text(path)
            return inspect_tasks.is_task_source(text) and bool(inspect_tasks.tasks_of(path))
    except MissingExtraError:
        raise
    except ForeshockError:
        return False
    return path.name == "benchmark.toml"


def design_facts(paths: Sequence[Path], options: LintOptions) -> Facts:
    """Facts of all designs in some paths.

    Of a ``benchmark.toml`` and another design of the same task, the first declares what the second does not say.

    Raises:
        ReadError: A path that was named itself cannot be read, or there is no design in any.
    """
    del options
    found: dict[str, Named] = {}
    declared: dict[str, Benchmark] = {}
    lines: list[ModelLine] = []
    unread: list[tuple[str, str]] = []
    index = _Index([path for path in paths if path.is_dir()])
    for path, named in _designs(paths):
        try:
            if path.suffix == ".toml":
                tasks, models = read_benchmark(path)
                declared |= dict(tasks)
                lines += models
                found[str(path)] = []
            elif path.suffix == ".py":
                found[str(path)] = inspect_tasks.tasks_of(path)
            else:
                found[str(path)] = list(lm_eval.tasks_of(path, index.beside(path)))
            if named and not found[str(path)] and path.suffix != ".toml":
                raise UnknownFormatError(
                    "no task is defined in it", expected="@task, or task: in YAML", where=str(path)
                )
        except MissingExtraError:
            raise
        except ForeshockError as error:
            if named:
                raise
            unread.append((str(path), str(error)))
    if not found:
        raise UnknownFormatError(
            "no design of a benchmark is here",
            expected="task YAML of lm-evaluation-harness, a task file of Inspect, or benchmark.toml",
            do="for logs, leave the path out and use --store, or add them: foreshock add PATH",
            where=", ".join(map(str, paths[:3])),
        )
    return Facts(_merged(found, declared), tuple(lines), bool(lines), tuple(unread))


def _merged(found: dict[str, Named], declared: dict[str, Benchmark]) -> tuple[Benchmark, ...]:
    """Tasks of all files, each once; what benchmark.toml alone has comes last."""
    tasks = {(benchmark.place, name): benchmark for named in found.values() for name, benchmark in named}
    several = Counter(place for place, _ in tasks)
    merged = []
    for (place, name), benchmark in tasks.items():
        whole = benchmark.declared_by(declared[name]) if name in declared else benchmark
        merged.append(replace(whole, place=f"{place}:{name}" if several[place] > 1 else place))
    known = {name for _, name in tasks}
    alone = [b for name, b in declared.items() if name not in known]
    return (*merged, *(replace(b, place=f"{b.place}:{b.task}") for b in alone))


def _designs(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Files that are designs, and whether each was named itself."""
    for path in paths:
        if path.is_dir():
            yield from ((file, False) for file in _files(path) if _is_design_file(file))
        elif path.suffix in _KINDS:
            yield path, True
        else:
            raise UnknownFormatError(
                "not a design of a benchmark", expected=f"a file ending in {', '.join(_KINDS)}", where=str(path)
            )


class _Index:
    """Where the members of groups may be: in the folder of a group's file, and in the folders that were given."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = folders
        self._known: dict[Path, dict[str, Path]] = {}

    def beside(self, path: Path) -> dict[str, Path]:
        """Files of tasks by name, those beside ``path`` first; none where it is no group."""
        if not isinstance(lm_eval.load_config(path).get("task"), list):
            return {}
        found: dict[str, Path] = {}
        for folder in (path.parent, *self.folders):
            found = self._of(folder) | found
        return found

    def _of(self, folder: Path) -> dict[str, Path]:
        if folder not in self._known:
            self._known[folder] = lm_eval.index_of(file for file in _files(folder) if file.suffix in _YAML)
        return self._known[folder]


def _files(folder: Path) -> list[Path]:
    """Files below a folder that may be designs, in the order of their names; hidden folders are left out."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        found += [Path(place) / name for name in sorted(names) if Path(name).suffix in _KINDS]
        if len(found) > MAX_FILES:
            raise ReadError(
                f"more than {MAX_FILES:,} YAML, Python and TOML files are below it",
                expected="a folder of designs",
                do="name the folder of the tasks",
                where=str(folder),
            )
    return found
