"""Metrics of grain ``run``: a value made of all responses together, with its standard error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from foreshock.metrics import MetricSpec

LEFT_OUT = 2_000
"""Parts that the jackknife leaves out in turn, at most; with fewer items every item is one."""

DRAWS = 200
"""Bootstrap draws for a metric that is not additive: each costs a look at its rows. The standard error is then off by
about one part in the root of twice this number."""

DRAWN = 1_000
"""Items in a draw, at most; with more items the standard error of so many is scaled down by the root of the ratio."""


def whole_run(
    spec: MetricSpec, metric_id: str, labels: Sequence[str], items: NDArray[Any]
) -> tuple[float | None, float | None]:
    """Value and standard error of a run.

    The standard error of an additive metric is the jackknife's: items (with all their epochs) are left out in turn, or,
    where there are many, parts of equally many items, dealt out in the order of their hashes, so that a log sorted by
    difficulty is treated as any other. That of other metrics is the bootstrap's over items. The jackknife fails for
    what is not smooth: of a calibration error of 50 responses it gave .054, of 1,000 .013, where repeated runs differed
    by .032 and .008; the bootstrap gave .042 and .011.

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
    place = _hash_ranks(items)
    count = int(place.max()) + 1
    if count < 2:
        return value, None
    if not spec.additive:
        return value, _bootstrap(spec, metric_id, stats, place, count)
    parts = min(count, LEFT_OUT)
    return value, _jackknife(_without_each(spec, metric_id, stats, place % parts, parts))


def _hash_ranks(items: NDArray[Any]) -> NDArray[np.int64]:
    """Number of the item of each row, in the order of hashes: neither that of the log nor that of names."""
    names, place = np.unique(items, return_inverse=True)
    hashes = [blake2b(str(name).encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names.tolist()]
    rank = np.empty(len(names), np.int64)
    rank[sorted(range(len(names)), key=hashes.__getitem__)] = np.arange(len(names))
    return rank[place]


def _bootstrap(
    spec: MetricSpec, metric_id: str, stats: NDArray[np.float64], place: NDArray[np.int64], count: int
) -> float | None:
    """Standard deviation over draws of items with all their rows; equal rows in any order give equal draws."""
    order = np.lexsort((*stats.T, place))
    stats, sizes = stats[order], np.bincount(place, minlength=count)
    starts = np.cumsum(sizes) - sizes
    drawn = min(count, DRAWN)
    rng = np.random.default_rng([count, len(stats)])
    values = []
    for _ in range(DRAWS):
        chosen = rng.integers(0, count, drawn)
        lengths = sizes[chosen]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        values.append(_value(spec, metric_id, stats[np.repeat(starts[chosen], lengths) + within]))
    known = [value for value in values if value is not None]
    if len(known) < DRAWS:
        return None
    return float(np.std(known, ddof=1)) * math.sqrt(drawn / count)


def _without_each(
    spec: MetricSpec, metric_id: str, stats: NDArray[np.float64], part: NDArray[np.int64], parts: int
) -> list[float | None]:
    """The value of an additive metric without each part."""
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
