"""Wide tables: a row for each model, a column of scores for each benchmark or metric."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from foreshock._base import AmbiguousError
from foreshock.readers import _items_roles
from foreshock.readers._tables_axis import kind_of, plain_name
from foreshock.readers._tables_layout import Value, named_value, words_of
from foreshock.readers._tables_names import NAMES, NUMBERS, errors_of
from foreshock.readers._tables_numbers import figure, is_blank

# a number under a name with one of these words is a setting, a count or a cost, not a score
_SETTINGS = frozenset(
    {
        *("id", "ids", "index", "seed", "batch", "temperature", "temp", "top", "tokens", "token", "number", "num"),
        *("count", "n", "cost", "price", "usd", "time", "seconds", "minutes", "hours", "rank", "year", "date", "ts"),
        *("timestamp", "version", "shots", "shot", "votes", "lr", "layers", "heads", "context", "length", "params"),
        *("parameters", "size", "epoch", "epochs", "step", "steps", "examples", "items", "released", "km", "duration"),
        *("choices", "chars", "run", "operand", "operand1", "operand2", "total", "latency"),
    }
)
_COST = ("$", "€", "£")
Rows = Sequence[Sequence[str]]


def benchmarks(columns: Sequence[str], rows: Rows) -> list[str]:
    """Columns of numbers whose names do not say that they are something else than scores."""
    roles = {name for tiers in NAMES.values() for tier in tiers for name in tier}
    errors = errors_of(columns)
    return [
        column
        for place, column in enumerate(columns)
        if plain_name(column) not in roles
        and not kind_of(column)
        and plain_name(column) not in NUMBERS
        and (not words_of(column) & _SETTINGS or named_value(column, tasks=True).metric is not None)
        and (place or column.strip())
        and column not in errors
        and numeric([row[place] for row in rows if len(row) == len(columns)])
    ]


def numeric(cells: Sequence[str]) -> bool:
    """Whether the cells that hold something hold numbers, at least one of them, and no sums of money."""
    filled = [cell for cell in cells if not is_blank(cell)]
    return bool(filled) and all(
        not cell.strip().startswith(_COST) and (figure(cell) or figure(cell, ",")) for cell in filled
    )


def binary(columns: Sequence[str], rows: Rows) -> bool:
    """Whether all numbers are 0, 1, or codes of less than 0: single items, not means."""
    found = {*benchmarks(columns, rows)}
    places = [place for place, column in enumerate(columns) if column in found]
    cells = {row[p].strip() for row in rows if len(row) == len(columns) for p in places} - {""}
    return bool(cells) and all(cell in ("0", "1", "0.0", "1.0", "-1", "-2") for cell in cells) and len(places) > 1


def chosen(patterns: Sequence[str], columns: Sequence[str], rows: Rows, where: str) -> list[str]:
    """The columns that the user means: exact names, else patterns; ``*`` is every column of scores.

    Raises:
        AmbiguousError: A pattern fits no column.
    """
    everything = benchmarks(columns, rows)
    found: dict[str, None] = {}
    for pattern in patterns:
        hits = [c for c in columns if c == pattern] or [
            c for c in (everything if pattern == "*" else columns) if fnmatchcase(c, pattern)
        ]
        if not hits:
            raise AmbiguousError(
                "no column holds only numbers under a name of its own" if pattern == "*" else f"no column {pattern!r}",
                expected=f"some of {_items_roles.shown(columns)}",
                do="name the columns of scores: --y COLUMN --y COLUMN",
                where=where,
            )
        found |= dict.fromkeys(hits)
    return list(found)


def values_of(names: Sequence[str], columns: Sequence[str], *, tasks: bool) -> tuple[Value, ...]:
    """The columns of scores with their columns of standard errors."""
    errors = {scores: column for column, scores in errors_of(columns).items()}
    return tuple(named_value(name, tasks=tasks)._replace(stderr=errors.get(name)) for name in names)
