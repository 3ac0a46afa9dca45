"""A list of tasks that somebody called emergent, against a table of all tasks with their metrics."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from foreshock._base import AmbiguousError, BrokenFileError, ConfigError, count_of, nearest
from foreshock.metrics import harness_metric
from foreshock.mirage._meta_emergent import Triplet
from foreshock.records import parse_model
from foreshock.series import family_label

ROLES = ("task", "metric", "family", "emergent")
_NAMES = {
    "task": ("task", "task_name", "name", "benchmark", "dataset"),
    "metric": ("metric", "metric_name", "preferred_metric", "preferred_score", "pref", "metric_id"),
    "family": ("family", "model_family", "emerges_at", "model", "model_name"),
    "emergent": ("emergent", "is_emergent", "emerges"),
}
_YES, _NO = frozenset({"1", "true", "yes", "y"}), frozenset({"0", "false", "no", "n"})
MAX_BYTES = 64 * 2**20
MAX_NAME = 400
_NAMED = 4


class Listed(NamedTuple):
    """What a list and its base hold.

    Attributes:
        triplets: Every task of either, emergent or not.
        notes: How the files were read and what was left out, one sentence each.
    """

    triplets: list[Triplet]
    notes: list[str]


class _Table(NamedTuple):
    name: str
    header: list[str]
    rows: list[dict[str, str]]
    roles: dict[str, str]
    notes: list[str]


def read_listed(
    listed: Path,
    base: Path,
    *,
    columns: Mapping[str, str] | None = None,
    base_columns: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
) -> Listed:
    """Triplets of a hand-made list of emergent tasks and of the tasks that are not on it.

    A task of the list is emergent, or what its column ``emergent`` says; every task of the base that is not on the list
    is not. The metric of a listed task is that of the list, else that of the base.

    Args:
        listed: CSV with a row for each task, or for each task and model.
        base: CSV with the metric of every task that could have been on the list.
        columns: Role (:data:`ROLES`) to column of ``listed``; what is not said is found by its name.
        base_columns: The same of ``base``; only task and metric are used.
        where: Only rows of ``base`` whose column has this value.

    Raises:
        ConfigError: A column that was named is not there, or no row of the base is left.
        AmbiguousError: A column cannot be found.
        BrokenFileError: A file is no table.
    """
    table, rest = _load(listed, columns or {}), _load(base, base_columns or {})
    notes = [*table.notes, *rest.notes]
    pool = _where(rest, where or {}, notes)
    _need(rest, "task", "--base-columns")
    _need(rest, "metric", "--base-columns")
    _need(table, "task", "--columns")
    metrics: dict[str, list[str]] = {}
    for row in pool:
        named = metrics.setdefault(_cell(rest, row, "task"), [])
        if (metric := _cell(rest, row, "metric")) and metric not in named:
            named.append(metric)
    found = _listed(table, metrics, notes)
    names = {_cell(table, row, "task") for row in table.rows}
    others = [(task, metric) for task, own in metrics.items() if task not in names for metric in own]
    made = [_triplet(task, metric, None, emergent=False) for task, metric in others]
    blank = sum(task not in names and not own for task, own in metrics.items())
    if blank:
        notes.append(f"{count_of(blank, 'task')} of {rest.name} without a metric left out")
    outside = sorted({one.task for one in found} - metrics.keys())
    if outside:
        notes.append(f"{_some(outside)}: listed, but not among the rows of {rest.name}; kept as listed")
    return Listed([*found, *made], notes)


def _listed(table: _Table, base: Mapping[str, Sequence[str]], notes: list[str]) -> list[Triplet]:
    found: dict[tuple[str, str, str | None], Triplet] = {}
    without, other = [], []
    for row in table.rows:
        task, metric = _cell(table, row, "task"), _cell(table, row, "metric")
        own = [metric] if metric else list(base.get(task, ()))
        if not own:
            without.append(task)
        if metric and base.get(task) and metric not in base[task]:
            other.append(task)
        family = _family(table, row)
        for name in own:
            found[task, name, family] = _triplet(task, name, family, emergent=_emergent(table, row))
    if without:
        notes.append(f"{_some(without)}: listed without a metric, left out")
    if other:
        notes.append(f"{_some(other)}: the list names another metric than the base; that of the list was taken")
    return list(found.values())


def _triplet(task: str, metric: str, family: str | None, *, emergent: bool) -> Triplet:
    known = harness_metric(metric)
    kind = (known.kind if known else None) or "unknown"
    return Triplet(task, metric, family, kind, known.link if known else None, emergent, by="list")


def _emergent(table: _Table, row: Mapping[str, str]) -> bool:
    if "emergent" not in table.roles:
        return True
    word = _cell(table, row, "emergent").casefold()
    if word in _YES or word in _NO:
        return word in _YES
    raise BrokenFileError(
        f"{word!r:.60} in the column {table.roles['emergent']!r:.60}", expected="yes or no", where=table.name
    )


def _family(table: _Table, row: Mapping[str, str]) -> str | None:
    text = _cell(table, row, "family") if "family" in table.roles else ""
    if not text:
        return None
    # a model's name stands for its family: GPT-3 13B and GPT-3 175B move together
    label = family_label(parse_model(text))
    return text if label == "unnamed" else label


def _load(path: Path, columns: Mapping[str, str]) -> _Table:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BrokenFileError(
                f"{path.stat().st_size:,} bytes", expected=f"a table of at most {MAX_BYTES:,} bytes", where=str(path)
            )
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigError(
            f"cannot read it ({error.strerror})", expected="a CSV file", do="correct the path", where=str(path)
        ) from None
    except UnicodeDecodeError:
        raise BrokenFileError("a byte that is not UTF-8", expected="a CSV file in UTF-8", where=str(path)) from None
    header, rows = _rows(text, path)
    return _with_roles(path.name, header, rows, columns)


def _rows(text: str, path: Path) -> tuple[list[str], list[dict[str, str]]]:
    try:
        table = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error as error:
        raise BrokenFileError(f"no CSV ({error})", expected="rows of equal length", where=str(path)) from None
    if len(table) < 2:
        raise BrokenFileError("no rows", expected="a header and at least one row", where=str(path))
    header = [name.strip() for name in table[0]]
    if len({*header}) < len(header):
        raise BrokenFileError("a column is named twice", expected="a name for each column", where=str(path))
    for place, row in enumerate(table[1:], 2):
        if len(row) != len(header):
            raise BrokenFileError(
                f"{count_of(len(row), 'field')} in row {place}",
                expected=f"{len(header)} as in the header",
                where=str(path),
            )
    return header, [dict(zip(header, (cell.strip()[:MAX_NAME] for cell in row), strict=True)) for row in table[1:]]


def _with_roles(name: str, header: list[str], rows: list[dict[str, str]], columns: Mapping[str, str]) -> _Table:
    for role, column in columns.items():
        if role not in ROLES:
            raise ConfigError(f"unknown role {role!r:.60}", expected=", ".join(ROLES), where=name)
        if column not in header:
            near = nearest(column, header)
            raise ConfigError(
                f"no column {column!r:.60}",
                expected=f"one of {', '.join(header[:20])}",
                do=f"did you mean {near[0]:.60}?" if near else None,
                where=name,
            )
    roles = dict(columns)
    folded = {column.casefold(): column for column in header}
    for role, known in _NAMES.items():
        guess = next((folded[word] for word in known if word in folded and folded[word] not in roles.values()), None)
        if role not in roles and guess is not None:
            roles[role] = guess
    guessed = [f"{role}={column}" for role, column in roles.items() if role not in columns]
    notes = [f"{name}: found by name: {', '.join(guessed)}"] if guessed else []
    return _Table(name, header, rows, roles, notes)


def _need(table: _Table, role: str, option: str) -> None:
    if role not in table.roles:
        raise AmbiguousError(
            f"no column that is known to hold the {role}",
            expected=f"one of {', '.join(_NAMES[role])}; there {'are' if table.header[1:] else 'is'} "
            f"{', '.join(table.header[:20])}",
            do=f"name it: {option} {role}=COLUMN",
            where=table.name,
        )


def _where(table: _Table, where: Mapping[str, str], notes: list[str]) -> list[dict[str, str]]:
    rows = table.rows
    for column, value in where.items():
        if column not in table.header:
            raise ConfigError(
                f"no column {column!r:.60}", expected=f"one of {', '.join(table.header[:20])}", where=table.name
            )
        rows = [row for row in rows if row[column] == value]
        notes.append(f"{table.name}: {len(rows):,} of {len(table.rows):,} rows have {column}={value}")
    if not rows:
        raise ConfigError("no row of the base is left", expected="at least one", where=table.name)
    return rows


def _cell(table: _Table, row: Mapping[str, str], role: str) -> str:
    return row[table.roles[role]] if role in table.roles else ""


def _some(names: Sequence[str]) -> str:
    """How many, and the first few by name."""
    rest = len(names) - _NAMED
    return f"{count_of(len(names), 'task')} ({', '.join(names[:_NAMED])}{f' and {rest} more' if rest > 0 else ''})"
