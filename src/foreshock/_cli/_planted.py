"""A judge tried on answers whose truth is known, before it is believed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from foreshock._base import canonical
from foreshock.lint import Degraded, degrade
from foreshock.metrics import Judge, MetricSpec, Missed, miss_rates
from foreshock.report import one_line
from foreshock.store import Snapshot, Store

if TYPE_CHECKING:
    from rich.console import Console

STREAM = "judges"
"""State stream that says who judged: the whole identity, the prompt, and what was missed of planted errors."""

WRONG = ("drop_fact", "contradict_number", "truncate", "refuse")
"""Kinds of damage after which an answer no longer says what the reference says."""
_TEXT = 10_000


class Item(NamedTuple):
    """An item whose reference answer is a text of its own."""

    key: str
    input: str | None
    targets: list[str]


def try_planted(judge: Judge, snapshot: Snapshot, most: int, seed: int) -> list[Missed]:
    """Show the judge each reference itself, then the reference damaged, then that of another item.

    Args:
        judge: The judge.
        snapshot: Whose items; those with options or without a reference are left out.
        most: Items at the most, chosen by their hash, not by what stands in them.
        seed: Of the damage.

    Returns:
        Nothing when there is no item with a reference.
    """
    items = _items(snapshot, most)
    if not items:
        return []
    right = [item.targets[0] for item in items]
    planted: dict[str, list[str | None]] = {kind: _damaged(kind, items, seed) for kind in WRONG}
    planted["other_answer"] = _others(items)
    shown = [{"input": item.input, "targets": item.targets} for item in items]
    return miss_rates(judge, shown, right, planted)


def remember(store: Store, spec: MetricSpec, judge: Judge, found: Sequence[Missed]) -> None:
    """Write down who judged, unless the last entry says the same."""
    value = {"metric": str(spec), "metric_id": spec.id, "judge": judge.identity, "planted": rows(found)}
    stream = store.stream(STREAM)
    if not any(canonical(entry.value) == canonical(value) for entry in stream.read()):
        stream.append(value)


def rows(found: Sequence[Missed]) -> list[dict[str, Any]]:
    """The table ``judge``: one row for the right answers and one for each kind of error."""
    return [row._asdict() for row in found]


def show(out: Console, judge: Judge, found: Sequence[Missed]) -> None:
    """What the judge gets wrong."""
    from rich.table import Table

    out.print(f"\nThe judge {one_line(judge.model.name)} on answers whose truth is known")
    if not found:
        out.print("  no item has a reference answer of its own, so nothing could be planted")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("planted", "wrong", "of", "share", "95% interval", "did not say"):
        table.add_column(name, justify="left" if name == "planted" else "right")
    for row in found:
        name = "none: the reference itself" if row.planted == "right" else row.planted
        share = "–" if row.share is None else f"{row.share:.2f}"
        table.add_row(name, f"{row.wrong}", f"{row.n}", share, f"{row.low:.2f} to {row.high:.2f}", f"{row.unsaid}")
    out.print(table)


def _items(snapshot: Snapshot, most: int) -> list[Item]:
    import polars as pl

    wanted = ["task", "item_key", "item_id", "input", "targets", "choices"]
    frame = snapshot.scan("items", columns=wanted).filter(
        pl.col("targets").list.len() > 0, pl.col("choices").list.len().fill_null(0) == 0
    )
    found: dict[str, Item] = {}
    for row in frame.collect().iter_rows(named=True):
        name = f"{row['task']}/{row['item_key'] or row['item_id']}"
        key = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        if row["targets"][0].strip() and len(row["targets"][0]) <= _TEXT and len(row["input"] or "") <= _TEXT:
            found.setdefault(key, Item(key, row["input"], row["targets"]))
    return [found[key] for key in sorted(found)[:most]]


def _damaged(kind: str, items: Sequence[Item], seed: int) -> list[str | None]:
    done = (degrade(kind, item.targets[0], seed=seed, targets=item.targets, item=item.key) for item in items)
    return [found.text if isinstance(found, Degraded) else None for found in done]


def _others(items: Sequence[Item]) -> list[str | None]:
    """For each item the reference of the next one that says something else."""
    found: list[str | None] = []
    for place, item in enumerate(items):
        known = {target.strip().casefold() for target in item.targets}
        rest = (items[(place + step) % len(items)].targets[0] for step in range(1, len(items)))
        found.append(next((text for text in rest if text.strip().casefold() not in known), None))
    return found
