"""Jobs through an executor, with their outcomes in the order of the jobs."""

from __future__ import annotations

import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future

from foreshock._base import Progress
from foreshock.scoring._draft import Outcome
from foreshock.scoring._job import Job, Moved, packed, run_job, run_packed

_STAGE = "score"


def results(jobs: Sequence[Job], executor: Executor | None, progress: Progress) -> Iterator[tuple[Job, list[Outcome]]]:
    """Do the jobs and give what came of each, in their order whatever the order in which they end."""
    meter = _Meter(progress, sum(job.size for job in jobs))
    if executor is None:
        yield from ((job, run_job(job, meter.add)) for job in jobs)
        return
    futures = [_submit(executor, job, meter) for job in jobs]
    try:
        for job, future in zip(jobs, futures, strict=True):
            yield job, _outcomes(job, future, meter)
    finally:
        for future in futures:
            if future is not None:
                future.cancel()


class _Meter:
    """Counts scores. Workers' threads put numbers; only the thread that asks for results calls the progress."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0
        self._news: queue.SimpleQueue[int] = queue.SimpleQueue()

    def add(self, scores: int) -> None:
        self._done += scores
        # rows that a retry makes again are not counted twice
        self._progress(_STAGE, min(self._done, self._total), self._total)

    def watch(self, future: Future[list[Outcome]], job: Job) -> None:
        future.add_done_callback(lambda _: self._news.put(job.size))

    def wait(self, future: Future[list[Outcome]]) -> None:
        while not future.done():
            self.add(self._news.get())
        while not self._news.empty():
            self.add(self._news.get())


def _submit(executor: Executor, job: Job, meter: _Meter) -> Future[list[Outcome]] | None:
    try:
        future = executor.submit(run_packed, packed(job))
    except BrokenExecutor:
        return None
    meter.watch(future, job)
    return future


def _outcomes(job: Job, future: Future[list[Outcome]] | None, meter: _Meter) -> list[Outcome]:
    if future is None:
        return run_job(job, meter.add)
    meter.wait(future)
    try:
        return future.result()
    except (BrokenExecutor, CancelledError, Moved):
        return run_job(job)
    except Exception as error:
        if not _lost(error):
            raise
        return run_job(job)


def _lost(error: BaseException) -> bool:
    """Whether Dask gave a job up: its workers died, or the scheduler did. What a job raises comes from elsewhere."""
    return type(error).__module__.partition(".")[0] == "distributed"
