"""FS108: all scores are 0 and all replies are empty, so nothing was delivered, whatever the log calls it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from foreshock._base import count_of
from foreshock.integrity._told import CERTAIN, EVIDENCE
from foreshock.records import Delivery, Evidence, Finding, Run, State, Subject
from foreshock.store import Snapshot

MOSTLY = 0.5
"""Share of empty replies from which a run is told as suspicious although some replies are there."""


class Replies(NamedTuple):
    """Replies of one run that arrived, and how many of them hold nothing but white space."""

    run_key: str
    arrived: int
    empty: int
    best: float | None


def undelivered(snapshot: Snapshot, runs: Sequence[Run], *, all_zero: bool = False) -> list[Finding]:
    """FS108 for every run whose replies are empty; logs that keep no replies say nothing here.

    With ``all_zero`` only the replies of runs without a score above 0 are read, which costs next to nothing.
    """
    by_key = {run.run_key: run for run in runs}
    if all_zero:
        sound = _above_zero(snapshot, sorted(by_key))
        by_key = {key: run for key, run in by_key.items() if key not in sound}
    told = [_finding(by_key[replies.run_key], replies) for replies in _replies(snapshot, sorted(by_key))]
    return [finding for finding in told if finding is not None]


def _above_zero(snapshot: Snapshot, keys: Sequence[str]) -> set[str]:
    import polars as pl

    scores = snapshot.scan("scores", runs=keys, columns=["run_key", "value"]).filter(pl.col("value") > 0)
    return set(scores.select("run_key").unique().collect()["run_key"].to_list())


def _replies(snapshot: Snapshot, keys: Sequence[str]) -> list[Replies]:
    import polars as pl

    frame = snapshot.scan("responses", runs=keys, columns=["run_key", "output", "delivery"])
    arrived = [delivery.value for delivery in Delivery if delivery.arrived]
    blank = pl.col("output").str.strip_chars() == ""
    counted = (
        frame.filter(pl.col("delivery").is_in(arrived), pl.col("output").is_not_null())
        .group_by("run_key")
        .agg(pl.len().alias("arrived"), blank.sum().alias("empty"))
        .filter(pl.col("empty") > 0)
        .collect()
    )
    suspects = counted["run_key"].to_list()
    if not suspects:
        return []
    scores = snapshot.scan("scores", runs=suspects, source="harness", columns=["run_key", "value"])
    best = dict(scores.group_by("run_key").agg(pl.col("value").max()).collect().iter_rows())
    return [Replies(key, n, empty, best.get(key)) for key, n, empty in sorted(counted.iter_rows())]


def _finding(run: Run, replies: Replies) -> Finding | None:
    nothing = replies.empty == replies.arrived and not replies.best
    if not nothing and replies.empty <= MOSTLY * replies.arrived:
        return None
    scores = "and no score is above 0" if not replies.best else f"and the best score is {replies.best:g}"
    return Finding(
        code="FS108",
        subject=Subject(task=run.task, model=run.model, runs=[run.run_key]),
        state=State.FIRING if nothing else State.PENDING,
        verdict="nothing-delivered" if nothing else "mostly-empty",
        title=(
            f"{run.task}: {replies.empty:,} of {count_of(replies.arrived, 'reply', 'replies')} of {run.model} hold no "
            f"text, {scores}"
        ),
        null="a model that was reached writes something; no chance",
        rate=CERTAIN,
        evidence=[Evidence(run=run.run_key, item=None, epoch=None, what="empty replies")][:EVIDENCE],
        evidence_total=replies.empty,
        advice="this is no score of 0: look at endpoint, token limit, chat template and stop words, and run again",
    )
