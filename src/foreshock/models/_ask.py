"""Many requests to one model: several at a time, answered in order."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future

from foreshock._base import ConfigError, ModelError, Progress, quiet
from foreshock.records import Model, Reply, Request

PATIENCE = 12
"""Replies in a row that may fail for reasons of the server before the rest is not asked any more. Each has had all its
tries by then; a server that is down would otherwise take minutes per item and tell about it at the end."""


def ask(
    model: Model,
    requests: Iterable[Request],
    *,
    workers: int = 4,
    patience: int = PATIENCE,
    progress: Progress = quiet,
    total: int | None = None,
) -> Iterator[Reply]:
    """Ask ``model`` with up to ``workers`` requests under way, and give the replies in the order of the requests.

    Requests are taken as they are needed, and a few replies wait at the most, so neither list has to be in memory.

    Args:
        model: Whom to ask.
        requests: What to ask.
        workers: Requests under way at once.
        patience: Replies in a row that may be lost to the server (not ``final``) before :class:`ModelError`.
        progress: Told how many replies came.
        total: How many requests there are, for the progress.

    Raises:
        ModelError: The model cannot be asked, or does not answer any more. What was recorded stays recorded.
    """
    if workers < 1:
        raise ConfigError(f"{workers} workers", expected="1 or more")
    waiting: deque[Future[Reply]] = deque()
    source = iter(requests)
    pool = _Pool(model, workers)
    done = lost = 0
    try:
        while True:
            while len(waiting) < 2 * workers and (request := next(source, None)) is not None:
                waiting.append(pool.submit(request))
            if not waiting:
                return
            reply = waiting.popleft().result()
            done, lost = done + 1, 0 if reply.final else lost + 1
            if lost >= patience:
                raise ModelError(
                    f"the last {lost} requests failed: {reply.note or reply.delivery.value}",
                    expected="a model that answers",
                    do="look at the server, then give the same command again: what came is kept",
                    where=model.name,
                )
            progress("ask", done, total)
            yield reply
    finally:
        for future in waiting:
            future.cancel()
        pool.close()


class _Pool:
    """Threads that end with the process: Ctrl-C must not wait for a server that may take minutes to answer.

    The threads of ``concurrent.futures`` are waited for when Python ends, whatever they are doing.
    """

    def __init__(self, model: Model, workers: int) -> None:
        self._model, self._workers = model, workers
        self._todo: queue.SimpleQueue[tuple[Request, Future[Reply]] | None] = queue.SimpleQueue()
        for number in range(workers):
            threading.Thread(target=self._work, name=f"foreshock-ask-{number}", daemon=True).start()

    def submit(self, request: Request) -> Future[Reply]:
        future: Future[Reply] = Future()
        self._todo.put((request, future))
        return future

    def close(self) -> None:
        """Let the threads end when they have done what they are at."""
        for _ in range(self._workers):
            self._todo.put(None)

    def _work(self) -> None:
        while (job := self._todo.get()) is not None:
            request, future = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(self._model(request))
            except BaseException as error:  # noqa: BLE001 - raised again where the reply is asked for
                future.set_exception(error)
