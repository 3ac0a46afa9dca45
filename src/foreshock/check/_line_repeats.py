"""Several answers to each item: what a model scores in k attempts, far below one in the number of items."""

from __future__ import annotations

from typing import Any

import numpy as np

from foreshock.check._lines import ItemLine, newest_of, runs_of
from foreshock.mirage import sampled
from foreshock.series import Shelf


def repeat_rows(line: ItemLine, shelf: Shelf, seed: int) -> list[dict[str, Any]]:
    """Rows of ``repeats`` for one line, but for its finding; none where every item was answered once.

    Only scores that are 0 or 1 for each answer say how often a model succeeds at an item.
    """
    main = line.plan.measures.main
    scores = shelf.scores(line.line.task)
    if main is None or not any(one.metric_id == main.id and one.binary for one in scores.seen):
        return []
    block = line.block(shelf, runs_of(line.line))
    if block is None or main.id not in block.counts or block.counts[main.id].max() < 2:
        return []
    rows = []
    for label, run in newest_of(line.line):
        rates = block.row(main.id, run.run_key)
        if np.isnan(rates).all():
            continue
        attempts = block.counts[main.id][block.runs.index(run.run_key)]
        place = {"metric": main.name, "label": label, "model": run.model, "run_key": run.run_key}
        rows += [place | row for row in sampled(rates, attempts, seed=seed)]
    return rows
