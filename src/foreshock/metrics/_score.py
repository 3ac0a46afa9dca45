"""Apply one metric to many responses: nothing that one row does can stop the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple, cast

from foreshock._base import MetricError, ModelError, canonical
from foreshock.metrics._alone import together
from foreshock.metrics._quantity import PER_ROW, Finite, Quantity
from foreshock.metrics._response import FIELDS, LISTS, Response
from foreshock.metrics._spec import Columns, Inapplicable, MetricSpec
from foreshock.records import ScoreStatus

SCORED, UNPARSED, NEEDS, FAILED = (s.value for s in ScoreStatus)
LABEL_LIMIT = 200
"""Characters kept of an error message."""

_SAMPLE = 1_000  # rows looked at to see whether half of them repeat; below so many there is nothing to win
ITEM = ("ingest_id", "run_key", "task", "filter", "perturbation", "item_key", "item_id")
"""Columns that tell the items of a run apart; whichever are there are used."""


class ScoreColumns(NamedTuple):
    """Scores of one metric, row by row.

    Attributes:
        values: A finite float, or None unless the status is ``scored``.
        statuses: ``scored``, ``unparsed``, ``needs`` or ``failed``.
        labels: Why there is no value; for position metrics the JSON list of what each position got; for metrics of
            grain ``run`` the JSON list of the row's statistics; for metrics with a unit per row that unit.
        parts: Further named values, by name.
    """

    values: list[float | None]
    statuses: list[str]
    labels: list[str | None]
    parts: dict[str, list[float | None]] = {}  # noqa: RUF012 - never changed


class _Failure(NamedTuple):
    label: str


def score_batch(spec: MetricSpec, columns: Columns) -> ScoreColumns:
    """Apply ``spec`` to responses given as columns (:class:`Response` says which there can be).

    A row whose needs are not met gets status ``needs`` and a label that says what is missing (its delivery, a column,
    or why the metric makes no sense there); a row that was delivered without an answer that could be extracted gets
    ``unparsed``; a row on which the metric raises, or gives something that is not a finite number, gets ``failed`` with
    the error in its label. Rows never affect each other, except that a metric of grain ``item`` sees all responses of
    an item and gives each of them the item's value. With grain ``run`` the value is that of the row alone.

    Raises:
        MetricError: The columns have different lengths.
        ModelError: A model that judges cannot be asked, or word vectors are not there.
    """
    rows = _rows(columns)
    problems = _triage(spec, columns, rows)
    if not problems:
        return _collect(spec, _evaluate(spec, columns, rows), rows)
    ready = [i for i in range(rows) if i not in problems]
    subset = {name: [column[i] for i in ready] for name, column in columns.items() if name in FIELDS}
    found = _collect(spec, _evaluate(spec, subset, len(ready)), len(ready)) if ready else ScoreColumns([], [], [])
    values = _spread(found.values, ready, rows, None)
    statuses = _spread(found.statuses, ready, rows, NEEDS)
    labels = _spread(found.labels, ready, rows, None)
    for i, (status, label) in problems.items():
        statuses[i], labels[i] = status, label
    parts = {name: _spread(found.parts.get(name, []), ready, rows, None) for name in spec.names[1:]}
    return ScoreColumns(values, statuses, labels, parts)


def _rows(columns: Columns) -> int:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise MetricError(f"columns of different lengths: {lengths}", expected="one value per response in each")
    return next(iter(lengths.values()), 0)


def _triage(spec: MetricSpec, columns: Columns, rows: int) -> dict[int, tuple[str, str]]:
    """Status and label of every row that the metric cannot be applied to."""
    problems: dict[int, tuple[str, str]] = {}
    deliveries = columns.get("delivery")
    taken = frozenset({None, *spec.deliveries})
    usual = deliveries is None or ("ok" in taken and deliveries.count("ok") == rows)  # a seventh of the time of a set
    if deliveries is not None and not usual and not taken.issuperset(deliveries):
        problems = {i: (NEEDS, f"delivery: {d}") for i, d in enumerate(deliveries) if d not in taken}
    for name in spec.unless:
        there = columns.get(name)
        if there is not None and (any(there) if name in LISTS else there.count(None) < rows):
            missing = _missing(name, columns, rows)
            problems |= {i: (NEEDS, f"has {name}") for i in range(rows) if i not in missing and i not in problems}
    gaps = [{name: _missing(name, columns, rows) for name in alternative} for alternative in spec.needs]
    if any(not any(gap.values()) for gap in gaps):
        return problems
    for i in range(rows):
        if i not in problems:
            lacking = [[name for name, gap in alternative.items() if i in gap] for alternative in gaps]
            if all(lacking):
                problems[i] = _lack(lacking, columns, i)
    return problems


def _missing(name: str, columns: Columns, rows: int) -> Iterable[int] | set[int]:
    column = columns.get(name)
    if column is None:
        return range(rows)
    if all(column):
        return set()  # the usual case, three times as fast
    if name in LISTS:
        return {i for i, v in enumerate(column) if not v} if [1 for v in column if not v] else set()
    return {i for i, v in enumerate(column) if v is None} if [1 for v in column if v is None] else set()


def _lack(lacking: list[list[str]], columns: Columns, row: int) -> tuple[str, str]:
    outputs = columns.get("output")
    if ["answer"] in lacking and (outputs is None or outputs[row] is not None):
        return UNPARSED, "no answer could be extracted"
    least = min(lacking, key=len)
    return NEEDS, f"no {', '.join(least)}"


def _evaluate(spec: MetricSpec, columns: Columns, rows: int) -> Sequence[Any] | Finite:
    """One outcome per row: what the metric returned, or an Inapplicable, or a _Failure."""
    if spec.has_batch:
        try:
            outcomes: Sequence[Any] | Finite = spec.batch(columns)
            if len(outcomes.values if isinstance(outcomes, Finite) else outcomes) == rows:
                return outcomes
        except ModelError:
            raise
        except Exception:  # noqa: BLE001, S110 - the form over rows finds out which row it was
            pass
    if spec.grain == "item":
        return _by_item(spec.function, _records(spec, columns, rows), columns)
    unique = _repetitions(spec, columns, rows)
    if unique is None:
        return [_guarded(spec.function, record) for record in _records(spec, columns, rows)]
    first, place = unique
    fewer = {name: [columns[name][i] for i in first] for name in spec.inputs if name in columns}
    outcomes = [_guarded(spec.function, record) for record in _records(spec, fewer, len(first))]
    return [outcomes[i] for i in place]


def _records(spec: MetricSpec, columns: Columns, rows: int) -> list[Response]:
    """Responses with the declared fields only, so that a metric cannot depend on what it did not declare."""
    seen = set(spec.inputs)
    fields = (columns[name] if name in seen and name in columns else repeat(None, rows) for name in FIELDS)
    return list(map(Response, *fields))


def _repetitions(spec: MetricSpec, columns: Columns, rows: int) -> tuple[list[int], list[int]] | None:
    """First rows of equal inputs, and for every row the place of its like among them; None when too few repeat."""
    inputs = [columns[name] for name in spec.inputs if name in columns]
    step = max(1, rows // _SAMPLE)
    sample = {_key(values) for values in zip(*(column[::step] for column in inputs), strict=True)}
    if rows < _SAMPLE or len(sample) * 2 > rows // step:
        return None
    seen: dict[Any, int] = {}
    first: list[int] = []
    place = []
    for i, values in enumerate(zip(*inputs, strict=True)):
        where = seen.setdefault(_key(values), len(first))
        if where == len(first):
            first.append(i)
        place.append(where)
    return first, place


def _key(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        tuple(value) if isinstance(value, list) else tuple(value.items()) if isinstance(value, dict) else value
        for value in values
    )


def _guarded(function: Callable[[Any], Any], argument: Any) -> Any:
    try:
        return function(argument)
    except Inapplicable as reason:
        return reason
    except ModelError:
        raise  # it says something about the model that judges, not about this row; no row can be scored
    except Exception as error:  # noqa: BLE001 - a stranger's metric may raise anything; the row says what
        return _Failure(f"{type(error).__name__}: {error}")


def _by_item(function: Callable[[Any], Any], records: list[Response], columns: Columns) -> list[Any]:
    groups: dict[Any, list[int]] = {}
    names = [name for name in ITEM if name in columns]
    keys = zip(*(columns[name] for name in names), strict=True) if names else repeat((), len(records))
    for i, key in enumerate(keys):
        known = any(value is not None for name, value in zip(names, key, strict=True) if name.startswith("item"))
        groups.setdefault(key if known else i, []).append(i)
    outcomes: list[Any] = [None] * len(records)
    for members in groups.values():
        outcome = _guarded(function, [records[i] for i in members])
        for i in members:
            outcomes[i] = outcome
    return outcomes


def _collect(spec: MetricSpec, outcomes: Sequence[Any] | Finite, rows: int) -> ScoreColumns:
    if isinstance(outcomes, Finite):
        return ScoreColumns(cast("list[float | None]", outcomes.values), [SCORED] * rows, [None] * rows)
    if spec.grain not in ("position", "run") and not spec.names and spec.unit != PER_ROW:
        plain = _all_finite(outcomes)
        if plain is not None:
            return ScoreColumns(plain, [SCORED] * rows, [None] * rows)
    known = together(spec, outcomes) if spec.grain == "run" else {}
    value: float | None
    label: str | None
    values: list[float | None] = []
    statuses: list[str] = []
    labels: list[str | None] = []
    parts: dict[str, list[float | None]] = {name: [] for name in spec.names[1:]}
    for i, outcome in enumerate(outcomes):
        if i in known:
            (value, label), status, rest = known[i], SCORED, dict[str, float]()
        else:
            value, status, label, rest = _outcome(spec, outcome)
        values.append(value)
        statuses.append(status)
        whole = label is None or (spec.grain in ("position", "run") and status == SCORED)  # JSON, which is not cut
        labels.append(label if whole else bounded(label or ""))
        for name, part in parts.items():
            part.append(rest.get(name))
    return ScoreColumns(values, statuses, labels, parts)


def _all_finite(outcomes: Sequence[Any]) -> list[float | None] | None:
    """The outcomes when every one is a finite float, which is the case worth being fast in."""
    if set(map(type, outcomes)) != {float} or not math.isfinite(sum(outcomes)):
        return None  # a finite sum has no NaN or infinity in it; one that overflows is looked at row by row
    return outcomes if isinstance(outcomes, list) else list(outcomes)


def _outcome(spec: MetricSpec, outcome: Any) -> tuple[float | None, str, str | None, dict[str, float]]:
    if outcome is None:
        return None, UNPARSED, "the metric could not read the answer", {}
    if isinstance(outcome, Inapplicable):
        return None, NEEDS, str(outcome), {}
    if isinstance(outcome, _Failure):
        return None, FAILED, outcome.label, {}
    if isinstance(outcome, Exception):  # a form over columns tells so that one row cannot be scored
        return None, FAILED, f"{type(outcome).__name__}: {outcome}", {}
    try:
        return _value(spec, outcome)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        return None, FAILED, f"{type(error).__name__}: {error}", {}


def _value(spec: MetricSpec, outcome: Any) -> tuple[float, str, str | None, dict[str, float]]:
    if spec.grain == "position":
        positions = _all_finite(list(outcome)) or [_finite(v) for v in outcome]
        return math.fsum(positions) / len(positions), SCORED, canonical(positions).decode(), {}  # type: ignore[arg-type]
    if spec.grain == "run":
        return _alone(spec, outcome)
    if spec.unit == PER_ROW:
        if not isinstance(outcome, Quantity) or not outcome.unit:
            raise TypeError(f"gave {outcome!r:.80} where each value states its unit: Quantity(value, unit)")
        return _finite(outcome.value), SCORED, outcome.unit, {}
    if spec.names:
        named = _named(spec, outcome)
        return named[spec.names[0]], SCORED, None, named
    return _finite(outcome), SCORED, None, {}


def _alone(spec: MetricSpec, outcome: Any) -> tuple[float, str, str | None, dict[str, float]]:
    """Value of a run that had this row only, and the row's statistics as JSON."""
    import numpy as np

    statistics = [_finite(value) for value in outcome]
    if len(statistics) != len(spec.statistics):
        raise TypeError(f"gave {len(statistics)} statistics where the metric declares {', '.join(spec.statistics)}")
    found = spec.result(np.array([statistics]))
    named = _named(spec, found) if spec.names else {}
    value = named[spec.names[0]] if spec.names else _finite(found)
    return value, SCORED, canonical(statistics).decode(), named


def _named(spec: MetricSpec, outcome: Any) -> dict[str, float]:
    if not isinstance(outcome, Mapping) or set(outcome) != set(spec.names):
        raise TypeError(f"gave {outcome!r:.80} where the metric declares {', '.join(spec.names)}")
    return {name: _finite(outcome[name]) for name in spec.names}


def _finite(value: Any) -> float:
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        raise TypeError(f"gave a {type(value).__name__}, not a number")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"gave {number}, which is not a finite number")
    return number


def bounded(label: str) -> str:
    """A label that is safe to store: valid Unicode, at most LABEL_LIMIT characters."""
    if len(label) > LABEL_LIMIT:
        label = label[: LABEL_LIMIT - 1] + "…"
    return label.encode("utf-8", "replace").decode()


def _spread(found: Sequence[Any], ready: list[int], rows: int, default: Any) -> list[Any]:
    full = [default] * rows
    for i, value in zip(ready, found, strict=False):
        full[i] = value
    return full
