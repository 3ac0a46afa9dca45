"""Rows of a table of aggregates, checked and gathered into runs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from foreshock._base import AmbiguousError, BrokenFileError
from foreshock.readers._items_roles import shown
from foreshock.readers._items_table import Table, cell
from foreshock.readers._items_values import as_int, as_text
from foreshock.readers._lm_eval_aggregates import RATES
from foreshock.readers._tables_axis import AXES, Axis, axis_of, number, plain_name
from foreshock.readers._tables_roles import GENERIC

MAX_ROWS = 2_000_000
# their values have no highest one, so there is no scale to ask for
UNBOUNDED = frozenset(
    {
        *("perplexity", "ppl", "word_perplexity", "byte_perplexity", "bits_per_byte", "loss", "nll", "elo"),
        *("likelihood_difference", "bleu", "rouge", "chrf", "ter", "tokens", "seconds", "cost"),
    }
)


_SHARES = frozenset({"acc", "accuracy", "correct", "em", "match", "pass", "passed", "score", "solved"})


class Subject(NamedTuple):
    """What makes rows belong to one run; texts as they stand in the table."""

    model: str | None
    axes: tuple[tuple[str, float | None], ...]
    task: str | None
    family: str | None
    date: str | None
    shots: str | None
    seed: str | None
    condition: str | None


class Mean(NamedTuple):
    """One aggregate."""

    metric: str
    subset: str | None
    value: float
    stderr: float | None
    n: int | None
    bounded: bool
    raw: str
    line: int


class Gathered(NamedTuple):
    """A whole table.

    Attributes:
        runs: Subject to its aggregates.
        axes: The axes by role.
        blank: Rows without a score, left out.
        derived_n: Some n was derived from a standard error.
    """

    runs: dict[Subject, list[Mean]]
    axes: dict[str, Axis]
    blank: int
    derived_n: bool


class Scoring(NamedTuple):
    """What the user said about the numbers."""

    scale: float | None
    n: str | None


def is_rate(metric: str) -> bool:
    """Whether a metric's name says that it is the share of items that were right.

    Examples:
        >>> is_rate("accuracy in %"), is_rate("acc_norm"), is_rate("likelihood_difference")
        (True, True, False)
    """
    plain = plain_name(metric)
    return plain in RATES | GENERIC or bool(_SHARES & {*plain.split("_")})


def gather(table: Table, roles: Mapping[str, str], scoring: Scoring) -> Gathered:
    """Read all rows.

    Raises:
        AmbiguousError: Scores above 1 without a scale, or rows that only an unused column tells apart.
        BrokenFileError: A cell is not what its role needs.
    """
    axes = _axes(table, roles)
    runs: dict[Subject, list[Mean]] = {}
    seen: dict[tuple[Subject, str, str | None], tuple[int, Mapping[str, Any]]] = {}
    blank = derived = 0
    for count, (line, row) in enumerate(table.data.rows()):
        if count >= MAX_ROWS:
            raise BrokenFileError(f"more than {MAX_ROWS:,} rows", expected="a table of aggregates", where=table.where)
        values = {role: as_text(cell(row, column)) for role, column in roles.items()}
        if values["y"] is None:
            blank += 1
            continue
        where = table.at(line)
        subject = _subject(values, axes, where)
        mean, was_derived = _mean(values, roles["y"], scoring, line, where)
        derived += was_derived
        _once(seen, (subject, mean.metric, mean.subset), (line, row), table, roles)
        runs.setdefault(subject, []).append(mean)
    if not runs:
        raise BrokenFileError("no row has a score", expected="at least one", where=table.where)
    return Gathered(runs, axes, blank, bool(derived))


def _axes(table: Table, roles: Mapping[str, str]) -> dict[str, Axis]:
    named = {role: roles[role] for role in (*AXES, "x") if role in roles}
    cells: dict[str, list[str]] = {role: [] for role in named}
    for _, row in table.data.rows():
        for role, column in named.items():
            text = as_text(cell(row, column))
            if text is not None:
                cells[role].append(text)
    return {role: axis_of(column, cells[role]) for role, column in named.items()}


def _subject(values: Mapping[str, str | None], axes: Mapping[str, Axis], where: str) -> Subject:
    places: list[tuple[str, float | None]] = []
    model = values.get("model")
    for role, axis in axes.items():
        text = values.get(role)
        place = None if text is None else axis.value(text)
        if text is not None and place is None:
            if role != "x" or "model" in values:
                raise BrokenFileError(
                    f"{text[:40]!r} is no number (column {axis.column!r})",
                    expected="a number such as 1.4e9 or 1.4B",
                    where=where,
                )
            model = text  # the x axis names the models
        places.append((role, place))
    if model is None and all(place is None for _, place in places):
        raise BrokenFileError("no model and no place on the axis", expected="one of them in every row", where=where)
    others = [values.get(r) for r in ("task", "family", "date", "shots", "seed", "condition")]
    return Subject(model, tuple(places), *others)


def _mean(values: Mapping[str, str | None], column: str, scoring: Scoring, line: int, where: str) -> tuple[Mean, bool]:
    name = values.get("metric") or (column if plain_name(column) not in GENERIC else "score")
    text = values["y"] or ""
    unbounded = plain_name(name) in UNBOUNDED
    factor = _factor(text, scoring.scale, unbounded)
    value = _number(text, where) * factor
    if not unbounded and not 0 <= value <= 1:
        raise AmbiguousError(
            f"the score {text} of {name!r} is not on the scale from 0 to 1",
            expected="shares, or the highest score said" if scoring.scale is None else "scores within --scale",
            do="say it: --scale 100 for percentages",
            where=where,
        )
    error = values.get("stderr")
    # N/A and the like are what harnesses write where there is none
    found = None if error is None else number(error.removesuffix("%"))
    stderr = None if found is None else found[0] * (0.01 if (error or "").endswith("%") else factor)
    n = _n(values, scoring, where)
    # beyond these no such n exists
    derived = n is None and stderr is not None and 1e-9 < stderr <= 0.5 and 0 < value < 1 and is_rate(name)
    if derived and stderr is not None:
        # as harnesses do: the sample deviation over sqrt(n)
        n = 1 + round(value * (1 - value) / (stderr * stderr))
    return Mean(name, values.get("subset"), value, stderr, n, not unbounded, text, line), derived


def _factor(text: str, scale: float | None, unbounded: bool) -> float:
    if text.endswith("%"):
        return 0.01
    return 1.0 if scale is None or unbounded else 1 / scale


def _number(text: str, where: str) -> float:
    try:
        found = float(text.removesuffix("%"))
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise BrokenFileError(f"the score {text[:40]!r} is no number", expected="a number", where=where)
    return found


def _n(values: Mapping[str, str | None], scoring: Scoring, where: str) -> int | None:
    text = values.get("n")
    if text is None and scoring.n is not None:
        text = scoring.n
    if text is None:
        return None
    n = as_int(text.replace(",", ""))
    if n is None or n <= 0:
        raise BrokenFileError(f"n is {text[:40]!r}", expected="a whole number of items", where=where)
    return n


def _once(
    seen: dict[tuple[Subject, str, str | None], tuple[int, Mapping[str, Any]]],
    key: tuple[Subject, str, str | None],
    place: tuple[int, Mapping[str, Any]],
    table: Table,
    roles: Mapping[str, str],
) -> None:
    line, row = place
    before, other = seen.setdefault(key, place)
    if before == line:
        return
    unused = [c for c in table.data.columns if c not in roles.values() and other.get(c) != row.get(c)]
    what = f"{table.data.unit}s {before} and {line} are both {key[1]} of one model on one task"
    raise AmbiguousError(
        what + (f" and differ in {shown(unused)}" if unused else ""),
        expected="one row for each model, task and metric",
        do="name the column that tells them apart as condition, seed, shots or date, or remove a row",
        where=table.where,
    )


def moment(date: str | None) -> str | None:
    """An ISO date or time as it is, a bare year as its first day; None for any other spelling.

    Examples:
        >>> moment("2024-05-01"), moment("2024"), moment("23/7/2024")
        ('2024-05-01', '2024-01-01', None)
    """
    if date is None:
        return None
    text = date.strip()
    if re.fullmatch(r"(19|20)\d\d", text):
        return f"{text}-01-01"
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return None
    return text
