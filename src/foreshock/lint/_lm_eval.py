"""Tasks of lm-evaluation-harness as their YAML files state them: includes, groups and functions that are never run."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from foreshock._base import BrokenFileError, ForeshockError, UnknownFormatError
from foreshock.lint._facts import Benchmark, Metric
from foreshock.lint._files import data_rows
from foreshock.lint._reported import named_metric
from foreshock.lint._sampling import sampled_at
from foreshock.lint._twins import of_answers
from foreshock.lint._yaml import Opaque, load_yaml

MAX_INCLUDES = 20
MAX_NESTED = 8  # groups in groups
MAX_TASKS = 10_000
_DEFAULTS = {
    "loglikelihood": ("perplexity", "acc"),
    "loglikelihood_rolling": ("word_perplexity", "byte_perplexity", "bits_per_byte"),
    "multiple_choice": ("acc", "acc_norm"),
    "generate_until": ("exact_match",),
}
_LIST = re.compile(r"\s*\{\{\s*(\[.*\])\s*\}\}\s*|\s*(\[.*\])\s*", re.DOTALL)
_CHOICES = ("choice_probability", "brier", "choice_margin")
_ADVICE = {
    "multiple_choice": "run with --log_samples: they hold the log-likelihoods of the choices; brier_score in "
    "metric_list "
    "reports a twin at once",
    "loglikelihood": "run with --log_samples, or add perplexity to metric_list",
    "generate_until": "add a multiple_choice or loglikelihood form of the task, or set repeats and do_sample "
    "for a pass rate",
}

Config = dict[str, Any]


def is_task_file(config: Any) -> bool:
    """Whether parsed YAML is a task or a group of tasks."""
    if not isinstance(config, dict):
        return False
    return "task" in config and bool(
        {"output_type", "doc_to_text", "dataset_path", "metric_list", "include", "group", "class", "test_split"}
        & config.keys()
        or isinstance(config["task"], list)
    )


def load_config(path: Path, depth: int = 0) -> Config:
    """A task file with what it includes; its own values win, as in the harness.

    Raises:
        BrokenFileError: It is no mapping, or includes itself.
        ReadError: An included file cannot be read.
    """
    found = load_yaml(path)
    if not isinstance(found, dict):
        raise BrokenFileError("not a mapping", expected="a task file", where=str(path))
    config = {str(key): value for key, value in found.items()}
    included = config.pop("include", None)
    if included is None:
        return config
    if depth >= MAX_INCLUDES:
        raise BrokenFileError(
            "includes are nested too deeply", expected="no file that includes itself", where=str(path)
        )
    merged: Config = {}
    for name in included if isinstance(included, list) else [included]:
        if not isinstance(name, str) or "\0" in name:
            raise BrokenFileError("include is no path", expected="a path of a YAML file", where=str(path))
        merged |= load_config(path.parent / name, depth + 1)
    return merged | config


def tasks_of(path: Path, index: Mapping[str, Path]) -> Iterator[tuple[str, Benchmark]]:
    """Tasks of one file, those of a group included.

    Args:
        path: The file.
        index: Files of known tasks by name, in which members of a group are looked up.

    Yields:
        Name of the task and what is known about it; members that are nowhere stand as tasks with a note.

    Raises:
        UnknownFormatError: The file names no task.
        BrokenFileError: Groups hold each other, or more tasks than a benchmark can have.
    """
    config = load_config(path)
    if not isinstance(config.get("task"), str | list):
        raise UnknownFormatError("it names no task", expected="a task file with task: NAME", where=str(path))
    yield from _Group(index).tasks(config, path, 0)


class _Group:
    """Groups of groups while they are followed; a file is read once, however many name it."""

    def __init__(self, index: Mapping[str, Path]) -> None:
        self.index = index
        self.left = MAX_TASKS
        self.read = functools.cache(load_config)

    def tasks(self, config: Config, path: Path, depth: int) -> Iterator[tuple[str, Benchmark]]:
        members = config.get("task")
        if not isinstance(members, list):
            name = members if isinstance(members, str) else path.stem
            yield name[:200], _benchmark(name[:200], config, path)
            return
        if depth >= MAX_NESTED:
            raise BrokenFileError("groups are nested too deeply", expected="tasks", where=str(path))
        for member in members:
            self.left -= 1
            if self.left < 0:
                raise BrokenFileError(f"more than {MAX_TASKS:,} members", expected="a group of tasks", where=str(path))
            yield from self.member(member, path, depth)

    def member(self, member: Any, path: Path, depth: int) -> Iterator[tuple[str, Benchmark]]:
        if isinstance(member, dict):
            own = {str(key): value for key, value in member.items()}
            if (file := self.file(own.get("task"), path)) is not None:
                own = self.read(file) | own
            yield from self.tasks(own, path, depth + 1)
        elif (file := self.file(member, path)) is not None:
            yield from self.tasks(self.read(file), file, depth + 1)
        elif isinstance(member, str):
            note = f"the task {member[:100]} of the group is not among the given files"
            yield member[:200], Benchmark(place=str(path), task=member[:200], notes=(note,))

    def file(self, name: Any, path: Path) -> Path | None:
        """File of a task that is named in another file."""
        found = self.index.get(name) if isinstance(name, str) else None
        return None if found == path else found


def index_of(paths: Iterable[Path]) -> dict[str, Path]:
    """Files by the tasks and groups that they define; files that cannot be read are left out."""
    found: dict[str, Path] = {}
    for path in paths:
        try:
            config = load_yaml(path)
        except ForeshockError:
            continue
        if is_task_file(config):
            for key in ("task", "group"):
                if isinstance(config.get(key), str):
                    found.setdefault(config[key], path)
    return found


def _benchmark(name: str, config: Config, path: Path) -> Benchmark:
    kind = config.get("output_type")
    custom = isinstance(config.get("class"), Opaque)
    kind = kind if isinstance(kind, str) else None if custom else "generate_until"
    metrics = tuple(_metrics(config, kind))
    repeats = config.get("repeats", 1)
    repeats = repeats if type(repeats) is int and 0 < repeats < 10**6 else None
    sampled = _sampled(config, kind)
    return Benchmark(
        place=str(path),
        task=name,
        metrics=metrics,
        twins=_twins(config, kind, repeats, sampled),
        twin_advice=_ADVICE.get(kind or "", "log log-probabilities or sub-scores of each answer"),
        items=_items(config, path.parent),
        repeats=repeats if kind else None,
        sampled=sampled,
        options=_options(config, kind),
        chance=None,
        notes=("it is a Python class, of which nothing is read",) if custom else (),
    )


def _metrics(config: Config, kind: str | None) -> Iterator[Metric]:
    listed = config.get("metric_list")
    named = [m.get("metric") for m in listed if isinstance(m, dict)] if isinstance(listed, list) else None
    if named is None:
        named = list(_DEFAULTS.get(kind or "", ()))
    for name in named:
        if isinstance(name, Opaque):
            yield Metric(name.text)
        elif isinstance(name, str):
            metric = named_metric(name[:200])
            # the right answer is the likeliest of all texts there, which guessing does not find
            likeliest = kind == "loglikelihood" and metric.link == "argmax"
            yield replace(metric, link="all-of-N", chance=0.0) if likeliest else metric


def _twins(config: Config, kind: str | None, repeats: int | None, sampled: bool | None) -> tuple[str, ...]:
    """Continuous metrics that the samples of a run would give (``--log_samples``)."""
    if kind == "multiple_choice":
        return _CHOICES
    if kind in ("loglikelihood", "loglikelihood_rolling"):
        return ("gold_logprob",)
    if kind != "generate_until":
        return ()
    rate = ("pass_rate",) if sampled and (repeats or 1) > 1 else ()
    if "process_results" in config and "doc_to_target" not in config:
        return rate
    return (*rate, *of_answers((), numbers=False))  # a template does not say what its targets are


def _sampled(config: Config, kind: str | None) -> bool | None:
    if kind is None:
        return None
    if kind != "generate_until":
        return False
    told = config.get("generation_kwargs")
    told = told if isinstance(told, dict) else {}
    # the harness decodes greedily unless it is told otherwise
    return bool(sampled_at(told.get("temperature"), told.get("do_sample")))


def _items(config: Config, folder: Path) -> int | None:
    """Rows of the tested split, where it is a local file."""
    told = config.get("dataset_kwargs")
    files = told.get("data_files") if isinstance(told, dict) else None
    if isinstance(files, dict):
        split = config.get("test_split") or config.get("validation_split")
        files = files.get(split) if isinstance(split, str) else None
    if isinstance(files, list):
        files = files[0] if len(files) == 1 else None
    if not isinstance(files, str):
        return None
    own = data_rows(files, folder)
    return own if own is not None else data_rows(files, Path.cwd())


def _options(config: Config, kind: str | None) -> tuple[int, int] | None:
    if kind is None:
        return None
    if kind != "multiple_choice":
        return (0, 0)
    choices = config.get("doc_to_choice")
    if isinstance(choices, str) and len(choices) < 10_000:
        choices = _literal(choices)
    return (len(choices), len(choices)) if isinstance(choices, list) and choices else None


def _literal(text: str) -> Any:
    """A list that is written out in a template; None for any other expression."""
    found = _LIST.fullmatch(text)
    if not found:
        return None
    try:
        return ast.literal_eval(found[1] or found[2])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
