"""Whether what stands for the answers of a task are whole texts, to which closeness says how long they are."""

from __future__ import annotations

from collections.abc import Sequence

from foreshock.metrics import is_whole_text
from foreshock.store import Snapshot

RUNS = 4
"""Runs that are looked at: a harness extracts answers in all runs of a task or in none."""

RESPONSES = 200
"""Responses of each that are read; half of them can be told from none by far fewer."""


def whole_texts(snapshot: Snapshot, task: str, runs: Sequence[str]) -> bool:
    """Whether more than half of the answers of a task are unextracted texts, much longer than any target.

    Args:
        snapshot: What to look at.
        task: Task.
        runs: Run keys.
    """
    columns = ["item_key", "item_id", "answer", "output"]
    asked = snapshot.scan("items", tasks=[task], columns=["item_key", "item_id", "targets"]).collect()
    targets = {(row["item_key"], row["item_id"]): row["targets"] for row in asked.iter_rows(named=True)}
    seen = whole = 0
    for run in sorted(runs)[:RUNS]:
        frame = snapshot.scan("responses", runs=[run], tasks=[task], columns=columns).head(RESPONSES).collect()
        for row in frame.iter_rows(named=True):
            if row["answer"] is not None:
                seen += 1
                whole += is_whole_text(row["answer"], row["output"], targets.get((row["item_key"], row["item_id"])))
    return 2 * whole > seen
