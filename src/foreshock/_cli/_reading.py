"""The options that say how files are to be read, stated once for every command that reads files."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import typer

from foreshock._base import ConfigError
from foreshock._cli._options import pairs
from foreshock.readers import ReadOptions

# roles of --map that only a table with a row for each response has
_OF_RESPONSES = frozenset({"item", "input", "choices", "output", "answer", "target", "gold_index", "score", "epoch"})


class Reading(NamedTuple):
    """What was asked for.

    Attributes:
        tables: The paths given by ``--csv``.
        options: How to read.
    """

    tables: list[Path]
    options: ReadOptions


def reading(
    *,
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", help="Roles of columns: output=generated_text,score=em,score=f1; score= is none."),
    ] = None,
    preset: Annotated[
        str | None, typer.Option("--preset", help="Named set of roles: mmlu-pro, mmlu-pro-items, arc-agi, epoch, hle.")
    ] = None,
    task_name: Annotated[str | None, typer.Option("--task-name", help="Task, for files that do not name one.")] = None,
    model_name: Annotated[
        str | None, typer.Option("--model-name", help="Model, for files that do not name one.")
    ] = None,
    csv: Annotated[
        list[Path] | None,
        typer.Option("--csv", help="A table of scores; its columns are named by the options below."),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option("--x", help="Column that orders models: size, tokens, step, ..."),
    ] = None,
    y: Annotated[
        list[str] | None,
        typer.Option("--y", help="Column of scores; several, or patterns, are a benchmark each."),
    ] = None,
    wide: Annotated[
        bool,
        typer.Option("--wide", help="Every column of numbers without another role is a benchmark."),
    ] = False,
    group: Annotated[str | None, typer.Option("--group", help="Column that names the task.")] = None,
    date: Annotated[str | None, typer.Option("--date", help="Column with the date of each score.")] = None,
    scale: Annotated[
        float | None,
        typer.Option("--scale", help="Largest score of the file's scale, such as 100."),
    ] = None,
    n: Annotated[
        str | None,
        typer.Option("--n", help="Items behind each score: a number, or a column."),
    ] = None,
    chance: Annotated[
        float | None,
        typer.Option("--chance", help="Score of guessing: a share, or on --scale."),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option("--metric", help="Name of the metric, where no column says it."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="What the scores are: hard (right or wrong) or continuous."),
    ] = None,
    twin: Annotated[
        str | None,
        typer.Option("--twin", help="Column of a continuous score of the same outputs."),
    ] = None,
    codes: Annotated[
        list[str] | None,
        typer.Option("--codes", help="Cells that are no score: -100=missing,-1=unparsed."),
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option("--interval", help="What stands behind ±: stderr, or ci95 (half of it)."),
    ] = None,
) -> Reading:
    """The reading options of a command.

    Raises:
        ConfigError: One of them says something impossible.
    """
    columns = y or []
    several = len(columns) > 1 or wide or any(mark in column for column in columns for mark in "*?[")
    told = {"x": x, "y": None if several or not columns else columns[0], "group": group, "date": date}
    roles = {role: column for role, column in told.items() if column is not None}
    own = pairs(mapping, "--map", several="score")
    responses = not (roles or csv) and not _OF_RESPONSES.isdisjoint(own)
    table = bool(roles or csv or (twin and not responses) or (several and not own))
    return Reading(
        csv or [],
        ReadOptions(
            # with a table of scores, --map names its further columns
            map={} if table else own,
            csv={**own, **roles} if table else {},
            preset=preset,
            scale=_positive(scale),
            task=task_name,
            model=model_name,
            n=n,
            chance=chance,
            metric=metric,
            kind=_one_of(kind, "--kind", ("hard", "continuous")),
            twin=twin,
            wide=(columns or ["*"]) if several else [],
            codes=pairs(codes, "--codes"),
            interval=_one_of(interval, "--interval", ("stderr", "ci95")),
        ),
    )


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of :func:`reading` in the place of its parameter ``asked``, which gets them.

    An option that the command has itself, because it means more there, is the command's: ``reading`` does not see it.
    """
    own = inspect.signature(command, eval_str=True).parameters
    every = inspect.signature(reading, eval_str=True).parameters
    shared = {name: parameter for name, parameter in every.items() if name not in own}
    parameters = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in own.items()
        for p in (shared.values() if name == "asked" else [parameter])
    ]

    @functools.wraps(command)
    def told(**given: Any) -> None:
        asked = reading(**{name: given.pop(name) for name in shared})
        command(asked=asked, **given)

    told.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    told.__annotations__ = {p.name: p.annotation for p in parameters}
    del told.__wrapped__
    return told


def with_family(asked: Reading, family: str | None) -> ReadOptions:
    """The options, with the column that names the model family."""
    if family is None:
        return asked.options
    options = asked.options
    return msgspec.structs.replace(options, csv={**options.csv, **options.map, "family": family}, map={})


def family_or_column(asked: Reading, families: list[str] | None) -> tuple[ReadOptions, list[str] | None]:
    """The options and the patterns of families; beside ``--csv``, one name that is no pattern is a column."""
    if asked.tables and families and len(families) == 1 and not any(mark in families[0] for mark in "*?["):
        return with_family(asked, families[0]), None
    return asked.options, families


def _one_of(value: str | None, option: str, words: tuple[str, ...]) -> str | None:
    if value is not None and value not in words:
        raise ConfigError(f"{option} {value!r}", expected=" or ".join(words), do="give one of them")
    return value


def _positive(scale: float | None) -> float | None:
    if scale is not None and not 0 < scale < float("inf"):
        raise ConfigError(f"--scale {scale:g}", expected="the highest possible score", do="such as --scale 100")
    return scale
