"""`foreshock forecast`: what comes next, how sure that is, and how far a line is."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from foreshock._base import ConfigError
from foreshock._cli import _options as o
from foreshock._cli._check import firing, write_outputs
from foreshock._cli._fail_on import refuse_unknown
from foreshock._cli._forecast_table import TableAsked, lines_of_tables
from foreshock._cli._forecast_words import dates_and_column, line, place
from foreshock._cli._looking import Asked
from foreshock._cli._looking import document as made
from foreshock._cli._mirage import apart
from foreshock._cli._out import console, progress
from foreshock._cli._places import places
from foreshock._cli._reading import Reading, reads_files
from foreshock.check import (
    LINKS,
    ForecastOptions,
    ScoreScale,
    Wanted,
    curves_document,
    forecast_document,
)
from foreshock.records import Document

WORDS = ("any", "crossed")
LEAST_LEVEL, MOST_LEVEL = 0.5, 0.99
FIRING = ("FS403",)
"""Codes that can fire: a forecast that is not there (FS404) never does."""


@reads_files
def forecast(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TASK|PATH]...",
            help="Tasks (names or glob patterns), or log files and folders to add first; what exists as a path is one.",
            show_default=False,
        ),
    ] = None,
    *,
    at: Annotated[
        list[str] | None, typer.Option("--at", help="Place on the axis: 70e9, 70B, 143000; repeatable.")
    ] = None,
    next_one: Annotated[
        bool,
        typer.Option("--next", help="The next place: one usual step on. This is done where nothing else is asked."),
    ] = False,
    date: Annotated[
        list[str] | None,
        typer.Option("--date", help="A date, such as 2027-03, by release; beside --csv also the column of dates."),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option("--threshold", help="A line, such as .2 or 20%: when is it in reach, and how probable is that?"),
    ] = None,
    above: Annotated[bool, typer.Option("--above", help="Look for scores above the line.")] = False,
    below: Annotated[
        bool, typer.Option("--below", help="Look for scores below it. Without either: where the newest score is not.")
    ] = False,
    backtest: Annotated[
        bool, typer.Option("--backtest", help="Forecast what is known already, beside the last score carried on.")
    ] = False,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", help="Metrics to forecast (glob patterns), instead of the one that speaks for a task."
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option("--over", help="Another task whose scores are the axis, or ability: what all other tasks share."),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option("--train", help="Beside --csv: column that says which points are known; the others are forecast."),
    ] = None,
    low: Annotated[float | None, typer.Option("--low", help="Smallest possible score.")] = None,
    high: Annotated[float | None, typer.Option("--high", help="Largest possible score.")] = None,
    link: Annotated[
        str | None, typer.Option("--link", help="Forecast on the log, logit or identity of the score.")
    ] = None,
    log_x: Annotated[
        bool | None,
        typer.Option(
            "--log-x/--linear-x", help="Beside --csv: how the axis is read [default: by name, span, spacing]."
        ),
    ] = None,
    calibrate_on: Annotated[
        str, typer.Option("--calibrate-on", help="Curves that the intervals are calibrated on: shipped, or own.")
    ] = "shipped",
    level: Annotated[float, typer.Option("--level", help="Level of the intervals, from 0.5 to 0.99.")] = 0.9,
    store: o.StoreOption = None,
    task: o.TaskOption = None,
    model: o.ModelOption = None,
    family: o.FamilyOption = None,
    axis: o.AxisOption = None,
    step: o.StepOption = None,
    axis_from: o.AxisFromOption = None,
    fail_on: Annotated[
        list[str] | None, typer.Option("--fail-on", help="Exit with 1 when this fires: FS403, crossed, or any.")
    ] = None,
    asked: Reading,
    html: o.HtmlOption = None,
    json: o.JsonOption = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write a summary for a CI page.")] = None,
    seed: o.SeedOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """What comes next, with an interval, beside the last score carried on; and how far a line is.

    Lines of models come from the store; with --csv, curves come from a table and no store is needed. Columns of --group
    are joined by +. Nothing is forecast where the history does not support it, and what would is said.

    Examples:

      foreshock forecast gsm8k --at 70B

      foreshock forecast refusals --threshold .2 --above --next --fail-on FS403

      foreshock forecast 'mmlu*' --date 2027-03 --backtest --html forecast.html

      foreshock forecast --csv curves.csv --x n --y loss --group task+model --train flag --json forecast.json
    """
    where = places(store)
    names = fail_on or where.config.fail_on
    refuse_unknown(fail_on or [], WORDS, FIRING)
    dates, column = dates_and_column(date or [])
    nothing = not (at or dates or next_one or train)
    options = ForecastOptions(
        metrics=metric or [],
        over=over,
        wanted=_wanted(at or [], dates, next_one=next_one or nothing, table=bool(asked.tables)),
        threshold=None if threshold is None else line(threshold),
        side=_side(above=above, below=below, threshold=threshold),
        backtest=backtest,
        level=_level(level),
        draw=html is not None or json is not None,
        own=_one_of(calibrate_on, "--calibrate-on", ("shipped", "own")) == "own",
        low=low,
        high=high,
        link=None if link is None else _one_of(link, "--link", LINKS),
        seed=where.config.seed if seed is None else seed,
    )
    talk = not quiet and str(json) != "-"
    if asked.tables:
        _refuse(
            {
                "--model": model,
                "--axis": axis,
                "--step": step,
                "--over": over,
                "--axis-from": axis_from,
                "--store": store,
            },
            "with",
        )
        own = _only(family, "--family"), _only(metric, "--metric")
        scale = ScoreScale(metric="", low=low, high=high, link=options.link, log_x=log_x)
        table = TableAsked(asked, column, train, *own, scale, [*(what or []), *(task or [])])
        document = _of_tables(table, options, quiet=quiet)
    else:
        _refuse({"--train": train, f"--date {column}": column, "--log-x/--linear-x": log_x is not None}, "without")
        paths, tasks = apart(what or [])
        request = Asked(where, store, paths, asked.options, quiet, talk)
        given = {"tasks": tasks + (task or []), "models": model, "families": family, "axis": axis, "step_pattern": step}
        document = made(
            partial(forecast_document, asked=options, alarms=where.config.alarms),
            request,
            axis_from,
            {**given, "seed": seed},
        )
    write_outputs(document, html=html, json=json, markdown=markdown)
    if talk:
        from foreshock.report import terminal

        terminal(document, console())
        if html is not None:
            console().print(f"Report: {html}")
    raise typer.Exit(firing(document, names))


def _wanted(at: list[str], dates: list[float], *, next_one: bool, table: bool) -> Wanted:
    """Places that were asked for; beside a table numbers without a unit are read as those of its column are."""
    told = [(x, bare and table) for x, bare in map(place, at)]
    bare = [x for x, is_bare in told if is_bare]
    return Wanted(at=[x for x, is_bare in told if not is_bare], bare=bare, dates=dates, next=next_one)


def _of_tables(table: TableAsked, options: ForecastOptions, *, quiet: bool) -> Document:
    with progress(silent=quiet) as show:
        found = lines_of_tables(table)
        return curves_document(found, options, command=["foreshock", *sys.argv[1:]], progress=show)


def _side(*, above: bool, below: bool, threshold: str | None) -> Literal["above", "below"] | None:
    """The side of the line that was asked for.

    Raises:
        ConfigError: Both sides, or a side of no line.
    """
    if above and below:
        raise ConfigError("--above and --below", expected="one side of the line", do="leave one of them out")
    if (above or below) and threshold is None:
        raise ConfigError(f"--{'above' if above else 'below'} without a line", do="give --threshold")
    return "above" if above else "below" if below else None


def _level(value: float) -> float:
    if not LEAST_LEVEL <= value <= MOST_LEVEL:  # of what is no number too
        raise ConfigError(
            f"--level {value:g}", expected=f"a number from {LEAST_LEVEL:g} to {MOST_LEVEL:g}", do="correct --level"
        )
    return value


def _one_of(value: str, option: str, words: tuple[str, ...]) -> str:
    if value not in words:
        raise ConfigError(f"{option} {value[:80]!r}", expected=" or ".join(words), do="give one of them")
    return value


def _only(values: list[str] | None, option: str) -> str | None:
    """The one value that an option may have beside --csv."""
    if values and len(values) > 1:
        raise ConfigError(f"{option} {' and '.join(values)[:200]}", expected="one name beside --csv", do="leave one")
    return values[0] if values else None


def _refuse(given: dict[str, object], way: str) -> None:
    """Refuse options that mean nothing with, or without, a table of curves."""
    for name, value in given.items():
        if value not in (None, False, []):
            raise ConfigError(f"{name} {way} --csv means nothing", do="leave it out")
