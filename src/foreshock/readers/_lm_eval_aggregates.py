"""Published means of an lm-evaluation-harness results file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from foreshock.readers._lm_eval_header import MAX_COUNT, listed, size, subtasks
from foreshock.readers._lm_eval_line import finite
from foreshock.readers._lm_eval_results import Header
from foreshock.records import Batch

RATES = frozenset(
    {
        *("acc", "acc_norm", "acc_bytes", "acc_mutual_info", "acc_norm_nosp", "exact_match", "em", "f1", "contains"),
        *("pct_stereotype", "mc1", "mc2"),
    }
)
# the harness's value of a run that was told to score nothing (--predict_only)
BYPASS = "bypass"


class Mean(NamedTuple):
    """One metric of one task as it stands in the file."""

    metric: str
    filter: str | None
    value: float | None
    stderr: float | None
    raw: Any


def number(value: Any) -> float | None:
    """A finite number; None for ``N/A``, an empty list, text and NaN."""
    return None if isinstance(value, bool) else finite(value)


def means(metrics: dict[str, Any]) -> Iterator[Mean]:
    """Metrics of one task; keys are ``metric`` (0.3) or ``metric,filter`` (0.4)."""
    for key, value in metrics.items():
        metric, comma, name = key.partition(",")
        if metric in ("alias", BYPASS, "sample_len", "samples") or metric.endswith("_stderr") or metric == " ":
            continue
        error = number(metrics.get(f"{metric}_stderr{comma}{name}"))
        yield Mean(metric, name if comma else None, number(value), error, value)


class Aggregates(NamedTuple):
    """The rows of one task, with what to say about them; ``guesses`` names ``n`` when it was derived."""

    batch: Batch
    warnings: list[str]
    guesses: list[str]


def aggregates(header: Header, task: str) -> Aggregates:
    """Aggregates of one task.

    ``n`` is the number of documents when the file has it. Else, for rates with the harness's own standard error
    sqrt(p (1 - p) / (n - 1)), n follows exactly from the two and is marked as a guess.
    """
    rows = list(means(header.results[task]))
    stated = _n(header, task)
    n = derived_n(rows) if stated is None else stated
    better = (header.higher_is_better or {}).get(task) or _declared(header, task)
    columns: dict[str, list[Any]] = {
        "metric_id": [r.metric for r in rows],
        "filter": [r.filter for r in rows],
        "value": [r.value for r in rows],
        "stderr": [r.stderr for r in rows],
        "stderr_kind": [None if r.stderr is None else "harness" for r in rows],
        "n": [n] * len(rows),
        "low": [0.0 if r.metric in RATES else None for r in rows],
        "high": [1.0 if r.metric in RATES else None for r in rows],
        "higher_is_better": [_direction(better, r.metric) for r in rows],
        "source": ["harness"] * len(rows),
        "raw": [msgspec.json.encode(r.raw).decode() for r in rows],
    }
    notes = [
        f"{row.metric}: the standard error is logged as 0, which is impossible for {row.value:.4g}"
        for row in rows
        if row.stderr == 0 and row.value is not None and row.metric in RATES and 0 < row.value < 1
    ]
    return Aggregates(Batch("aggregates", columns), notes, ["n"] if n is not None and stated is None else [])


def _n(header: Header, task: str, known: dict[str, int | None] | None = None) -> int | None:
    known = {} if known is None else known
    if task in known:
        return known[task]
    known[task] = None  # of a group that is its own member
    members = subtasks(header, task)
    if not members:
        known[task] = size(header, task)
        return known[task]
    sizes = [_n(header, m, known) for m in members if m != task]
    total = sum(s for s in sizes if s is not None) if sizes and all(s is not None for s in sizes) else None
    known[task] = total if total is None or total < MAX_COUNT else None
    return known[task]


def derived_n(rows: list[Mean]) -> int | None:
    """Items behind rates whose standard error is that of a mean of zeros and ones; None unless all agree.

    Examples:
        >>> derived_n([Mean("acc", None, 38 / 166, (38 / 166 * 128 / 166 / 165) ** 0.5, None)])
        166
    """
    found = set()
    for row in rows:
        if row.metric not in RATES or not row.stderr or row.value is None or not 0 < row.value < 1:
            continue
        square = row.stderr * row.stderr  # a power overflows with an error
        n = 1 + row.value * (1 - row.value) / square if square else math.inf
        if n >= MAX_COUNT:
            return None
        right = row.value * round(n)
        # both must come out whole, or the value is no plain mean of 0/1 (a group's pooled error, a rounded table)
        if abs(n - round(n)) > 1e-6 * n or abs(right - round(right)) > 1e-6 * n:
            return None
        found.add(round(n))
    return found.pop() if len(found) == 1 else None


def _declared(header: Header, task: str) -> dict[str, Any]:
    own = (header.configs or {}).get(task) or {}
    return {str(m.get("metric")): m.get("higher_is_better") for m in listed(own.get("metric_list"))}


def _direction(better: Any, metric: str) -> bool | None:
    given = better.get(metric) if isinstance(better, dict) else None
    if isinstance(given, bool):
        return given
    return True if metric in RATES - {"pct_stereotype"} else None


def item_metrics(header: Header | None, task: str) -> dict[str, str]:
    """Metric to its aggregation, as the task's configuration declares it."""
    own = ((header.configs or {}).get(task) or {}) if header else {}
    declared = [m for m in listed(own.get("metric_list")) if m.get("aggregation")]
    return {str(m.get("metric")): str(m.get("aggregation")) for m in declared}
