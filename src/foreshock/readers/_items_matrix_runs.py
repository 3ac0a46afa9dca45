"""The runs of a matrix of models and items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from foreshock._base import count_of
from foreshock.readers._items_matrix import Cell, Matrix, cells_of, copies_of, find_matrix, read_cell
from foreshock.readers._items_roles import parent_name, task_note
from foreshock.readers._items_table import Table
from foreshock.readers._presets import MATRICES
from foreshock.readers._protocol import Reader, Reading, ReadOptions
from foreshock.readers._rows import Rows, item_name
from foreshock.readers._tables_contact import say_so
from foreshock.readers._tables_run import chance_of
from foreshock.records import Batch, Run, ingest_id, run_key

_TABLES = {
    "items": ("item_id", "subset"),
    "responses": ("row", "item_id", "epoch", "sample", "delivery"),
    "scores": ("row", "metric_id", "source", "value", "status", "label"),
}


def matrix_of(table: Table, options: ReadOptions) -> tuple[Matrix, str | None] | None:
    """The matrix that a table is, with the name of the preset that knows it; None when it is none."""
    columns = {*table.data.columns}
    for name, known in MATRICES.items():
        fits = options.preset == name or (not options.preset and not options.map and not options.wide)
        if fits and {known.label, known.subset} <= columns:
            own = msgspec.structs.replace(
                options, map={"item": known.label, "subset": known.subset}, wide=["*"], preset=None
            )
            found = find_matrix(table, own, {**known.codes, **options.codes})
            rest = columns - {known.label, known.subset}
            if found is not None and (options.preset == name or rest == {*found.columns}):
                return found, name
    if options.preset:
        return None
    found = find_matrix(table, options, options.codes)
    return None if found is None else (found, None)


def matrix_readings(
    reader: Reader, table: Table, matrix: Matrix, preset: str | None, options: ReadOptions
) -> Iterator[Reading]:
    """A run for each model of the matrix."""
    known = MATRICES[preset] if preset else None
    task = options.task or (known.task if known else parent_name(table.path))
    metric = options.metric or "correct"
    notes = [matrix.sentence() + (f" (preset {preset})" if preset else "")]
    copies = copies_of(table, matrix)
    if copies:
        notes.append(f"{count_of(copies, 'row')} repeated with equal cells; one of each is kept")
    if not (options.task or known):
        notes.append(task_note(task, table.path))
    identity = {"matrix": list(matrix), "scale": options.scale, "task": options.task, "metric": options.metric}
    # part of it only where they are given, so that what was read before keeps its own
    identity |= {name: told for name in ("kind", "chance") if (told := getattr(options, name)) is not None}
    for place, (model, cells) in enumerate(cells_of(table, matrix)):
        key = run_key(reader.name, model, task, table.source.sha256, table.member or "")
        meta = {"read_as": {matrix.rows: matrix.label, "columns": len(matrix.columns)}, "notes": notes}
        if options.kind is not None:
            meta["metrics"] = {metric: {"kind": options.kind}}
        run = Run(
            run_key=key,
            format=reader.name,
            reader=f"{reader.name}@{reader.version}",
            model=model,
            task=task,
            chance=chance_of(options),
            sources=[table.source],
            expected=len(cells),
            guesses=[] if options.task or known else ["task"],
            meta=meta if place else {**meta, **_first(table, matrix, preset, options)},
        )
        run = msgspec.structs.replace(run, ingest_id=ingest_id(key, run.sources, run.reader, identity))
        yield Reading(run, _batches(table, matrix, metric, cells, options.scale))


def _first(table: Table, matrix: Matrix, preset: str | None, options: ReadOptions) -> dict[str, Any]:
    """What the first run of a matrix keeps for all: its columns, and how to say what was understood."""
    kept: dict[str, Any] = {"matrix_columns": [*matrix.columns[:100]]}
    if options.map or options.preset or options.wide:
        return kept
    subset = f",subset={matrix.subset}" if matrix.subset else ""
    words = ["--preset", preset] if preset else ["--wide", "--map", f"{matrix.rows}={matrix.label}{subset}"]
    return kept | {"contact": say_so(table, words, options)}


def _batches(
    table: Table,
    matrix: Matrix,
    metric: str,
    cells: Sequence[tuple[str, str | None, str | None]],
    scale: float | None,
) -> Iterator[Batch]:
    rows = Rows(_TABLES)
    item, response, score = map(rows.appender, _TABLES)
    known: dict[str | None, Cell] = {}
    for number, (name, subset, text) in enumerate(cells):
        found = known.get(text)
        if found is None:
            found = known[text] = read_cell(text, matrix, scale, f"{table.where}, item {name[:60]!r}")
        shown = item_name(name)
        item((shown, subset))
        response((number, shown, 1, 0, found.delivery.value))
        if found.status is not None:
            score((number, metric, "harness", found.value, found.status.value, found.label))
        rows.grow(len(name))
        if rows.full:
            yield from rows.flush()
    yield from rows.flush()
