"""Do our scores say what the harness said?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from foreshock.metrics import HarnessMetric, MetricSpec, get_metric, harness_metric
from foreshock.records import Run, ScoreStatus
from foreshock.scoring._joined import Column, Joined, joined
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

EXAMPLES = 5
"""Differing responses that are shown."""

TOLERANCE = 1e-9

# lm-eval's length-normalised accuracies are other metrics than the plain grade; without a counterpart nothing is said
_COUNTERPARTS = {
    "acc_norm": ("multiple_choice_grade(length=characters)",),
    "acc_bytes": ("multiple_choice_grade(length=bytes)",),
    "acc_mutual_info": (),
}
# the others do more before they compare: Inspect's match looks at the end of the output without case or punctuation
_SAME = frozenset(
    {"acc", "acc_norm", "acc_bytes", "choice", "multiple_choice_grade", "exact_match", "exact", "em", "exact_str_match"}
)
_ARGMAX = ("multiple_choice_grade", "exact_match")
_OTHER = ("exact_match", "multiple_choice_grade")
_OURS = sorted({*_ARGMAX, *_OTHER, *(name for names in _COUNTERPARTS.values() for name in names)})


class Difference(NamedTuple):
    """A response that we and the harness score differently."""

    item_id: str | None
    epoch: int | None
    row: int
    ours: float
    harness: float
    label: str | None


class Agreement(NamedTuple):
    """Our hard metric beside one of the harness's, over the responses of one run.

    Attributes:
        run_key, ingest_id, task, model, filter: The run and its answer filter.
        harness: Name of the harness's metric.
        metric: Our metric, as :func:`get_metric` takes it.
        comparable: Whether the harness's name says that both measure the same; if not, differences are to be expected.
        n: Responses that both scored.
        agree: Those with equal scores.
        unparsed: Responses scored by the harness in which no answer was found for us to score.
        examples: Some of those that differ, in the order of the log.
    """

    run_key: str
    ingest_id: str
    task: str
    model: str
    filter: str | None
    harness: str
    metric: str
    comparable: bool
    n: int
    agree: int
    unparsed: int
    examples: list[Difference]


def agreement(snapshot: Snapshot, *, tasks: Iterable[str] | None = None) -> list[Agreement]:
    """Compare our exact match or multiple-choice grade with every 0/1 metric of the harness, response by response.

    A run is left out where the harness gave no such score or ours was not made (:func:`score` makes it). Of our two
    metrics the multiple-choice grade goes first where the harness's metric is an argmax, exact match elsewhere.
    """
    there = frozenset[str]().union(*(segment.tasks for segment in snapshot.segments("responses")))
    wanted = sorted(there if tasks is None else there.intersection(tasks))
    ours = {get_metric(name).id for name in _OURS}
    runs = {run.ingest_id: run for run in snapshot.runs()}
    return [one for told in joined(snapshot, wanted, metrics=ours) for one in agreement_of(told, runs)]


def agreement_of(task: Joined, runs: Mapping[str, Run]) -> list[Agreement]:
    """The same of one task that was read already; ``runs`` are those of the snapshot, by ingest."""
    import polars as pl

    found = []
    for theirs in task.columns:
        if theirs.source != "harness":
            continue
        known = harness_metric(theirs.metric_id)
        scores = task.frame.filter(pl.col(theirs.status) == ScoreStatus.SCORED.value)
        ours = _ours(task, theirs.metric_id, known) if _hard(known, scores[theirs.value]) else None
        if ours is not None:
            comparable = known is not None and known.name in _SAME
            found += _of_metric(runs, scores, ours, theirs, comparable=comparable)
    return sorted(found, key=lambda a: (a.model, a.run_key, a.ingest_id, a.filter or "", a.harness))


def _hard(known: HarnessMetric | None, values: pl.Series) -> bool:
    """Whether a harness's metric says right or wrong."""
    return (known is None or known.kind == "hard") and bool(values.is_in([0.0, 1.0]).all())


def _ours(task: Joined, harness: str, known: HarnessMetric | None) -> tuple[MetricSpec, Column] | None:
    """The first of our metrics that could score some response of the task."""
    link = known.link if known else None
    names = _COUNTERPARTS.get(known.name if known else harness, _ARGMAX if link == "argmax" else _OTHER)
    there = {column.metric_id: column for column in task.columns if column.source == "foreshock"}
    for spec in map(get_metric, names):
        column = there.get(spec.id)
        if column is not None and bool((task.frame[column.status] != ScoreStatus.NEEDS.value).any()):
            return spec, column
    return None


def _of_metric(
    runs: Mapping[str, Run],
    scores: pl.DataFrame,
    ours: tuple[MetricSpec, Column],
    theirs: Column,
    *,
    comparable: bool,
) -> list[Agreement]:
    import polars as pl

    spec, column = ours
    value = pl.col(column.value)
    differs = (value - pl.col(theirs.value)).abs() > TOLERANCE
    counted = scores.group_by("ingest_id", "filter", maintain_order=True).agg(
        value.count().alias("n"),
        differs.sum().alias("differ"),
        (pl.col(column.status) == ScoreStatus.UNPARSED.value).sum().alias("unparsed"),
    )
    label = pl.lit(None) if theirs.label is None else pl.col(theirs.label)
    odd = scores.filter(differs).select(
        "ingest_id",
        "filter",
        "item_id",
        "epoch",
        "row",
        value.alias("ours"),
        pl.col(theirs.value).alias("theirs"),
        label.alias("label"),
    )
    shown: dict[tuple[str, str | None], list[Difference]] = {}
    for ingest, name, *rest in odd.group_by("ingest_id", "filter", maintain_order=True).head(EXAMPLES).iter_rows():
        shown.setdefault((ingest, name), []).append(Difference(*rest))
    return [
        Agreement(
            run_key=runs[ingest].run_key,
            ingest_id=ingest,
            task=runs[ingest].task,
            model=runs[ingest].model,
            filter=name,
            harness=theirs.metric_id,
            metric=str(spec),
            comparable=comparable,
            n=n,
            agree=n - differ,
            unparsed=unparsed,
            examples=shown.get((ingest, name), []),
        )
        for ingest, name, n, differ, unparsed in counted.iter_rows()
        if n
    ]
