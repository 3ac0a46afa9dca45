"""``benchmark.toml``: what a benchmark is meant to be, in a small form of our own."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from foreshock._base import ConfigError, read_toml
from foreshock.lint._facts import Audit, Benchmark, Metric, ModelLine
from foreshock.lint._files import read_text
from foreshock.lint._reported import attempts_of, named_metric
from foreshock.lint._shown import positions
from foreshock.lint._twins import of_answers
from foreshock.metrics import harness_metric

_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Count = Annotated[int, msgspec.Meta(ge=1)]
_Logged = Literal["outputs", "choice_logprobs", "gold_logprob", "token_logprobs", "sub_scores"]
_TWINS: dict[str, tuple[str, ...]] = {
    "choice_logprobs": ("choice_probability", "brier", "choice_margin"),
    "gold_logprob": ("gold_logprob",),
    "token_logprobs": ("gold_logprob",),
    "sub_scores": ("sub_scores",),
}
_DATES = ("released",)


class Labels(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Labels that were checked by hand.

    Attributes:
        checked: How many.
        wrong: How many of them were wrong.
    """

    checked: _Count
    wrong: Annotated[int, msgspec.Meta(ge=0)]


class MetricTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One metric: ``[[task.metric]]``.

    Attributes:
        name: Its name; what a known name tells need not be said.
        kind, link: What it is.
        range: Smallest and largest value.
        chance: Score of guessing.
        twin: Name of the continuous metric that it is read against.
    """

    name: str
    kind: Literal["hard", "continuous"] | None = None
    link: Literal["identity", "all-of-N", "any-of-T", "argmax", "threshold"] | None = None
    range: tuple[float, float] | None = None
    chance: float | None = None
    twin: str | None = None


class TaskTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One task: ``[[task]]``.

    Attributes:
        name: Its name, as the logs will have it.
        items: Items.
        repeats: Times that each item is asked.
        options: Options of each item; 0 for free answers; two numbers for the smallest and the largest.
        chance: Score of guessing.
        temperature: Temperature at which replies are drawn.
        logged: What the harness will log beside the score.
        numbers: Whether all right answers are numbers.
        labels: Labels that were checked.
        ceiling: Highest score that right labels allow, where it is known otherwise.
        metric: Its metrics.
    """

    name: str
    items: _Count | None = None
    repeats: _Count = 1
    options: int | tuple[int, int] | None = None
    chance: _Share | None = None
    temperature: float | None = None
    logged: list[_Logged] = []
    numbers: bool = False
    labels: Labels | None = None
    ceiling: _Share | None = None
    metric: list[MetricTable] = []


class ModelsTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Models that will be run: ``[[models]]``.

    Attributes:
        family: Their family.
        axis: What orders them.
        points: Their places on the axis: numbers, or text such as ``"1.4B"``.
        seeds: Training seeds of each.
    """

    family: str
    axis: Literal["parameters", "active_parameters", "tokens", "flops", "step"] = "parameters"
    points: list[float | str]
    seeds: int | list[int] = 1


class BenchmarkFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole file.

    Attributes:
        task: Its tasks.
        models: The models that will be run.
    """

    task: list[TaskTable] = []
    models: list[ModelsTable] = []


def read_benchmark(path: Path) -> tuple[list[tuple[str, Benchmark]], list[ModelLine]]:
    """Tasks, by name, and lines of models of a ``benchmark.toml``.

    Raises:
        ConfigError: It is not TOML, says something unknown, or something that cannot be.
        ReadError: It cannot be read, or is too large.
    """
    read_text(path)  # refuses what is too large
    try:
        found = msgspec.convert(read_toml(path), BenchmarkFile)
    except msgspec.ValidationError as error:
        raise ConfigError(
            str(error), expected="what docs/lint.md describes", do="correct the file", where=str(path)
        ) from None
    names = Counter(task.name for task in found.task)
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        raise ConfigError(f"two tasks are named {twice!r:.80}", expected="one", where=str(path))
    return [(task.name, _task(task, path)) for task in found.task], [_line(models, path) for models in found.models]


def _task(task: TaskTable, path: Path) -> Benchmark:
    labels = task.labels
    if labels is not None and labels.wrong > labels.checked:
        raise ConfigError(
            f"{task.name}: {labels.wrong} of {labels.checked} labels are wrong",
            expected="no more than all",
            where=str(path),
        )
    options = (task.options, task.options) if isinstance(task.options, int) else task.options
    if options is not None and not 0 <= options[0] <= options[1]:
        raise ConfigError(f"{task.name}: options {options}", expected="smallest and largest number", where=str(path))
    sampled = None if task.temperature is None else task.temperature > 0
    twins = [twin for name in task.logged for twin in _TWINS.get(name, ())]
    if "outputs" in task.logged and (options is None or options[1] == 0):  # of a choice there is no closeness
        twins += of_answers([metric.name for metric in task.metric], numbers=task.numbers)
    if task.repeats > 1 and sampled:
        twins.append("pass_rate")
    return Benchmark(
        place=str(path),
        task=task.name,
        metrics=tuple(_metric(metric, path) for metric in task.metric),
        twins=tuple(dict.fromkeys(twins)),
        twin_advice="log choice_logprobs or gold_logprob, or set repeats and a temperature",
        items=task.items,
        repeats=task.repeats,
        sampled=sampled,
        options=options,
        guess=1 / options[0] if options and options[0] == options[1] and options[0] else None,
        chance=task.chance,
        audit=Audit(labels.wrong, labels.checked) if labels else None,
        ceiling=task.ceiling,
    )


def _metric(told: MetricTable, path: Path) -> Metric:
    known = named_metric(told.name) if harness_metric(told.name) else Metric(told.name, attempts=attempts_of(told.name))
    _check_scale(told, path)
    low, high = told.range if told.range is not None else (known.low, known.high)
    return Metric(
        name=told.name,
        kind=told.kind or known.kind,
        link=told.link or known.link,
        low=low,
        high=high,
        chance=told.chance if told.chance is not None else known.chance,
        attempts=known.attempts,
        twin=told.twin,
    )


def _check_scale(told: MetricTable, path: Path) -> None:
    low, high = told.range or (-math.inf, math.inf)
    if told.range is not None and not (math.isfinite(low) and math.isfinite(high) and low < high):
        found, expected = f"range [{low:g}, {high:g}]", "two numbers, the smallest first"
    elif told.chance is not None and not (math.isfinite(told.chance) and low <= told.chance <= high):
        found, expected = f"chance {told.chance:g}", "a score inside the range"
    else:
        return
    raise ConfigError(f"{told.name}: {found}", expected=expected, where=str(path))


def _line(models: ModelsTable, path: Path) -> ModelLine:
    values = [_place(point, path) for point in models.points]
    seeds = [models.seeds] * len(values) if isinstance(models.seeds, int) else models.seeds
    if len(seeds) != len(values) or any(n < 1 for n in seeds):
        raise ConfigError(
            f"{models.family}: {len(values)} points and seeds {seeds}"[:200], expected="a number from 1 for each point",
            where=str(path),
        )  # fmt: skip
    order = sorted(range(len(values)), key=lambda i: values[i])
    if len(set(values)) < len(values):
        raise ConfigError(f"{models.family}: a place stands twice", expected="seeds = 2 for two seeds", where=str(path))
    x = [values[i] for i in order]
    return ModelLine(
        family=models.family,
        axis=models.axis,
        position=positions(x, log=True),
        values=tuple(x),
        labels=tuple(str(models.points[i]) for i in order),
        seeds=tuple(seeds[i] for i in order),
    )


def _place(point: float | str, path: Path) -> float:
    units = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
    text = str(point).strip().lower().replace("_", "")
    scale = units.get(text[-1:], 1.0)
    try:
        value = float(text[:-1] if scale != 1.0 else text) * scale
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise ConfigError(
            f"the place {point!r:.60}", expected='a number above 0, or text such as "1.4B"', where=str(path)
        )
    return value
