"""Which scores a terminal shows: training runs by their ends and their largest step, of long lists an even choice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from foreshock.report._rows import ModelRow

MOST = 12
"""Rows of one task and metric; a screen has 24 lines."""

_CHECKPOINT = re.compile(r"[@/:_-]?(?:step|checkpoint|ckpt|iter)[-_]?(\d+).*$", re.IGNORECASE)
_SUMMARISED = 5  # checkpoints of one run from which on four stand for all


def by_task(rows: Sequence[ModelRow]) -> list[list[ModelRow]]:
    """Rows of one task and metric together, in the order of the document."""
    groups: dict[tuple[str, str | None], list[ModelRow]] = {}
    for row in rows:
        groups.setdefault((row.task, row.metric), []).append(row)
    return list(groups.values())


def prefix(names: Sequence[str]) -> str:
    """What all names begin with, up to a separator; empty when that is too short to be worth a word.

    Examples:
        >>> prefix(["EleutherAI/pythia-70m", "EleutherAI/pythia-160m"]), prefix(["gpt-2", "gpt-3"])
        ('EleutherAI/pythia-', '')
    """
    if not names:
        return ""
    first, last = min(names), max(names)  # what these two share, all share
    common = first[: next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)]
    end = max((common.rfind(mark) for mark in "/-_@:"), default=-1) + 1
    return common[:end] if end >= 6 else ""


def chosen(rows: Sequence[ModelRow]) -> list[ModelRow]:
    """At most :data:`MOST` of the rows of one task and metric, in their order.

    Of a training run with many checkpoints the first, the last and the two around the largest change are kept; where
    the runs are too many for that, the last. The other models are thinned out evenly, ends included.
    """
    if len(rows) <= MOST:
        return list(rows)
    runs = _runs(rows)
    trained = [sorted(run, key=lambda place: _step(rows[place])) for run in runs if len(run) >= _SUMMARISED]
    kept = sorted({place for run in trained for place in _turning(rows, run)})
    if not summarised(rows):
        kept = _evenly(sorted(run[-1] for run in trained), MOST)
    others = sorted(place for run in runs if len(run) < _SUMMARISED for place in run)
    return [rows[place] for place in sorted({*kept, *_evenly(others, MOST - len(kept))})]


def summarised(rows: Sequence[ModelRow]) -> bool:
    """Whether :func:`chosen` tells a training run by its ends and its largest step."""
    trained = [run for run in _runs(rows) if len(run) >= _SUMMARISED]
    return len(rows) > MOST and 0 < len(trained) <= MOST // 4


def _runs(rows: Sequence[ModelRow]) -> list[list[int]]:
    """Places of the rows of one training run together."""
    runs: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        runs.setdefault(_CHECKPOINT.sub("", row.model), []).append(place)
    return list(runs.values())


def _step(row: ModelRow) -> int:
    found = _CHECKPOINT.search(row.model)
    return int(found[1][:18]) if found else -1


def _evenly(places: Sequence[int], most: int) -> list[int]:
    if len(places) <= most or most < 2:
        return list(places[:most])
    return [places[round(i * (len(places) - 1) / (most - 1))] for i in range(most)]


def _turning(rows: Sequence[ModelRow], order: Sequence[int]) -> set[int]:
    """First and last checkpoint, and the neighbours between which the value changes most."""
    values = [rows[place].value for place in order]
    steps = [
        (abs(now - before), -i)
        for i, (before, now) in enumerate(pairwise(values))
        if before is not None and now is not None
    ]
    largest = -max(steps)[1] if steps else 0
    return {order[0], *order[largest : largest + 2], order[-1]}
