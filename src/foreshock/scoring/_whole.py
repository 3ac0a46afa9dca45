"""Metrics of grain ``run``: a value made of all responses together, with its standard error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from foreshock.metrics import MetricSpec

LEFT_OUT = 2_000
"""Parts that the jackknife leaves out in turn, at most; with fewer items every item is one."""

LEFT_OUT_ANEW = 200
"""The same for a metric that is not additive: each part costs a look at all other rows. The standard error is then off
by about one part in the root of twice this number."""


def whole_run(
    spec: MetricSpec, metric_id: str, labels: Sequence[str], items: NDArray[Any]
) -> tuple[float | None, float | None]:
    """Value and standard error of a run.

    The standard error is the jackknife's: items (with all their epochs) are left out in turn, or, where there are many,
    parts of equally many items, dealt out in the order of the log.

    Args:
        spec: A metric of grain ``run``.
        metric_id: Which of its values.
        labels: Statistics of each response as JSON lists, length n.
        items: What tells the items apart, shape (n,), in the order of the log.

    Returns:
        None where the metric is not defined for these rows; no standard error with fewer than two items.
    """
    if not labels:
        return None, None
    stats = np.array(msgspec.json.decode(f"[{','.join(labels)}]"), dtype=np.float64)
    value = _value(spec, metric_id, stats)
    if value is None:
        return None, None
    _, first, place = np.unique(items, return_index=True, return_inverse=True)
    if len(first) < 2:
        return value, None
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    parts = min(len(first), LEFT_OUT if spec.additive else LEFT_OUT_ANEW)
    return value, _jackknife(_without_each(spec, metric_id, stats, rank[place] % parts, parts))


def _without_each(
    spec: MetricSpec, metric_id: str, stats: NDArray[np.float64], part: NDArray[np.int64], parts: int
) -> list[float | None]:
    """The value without each part."""
    if not spec.additive:
        return [_value(spec, metric_id, stats[part != k]) for k in range(parts)]
    sums = np.zeros((parts, stats.shape[1]))
    np.add.at(sums, part, stats)
    rest = sums.sum(axis=0) - sums
    return [_value(spec, metric_id, row[None, :]) for row in rest]


def _jackknife(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    mean = math.fsum(known) / len(known)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in known) * (len(known) - 1) / len(known))


def _value(spec: MetricSpec, metric_id: str, stats: NDArray[np.float64]) -> float | None:
    found = spec.result(stats)
    if isinstance(found, Mapping):
        found = found[dict(zip(spec.ids, spec.names, strict=True))[metric_id]]
    return float(found) if math.isfinite(found) else None
