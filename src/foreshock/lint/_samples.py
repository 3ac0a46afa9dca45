"""Stored responses as a metric sees them: one for each of some items, drawn by a seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from foreshock.metrics import Response
from foreshock.store import Snapshot

_OWN = (
    *("task", "run_key", "item_key", "item_id", "delivery", "output", "reasoning", "answer", "choice_logprobs"),
    *("gold_logprob", "gold_token_logprobs", "output_token_logprobs", "epoch", "sample", "filter", "meta"),
)
_ITEM = ("input", "choices", "targets", "gold_index", "subset")
_ARRIVED = ("ok", "truncated")


def load_samples(snapshot: Snapshot, task: str, runs: Sequence[str], most: int, seed: int) -> list[Response]:
    """One response for each of at most ``most`` items of a task, of a run drawn at random.

    Memory is bounded by the keys of the task's responses and by the chosen ones.

    Args:
        snapshot: Where they are.
        task: Task.
        runs: Run keys.
        most: Most items.
        seed: Seed of the choice.
    """
    import polars as pl

    arrived = pl.col("delivery").is_in(_ARRIVED)
    scan = snapshot.scan("responses", tasks=[task], runs=runs, columns=_OWN).filter(arrived).with_row_index("place")
    keys = scan.select("place", "item_key", "item_id").collect()
    if keys.is_empty():
        return []
    order = np.random.default_rng(seed).permutation(keys.height)
    firsts = keys[order.tolist()].unique(["item_key", "item_id"], keep="first", maintain_order=True)
    places = sorted(firsts.head(most)["place"].to_list())
    rows = scan.filter(pl.col("place").is_in(places)).collect().drop("place")
    whole = snapshot.with_items(rows, _ITEM)
    return [_response(row) for row in whole.iter_rows(named=True)]


def _response(row: dict[str, Any]) -> Response:
    return Response(**{name: row[name] for name in (*_OWN, *_ITEM)})
