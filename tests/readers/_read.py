"""Reading in tests: readings with their batches used up, columns put together."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from foreshock.readers import Failure, ReadOptions, read_paths
from foreshock.records import MAX_ROWS, TABLES, Batch, Run


class Read(NamedTuple):
    run: Run
    batches: list[Batch]

    def column(self, table: str, name: str) -> list[Any]:
        return [v for b in self.batches if b.table == table for v in b.columns[name]]

    @property
    def warnings(self) -> list[str]:
        late = [w for b in self.batches if b.table == "runs" for w in b.columns.get("warnings", [[]])[0]]
        return [*self.run.warnings, *late]

    @property
    def notes(self) -> list[str]:
        return self.run.meta.get("notes", [])

    @property
    def guesses(self) -> list[str]:
        return self.run.guesses + [
            w for b in self.batches if b.table == "runs" for w in b.columns.get("guesses", [[]])[0]
        ]

    @property
    def status(self) -> str:
        late = [b.columns["status"][0] for b in self.batches if b.table == "runs" and "status" in b.columns]
        return late[-1] if late else self.run.status.value


def read_all(*paths: Path, **options: Any) -> tuple[list[Read], list[Failure]]:
    """Everything in the paths; batches are checked against the schema on the way."""
    reads, failures = [], []
    for outcome in read_paths(paths, ReadOptions(**options)):
        if isinstance(outcome, Failure):
            failures.append(outcome)
            continue
        batches = list(outcome.batches)
        for batch in batches:
            check(batch)
        reads.append(Read(outcome.run, batches))
    return reads, failures


def check(batch: Batch) -> None:
    if batch.table == "runs":
        assert batch.rows == 1
        return
    assert batch.columns.keys() <= {c.name for c in TABLES[batch.table]}
    assert len({len(v) for v in batch.columns.values()}) == 1
    assert 0 < batch.rows <= MAX_ROWS


def read_one(*paths: Path, **options: Any) -> Read:
    reads, failures = read_all(*paths, **options)
    assert not failures, failures
    (found,) = reads
    return found


def failure(*paths: Path, **options: Any) -> str:
    reads, failures = read_all(*paths, **options)
    assert not reads
    (found,) = failures
    return str(found.error)
