"""Items that changed: some of both directions, with what both models said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreshock.compare._judge import Compared
from foreshock.compare._options import Side
from foreshock.records import Evidence
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

EACH_WAY = 10
IN_ALL = 400
"""Items shown; a report of more than a few megabytes is not read."""

LONGEST = 2_000
_SHORT = 60
_RESPONSE = ["run_key", "task", "item_key", "item_id", "epoch", "filter", "output", "answer"]


class Flips(NamedTuple):
    """Evidence of one comparison, rows of the table ``flips`` in the same order, and how many items changed in all."""

    evidence: list[Evidence]
    rows: list[dict[str, Any]]
    total: int


def flips(snapshot: Snapshot, one: Compared, sides: Sequence[Side], room: int) -> Flips:
    """Some of the items on which the two differ, the baseline's losses and gains in equal number.

    Right-or-wrong items are taken in the order of their labels, which are hashes of their text: a choice that looks at
    neither model. Graded ones begin with the largest differences.
    """
    total = one.result.up + one.result.down
    first, second = sides[0].label, sides[one.match.sides[one.place]].label
    chosen = _chosen(one, min(EACH_WAY, max(0, room) // 2))
    if not chosen:
        return Flips([], [], total)
    keys = [one.match.runs[0][0].run_key, one.match.runs[one.place][0].run_key]
    said = _said(snapshot, one, keys, [one.sheet.labels[item] for item, _ in chosen])
    evidence, rows = [], []
    for item, gain in chosen:
        label = one.sheet.labels[item]
        scores = [float(one.sheet.scores[place, item]) for place in (0, one.place)]
        told = [said.get((key, label), {}) for key in keys]
        facts: dict[str, Any] = next((t for t in reversed(told) if t), {})
        name = facts.get("item_id") or label
        extracted = any(t.get("answer") for t in told)
        parts = zip((first, second), scores, told, strict=True)
        what = "; ".join(f"{who}: {score:.3g} ({_quote(t, extracted)})" for who, score, t in parts)
        evidence.append(Evidence(run=keys[1], item=name, epoch=facts.get("epoch"), what=what))
        rows.append(
            {
                "task": one.match.task,
                "direction": "gained" if gain else "lost",
                "item": name,
                "question": _cut(facts.get("input")),
                "target": _cut(" | ".join(facts.get("targets") or [])),
                "from_model": first,
                "to_model": second,
                "from_run": keys[0],
                "to_run": keys[1],
                "from_output": _cut(_output(told[0])),
                "to_output": _cut(_output(told[1])),
                "from_score": scores[0],
                "to_score": scores[1],
            }
        )
    return Flips(evidence, rows, total)


def _chosen(one: Compared, each: int) -> list[tuple[int, bool]]:
    """Items and whether the second side scored more, losses first (for a falling metric as well: by value)."""
    change = one.sheet.scores[one.place] - one.sheet.scores[0]
    change = np.nan_to_num(change)
    order = np.argsort(-np.abs(change), kind="stable")
    rising = one.chosen.measure.rising
    worse = [int(i) for i in order if (change[i] < 0) == rising and change[i] != 0][:each]
    better = [int(i) for i in order if (change[i] > 0) == rising and change[i] != 0][:each]
    return [*((item, False) for item in worse), *((item, True) for item in better)]


def _said(
    snapshot: Snapshot, one: Compared, keys: Sequence[str], labels: Sequence[str]
) -> dict[tuple[str, str], dict[str, Any]]:
    """First response of each run to each item, with the item's text."""
    import polars as pl

    texts = sorted({label[:64] for label in labels if not label.startswith("id:")})
    bare = [label.partition("id:")[2].partition(" ~")[0] for label in labels if label.startswith("id:")]
    frame = snapshot.scan("responses", tasks=[one.match.task], runs=keys, columns=_RESPONSE)
    frame = frame.filter(pl.col("filter").eq_missing(pl.lit(one.chosen.filter)))
    about = pl.col("item_key").is_in(texts)
    if bare:
        about = about | pl.col("item_id").is_in(bare)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in _with_text(snapshot, frame.filter(about).collect()).iter_rows(named=True):
        own = f"id:{row['item_id'] or ''}"
        for label in (row["item_key"], f"{row['item_key']} {own}", own):
            found.setdefault((row["run_key"], label), row)
    return found


def _with_text(snapshot: Snapshot, responses: pl.DataFrame) -> pl.DataFrame:
    return snapshot.with_items(responses, ["input", "targets"])


def _output(row: dict[str, Any]) -> str | None:
    output: str | None = row.get("output")
    return row.get("answer") if output is None else output


def _quote(row: dict[str, Any], extracted: bool) -> str:
    """What a model said: its answer where answers were extracted, else the beginning of its output."""
    text = row.get("answer") if extracted else row.get("output")
    if not text:
        return "no answer found" if row else "not in the log"
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else line[:_SHORT] + "\u2026"


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\u2026 ({len(text) - LONGEST:,} more characters in the store)"
