"""Which items are not independent: equal texts, shared passages, or what the user says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from foreshock._base import ConfigError
from foreshock.compare._options import CLUSTERS, CompareOptions
from foreshock.records import TABLES
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

PASSAGE = 200
"""Characters of text that two questions must share to count as one passage; a common instruction is shorter or belongs
to all."""

_INSTRUCTION = 0.9
"""Text that more than this part of the items share is an instruction, not a passage. Text alone cannot tell the two
apart: an instruction that is taken for a passage costs power, a passage that is taken for an instruction makes false
verdicts, so that only what nearly all items share is left out."""
_IDENTITY = {"item_key", "item_id", "input", "task"}
_FACTS = frozenset(column.name for column in TABLES["items"] if column.kind in ("str", "int")) - _IDENTITY


def needs_meta(cluster: str) -> bool:
    """Whether clusters come from the responses' meta."""
    return cluster not in CLUSTERS and cluster not in _FACTS


def cluster_labels(
    snapshot: Snapshot, task: str, frame: pl.DataFrame, options: CompareOptions
) -> tuple[NDArray[np.int64] | None, str]:
    """Cluster of every item.

    Args:
        snapshot: What to look at.
        task: Task.
        frame: Labelled responses.

        options: ``cluster`` says what to go by.

    Returns:
        One number per item, in the order of the labels, and what makes the clusters, in words; None and ``""`` when all
        items are independent.

    Raises:
        ConfigError: No item has the column or key that was asked for.
    """
    if options.cluster == "none":
        return None, ""
    first = frame.unique("label", keep="first", maintain_order=True).sort("label")
    if options.cluster == "auto":
        return _found(snapshot, task, first)
    if options.cluster in _FACTS:
        joined = snapshot.with_items(first.select("task", "item_key", "item_id", "label"), [options.cluster])
        values: list[Any] = joined.sort("label").get_column(options.cluster).to_list()
    else:
        values = [_meta(text, options.cluster) for text in first.get_column("meta").to_list()]
    if all(value is None for value in values):
        raise ConfigError(
            f"no item of {task} has {options.cluster!r}",
            expected=f"auto, none, one of {', '.join(sorted(_FACTS))}, or a key of the responses' meta",
            do="see: foreshock sql 'select meta from responses limit 1'",
        )
    known = {value: number for number, value in enumerate(dict.fromkeys(str(v) for v in values if v is not None))}
    fresh = iter(range(len(known), len(known) + len(values)))
    numbers = np.array([next(fresh) if value is None else known[str(value)] for value in values])
    return numbers, options.cluster


def _meta(text: str | None, key: str) -> object:
    if text is None:
        return None
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    for part in (key,) if isinstance(found, dict) and key in found else key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, str | int | float) else None


def _found(snapshot: Snapshot, task: str, first: pl.DataFrame) -> tuple[NDArray[np.int64] | None, str]:
    """Items of equal text, and items that share a passage."""
    keys = [key or label for key, label in zip(first["item_key"].to_list(), first["label"].to_list(), strict=True)]
    groups = _Groups(len(keys))
    same = groups.join(_alike(keys))
    passages = groups.join(shared_passages(_texts(snapshot, task, first)))
    if not same and not passages:
        return None, ""
    kinds = [word for word, there in (("equal text", same), ("a shared passage", passages)) if there]
    return groups.numbers(), " or ".join(kinds)


def _texts(snapshot: Snapshot, task: str, first: pl.DataFrame) -> list[str | None]:
    """Question of every item; a key stands for one text, so whichever row of the items has it will do."""
    import polars as pl

    columns = ["task", "item_key", "input"]
    parts = [
        snapshot.frame(segment, columns)
        for segment in snapshot.segments("items")
        if (segment.low[0] or "") <= task <= (segment.high[0] or task)
    ]
    if not parts:
        return []
    items = pl.concat(parts).filter(pl.col("task") == task).unique("item_key", keep="any")
    joined = first.select("item_key").join(items, on="item_key", how="left", maintain_order="left")
    return joined.get_column("input").to_list()


def shared_passages(texts: Sequence[str | None]) -> list[list[int]]:
    """Groups of items that begin alike, end alike, or have a long line in common.

    What nearly all texts (more than nine in ten) begin or end with is left out first: it is an instruction.

    Examples:
        >>> story = "Once upon a time. " * 20
        >>> shared_passages([story + "Who?", story + "When?", "2 + 2?"])
        [[0, 1]]
    """
    said = [text or "" for text in texts]
    starts = _after_instructions(said)
    ends = _after_instructions([text[::-1] for text in said])
    shared: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, text in enumerate(said):
        start, end = starts[place], len(text) - ends[place]
        if len(text) - start >= PASSAGE:
            shared["head", text[start : start + PASSAGE]].append(place)
        if end >= PASSAGE:
            shared["tail", text[end - PASSAGE : end]].append(place)
        if len(text) >= PASSAGE and "\n" in text:
            for line in {line for line in text.split("\n") if len(line) >= PASSAGE}:
                shared["line", line].append(place)
    limit = max(2, _INSTRUCTION * sum(map(bool, said)))
    return [places for places in shared.values() if 2 <= len(places) <= limit]


def _after_instructions(texts: Sequence[str]) -> list[int]:
    """Where each text goes on after what nearly all of them begin with; a few may begin in another way."""
    there = sorted(text for text in texts if text)
    most = int(_INSTRUCTION * len(there)) + 1
    if len(there) <= 2:
        return [0] * len(texts)
    # in sorted order the texts that share a beginning stand together
    lengths = [_common(there[i], there[i + most - 1]) for i in range(len(there) - most + 1)]
    longest = max(lengths)
    head = there[lengths.index(longest)][:longest]
    return [longest if text.startswith(head) else 0 for text in texts]


def _common(one: str, two: str) -> int:
    """Characters that both begin with."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == two[:middle] else (low, middle - 1)
    return low


def _alike(keys: Sequence[str]) -> Iterable[list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        found[key].append(place)
    return (places for places in found.values() if len(places) > 1)


class _Groups:
    """Disjoint sets of places."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def join(self, groups: Iterable[Sequence[int]]) -> bool:
        """Unite the members of each group; whether that changed anything."""
        changed = False
        for group in groups:
            for place in group[1:]:
                a, b = self._root(group[0]), self._root(place)
                if a != b:
                    self._parent[max(a, b)] = min(a, b)
                    changed = True
        return changed

    def numbers(self) -> NDArray[np.int64]:
        """Number of each place's set."""
        return np.array([self._root(place) for place in range(len(self._parent))], np.int64)

    def _root(self, place: int) -> int:
        while self._parent[place] != place:
            self._parent[place] = self._parent[self._parent[place]]
            place = self._parent[place]
        return place
