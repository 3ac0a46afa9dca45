"""One unit of scoring: some metrics of one segment. May run anywhere, and twice."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import NamedTuple

from foreshock._base import ForeshockError, MetricError
from foreshock.metrics import MetricSpec
from foreshock.scoring._draft import Draft, Outcome
from foreshock.scoring._rows import Reader
from foreshock.store import Segment, Snapshot, Store

_held: tuple[str, Snapshot] | None = None


class Job(NamedTuple):
    """Some metrics of one segment; small, as thousands of them may be sent to workers.

    Attributes:
        store: The store.
        version: Names the snapshot that the job was planned on, so that a process reads the commits once for all jobs.
        segment: Hash of a segment of responses.
        rows: Its number of rows.
        specs: Metrics to apply.
        others: Hashes of segments that hold more responses of runs to items of this one.
    """

    store: Store
    version: str
    segment: str
    rows: int
    specs: tuple[MetricSpec, ...]
    others: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of scores."""
        return self.rows * len(self.specs)


class Moved(Exception):  # noqa: N818 - not an error: the job is done where it was planned
    """The store was compacted after the job was planned, so this process does not see the segment any more."""


def packed(job: Job) -> bytes:
    """The job as bytes for :func:`run_packed`."""
    return pickle.dumps(job)


def run_packed(data: bytes) -> list[Outcome]:
    """Do a job that another process packed.

    A worker that lacks the module of a metric cannot unpickle it. Inside the work that is an error with a message;
    on the way to it a Dask worker would try for ever, and a process of a pool would end without a word.

    Raises:
        Moved: The segment is not in the store as this process finds it.
        MetricError: This process cannot make the metrics.
    """
    try:
        job: Job = pickle.loads(data)  # noqa: S301 - packed by the process that asks for the work
    except Exception as error:  # noqa: BLE001 - importing a stranger's module may raise anything
        told = error.found if isinstance(error, ForeshockError) else f"{type(error).__name__}: {error}"
        raise MetricError(
            f"a worker cannot make the metrics: {told}",
            expected="metrics in modules that every worker can import",
            do="name their files: --import FILE.py, or cluster(address, files); or install them where the workers are",
        ) from None
    return run_job(job)


def hold(version: str, snapshot: Snapshot) -> None:
    """Keep a snapshot for the jobs of this process that were planned on it."""
    global _held  # noqa: PLW0603 - a cache of one, which is what a worker needs
    _held = (version, snapshot)


def run_job(job: Job, tell: Callable[[int], None] | None = None) -> list[Outcome]:
    """Apply the job's metrics and write their files; nothing becomes visible.

    Args:
        job: What to do.
        tell: Told how many scores were made, now and then.

    Raises:
        Moved: The segment is not in the store as this process finds it.
    """
    held = _held
    if held is None or held[0] != job.version:
        held = (job.version, job.store.snapshot())
        hold(*held)
    snapshot = held[1]
    segment, *others = (_find(snapshot, name) for name in (job.segment, *job.others))
    drafts = [Draft(spec) for spec in job.specs]
    for rows in Reader(snapshot, segment, job.specs, others):
        for draft in drafts:
            draft.take(rows)
        if tell is not None:
            tell(rows.height * len(drafts))
    _fill([draft for draft in drafts if draft.open], snapshot, segment, others, job.specs)
    return [draft.finish(job.store, segment) for draft in drafts]


def _fill(
    drafts: list[Draft], snapshot: Snapshot, segment: Segment, others: list[Segment], specs: tuple[MetricSpec, ...]
) -> None:
    """Rows that a metric cannot apply to get a status where others of their segment have a value."""
    # with all specs, so that the pieces are those of before
    for rows in Reader(snapshot, segment, specs, others) if drafts else ():
        for draft in drafts:
            if draft.lacks_piece(rows):
                draft.fill(rows)


def _find(snapshot: Snapshot, sha256: str) -> Segment:
    found = snapshot.segment("responses", sha256)
    if found is None:
        raise Moved(sha256)
    return found
