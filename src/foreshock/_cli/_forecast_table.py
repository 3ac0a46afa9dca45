"""Tables of curves beside --csv: which column is what, and what is said of the scores."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

import msgspec

from foreshock._base import ConfigError
from foreshock._cli._reading import Reading
from foreshock.check import ForecastLine, ScoreScale, lines_of_rows
from foreshock.readers import CurveColumns, ReadOptions, read_curves

_USED = frozenset({"x", "y", "group", "date", "n", "twin", "family"})


class TableAsked(NamedTuple):
    """What was asked of a table of curves.

    Attributes:
        asked: The reading options.
        date: Column of dates.
        train: Column that says which points are known.
        family: Column of what belongs together.
        metric: Name of the score, where the column's is none.
        scale: What was said about the scores.
        groups: Glob patterns of curves; empty means all.
    """

    asked: Reading
    date: str | None
    train: str | None
    family: str | None
    metric: str | None
    scale: ScoreScale
    groups: list[str]


def lines_of_tables(table: TableAsked) -> list[ForecastLine]:
    """Every curve of the tables that fits.

    Raises:
        ConfigError: A column is missing, or an option means nothing here.
        ReadError: A table cannot be read.
    """
    options = table.asked.options
    columns = _columns(table)
    scale = msgspec.structs.replace(
        table.scale,
        metric=table.metric or columns.y,
        scale=options.scale,
        chance=options.chance,
        kind=options.kind,
    )
    several = len(table.asked.tables) > 1
    found: list[ForecastLine] = []
    for path in table.asked.tables:
        lines = lines_of_rows(read_curves(path, columns), scale, options.twin)
        found += [line.named(f"{path.stem} / {line.group}") for line in lines] if several else lines
    kept = [line for line in found if not table.groups or any(fnmatchcase(line.group, g) for g in table.groups)]
    if not kept:
        raise ConfigError(
            f"no curve fits {', '.join(table.groups)[:200]}",
            expected=f"one of {', '.join(line.group for line in found[:10])}" + (", …" if len(found) > 10 else ""),
            do="correct the names",
        )
    return kept


def _columns(table: TableAsked) -> CurveColumns:
    options = table.asked.options
    _refuse_unused(options)
    roles = {**options.map, **options.csv}
    x, y = roles.get("x") or table.date, roles.get("y")
    if x is None or y is None:
        raise ConfigError(
            f"nothing says which column is {'--x' if x is None else '--y'}",
            expected="--x and --y beside --csv",
            do="for example: foreshock forecast --csv curves.csv --x n --y loss --group task --next",
        )
    if table.date is not None and table.date != x:
        raise ConfigError(
            f"--date {table.date[:80]} is no date, and the axis is --x {x[:80]}",
            expected="a date such as 2027-03, or the column of dates as the axis",
            do="correct --date, or leave --x out",
        )
    group = roles.get("group")
    return CurveColumns(
        x=x,
        y=y,
        group=[name for name in (group or "").split("+") if name],
        train=table.train,
        n=options.n,
        twin=options.twin,
        family=table.family or roles.get("family"),
        codes=list(options.codes),
    )


def _refuse_unused(options: ReadOptions) -> None:
    """Refuse options that would change nothing: whoever gives one expects that it does."""
    roles = sorted(({*options.map} | {*options.csv}) - _USED)
    given = {
        "--preset": options.preset,
        "--wide, or several --y": options.wide,
        "--task-name": options.task,
        "--model-name": options.model,
        "--interval": options.interval,
        f"--map {', '.join(roles)}": roles,
    }
    for name, value in given.items():
        if value:
            raise ConfigError(
                f"{name} means nothing for a table of curves",
                expected="--x, --y, --group, --train, --n, --twin, --family, --scale, --chance, --kind, --codes",
                do="leave it out; a table that is added to a store (foreshock add) may use it",
            )
