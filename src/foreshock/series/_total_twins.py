"""The continuous total that stands beside a hard one of the same runs."""

from __future__ import annotations

from collections.abc import Iterable

from foreshock.metrics import harness_metric
from foreshock.series._readings import base_name, reading
from foreshock.series._twins import order_for
from foreshock.series._types import Series


def twin_of(hard: Series, others: Iterable[Series]) -> Series | None:
    """The continuous total that stands beside a hard one: the declared twin, else a known one of the same runs.

    Known are those whose names tell that they measure the answers that the hard metric counts (perplexity, nll, Brier
    score, probability of the right option, ...), in the order that holds for twins of items. Word and byte perplexity,
    bits per byte and losses may be of whole texts and are taken only when they were declared.

    Args:
        hard: Totals of the hard metric.
        others: Totals of the same task, family, axis and conditions.
    """
    there = [one for one in others if one.metric != hard.metric and one.points and _same_runs(hard, one)]
    if hard.declared.twin is not None:
        named = [one for one in there if hard.declared.twin in (one.metric, base_name(one.metric))]
        return min(named, key=lambda one: (_filter(one) != _filter(hard), one.metric), default=None)
    fact = harness_metric(hard.metric)
    order = order_for((fact.link if fact else None) or "all-of-N")
    known = [(found, one) for one in there if (found := reading(one)) is not None and found.automatic]
    ranked = sorted(known, key=lambda k: (_filter(k[1]) != _filter(hard), order.index(k[0].kind), k[1].metric))
    return ranked[0][1] if ranked else None


def _same_runs(hard: Series, other: Series) -> bool:
    if (hard.task, hard.family, hard.axis) != (other.task, other.family, other.axis):
        return False
    keys = {point.run_key for point in other.points}
    return all(point.run_key in keys for point in hard.points)


def _filter(series: Series) -> str:
    return series.metric.partition(",")[2]
