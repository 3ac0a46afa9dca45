"""Anything that gives an answer a number, called in one way: registered metrics, judges, functions of the user."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from foreshock._base import ForeshockError, MetricError
from foreshock.metrics import MetricSpec, Response, get_metric, score_batch

Floats = NDArray[np.float64]
Function = Callable[[str, Response], Any]
Scorer = str | MetricSpec | Function
"""A metric by name or as a spec, or a function of output and item whose value is higher for a better answer."""


class Scored(NamedTuple):
    """Scores of some answers.

    Attributes:
        values: Higher is better; NaN where there is none, shape (answers,).
        unread: Answers in which the scorer found nothing to score: an aggregate counts them as 0.
        error: First error of the scorer.
        lack: First reason why an answer has no score although nothing failed.
    """

    values: Floats
    unread: NDArray[np.bool_]
    error: str | None = None
    lack: str | None = None


class Prepared(NamedTuple):
    """A scorer ready to be called.

    Attributes:
        name: Name in the table.
        reads: Text that it looks at: ``answer`` or ``output``; empty when it looks at none.
        low: Lowest value that it declares, as it is used here; None when it declares none.
        call: Scores of responses.
    """

    name: str
    reads: str
    low: float | None
    call: Callable[[Sequence[Response]], Scored]


def prepare(scorers: Mapping[str, Scorer] | Iterable[Scorer]) -> list[Prepared]:
    """Scorers under their names.

    Raises:
        MetricError: A metric is unknown or says nothing of single responses, a scorer is none, or two share a name.
    """
    named = scorers.items() if isinstance(scorers, Mapping) else ((None, s) for s in scorers)
    found = [_prepared(name, scorer) for name, scorer in named]
    names = [p.name for p in found]
    if not found:
        raise MetricError("no scorer was given", expected="a metric such as exact_match, or a function")
    for name in names:
        if names.count(name) > 1:
            raise MetricError(f"two scorers are called {name!r}", do="give them as a mapping of name to scorer")
    return found


def _prepared(name: str | None, scorer: Scorer) -> Prepared:
    if isinstance(scorer, str):
        scorer = get_metric(scorer)
    if isinstance(scorer, MetricSpec):
        return _of_metric(name or str(scorer), scorer)
    if not callable(scorer):
        raise MetricError(
            f"{type(scorer).__name__} is no scorer", expected="a metric, or a function of output and item"
        )
    plain = getattr(scorer, "__name__", None) or getattr(scorer, "name", None) or type(scorer).__name__
    return Prepared(name or str(plain), "output", None, lambda rows: _called(scorer, rows))


def _of_metric(name: str, spec: MetricSpec) -> Prepared:
    if spec.grain == "item":
        raise MetricError(f"{spec} scores items, not single answers", expected="a metric of single responses")
    if spec.higher_is_better is None:
        raise MetricError(
            f"{spec} has no better direction", expected="a metric whose higher or lower values are better"
        )
    sign = 1.0 if spec.higher_is_better else -1.0
    end = spec.low if spec.higher_is_better else spec.high
    reads = next((text for text in ("answer", "output") if text in spec.inputs), "")
    return Prepared(name, reads, None if end is None else sign * end, lambda rows: _measured(spec, sign, rows))


def _measured(spec: MetricSpec, sign: float, rows: Sequence[Response]) -> Scored:
    wanted = dict.fromkeys((*spec.inputs, "delivery", "output"))
    found = score_batch(spec, {name: [getattr(row, name) for row in rows] for name in wanted})
    values = np.array([math.nan if v is None else sign * v for v in found.values], float)
    told = list(zip(found.labels, found.statuses, strict=True))
    error, lack = (next((label for label, status in told if status == word), None) for word in ("failed", "needs"))
    return Scored(values, np.array([s == "unparsed" for s in found.statuses], bool), error, lack)


def _called(function: Function, rows: Sequence[Response]) -> Scored:
    values, error = np.full(len(rows), math.nan), None
    for i, row in enumerate(rows):
        try:
            value = function(row.output or "", row)
            values[i] = math.nan if value is None else float(value)
        except ForeshockError:
            raise
        except Exception as problem:  # noqa: BLE001 - a stranger's scorer may raise anything; the others still count
            error = error or f"{type(problem).__name__}: {problem}"
    values[np.isinf(values)] = math.nan
    return Scored(values, np.zeros(len(rows), bool), error)


def text_of(row: Response, reads: str) -> str | None:
    """The text that a scorer looks at; the answer stands in for an output that is not there."""
    if reads == "answer":
        return row.answer
    return row.output if row.output is not None else row.answer


def with_text(row: Response, reads: str, text: str) -> Response:
    """A response whose text is another one.

    An answer that was the whole output changes with it. One that was extracted from the output is not there any more:
    what the harness would extract from another output is not known.
    """
    whole = row.output is None or (row.answer or "").strip() == row.output.strip()
    if reads == "answer":
        return msgspec.structs.replace(row, answer=text, output=text if whole else row.output)
    return msgspec.structs.replace(row, output=text, answer=text if whole else None)
