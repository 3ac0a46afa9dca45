"""Do our scores say what the harness said?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from foreshock.metrics import HarnessMetric, MetricSpec, get_metric, harness_metric
from foreshock.records import Run, ScoreStatus
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

EXAMPLES = 5
"""Differing responses that are shown."""

TOLERANCE = 1e-9

_COLUMNS = ("ingest_id", "row", "filter", "item_id", "epoch", "metric_id", "source", "value", "status", "label")
_KEY = ["ingest_id", "row"]
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
    found: list[Agreement] = []
    for task in sorted(there if tasks is None else there.intersection(tasks)):
        runs = {run.ingest_id: run for run in snapshot.runs() if run.task == task}
        found += _of_task(snapshot, task, runs)
    return found


def _of_task(snapshot: Snapshot, task: str, runs: dict[str, Run]) -> list[Agreement]:
    import polars as pl

    harness = snapshot.scan("scores", tasks=[task], source="harness", columns=_COLUMNS)
    theirs = harness.filter(pl.col("status") == ScoreStatus.SCORED.value).collect()
    found = []
    for (name,), scores in theirs.group_by("metric_id", maintain_order=True):
        known = harness_metric(str(name))
        if not _hard(known, scores):
            continue
        ours = _ours(snapshot, task, str(name), known)
        if ours is not None:
            spec, values = ours
            comparable = known is not None and known.name in _SAME
            found += _of_metric(runs, spec, str(name), scores.join(values, on=_KEY, how="left"), comparable=comparable)
    return sorted(found, key=lambda a: (a.model, a.run_key, a.ingest_id, a.filter or "", a.harness))


def _hard(known: HarnessMetric | None, scores: pl.DataFrame) -> bool:
    """Whether a harness's metric says right or wrong."""
    return (known is None or known.kind == "hard") and bool(scores["value"].is_in([0.0, 1.0]).all())


def _ours(
    snapshot: Snapshot, task: str, harness: str, known: HarnessMetric | None
) -> tuple[MetricSpec, pl.DataFrame] | None:
    """The first of our metrics that could score some response of the task."""
    import polars as pl

    link = known.link if known else None
    names = _COUNTERPARTS.get(known.name if known else harness, _ARGMAX if link == "argmax" else _OTHER)
    for spec in map(get_metric, names):
        scores = snapshot.scan(
            "scores", tasks=[task], metrics=[spec.id], source="foreshock", columns=[*_KEY, "value", "status"]
        ).filter(pl.col("status") != ScoreStatus.NEEDS.value)
        frame = scores.select(*_KEY, pl.col("value").alias("ours"), pl.col("status").alias("state")).collect()
        if frame.height:
            return spec, frame
    return None


def _of_metric(
    runs: dict[str, Run], spec: MetricSpec, harness: str, frame: pl.DataFrame, *, comparable: bool
) -> list[Agreement]:
    import polars as pl

    found = []
    for (ingest, name), rows in frame.sort(_KEY).group_by("ingest_id", "filter", maintain_order=True):
        both = rows.filter(pl.col("ours").is_not_null())
        if not both.height:
            continue
        run = runs[str(ingest)]
        differ = both.filter((pl.col("ours") - pl.col("value")).abs() > TOLERANCE)
        shown = differ.head(EXAMPLES).select("item_id", "epoch", "row", "ours", "value", "label")
        found.append(
            Agreement(
                run_key=run.run_key,
                ingest_id=run.ingest_id,
                task=run.task,
                model=run.model,
                filter=None if name is None else str(name),
                harness=harness,
                metric=str(spec),
                comparable=comparable,
                n=both.height,
                agree=both.height - differ.height,
                unparsed=int((rows["state"] == ScoreStatus.UNPARSED.value).sum()),
                examples=[Difference(*row) for row in shown.iter_rows()],
            )
        )
    return found
