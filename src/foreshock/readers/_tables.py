"""Reader of published tables: scores of models on tasks, without any responses, long or wide."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError, ConfigError, ForeshockError
from foreshock.readers._contain import reported
from foreshock.readers._items_roles import shown
from foreshock.readers._items_sniff import DELIMITED, is_table
from foreshock.readers._items_table import Table, tables
from foreshock.readers._plain import pieces
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.readers._tables_apart import Place, identities, told_apart
from foreshock.readers._tables_axis import kind_of, plain_name
from foreshock.readers._tables_boards import BOARDS, asked, recognised
from foreshock.readers._tables_contact import contact, first_rows, introduce
from foreshock.readers._tables_family import one_family
from foreshock.readers._tables_layout import Layout, Value
from foreshock.readers._tables_mean import Mean
from foreshock.readers._tables_names import NUMBERS
from foreshock.readers._tables_roles import detect, is_aggregates, is_wide, told
from foreshock.readers._tables_rows import Gathered, gather
from foreshock.readers._tables_run import Read, run_of, said_of
from foreshock.readers._tables_wide import Rows, binary, numeric
from foreshock.readers._unknown import head_rows
from foreshock.records import Batch


class TableReader:
    """Reads tables of aggregates: a row for each score, or a column for each benchmark."""

    name = "table"
    version = 3

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:
        """Whether the content is a table and the user, or its header, says that it holds aggregates."""
        if options.csv:
            return is_table(candidate, [c for c in options.csv.values() if "+" not in c])
        if options.preset in BOARDS:
            return is_table(candidate, ())
        if options.map and (not options.wide or "item" in options.map):
            return False
        if options.preset or not candidate.path.name.lower().endswith(DELIMITED):
            return False
        columns, rows = head_rows(candidate)
        if options.wide:
            return not binary(columns, rows)
        known = recognised(columns, "") is not None
        return known or is_aggregates(columns, rows) or is_wide(columns, rows)

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read every table: a run for each model, task and condition in it."""
        for candidate in candidates:
            try:
                for table in tables(candidate.path):
                    if isinstance(table, ForeshockError):
                        yield Failure(candidate.path, table)
                    else:
                        yield from self._table(table, options)
            except BaseException as error:  # noqa: BLE001 - one bad file is not the others
                yield Failure(candidate.path, reported(error, candidate.path))

    def _table(self, table: Table, options: ReadOptions) -> Iterator[Reading]:
        rows = first_rows(table)
        layout = None
        try:
            layout = lay_out(table, rows, options)
            gathered = gather(table, layout, options)
        except ForeshockError as error:
            introduce(error, table, rows, (layout, options))
            raise
        told_x = options.csv.get("x")
        axes = [*gathered.axes] if told_x is None else [kind_of(told_x) or "x"]
        family = one_family(gathered.runs, axes)
        who = identities([*gathered.runs], Place(self, table, layout, gathered.axes, options))
        notes = [*_notes(layout, gathered, options, family, table), *told_apart(who)]
        told = notes, gathered.warnings
        said = said_of(table, layout, options, told, one_family=family)
        first = None if options.csv or options.preset else contact(table, layout, options, rows)
        for place, (subject, means) in enumerate(gathered.runs.items()):
            run = run_of(self, Read(table, layout, gathered), (subject, means), who[subject], said, options)
            if place == 0 and first is not None:
                run = msgspec.structs.replace(run, meta={**run.meta, "contact": first})
            yield Reading(run, pieces(_aggregates(means)))


def lay_out(table: Table, rows: Rows, options: ReadOptions) -> Layout:
    """How the table is to be read: as told, as a known board, or as its names and cells say plainly.

    Raises:
        AmbiguousError: It could be read in several ways.
        ConfigError: An option says something impossible.
    """
    columns, where = table.data.columns, table.where
    if options.preset in BOARDS:
        layout = asked(options.preset or "", columns, table.stem, where)
    elif options.csv or options.wide:
        layout = told(options, columns, rows, where)
    else:
        layout = recognised(columns, table.stem) or detect(columns, rows, where)
    n = options.n
    if n is not None and n in columns:
        layout = layout._replace(roles={**layout.roles, "n": n})
    elif n is not None and not n.isdecimal():
        raise BrokenFileError(f"n is {n!r}, which is no column", expected="a number of items, or a column", where=where)
    return _declared(layout, columns, options, where)


def _declared(layout: Layout, columns: list[str], options: ReadOptions, where: str) -> Layout:
    """The layout with what the user declared about the scores, and the column of the twin."""
    values = layout.values
    if options.kind is not None:
        if options.kind not in ("hard", "continuous"):
            raise ConfigError(f"--kind {options.kind!r}", expected="hard or continuous", do="give one of the two")
        values = tuple(v._replace(kind=options.kind) for v in values)
    if options.twin is None:
        return layout._replace(values=values)
    if len(values) != 1:
        raise ConfigError(
            f"--twin beside {len(values)} columns of scores",
            expected="one column of scores and its twin",
            do="name the one that the twin belongs to: --y COLUMN",
        )
    if options.twin not in columns:
        raise BrokenFileError(
            f"no column {options.twin!r} for the twin",
            expected="a column of the table",
            do="correct --twin",
            where=where,
        )
    main = values[0]
    twin = Value(options.twin, metric=options.twin, kind="continuous", free=True)
    return layout._replace(values=(main._replace(twin=options.twin, kind=main.kind or "hard"), twin))


def _notes(layout: Layout, gathered: Gathered, options: ReadOptions, family: bool, table: Table) -> list[str]:
    found = [] if options.csv else [layout.sentence()]
    found += [*layout.notes, *gathered.notes]
    used = layout.used
    unread = [c for c in _numbers(table) if c not in used] if not options.csv else []
    if unread and layout.preset is None:
        found.append(f"columns of numbers that are not read: {shown(unread)} (--y reads them)")
    if gathered.derived_n:
        found.append("n is derived from scores and standard errors, and marked as a guess")
    if any(mean.stderr_kind == "ci95" for means in gathered.runs.values() for mean in means):
        found.append("± is read as half of a 95% interval")
    if family:
        found.append(f"no column names a family: the models are read as one, {table.stem}")
    return found


def _numbers(table: Table) -> list[str]:
    columns, rows = table.data.columns, first_rows(table)
    return [
        column
        for place, column in enumerate(columns)
        if plain_name(column) not in NUMBERS and numeric([row[place] for row in rows])
    ]


class _Error(NamedTuple):
    value: float | None
    kind: str | None


def _aggregates(means: list[Mean]) -> Batch:
    errors = [_stderr(m) for m in means]
    columns: dict[str, list[Any]] = {
        "metric_id": [m.metric for m in means],
        "filter": [m.answer_filter for m in means],
        "subset": [m.subset for m in means],
        "value": [m.value for m in means],
        "stderr": [e.value for e in errors],
        "stderr_kind": [e.kind for e in errors],
        "n": [m.n for m in means],
        "low": [0.0 if m.bounded else None for m in means],
        "high": [1.0 if m.bounded else None for m in means],
        "higher_is_better": [m.higher for m in means],
        "source": ["table"] * len(means),
        "raw": [msgspec.json.encode(m.raw).decode() for m in means],
    }
    return Batch("aggregates", columns)


def _stderr(mean: Mean) -> _Error:
    if mean.stderr is not None:
        return _Error(mean.stderr, mean.stderr_kind)
    if mean.n is not None and mean.rate:
        return _Error(math.sqrt(mean.value * (1 - mean.value) / mean.n), "derived")
    return _Error(None, None)
