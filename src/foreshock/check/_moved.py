"""The items behind a jump: question, target and both outputs, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foreshock.check._lines import Judged
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

LONGEST = 2_000
"""Characters of a question or an output that go into the document; the store has the rest."""

_RESPONSE = ["run_key", "item_key", "item_id", "epoch", "filter", "output", "answer"]


def moved_rows(snapshot: Snapshot, task: str, judged: Judged, limit: int) -> list[dict[str, Any]]:
    """Rows of ``moved`` for one finding: at most ``limit`` of the items whose score changed across the jump.

    ``evidence_total`` of the finding says how many there are in all.
    """
    told, made = judged.judgement, judged.panel
    if told is None or made is None or not told.moves or limit < 1:
        return []
    moves = told.moves[:limit]
    # a verdict may rest on some of the points only, and then counts those
    shown = told.lines[0].labels if told.lines else made.points
    places = {label: i for i, label in enumerate(made.points)}
    before, after = (places.get(shown[i], i) for i in (moves[0].from_point, moves[0].to_point))
    ends = {before: made.runs[before][0], after: made.runs[after][0]}
    labels = {move.item for move in moves}
    responses = _by_label(snapshot, task, set(ends.values()), labels)
    items = _items(snapshot, task, labels)
    rows = []
    for move in moves:
        item = items.get(move.item, {})
        outputs = [responses.get((ends[point], move.item), {}) for point in (before, after)]
        rows.append(
            {
                "finding_id": judged.finding.id,
                "task": made.task,
                "family": made.family,
                "item": item.get("item_id") or move.item,
                "question": _short(item.get("input")),
                "target": _short(" | ".join(item.get("targets") or [])),
                "from_model": made.points[before],
                "to_model": made.points[after],
                "from_output": _short(_said(outputs[0])),
                "to_output": _short(_said(outputs[1])),
                "from_score": move.from_score,
                "to_score": move.to_score,
            }
        )
    return rows


def _said(response: dict[str, Any]) -> str | None:
    output: str | None = response.get("output")
    return response.get("answer") if output is None else output


def _by_label(snapshot: Snapshot, task: str, runs: set[str], labels: set[str]) -> dict[tuple[str, str], dict[str, Any]]:
    """First response of each run to each item."""
    frame = snapshot.scan("responses", runs=sorted(runs), tasks=[task], columns=_RESPONSE)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in _about(frame, labels).collect().iter_rows(named=True):
        for label in _labels(row):
            found.setdefault((row["run_key"], label), row)
    return found


def _items(snapshot: Snapshot, task: str, labels: set[str]) -> dict[str, dict[str, Any]]:
    frame = snapshot.scan("items", tasks=[task], columns=["item_key", "item_id", "input", "targets"])
    return {label: row for row in _about(frame, labels).collect().iter_rows(named=True) for label in _labels(row)}


def _about(frame: pl.LazyFrame, labels: set[str]) -> pl.LazyFrame:
    import polars as pl

    keys = sorted({label.partition(" ")[0] for label in labels if not label.startswith("id:")})
    ids = sorted({label.partition("id:")[2] for label in labels if "id:" in label})
    return frame.filter(pl.col("item_key").is_in(keys) | pl.col("item_id").is_in(ids))


def _labels(row: dict[str, Any]) -> tuple[str, ...]:
    """Every label under which a block may know the item; see :class:`foreshock.series.Block`."""
    own = f"id:{row['item_id'] or ''}"
    return (own,) if row["item_key"] is None else (row["item_key"], f"{row['item_key']} {own}")


def _short(text: str | None) -> str | None:
    if text is None or len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}… ({len(text) - LONGEST:,} more characters in the store)"
