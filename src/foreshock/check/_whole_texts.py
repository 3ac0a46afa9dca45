"""Whether what stands for the answers of a task are whole texts, to which closeness says how long they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from foreshock.metrics import is_whole_text
from foreshock.records import Run
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

RUNS = 4
"""Runs that are looked at: a harness extracts answers in all runs of a task or in none."""

RESPONSES = 200
"""Responses of each, in one segment, that are read; half of them can be told from none by far fewer."""

_ITEM = ("task", "item_key", "item_id")


class WholeTexts:
    """Says it of each task; the first question reads for all tasks, because one file holds many.

    Args:
        snapshot: What to look at.
        tasks: Runs of each task that has responses.
    """

    def __init__(self, snapshot: Snapshot, tasks: Mapping[str, Sequence[Run]]) -> None:
        self._snapshot = snapshot
        self._tasks = tasks
        self._found: dict[str, bool] | None = None

    def of(self, task: str) -> bool:
        """Whether more than half of the answers are unextracted texts, much longer than any target."""
        if self._found is None:
            self._found = self._look()
        return self._found.get(task, False)

    def _look(self) -> dict[str, bool]:
        import polars as pl

        members = {task: sorted(runs, key=lambda run: run.run_key)[:RUNS] for task, runs in self._tasks.items()}
        wanted = {run.ingest_id for runs in members.values() for run in runs}
        counts = {task: [0, 0] for task in members}
        targets: pl.DataFrame | None = None
        for segment in self._snapshot.segments("responses"):
            if mine := segment.live & wanted:
                frame = self._snapshot.lazy(segment, ["ingest_id", *_ITEM, "answer", "output"])
                rows = frame.filter(pl.col("ingest_id").is_in(sorted(mine)), pl.col("answer").is_not_null()).collect()
                rows = rows.group_by("ingest_id", maintain_order=True).head(RESPONSES)
                targets = self._targets() if targets is None else targets
                rows = rows.join(targets, on=_ITEM, how="left", nulls_equal=True, maintain_order="left")
                for task, *said in rows.select("task", "answer", "output", "targets").iter_rows():
                    counts[task][0] += 1
                    counts[task][1] += is_whole_text(*said)
        return {task: 2 * whole > seen for task, (seen, whole) in counts.items()}

    def _targets(self) -> pl.DataFrame:
        """Targets of every item of the tasks; of several rows of one item the first that has some."""
        import polars as pl

        columns = [*_ITEM, "targets"]
        parts = [
            self._snapshot.lazy(segment, columns).filter(pl.col("task").is_in(sorted(self._tasks))).collect()
            for segment in self._snapshot.segments("items")
        ]
        if not parts:
            return pl.DataFrame(schema={**dict.fromkeys(_ITEM, pl.String), "targets": pl.List(pl.String)})
        found = pl.concat(parts).sort(pl.col("targets").list.len().fill_null(0) == 0, maintain_order=True)
        return found.unique(_ITEM, keep="first", maintain_order=True)
