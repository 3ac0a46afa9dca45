"""Which series of a line is the twin of another: a continuous metric of the same responses, or of the same runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from foreshock.metrics import MetricSpec, get_metric, harness_metric
from foreshock.series import twin_of

if TYPE_CHECKING:
    from foreshock.alarms._watched_series import WatchedSeries

# the twins of our own metric of that link are twins of a harness's metric of that link: they read the same answers
_LIKE = {"all-of-N": "exact_match", "argmax": "multiple_choice_grade"}


def with_twins(
    scores: Sequence[WatchedSeries], totals: Sequence[WatchedSeries], specs: Mapping[str, MetricSpec]
) -> Iterator[WatchedSeries]:
    """Series of one line, each hard one with the id of its twin where it has one.

    A total that has none by its metric's own word gets the one that a verdict on the same totals is drawn beside
    (:func:`foreshock.series.twin_of`).

    Args:
        scores: Series of stored scores.
        totals: Series of logged totals.
        specs: Metrics of ours by id.
    """
    logged = {one.id for one in totals}
    by_name = {(one.variant, one.series.metric): one for one in (*scores, *totals)}
    for one in (*scores, *totals):
        names = _twin_names(one, specs) if one.series.declared.kind == "hard" else ()
        twins = (by_name.get((one.variant, name)) for name in names)
        twin = next((twin for twin in twins if twin is not None and twin.id != one.id), None)
        if twin is None and one.id in logged and one.series.declared.kind != "continuous":
            found = twin_of(one.series, [other.series for other in totals])
            twin = None if found is None else by_name[None, found.metric]
        yield one if twin is None else one._replace(twin=twin.id)


def _twin_names(one: WatchedSeries, specs: Mapping[str, MetricSpec]) -> tuple[str, ...]:
    if one.series.declared.twin:
        return (one.series.declared.twin,)
    spec = specs.get(one.metric_id) if one.series.source == "foreshock" else None
    if spec is not None:
        return spec.twins
    known = harness_metric(one.series.metric)
    like = _LIKE.get(known.link or "") if known else None
    return get_metric(like).twins if like else ()
