"""Fill a store with scores: segment by segment, only what is missing, wherever the work may run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

from foreshock._base import Progress, digest, quiet
from foreshock.metrics import MetricSpec
from foreshock.scoring._beside import sharing
from foreshock.scoring._defaults import STREAM, specs_of
from foreshock.scoring._draft import Outcome
from foreshock.scoring._job import Job, hold
from foreshock.scoring._rows import REPEATS
from foreshock.scoring._work import results
from foreshock.store import ScoreEntry, Segment, Snapshot, Store

COMMIT_ROWS = 250_000
"""Responses whose scores are committed together, at least: a store of many small segments gets few commits."""

WHOLE_SEGMENTS = 16
"""With so many segments to do, a worker takes all metrics of a segment and reads it once; with fewer, one metric."""


class Failures(NamedTuple):
    """How often a metric failed, and the first message."""

    rows: int
    example: str


class Scored(NamedTuple):
    """What became of a call of :func:`score`.

    Attributes:
        metrics: Metrics asked for.
        segments: Segments of responses in the store.
        written: Files of scores that were made.
        kept: Pairs of segment and metric that needed nothing: scored before, or known not to apply.
        inapplicable: Per metric id, per task, why no response of the task could get a value; from this call only.
        failures: Per metric id that failed on some response.
        barred: Per metric id, the reasons for which it was known, from an earlier call, not to apply to some segment.
    """

    metrics: list[MetricSpec]
    segments: int
    written: int
    kept: int
    inapplicable: dict[str, dict[str, str]]
    failures: dict[str, Failures]
    barred: dict[str, list[str]]


def score(
    store: Store,
    metrics: Iterable[MetricSpec | str] | None = None,
    *,
    executor: Executor | None = None,
    progress: Progress = quiet,
) -> Scored:
    """Apply metrics to every stored response that they have not seen; stored scores stay as they are.

    Works without model, key or network. What was scored before is left out, so a call that was interrupted goes on
    where it stopped, and a second call does nothing. A metric that makes no sense for any response of a segment leaves
    no column there; the stream ``scoring`` of the store remembers that, and what each metric id stands for.

    Args:
        store: The store to fill.
        metrics: Metrics, their names, or names of groups (:func:`foreshock.metrics.metric_group`); None means
            :func:`default_metrics`.
        executor: Where to work: None is this process. Any ``concurrent.futures.Executor`` gives the same bytes; see
            :func:`processes` and :func:`cluster`. Work of a worker that dies is done here.
        progress: Told how many scores are made, of how many (one per response and metric).

    Raises:
        MetricError: A metric is unknown.
        StoreError: A file of the store is damaged.
    """
    specs = specs_of(metrics)
    snapshot = store.snapshot()
    known = _inapplicable(store)
    jobs, kept = _plan(store, snapshot, specs, known, alone=executor is None)
    left = Counter(job.segment for job in jobs)
    found: list[tuple[Job, Outcome]] = []
    part: list[tuple[Job, Outcome]] = []
    waiting: list[ScoreEntry] = []
    rows = 0
    try:
        for job, outcomes in results(jobs, executor, progress):
            part += [(job, outcome) for outcome in outcomes]
            left[job.segment] -= 1
            if left[job.segment]:
                continue
            # a segment is done when all its metrics are, however they were spread over workers
            found += part
            waiting += [entry for _, outcome in part for entry in outcome.entries]
            part, rows = [], rows + job.rows
            if rows >= COMMIT_ROWS:
                store.commit_scores(waiting)
                waiting, rows = [], 0
    finally:
        # Ctrl-C keeps what was done
        store.commit_scores(waiting)
        _remember(store, found)
    segments = snapshot.segments("responses")
    barred = _barred(specs, [known.get(segment.sha256, {}) for segment in segments])
    return _summary(specs, len(segments), kept, [outcome for _, outcome in found], barred)


def _plan(
    store: Store, snapshot: Snapshot, specs: list[MetricSpec], known: dict[str, dict[str, list[str]]], *, alone: bool
) -> tuple[list[Job], int]:
    """Jobs for what is missing, and how much was not."""
    version = digest([str(store.folder), sorted(snapshot.commits)], 24)
    hold(version, snapshot)
    missing = {
        segment: [
            spec
            for spec in specs
            if spec.id not in known.get(segment.sha256, ())
            and not all(snapshot.has_scores(segment, metric_id) for metric_id in spec.ids)
        ]
        for segment in snapshot.segments("responses")
    }
    kept = sum(len(specs) - len(lacking) for lacking in missing.values())
    todo = {segment: lacking for segment, lacking in missing.items() if lacking}
    others = _others(snapshot, todo)
    whole = alone or len(todo) >= WHOLE_SEGMENTS
    jobs = [
        Job(store, version, segment.sha256, segment.rows, group, others.get(segment.sha256, ()))
        for segment, lacking in todo.items()
        for group in ([tuple(lacking)] if whole else [(spec,) for spec in lacking])
    ]
    return jobs, kept


def _others(snapshot: Snapshot, todo: dict[Segment, list[MetricSpec]]) -> dict[str, tuple[str, ...]]:
    """Segments that metrics of grain ``item`` have to look at beside each one."""
    if not any(spec.grain == "item" for lacking in todo.values() for spec in lacking):
        return {}
    found = sharing(snapshot, snapshot.segments("responses"), REPEATS)
    return {sha256: tuple(other.sha256 for other in others) for sha256, others in found.items()}


def _barred(specs: list[MetricSpec], known: list[dict[str, list[str]]]) -> dict[str, list[str]]:
    found = {spec.id: sorted({reason for reasons in known for reason in reasons.get(spec.id, ())}) for spec in specs}
    return {metric_id: reasons for metric_id, reasons in found.items() if reasons}


def _inapplicable(store: Store) -> dict[str, dict[str, list[str]]]:
    """Per segment, the metrics that are known not to apply to any of its rows, with the reasons."""
    known: dict[str, dict[str, list[str]]] = {}
    for entry in store.stream(STREAM).read():
        for segment, metric_ids in entry.value["inapplicable"].items():
            known.setdefault(segment, {}).update(metric_ids)
    return known


def _remember(store: Store, found: Sequence[tuple[Job, Outcome]]) -> None:
    if not found:
        return
    specs: dict[str, Any] = {}
    without: dict[str, dict[str, list[str]]] = {}
    for job, outcome in found:
        spec = next(spec for spec in job.specs if spec.id == outcome.metric_id)
        specs[spec.id] = {"metric": str(spec), "params": dict(spec.params), "origin": spec.factory.origin}
        if not outcome.entries:
            # reasons, not tasks: a segment may hold thousands of tasks
            without.setdefault(job.segment, {})[outcome.metric_id] = sorted(set(outcome.inapplicable.values()))
    store.stream(STREAM).append({"specs": specs, "inapplicable": without})


def _summary(
    specs: list[MetricSpec], segments: int, kept: int, outcomes: list[Outcome], barred: dict[str, list[str]]
) -> Scored:
    inapplicable: dict[str, dict[str, str]] = {}
    failures: dict[str, Failures] = {}
    for outcome in outcomes:
        if outcome.inapplicable:
            inapplicable.setdefault(outcome.metric_id, {}).update(outcome.inapplicable)
        if outcome.failed:
            before = failures.get(outcome.metric_id, Failures(0, outcome.example or ""))
            failures[outcome.metric_id] = Failures(before.rows + outcome.failed, before.example)
    written = sum(len(outcome.entries) for outcome in outcomes)
    return Scored(specs, segments, written, kept, inapplicable, failures, barred)
