"""The harness's own scores and aggregates, as numbers with the words they came in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from foreshock._base import canonical
from foreshock.readers._inspect_header_types import Header, Metric, Result, Results
from foreshock.readers._inspect_meta import whole
from foreshock.readers._inspect_tally import Tally
from foreshock.readers._inspect_types import Score
from foreshock.records import ScoreStatus

# The words of Inspect's value_to_float; P is half credit, N is "no answer" and counts as wrong there.
_WORDS = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_SENTINELS = frozenset("CIPN")
_MAX_PARTS = 64
_MAX_LABEL = 200

SCORED, FAILED = str(ScoreStatus.SCORED), str(ScoreStatus.FAILED)
MEANS = ("accuracy", "mean")


class Value(NamedTuple):
    """A value of a scorer: a number or the reason why there is none, and the harness's own word."""

    value: float | None
    status: str
    label: str | None


def score_rows(name: str, score: Score, tally: Tally, where: str) -> Iterator[tuple[str, Value]]:
    """Metric id and value of each number in a score: one, or one per key of a dictionary or element of a list."""
    for metric, part in _parts(name, score.value):
        found = number(part)
        if found.label == "P":
            tally.add("partial", f"{where} ({metric})")
        if found.value is None:
            tally.add("unscored", f"{where} ({metric}: {found.label})")
        yield metric, found


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict) and 0 < len(value) <= _MAX_PARTS:
        return [(f"{name}/{key}", part) for key, part in value.items()]
    if isinstance(value, list) and 0 < len(value) <= _MAX_PARTS:
        return [(f"{name}/{n}", part) for n, part in enumerate(value)]
    return [(name, value)]


def number(value: Any) -> Value:
    """One value of a scorer as a number.

    Examples:
        >>> number("P").value, number(True).value, number("0.25").value
        (0.5, 1.0, 0.25)
        >>> number(float("nan"))
        Value(value=None, status='failed', label='NaN')
    """
    if isinstance(value, bool):
        return Value(float(value), SCORED, "true" if value else "false")
    if isinstance(value, int | float):
        return _finite(value, None)
    if isinstance(value, str):
        found = _WORDS.get(value.lower()) if value in _SENTINELS or len(value) > 1 else None
        if found is not None:
            return Value(found, SCORED, value)
        try:
            return _finite(float(value) if len(value) <= _MAX_LABEL else math.nan, value[:_MAX_LABEL])
        except ValueError:
            return Value(None, FAILED, value[:_MAX_LABEL])
    # None is "unscored"; a nested value has no single number
    try:
        label = canonical(value).decode()[:_MAX_LABEL]
    except RecursionError:
        label = "nested too deeply"
    return Value(None, FAILED, label)


def _finite(value: float, label: str | None) -> Value:
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if math.isfinite(found):
        return Value(found, SCORED, label)
    shown = "NaN" if math.isnan(found) else "Infinity" if found > 0 else "-Infinity"
    return Value(None, FAILED, label or shown)


class Aggregate(NamedTuple):
    """One row of the aggregates table, in the order of ``AGGREGATE_COLUMNS``."""

    metric_id: str
    reducer: str | None
    value: float | None
    stderr: float | None
    stderr_kind: str | None
    n: int | None
    n_scored: int | None
    source: str
    raw: str


def aggregates(header: Header, tally: Tally) -> Iterator[Aggregate]:
    """The log's own results: each scorer's metrics, each under each reducer; ``stderr`` goes to the mean's row."""
    results = header.results or Results()
    scores = list(results.scores or [])
    if not scores and results.scorer and results.metrics:  # version 1
        name = results.scorer.name
        scores = [Result(name=name, scorer=name, metrics=results.metrics)]
    for score in scores:
        yield from _score_aggregates(score, _items(header), tally)


def _items(header: Header) -> int | None:
    """Items behind an aggregate: epochs are reduced before the metric is taken."""
    results, config = header.results or Results(), (header.eval and header.eval.config) or {}
    done, epochs = results.completed_samples, config.get("epochs") or 1
    if not done or not isinstance(epochs, int) or epochs < 1 or done % epochs or not 0 < done < 2**63:
        return None
    return done // epochs


def _score_aggregates(score: Result, items: int | None, tally: Tally) -> Iterator[Aggregate]:
    scorer = score.scorer or score.name or "score"
    name = scorer if score.name in (None, scorer) else f"{scorer}/{score.name}"
    metrics = score.metrics or {}
    spread = number(metrics["stderr"].value).value if "stderr" in metrics else None
    mean = next((m for m in MEANS if m in metrics), None)
    scored = whole(score.scored_samples)
    n = items if scored is None else whole(scored + (score.unscored_samples or 0))
    for key, metric in metrics.items():
        if key == "stderr":
            continue
        found = number(metric.value)
        if found.value is None:
            tally.add("metric", f"{name}: {key}")
        stderr = spread if key == mean else None
        yield Aggregate(
            metric_id=name if key == mean else f"{name}:{key}",
            reducer=score.reducer,
            value=found.value,
            stderr=stderr,
            stderr_kind=None if stderr is None else "harness",
            n=n,
            n_scored=scored,
            source="harness",
            raw=canonical(_raw(key, score, metric, found)).decode(),
        )


def _raw(key: str, score: Result, metric: Metric, found: Value) -> dict[str, Any]:
    value = metric.value if found.value is not None else found.label
    return {"name": score.name, "scorer": score.scorer, "metric": key, "value": value}
