"""Which runs count: superseded, removed, not yet known, and the same ingest written by two writers at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from foreshock._base import StoreError
from foreshock.records import Run
from foreshock.store._clock import moment
from foreshock.store._commit import StoredCommit, Tombstone

State = Literal["live", "superseded", "removed", "later", "undated"]


class Ingest(NamedTuple):
    """One reading of one run, and whether it counts.

    Attributes:
        run: The run as it was read.
        state: ``live``; ``superseded`` by another reading of the same run; ``removed``; with ``as_of``: ``later`` than
            that moment, or ``undated`` so that nobody can say.
        commit: Commit whose rows are used; empty for a removed run whose rows are gone.
        note: The reason of a removal, or the ingest that supersedes.
    """

    run: Run
    state: State
    commit: str
    note: str = ""


class Conflict(NamedTuple):
    """One key under which rows disagree.

    Attributes:
        table: ``responses`` or ``items``.
        task: Task.
        key: The run key, or the item id.
        rows: How many rows disagree.
        text: What it means, in a sentence.
    """

    table: str
    task: str
    key: str
    rows: int
    text: str


def active_commits(commits: Mapping[str, StoredCommit]) -> dict[str, StoredCommit]:
    """Commits that no other one replaces, by name, in the order of their names."""
    replaced = {name for stored in commits.values() for name in stored.commit.replaces}
    return {name: commits[name] for name in sorted(commits) if name not in replaced}


def tombstones(active: Mapping[str, StoredCommit]) -> dict[str, Tombstone]:
    """Tombstones that count, by ingest id."""
    lifted = {name for stored in active.values() for name in stored.commit.lifts}
    found = (stone for stored in active.values() for stone in stored.commit.removed)
    return {stone.run.ingest_id: stone for stone in found if stone.id not in lifted}


def written(active: Mapping[str, StoredCommit]) -> dict[str, str]:
    """When every ingest was last written or brought back, by ingest id, as its commits tell.

    A compaction tells when what it replaces was written.
    """
    found: dict[str, str] = {}
    stones = {stone.id: stone.run.ingest_id for stored in active.values() for stone in stored.commit.removed}
    for stored in active.values():
        back = (stones[name] for name in stored.commit.lifts if name in stones and stored.commit.kind != "compact")
        for name in (*(run.ingest_id for run in stored.commit.runs), *back):
            found[name] = max(found.get(name, ""), stored.since.get(name, stored.created))
    return found


def judge(active: Mapping[str, StoredCommit], as_of: str | None) -> dict[str, Ingest]:
    """The state of every ingest, by ingest id.

    An ingest that several commits hold belongs to the one whose name comes first: two writers, or a writer and a
    compaction, need not know of each other.
    """
    removed = tombstones(active)
    ingests: dict[str, Ingest] = {
        name: Ingest(stone.run, "removed", "", stone.reason) for name, stone in removed.items()
    }
    candidates: dict[str, list[Ingest]] = {}
    for name, stored in active.items():
        for run in stored.commit.runs:
            if run.ingest_id in ingests:
                continue
            state = _known(run, as_of)
            ingests[run.ingest_id] = Ingest(run, state, name)
            if state == "live":
                candidates.setdefault(run.run_key, []).append(ingests[run.ingest_id])
    since = written(active) if any(len(rivals) > 1 for rivals in candidates.values()) else {}
    for rivals in candidates.values():
        best = max(rivals, key=lambda ingest: _rank(ingest, since)) if len(rivals) > 1 else rivals[0]
        for ingest in rivals:
            if ingest is not best:
                ingests[ingest.run.ingest_id] = ingest._replace(state="superseded", note=best.run.ingest_id)
    return ingests


def _known(run: Run, as_of: str | None) -> State:
    if as_of is None:
        return "live"
    limit = moment(as_of)
    if limit is None:
        raise StoreError(f"{as_of!r} is not a moment", expected="ISO 8601, for example 2024-05-31", do="correct as_of")
    known = moment(run.known_at) or moment(run.created)
    if known is None:
        return "undated"
    return "live" if known <= limit else "later"


def as_good(run: Run, other: Run) -> bool:
    """Whether only the order in which two readings of a run came decides between them."""
    return _merit(run) == _merit(other)


def _merit(run: Run) -> tuple[int, float, int]:
    """More delivered wins, then later created; then the newer reader."""
    version = run.reader.rpartition("@")[2]
    newer = int(version) if version.isdecimal() and len(version) < 10 else 0
    return run.counts.delivered, _seconds(run.created), newer


def _rank(ingest: Ingest, since: Mapping[str, str]) -> tuple[tuple[int, float, int], float, str]:
    """Of equally good readings the later one wins, then what is always the same.

    The later one was asked for by someone who knew of the first: ``--n`` was corrected.
    """
    name = ingest.run.ingest_id
    return _merit(ingest.run), _seconds(since.get(name)), name


def _seconds(text: str | None) -> float:
    found = moment(text)
    return found.timestamp() if found else 0.0
