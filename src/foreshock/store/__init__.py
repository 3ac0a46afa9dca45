"""The store: runs, items, responses, traces, scores and aggregates on disk.

Opening a store, listing its runs and adding files that it has already do not load Polars.
"""

from foreshock.store._add import Added, add_paths
from foreshock.store._commit import ScoreEntry
from foreshock.store._gc import Collected
from foreshock.store._snapshot import Segment, Snapshot
from foreshock.store._store import Store
from foreshock.store._stream import Entry, Stream
from foreshock.store._visible import Conflict, Ingest
from foreshock.store._writer import Writer

__all__ = [
    "Added",
    "Collected",
    "Conflict",
    "Entry",
    "Ingest",
    "ScoreEntry",
    "Segment",
    "Snapshot",
    "Store",
    "Stream",
    "Writer",
    "add_paths",
]
