"""Names and keys of the runs of a table: rows that are about different runs never become one.

Nothing but the name of the model may tell two rows apart at first sight (``llama`` at 7B and at 70B). What else does
then stands in the names, ``llama 7B`` and ``llama 70B``, and in the keys.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foreshock._base import count_of
from foreshock.readers._items_table import Table
from foreshock.readers._protocol import Reader, ReadOptions
from foreshock.readers._tables_axis import AXES, Axis, plain_name
from foreshock.readers._tables_layout import GENERIC, Layout
from foreshock.readers._tables_subject import Subject
from foreshock.records import run_key

_UNITS = {"T": 1e12, "B": 1e9, "M": 1e6, "K": 1e3}
_ROLES = (*AXES, "x")
_NAMED = ("family", "organisation")


class Identity(NamedTuple):
    """Who one run of a table is about.

    Attributes:
        model: Its name.
        named: The table or the user named it.
        apart: Something else than its own name stands in ``model``, to tell it from others of that name.
        task: Its task.
        known: The table or the user named the task.
        key: Key of the run.
    """

    model: str
    named: bool
    apart: bool
    task: str
    known: bool
    key: str


class Place(NamedTuple):
    """What the runs of a table share: what read it, the table, its layout, its axes by role, and the options."""

    reader: Reader
    table: Table
    layout: Layout
    axes: dict[str, Axis]
    options: ReadOptions


def identities(subjects: Sequence[Subject], place: Place) -> dict[Subject, Identity]:
    """Name and key of every subject; no two have one key.

    Runs that their name, task, date and conditions tell apart have keys of these alone.
    """
    plain = {subject: _plain(subject, place) for subject in subjects}
    rivals: dict[str, list[Subject]] = defaultdict(list)
    for subject, found in plain.items():
        rivals[found.key].append(subject)
    clashes: dict[str, list[list[Subject]]] = defaultdict(list)
    for group in rivals.values():
        if len(group) > 1:
            clashes[plain[group[0]].model].append(group)
    for group in (g for groups in clashes.values() for g in groups):
        for subject in group[1:]:
            found = plain[subject]
            plain[subject] = found._replace(key=run_key(found.key, *map(repr, subject)))
    fields = {model: _telling(groups) for model, groups in clashes.items()}
    return {
        subject: _named_apart(subject, found, fields[found.model], place) if found.model in fields else found
        for subject, found in plain.items()
    }


def told_apart(found: Mapping[Subject, Identity]) -> list[str]:
    """In words that names of models were completed."""
    models: dict[str, str] = {}
    for subject, who in found.items():
        if who.apart and subject.model is not None:
            models.setdefault(subject.model, who.model)
    if not models:
        return []
    (name, full), *more = models.items()
    others = f", and {count_of(len(more), 'other name')}" if more else ""
    return [
        f"the name {name[:60]!r} is of several models: each has what tells it apart in its name, {full[:80]!r}{others}"
    ]


def _plain(subject: Subject, place: Place) -> Identity:
    table, options = place.table, place.options
    model, named = _model(subject, place)
    task, known = _task(subject, place.layout, table, options)
    parts = [model, task, *(part or "" for part in (subject.date, subject.shots, subject.seed))]
    parts += [*(text for pair in subject.conditions for text in pair), subject.version or ""]
    parts += [str(subject.repeat)] if subject.repeat else []
    key = run_key(place.reader.name, *parts, table.source.sha256, table.member or "")
    return Identity(model, named, False, task, known, key)


def _telling(groups: Sequence[Sequence[Subject]]) -> tuple[str, ...]:
    """Few fields that tell the subjects of every group apart: places on axes first, then family and organisation."""
    chosen: tuple[str, ...] = ()
    have = sum(1 for _ in groups)
    for field in (*_ROLES, *_NAMED):
        more = (*chosen, field)
        kinds = sum(len({tuple(_field(s, f) for f in more) for s in group}) for group in groups)
        if kinds > have:
            chosen, have = more, kinds
    return chosen


def _field(subject: Subject, name: str) -> object:
    return getattr(subject, name) if name in _NAMED else dict(subject.axes).get(name)


def _named_apart(subject: Subject, found: Identity, fields: tuple[str, ...], place: Place) -> Identity:
    """The name with what tells it from the others of that name, numbers with all their digits."""
    places = {role: p for role, p in subject.axes if p is not None}
    named = subject.model or place.options.model
    name = named or subject.family or place.table.stem
    if "family" in fields and subject.family and subject.family != name:
        name = f"{subject.family} {name}"
    if "organisation" in fields and subject.organisation:
        name = f"{subject.organisation}/{name}"
    if "step" in places and subject.model is not None:
        name += f"@step{places.pop('step'):.15g}"
    shown = [_place(r, place.axes[r].column, p, 15) for r, p in places.items() if r in fields or not named]
    model = " ".join([name, *shown])
    return found._replace(model=model, apart=model != found.model)


def _model(subject: Subject, place: Place) -> tuple[str, bool]:
    """Name of the model, made of family and place where the table has none, and whether the table named it."""
    places = dict(subject.axes)
    step = places.get("step")
    if subject.model is not None:
        return (f"{subject.model}@step{step:g}" if step is not None else subject.model), True
    if place.options.model:
        return place.options.model, True
    shown = [_place(role, place.axes[role].column, found) for role, found in places.items() if found is not None]
    return " ".join([subject.family or place.table.stem, *shown]), False


def _task(subject: Subject, layout: Layout, table: Table, options: ReadOptions) -> tuple[str, bool]:
    if subject.task or options.task:
        return subject.task or options.task or "", True
    column = layout.values[0].column
    alone = len({value.column for value in layout.values if value.kind != "continuous"}) == 1
    return (column if alone and plain_name(column) not in GENERIC else table.stem), False


def _place(role: str, column: str, place: float, digits: int = 0) -> str:
    """A place on an axis as people write it.

    Examples:
        >>> _place("parameters", "size", 1.4e9), _place("x", "width", 64.0), _place("x", "loss", 2.0000001, 15)
        ('1.4B', 'width=64', 'loss=2.0000001')
    """
    if role != "parameters":
        return f"{column}={place:.{digits or 6}g}"
    unit = next((u for u in ("T", "B", "M", "K") if place >= _UNITS[u]), "")
    return f"{place / _UNITS.get(unit, 1.0):.{digits or 4}g}{unit}"
