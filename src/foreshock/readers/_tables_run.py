"""The run that rows of a table of aggregates are about."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from foreshock.readers._items_table import Table
from foreshock.readers._protocol import Reader, ReadOptions
from foreshock.readers._tables_apart import Identity
from foreshock.readers._tables_axis import plain_name
from foreshock.readers._tables_dates import moment
from foreshock.readers._tables_layout import Layout
from foreshock.readers._tables_mean import Mean
from foreshock.readers._tables_rows import Gathered
from foreshock.readers._tables_subject import Subject
from foreshock.records import ModelCard, Run, ingest_id, parse_model

_CARD = ("parameters", "tokens", "flops", "step")
_RELEASES = frozenset({"released", "release", "release_date", "released_on", "model_release_date", "date_of_release"})
_OPTIONS = ("csv", "scale", "chance", "n", "model", "task")
# part of the identity only where they are given, so that what was read before keeps its own
_LATER = ("map", "preset", "metric", "kind", "twin", "wide", "codes", "interval")
_EFFORT = re.compile(r"_(minimal|low|medium|high|xhigh|none|\d+[Kk])$")


class Read(NamedTuple):
    """A table, how it is laid out and what its rows hold."""

    table: Table
    layout: Layout
    gathered: Gathered


class Said(NamedTuple):
    """What is the same for every run of a table.

    Attributes:
        warnings: What the user should worry about.
        one_family: The models are one family.
        meta: How the table was read, and the notes.
        identity: The options that make another reading of it.
    """

    warnings: list[str]
    one_family: bool
    meta: dict[str, Any]
    identity: dict[str, Any]


def said_of(
    table: Table, layout: Layout, options: ReadOptions, told: tuple[list[str], list[str]], *, one_family: bool
) -> Said:
    """What is the same for every run of a table, of which ``told`` are notes and warnings."""
    notes, warnings = told
    used = layout.used
    unused = [c for c in table.data.columns if c not in used]
    meta: dict[str, Any] = {"read_as": {**layout.roles, "y": layout.scores}}
    meta |= {"columns_not_used": unused} if unused else {}
    meta |= {"notes": notes} if notes else {}
    identity = {name: getattr(options, name) for name in _OPTIONS}
    identity |= {name: value for name in _LATER if (value := getattr(options, name))}
    return Said(warnings, one_family, meta, identity)


def run_of(
    reader: Reader, read: Read, entry: tuple[Subject, list[Mean]], who: Identity, said: Said, options: ReadOptions
) -> Run:
    """The run of one subject with its means, as ``who`` names it."""
    (table, layout, gathered), (subject, means) = read, entry
    when = moment(subject.date, gathered.order)
    conditions = {"shots": subject.shots, **dict(subject.conditions)}
    seed = int(subject.seed) if subject.seed and subject.seed.isdecimal() and len(subject.seed) < 18 else None
    derived = any((subject.task, mean.metric) in gathered.derived_n for mean in means)
    guesses = [*([] if who.named else ["model"]), *([] if who.known else ["task"]), *(["n"] if derived else [])]
    run = Run(
        run_key=who.key,
        format=reader.name,
        reader=f"{reader.name}@{reader.version}",
        model=who.model,
        card=_card(subject, gathered, _family(subject, who, table.stem, said), layout),
        task=who.task,
        task_version=subject.version,
        conditions={name: value for name, value in conditions.items() if value is not None},
        seed=seed,
        created=when,
        known_at=when,
        chance=chance_of(options),
        sources=[table.source],
        warnings=said.warnings,
        guesses=guesses,
        meta=said.meta | _meta(subject, means, layout, gathered),
    )
    return msgspec.structs.replace(run, ingest_id=ingest_id(who.key, run.sources, run.reader, said.identity))


def _family(subject: Subject, who: Identity, stem: str, said: Said) -> str | None:
    """Name of a family that the table does not name: the file's, or that of the name which several places share."""
    if said.one_family or not who.named:
        return stem
    if not who.apart or subject.model is None:
        return None
    return parse_model(subject.model).family or subject.model


def chance_of(options: ReadOptions) -> float | None:
    """The score of guessing from 0 to 1, which may be told on the scale of the file.

    Examples:
        >>> chance_of(ReadOptions(chance=25.0, scale=100.0)), chance_of(ReadOptions(chance=0.25, scale=100.0))
        (0.25, 0.25)
    """
    if options.chance is None or options.chance <= 1 or not options.scale:
        return options.chance
    return options.chance / options.scale


def _card(subject: Subject, gathered: Gathered, guess: str | None, layout: Layout) -> ModelCard:
    """What the table says about the model; a family that it does not name is ``guess``."""
    places = {role: place for role, place in subject.axes if role in _CARD and place is not None}
    guesses = [role for role in places if gathered.axes[role].guessed]
    step = places.pop("step", None)
    whole = int(step) if step is not None and step.is_integer() else None
    if subject.family is None and guess is not None:
        guesses.append("family")
    family = subject.family or guess
    # Epoch ends the names of models with their effort: o3-2025-04-16_low, claude-3-7-sonnet_16K
    effort = _EFFORT.search(subject.model or "") if layout.preset == "epoch" else None
    return ModelCard(
        family=family,
        step=whole,
        organisation=subject.organisation,
        reasoning=effort[1] if effort else None,
        released=_released(subject, gathered, layout),
        guesses=guesses,
        **places,  # type: ignore[arg-type]
    )


def _released(subject: Subject, gathered: Gathered, layout: Layout) -> str | None:
    """Day of release, where the column of dates is one of releases by its name."""
    if plain_name(layout.roles.get("date", "")) not in _RELEASES:
        return None
    when = moment(subject.date, gathered.order)
    return when[:10] if when else None


def _meta(subject: Subject, means: list[Mean], layout: Layout, gathered: Gathered) -> dict[str, Any]:
    """What is kept of one run beside its scores."""
    meta: dict[str, Any] = {}
    other = dict(subject.axes).get("x")
    if other is not None:
        meta["axis"] = {"name": gathered.axes["x"].column, "value": other}
    if subject.date is not None and moment(subject.date, gathered.order) is None:
        meta["date"] = subject.date
    declared = _declared(means, layout)
    if declared:
        meta["metrics"] = declared
    return meta


def _declared(means: list[Mean], layout: Layout) -> dict[str, dict[str, str]]:
    """What was declared about the metrics of a run: kind, and name of the twin."""
    by_column = {value.column: value for value in layout.values if value.kind or value.twin}
    if not by_column:
        return {}
    found: dict[str, dict[str, str]] = {}
    for mean in means:
        value = by_column.get(mean.column)
        facts = {"kind": value.kind, "twin": value.twin} if value else {}
        told = {name: text for name, text in facts.items() if text is not None}
        if told:
            found[mean.metric] = told
    return found
