"""Reader of published tables: a score per model and task, without any responses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError, ForeshockError, count_of
from foreshock.readers._contain import reported
from foreshock.readers._items_sniff import DELIMITED, is_table
from foreshock.readers._items_table import Table, cell, tables
from foreshock.readers._items_values import as_text
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.readers._tables_axis import kind_of, plain_name
from foreshock.readers._tables_family import one_family
from foreshock.readers._tables_roles import GENERIC, detect, is_aggregates, is_wide, told, wide_error
from foreshock.readers._tables_rows import Gathered, Mean, Scoring, Subject, gather, is_rate, moment
from foreshock.readers._unknown import head_rows
from foreshock.records import Batch, ModelCard, Run, ingest_id, run_key

_CARD = ("parameters", "tokens", "flops", "step")
_ROWS_LOOKED_AT = 100
_UNITS = {"T": 1e12, "B": 1e9, "M": 1e6, "K": 1e3}


class _Said(NamedTuple):
    """What is told about every run of a table, and whether its models are one family."""

    notes: list[str]
    warnings: list[str]
    one_family: bool


class TableReader:
    """Reads long tables of aggregates: one row for each score."""

    name = "table"
    version = 1

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:
        """Whether the content is a table and the user, or its header, says that it holds aggregates."""
        if options.map or options.preset:
            return False
        if options.csv:
            return is_table(candidate, list(options.csv.values()))
        if not candidate.path.name.lower().endswith(DELIMITED):
            return False
        columns, rows = head_rows(candidate)
        return is_aggregates(columns, rows) or is_wide(columns, rows)

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
        columns = table.data.columns
        roles, n = dict(options.csv), options.n
        if n is not None and n in columns:
            roles["n"], n = n, None
        if n is not None and not n.isdecimal():
            raise BrokenFileError(
                f"n is {n!r}, which is no column", expected="a number of items, or a column", where=table.where
            )
        if roles:
            found = told(roles, columns, table.where)
        elif is_wide(columns, first := _first_rows(table)):
            raise wide_error(columns, first, table.where)
        else:
            found = detect(columns, table.where)
        gathered = gather(table, found, Scoring(options.scale, n))
        told_x = options.csv.get("x")
        axes = [*gathered.axes] if told_x is None else [kind_of(told_x) or "x"]
        said = _Said([], _warnings(gathered), one_family(gathered.runs, axes))
        if not options.csv:
            plain = {"score" if role == "y" else role: column for role, column in found.items()}
            said.notes.append("read as " + ", ".join(f"{role}={column}" for role, column in plain.items()))
        if said.one_family:
            said.notes.append(f"no column names a family: the models are read as one, {table.stem}")
        for subject, means in gathered.runs.items():
            yield self._reading(table, found, gathered, (subject, means), said, options)

    def _reading(
        self,
        table: Table,
        roles: Mapping[str, str],
        gathered: Gathered,
        entry: tuple[Subject, list[Mean]],
        said: _Said,
        options: ReadOptions,
    ) -> Reading:
        subject, means = entry
        model, named = _model(subject, gathered, table, options)
        task, known = _task(subject, roles, table, options)
        when = moment(subject.date)
        conditions = {"shots": subject.shots, roles.get("condition", ""): subject.condition}
        parts = (model, task, subject.date or "", subject.shots or "", subject.seed or "", subject.condition or "")
        key = run_key("table", *parts, table.source.sha256, table.member or "")
        seed = int(subject.seed) if subject.seed and subject.seed.isdecimal() and len(subject.seed) < 18 else None
        guesses = [*([] if named else ["model"]), *([] if known else ["task"]), *(["n"] if gathered.derived_n else [])]
        run = Run(
            run_key=key,
            format=self.name,
            reader=f"{self.name}@{self.version}",
            model=model,
            card=_card(subject, gathered, table.stem if said.one_family or not named else None),
            task=task,
            conditions={name: value for name, value in conditions.items() if value is not None},
            seed=seed,
            created=when,
            known_at=when,
            chance=options.chance,
            sources=[table.source],
            warnings=said.warnings,
            guesses=guesses,
            meta=_meta(subject, roles, gathered, table) | ({"notes": said.notes} if said.notes else {}),
        )
        identity = {name: getattr(options, name) for name in ("csv", "scale", "chance", "n", "model", "task")}
        run = msgspec.structs.replace(run, ingest_id=ingest_id(key, run.sources, run.reader, identity))
        return Reading(run, iter([_aggregates(means)]))


def _first_rows(table: Table) -> list[list[str]]:
    columns = table.data.columns
    return [[as_text(cell(row, c)) or "" for c in columns] for _, row in islice(table.data.rows(), _ROWS_LOOKED_AT)]


def _model(subject: Subject, gathered: Gathered, table: Table, options: ReadOptions) -> tuple[str, bool]:
    """Name of the model, made of family and place where the table has none, and whether the table named it."""
    places = dict(subject.axes)
    step = places.get("step")
    if subject.model is not None:
        return (f"{subject.model}@step{step:g}" if step is not None else subject.model), True
    if options.model:
        return options.model, True
    shown = [_place(role, gathered.axes[role].column, place) for role, place in places.items() if place is not None]
    return " ".join([subject.family or table.stem, *shown]), False


def _place(role: str, column: str, place: float) -> str:
    """A place on an axis as people write it.

    Examples:
        >>> _place("parameters", "size", 1.4e9), _place("x", "width", 64.0)
        ('1.4B', 'width=64')
    """
    if role != "parameters":
        return f"{column}={place:g}"
    unit = next((u for u in ("T", "B", "M", "K") if place >= _UNITS[u]), "")
    return f"{place / _UNITS.get(unit, 1.0):.4g}{unit}"


def _task(subject: Subject, roles: Mapping[str, str], table: Table, options: ReadOptions) -> tuple[str, bool]:
    if subject.task or options.task:
        return subject.task or options.task or "", True
    column = roles["y"]
    return (table.stem if plain_name(column) in GENERIC else column), False


def _card(subject: Subject, gathered: Gathered, stem: str | None) -> ModelCard:
    """What the table says about the model; a family that it does not name has the name of the file, ``stem``."""
    places = {role: place for role, place in subject.axes if role in _CARD and place is not None}
    guesses = [role for role in places if gathered.axes[role].guessed]
    step = places.pop("step", None)
    whole = int(step) if step is not None and step.is_integer() else None
    if subject.family is None and stem is not None:
        guesses.append("family")
    family = subject.family or stem
    return ModelCard(family=family, step=whole, guesses=guesses, **places)  # type: ignore[arg-type]


def _meta(subject: Subject, roles: Mapping[str, str], gathered: Gathered, table: Table) -> dict[str, Any]:
    meta: dict[str, Any] = {"read_as": dict(roles)}
    unused = [c for c in table.data.columns if c not in roles.values()]
    if unused:
        meta["columns_not_used"] = unused
    other = dict(subject.axes).get("x")
    if other is not None:
        meta["axis"] = {"name": gathered.axes["x"].column, "value": other}
    if subject.date is not None and moment(subject.date) is None:
        meta["date"] = subject.date
    return meta


def _warnings(gathered: Gathered) -> list[str]:
    found = [f"{a.column} is read as billions of {a.kind}" for a in gathered.axes.values() if a.guessed]
    if gathered.blank:
        rows = count_of(gathered.blank, "row")
        found.append(f"{rows} without a score {'is' if gathered.blank == 1 else 'are'} left out")
    odd = next((s.date for s in gathered.runs if s.date is not None and moment(s.date) is None), None)
    if odd is not None:
        found.append(f"dates such as {odd[:40]!r} are not ISO 8601 and not used")
    return found


def _aggregates(means: list[Mean]) -> Batch:
    rate = [m.bounded for m in means]
    errors = [_stderr(m) for m in means]
    columns: dict[str, list[Any]] = {
        "metric_id": [m.metric for m in means],
        "subset": [m.subset for m in means],
        "value": [m.value for m in means],
        "stderr": [e for e, _ in errors],
        "stderr_kind": [kind for _, kind in errors],
        "n": [m.n for m in means],
        "low": [0.0 if r else None for r in rate],
        "high": [1.0 if r else None for r in rate],
        "higher_is_better": [True if is_rate(m.metric) else None for m in means],
        "source": ["table"] * len(means),
        "raw": [msgspec.json.encode(m.raw).decode() for m in means],
    }
    return Batch("aggregates", columns)


def _stderr(mean: Mean) -> tuple[float | None, str | None]:
    if mean.stderr is not None:
        return mean.stderr, "stated"
    if mean.n is not None and mean.bounded and is_rate(mean.metric):
        return math.sqrt(mean.value * (1 - mean.value) / mean.n), "derived"
    return None, None
