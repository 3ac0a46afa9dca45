"""Fill a store with scores: segment by segment, only what is missing, wherever the work may run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from itertools import groupby
from typing import Any, NamedTuple

from foreshock._base import Progress, digest, quiet
from foreshock.metrics import MetricSpec
from foreshock.scoring._defaults import STREAM, specs_of
from foreshock.scoring._job import Job, Outcome, hold, run_job
from foreshock.store import ScoreEntry, Snapshot, Store


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
    """

    metrics: list[MetricSpec]
    segments: int
    written: int
    kept: int
    inapplicable: dict[str, dict[str, str]]
    failures: dict[str, Failures]


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
        metrics: Metrics or their names; None means :func:`default_metrics`.
        executor: Where to work: None is this process. Any ``concurrent.futures.Executor`` gives the same bytes. Work
            of a worker that dies is done here.
        progress: Told how many segments and metrics are done.

    Raises:
        MetricError: A metric is unknown.
        StoreError: A file of the store is damaged.
    """
    specs = specs_of(metrics)
    snapshot = store.snapshot()
    known = _inapplicable(store)
    jobs, kept = _plan(store, snapshot, specs, known, alone=executor is None)
    found: list[tuple[Job, Outcome]] = []
    done = 0
    # one commit per segment, however its metrics were spread over workers
    for _, results in groupby(_results(jobs, executor), key=lambda result: result[0].segment.sha256):
        entries: list[ScoreEntry] = []
        for job, outcomes in results:
            entries += [entry for outcome in outcomes for entry in outcome.entries]
            found += [(job, outcome) for outcome in outcomes]
            done += 1
            progress("score", done, len(jobs))
        store.commit_scores(entries)
    _remember(store, found)
    return _summary(specs, len(snapshot.segments("responses")), kept, [outcome for _, outcome in found])


def _plan(
    store: Store, snapshot: Snapshot, specs: list[MetricSpec], known: dict[str, set[str]], *, alone: bool
) -> tuple[list[Job], int]:
    """Jobs for what is missing: whole segments when alone, else one metric each, so that one segment keeps all busy."""
    version = digest([str(store.folder), sorted(snapshot.commits)], 24)
    hold(version, snapshot)
    jobs: list[Job] = []
    kept = 0
    for segment in snapshot.segments("responses"):
        missing = [
            spec
            for spec in specs
            if spec.id not in known.get(segment.sha256, ())
            and not all(snapshot.has_scores(segment, metric_id) for metric_id in spec.ids)
        ]
        kept += len(specs) - len(missing)
        groups = [tuple(missing)] if alone else [(spec,) for spec in missing]
        jobs += [Job(store, version, segment, group) for group in groups if group]
    return jobs, kept


def _results(jobs: list[Job], executor: Executor | None) -> Iterator[tuple[Job, list[Outcome]]]:
    """Outcomes in the order of the jobs."""
    if executor is None:
        yield from ((job, run_job(job)) for job in jobs)
        return
    futures = [_submit(executor, job) for job in jobs]
    try:
        for job, future in zip(jobs, futures, strict=True):
            yield job, _result(job, future)
    finally:
        for future in futures:
            if future is not None:
                future.cancel()


def _submit(executor: Executor, job: Job) -> Future[list[Outcome]] | None:
    try:
        return executor.submit(run_job, job)
    except BrokenExecutor:
        return None


def _result(job: Job, future: Future[list[Outcome]] | None) -> list[Outcome]:
    try:
        return run_job(job) if future is None else future.result()
    except BrokenExecutor:
        return run_job(job)


def _inapplicable(store: Store) -> dict[str, set[str]]:
    """Per segment, the metrics that are known not to apply to any of its rows."""
    known: dict[str, set[str]] = {}
    for entry in store.stream(STREAM).read():
        for segment, metric_ids in entry.value["inapplicable"].items():
            known.setdefault(segment, set()).update(metric_ids)
    return known


def _remember(store: Store, found: list[tuple[Job, Outcome]]) -> None:
    if not found:
        return
    specs: dict[str, Any] = {}
    without: dict[str, dict[str, dict[str, str]]] = {}
    for job, outcome in found:
        spec = next(spec for spec in job.specs if spec.id == outcome.metric_id)
        specs[spec.id] = {"metric": str(spec), "params": dict(spec.params), "origin": spec.factory.origin}
        if not outcome.entries:
            without.setdefault(job.segment.sha256, {})[outcome.metric_id] = outcome.inapplicable
    store.stream(STREAM).append({"specs": specs, "inapplicable": without})


def _summary(specs: list[MetricSpec], segments: int, kept: int, outcomes: list[Outcome]) -> Scored:
    inapplicable: dict[str, dict[str, str]] = {}
    failures: dict[str, Failures] = {}
    for outcome in outcomes:
        if outcome.inapplicable:
            inapplicable.setdefault(outcome.metric_id, {}).update(outcome.inapplicable)
        if outcome.failed:
            before = failures.get(outcome.metric_id, Failures(0, outcome.example or ""))
            failures[outcome.metric_id] = Failures(before.rows + outcome.failed, before.example)
    written = sum(len(outcome.entries) for outcome in outcomes)
    return Scored(specs, segments, written, kept, inapplicable, failures)
