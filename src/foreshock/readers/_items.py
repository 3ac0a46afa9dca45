"""Reader of home-made tables of responses: CSV, JSON Lines, JSON arrays, Parquet, zipped or not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import AmbiguousError, BrokenFileError, ForeshockError
from foreshock.readers._contain import reported
from foreshock.readers._items_build import ItemRows
from foreshock.readers._items_chat import chat, is_chat
from foreshock.readers._items_matrix_runs import matrix_of, matrix_readings
from foreshock.readers._items_repeats import Repeats
from foreshock.readers._items_roles import (
    APART,
    BESIDE,
    Roles,
    detect,
    parent_name,
    parts_of,
    scores_left,
    series_role,
    shots_in,
    shown,
    task_note,
    told,
)
from foreshock.readers._items_said import declared, refuse_idle, suit
from foreshock.readers._items_sniff import is_table
from foreshock.readers._items_survey import Group, Record, Survey
from foreshock.readers._items_table import LineRows, Table, cell, tables
from foreshock.readers._json import text
from foreshock.readers._presets import PRESETS, Preset, preset
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.readers._tables_contact import explain, say_so
from foreshock.readers._tables_run import chance_of
from foreshock.records import Batch, ModelCard, Run, RunStatus, ingest_id, run_key


class _Plan(NamedTuple):
    """How one table is to be read."""

    roles: Roles
    preset: Preset | None
    notes: list[str]


class _Names(NamedTuple):
    """What the path says about a table."""

    model: str | None
    task: str
    shots: str | None
    guesses: list[str]

    def notes(self, path: Path) -> list[str]:
        """What was guessed from where the file lies."""
        if "task" not in self.guesses:
            return []
        return [task_note(self.task, path)]


class ItemReader:
    """Reads any table of responses whose columns are plain or told with ``--map`` or ``--preset``."""

    name = "items"
    version = 3

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:
        """Whether the content is a table."""
        asked = {**(PRESETS[options.preset].roles if options.preset in PRESETS else {}), **options.map}
        return is_table(candidate, list(asked.values()))

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read every table; a file may hold several runs, an archive several tables."""
        for candidate in candidates:
            path = candidate.path
            try:
                for table in tables(path):
                    if isinstance(table, ForeshockError):
                        yield Failure(path, table)
                    else:
                        yield from self._table(table, options)
            except BaseException as error:  # noqa: BLE001 - one bad file is not the others
                yield Failure(path, reported(error, path))

    def _table(self, table: Table, options: ReadOptions) -> Iterator[Reading | Failure]:
        found: tuple[str, ...] = ()
        roles: Roles | None = None
        try:
            matrix = matrix_of(table, options)
            if matrix is not None:
                yield from matrix_readings(self, table, *matrix, options)
                return
            plan = _plan(table, options)
            found, roles = plan.roles.found, plan.roles
            refuse_idle(plan.roles, options, table)
            survey = Survey(table, plan.roles, options.scale)
            if not survey.groups:
                raise BrokenFileError(
                    "no rows below the header", expected="one row per response", do="remove it", where=table.where
                )
            first = None if options.map or options.preset else _contact(table, plan, options)
            for group, records in survey.runs():
                reading = self._reading(survey, plan, group, records, options)
                if first is not None:
                    meta = {**reading.run.meta, "contact": first}
                    reading = reading._replace(run=msgspec.structs.replace(reading.run, meta=meta))
                    first = None
                yield reading
        except BaseException as error:  # noqa: BLE001 - one bad member is not the others
            if roles is not None and isinstance(error, AmbiguousError) and "--scale" in (error.do or ""):
                suit(error, table, roles)
            if isinstance(error, ForeshockError):
                explain(error, table, options)
            if found and isinstance(error, ForeshockError):
                taken = "a column is" if len(found) == 1 else "columns are"
                error.add_note(f"{taken} taken by name: {', '.join(found)}; without it: --map {found[0]}=")
            yield Failure(table.path, reported(error, table.path, table.where))

    def _reading(
        self, survey: Survey, plan: _Plan, group: Group, records: Iterator[Record], options: ReadOptions
    ) -> Reading:
        table, columns = survey.table, plan.roles.columns
        first = next(records)
        output = first.values.get("output")
        names = _names(table, plan, group, options)
        model, task = group.model or names.model or table.stem, group.task or names.task
        model = model if group.step is None else f"{model}@step{group.step}"
        conditions = ({"shots": names.shots} if names.shots else {}) | dict(group.conditions)
        seed = int(group.seed) if group.seed and group.seed.isdecimal() and len(group.seed) < 18 else None
        if group.seed is not None and seed is None:
            conditions["seed"] = group.seed
        # a copy elsewhere is the same run; another table of the same model and task is another one
        content = (table.source.sha256, table.member or "")
        key = run_key("items", model, task, group.date or "", names.shots or "", *group.apart, *content)
        # a preset, its roles in --map and the same roles found by themselves are one way of reading
        identity = {"roles": columns, "scale": options.scale, "model": options.model, "task": options.task}
        # part of it only where they are given, so that what was read before keeps its own
        identity |= {
            name: said for name in ("kind", "chance", "metric", "twin") if (said := getattr(options, name)) is not None
        }
        cut = table.data.cut if isinstance(table.data, LineRows) else None
        used = {part for role, column in columns.items() for part in parts_of(role, column, table.data.columns)}
        unused = [c for c in table.data.columns if c not in used]
        repeats = survey.repeats[group]
        scores = parts_of("score", options.metric or columns.get("score", "score"), table.data.columns)
        notes = [*plan.notes, *_scaled(scores, survey.graded, options.scale), *names.notes(table.path)]
        meta = {"read_as": columns, "columns_not_used": unused} | ({"notes": notes} if notes else {})
        if "score" in columns and (options.kind is not None or options.twin is not None):
            meta["metrics"] = declared(scores, options, table)
        run = Run(
            run_key=key,
            format=self.name,
            reader=f"{self.name}@{self.version}",
            model=model,
            task=task,
            card=ModelCard(step=group.step),
            conditions=conditions,
            seed=seed,
            chance=chance_of(options),
            created=group.date or (chat(output).created if is_chat(output) else None),
            sources=[table.source],
            status=RunStatus.PARTIAL if cut else RunStatus.COMPLETE,
            warnings=[*repeats.warnings, *_merged(unused, columns, repeats), *([cut] if cut else [])],
            guesses=names.guesses,
            meta=meta,
        )
        run = msgspec.structs.replace(run, ingest_id=ingest_id(key, run.sources, run.reader, identity))
        graded = survey.graded if len(scores) > 1 else {0}
        rows = ItemRows(scores, graded, options.scale, survey.first_epoch, table.where, numbered=repeats.numbered)
        return Reading(run, _batches(rows, chain([first], records)))


def _merged(unused: Sequence[str], columns: Mapping[str, str], repeats: Repeats) -> list[str]:
    """Columns that by their names set runs apart, where rows were numbered as repetitions without them."""
    plain = {role: c for c in unused if (role := series_role(c)) is not None and role not in columns}
    if not plain or not repeats.numbered:
        return []
    roles = ",".join(f"{role}={shown([column])}" for role, column in plain.items())
    return [f"columns that may set runs apart are not used, so that their rows count as repetitions: --map {roles}"]


def _contact(table: Table, plan: _Plan, options: ReadOptions) -> list[str]:
    name = next((name for name, known in PRESETS.items() if known is plan.preset), None)
    roles = ",".join(f"{role}={column}" for role, column in plan.roles.columns.items())
    return say_so(table, ["--map", roles] if name is None else ["--preset", name], options)


def _batches(rows: ItemRows, records: Iterable[Record]) -> Iterator[Batch]:
    yield from rows.batches(records)
    warnings = rows.warnings()
    if warnings:
        yield Batch("runs", {"warnings": [warnings]})


def _plan(table: Table, options: ReadOptions) -> _Plan:
    columns, where = table.data.columns, table.where
    if options.preset:
        chosen = preset(options.preset)
        return _told_plan({**chosen.roles, **options.map}, chosen, table, options)
    if options.map:
        return _told_plan(options.map, None, table, options)
    for name, known in PRESETS.items():
        if set(known.roles.values()) <= set(columns):
            note = f"read with the preset {name}, whose columns these are"
            return _Plan(told(known.roles, columns, where), known, [note])
    roles = _index_target(table, detect(columns, where))
    return _Plan(roles, None, [roles.sentence(), *_scores_left(table, roles)])


def _scores_left(table: Table, roles: Roles) -> list[str]:
    columns = table.data.columns
    first = next(({c: cell(row, c) for c in columns} for _, row in table.data.rows()), {})
    told = scores_left(columns, first, roles)
    return [told] if told else []


def _scaled(scores: Sequence[str], graded: Collection[int], scale: float | None) -> list[str]:
    """What ``scale`` is of, where there are several columns of scores."""
    plain = [name for place, name in enumerate(scores) if place not in graded]
    if scale is None or len(scores) == 1 or not plain:
        return []
    return [f"{' and '.join(plain)} {'holds' if len(plain) == 1 else 'hold'} right and wrong, and --scale is not of it"]


def _told_plan(mapping: dict[str, str], chosen: Preset | None, table: Table, options: ReadOptions) -> _Plan:
    known = [role for role in ("model", "task") if getattr(options, role)]
    roles = told(mapping, table.data.columns, table.where, known, APART if chosen else BESIDE)
    # the preset knows its columns, and what was told of a target stands
    roles = roles if chosen or "target" in mapping else _index_target(table, roles)
    found = ", ".join(roles.found)
    by_name = [f"{roles.sentence()} ({found} by the name of the column)"] if found else []
    return _Plan(roles, chosen, [*by_name, *roles.doubts, *([] if chosen else _scores_left(table, roles))])


def _index_target(table: Table, roles: Roles) -> Roles:
    """A whole-number target beside choices is the index of the right one."""
    columns = dict(roles.columns)
    if "choices" not in columns or "target" not in columns or "gold_index" in columns:
        return roles
    first: Any = next((cell(row, columns["target"]) for _, row in table.data.rows()), None)
    if isinstance(first, int) and not isinstance(first, bool):
        columns["gold_index"] = columns.pop("target")
        return roles._replace(columns=columns, found=tuple("gold_index" if r == "target" else r for r in roles.found))
    return roles


def _names(table: Table, plan: _Plan, group: Group, options: ReadOptions) -> _Names:
    """Model and task: from columns, from what the user said, from the preset's file names, else guessed."""
    stem, guesses = table.stem, []
    archive = text(Path(table.path.name).stem)
    if plan.preset:
        found = plan.preset.name.search(stem) or plan.preset.name.search(archive)
        if found:
            return _Names(options.model or found["model"], options.task or plan.preset.task, found["shots"], [])
    bare, shots = shots_in(stem)
    if options.model or group.model:
        model, rest = options.model or group.model, bare
    else:
        model, rest = bare, parent_name(table.path)
        guesses.append("model")
    task = options.task or (plan.preset.task if plan.preset else None)
    if task is None and group.task is None:
        task = rest
        guesses.append("task")
    return _Names(model, task or rest, shots, guesses)
