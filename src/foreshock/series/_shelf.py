"""Scores of many tasks: read in batches, and kept while they fit into memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator

from foreshock.scoring import Agreement, Joined, agreement_of, default_metrics, joined, stored_specs
from foreshock.series._scores import Scores, scores_of
from foreshock.store import Snapshot

KEPT = 300_000_000
"""Bytes of scores that are kept: 200 tasks of 8 models and 1,000 items under eight metrics take half of it."""


class Shelf:
    """Scores of the tasks of a store by name.

    Ask for tasks in the order in which they were given: what lies ahead is read many tasks at a time, and what was
    asked for is kept until it takes too much memory; what was let go is read again.

    Args:
        snapshot: What to look at.
        tasks: Tasks.
        runs: Only these run keys; None means all.
        kept: Bytes of scores that are kept.

    Attributes:
        snapshot: What is looked at.
        specs: Metrics by the ids under which their values may be stored, those that are scored by default first.
    """

    def __init__(
        self, snapshot: Snapshot, tasks: Iterable[str], *, runs: Collection[str] | None = None, kept: int = KEPT
    ) -> None:
        self.snapshot = snapshot
        self.specs = {spec.id: spec for spec in default_metrics()} | stored_specs(snapshot)
        self._tasks = list(dict.fromkeys(tasks))
        self._at = {task: place for place, task in enumerate(self._tasks)}
        self._runs, self._kept = runs, kept
        self._labels = {metric_id for metric_id, spec in self.specs.items() if spec.grain == "position"}
        self._by_ingest = {run.ingest_id: run for run in snapshot.runs()}
        self._agreed: dict[str, list[Agreement]] = {}
        self._held: OrderedDict[str, Scores] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._ahead: Iterator[Joined] = iter(())
        self._next = len(self._tasks)

    def scores(self, task: str) -> Scores:
        """Every score of a task; without any for a task that has none or was not given."""
        if task in self._at and task not in self._held:
            self._read(task)
        if task not in self._held:
            return Scores(task)
        self._held.move_to_end(task)
        return self._held[task]

    def agreement(self, task: str) -> list[Agreement]:
        """Our hard metric beside those of the harness; see :func:`foreshock.scoring.agreement`."""
        if task not in self._agreed:
            self.scores(task)
        return self._agreed.get(task, [])

    def _read(self, task: str) -> None:
        if self._at[task] < self._next:
            self._next = self._at[task]
            self._ahead = joined(self.snapshot, self._tasks[self._next :], runs=self._runs, labels=self._labels)
        while self._next <= self._at[task]:
            found = next(self._ahead, None)
            self._next = len(self._tasks) if found is None else self._at[found.task] + 1
            if found is not None:
                self._keep(found)

    def _keep(self, found: Joined) -> None:
        if found.task not in self._agreed:
            self._agreed[found.task] = agreement_of(found, self._by_ingest)
        self._held[found.task] = scores_of(found)
        self._sizes[found.task] = self._held[found.task].nbytes
        while sum(self._sizes.values()) > self._kept and len(self._held) > 1:
            oldest, _ = self._held.popitem(last=False)
            del self._sizes[oldest]
