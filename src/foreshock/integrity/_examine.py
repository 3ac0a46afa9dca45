"""All findings of this room for a snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from foreshock.integrity._changes import changes
from foreshock.integrity._collapse import collapses
from foreshock.integrity._delivery import undelivered
from foreshock.integrity._pairing import pairing, pairing_findings
from foreshock.integrity._scores import denominators, disagreements, scales, zero_errors
from foreshock.integrity._totals import largest, totals
from foreshock.records import Finding, ModelCard, Run
from foreshock.scoring import Aggregate, Agreement, aggregate, stored_specs
from foreshock.scoring import agreement as find_agreement
from foreshock.series import Line, lines, model_cards
from foreshock.store import Snapshot

CODES = ("FS101", "FS102", "FS103", "FS104", "FS105", "FS106", "FS107", "FS108")
"""Codes of this room: data and harness."""


BETWEEN = ("FS103", "FS104", "FS105", "FS106", "FS108")
"""Codes that :func:`between` can give."""


def examine(
    snapshot: Snapshot,
    runs: Sequence[Run] | None = None,
    *,
    agreement: Iterable[Agreement] | None = None,
    lines: Iterable[Line] | None = None,
    cards: Mapping[str, ModelCard] | None = None,
    computed: Iterable[Aggregate] | None = None,
) -> list[Finding]:
    """Find what is wrong with the data before anything is said about models (FS101 to FS108).

    Args:
        snapshot: What to look at; scored before, or FS101 stays silent.
        runs: Only these runs; None means all.
        agreement: What :func:`foreshock.scoring.agreement` found, where it is known already.
        lines: Lines of the runs, where they are known already.
        cards: Model cards by run key, where they are known already.
        computed: Aggregates of the runs' tasks over all metrics, where they are known already.

    Returns:
        Findings by code, task and subject.
    """
    chosen = snapshot.runs() if runs is None else list(runs)
    tasks = sorted({run.task for run in chosen})
    keys = {run.run_key for run in chosen}
    agreed = find_agreement(snapshot, tasks=tasks) if agreement is None else list(agreement)
    told = aggregate(snapshot, tasks=tasks) if computed is None else computed
    mine = [row for row in told if row.run_key in keys]
    found = totals(snapshot, chosen, mine)
    shown = _lines(chosen, cards) if lines is None else list(lines)
    return [
        *disagreements(one for one in agreed if one.run_key in keys),
        *denominators(chosen, _speaking(snapshot, mine)),
        *zero_errors(found),
        *_pairings(snapshot, chosen),
        *changes(chosen, snapshot),
        *scales(found),
        *collapses(shown, found, _chances(snapshot, chosen)),
        *undelivered(snapshot, chosen),
    ]


def between(snapshot: Snapshot, runs: Sequence[Run]) -> list[Finding]:
    """What stands between chosen runs and a fair comparison: FS103 to FS106 and FS108 of these runs alone.

    Args:
        snapshot: Where the runs are.
        runs: The runs that are compared.
    """
    logged = totals(snapshot, runs, ())
    return [
        *zero_errors(logged),
        *_pairings(snapshot, runs),
        *changes(runs, snapshot),
        *scales([*logged, *largest(snapshot, runs)]),
        *undelivered(snapshot, runs, all_zero=True),
    ]


def _lines(runs: Sequence[Run], cards: Mapping[str, ModelCard] | None) -> list[Line]:
    return lines(runs, model_cards(runs) if cards is None else cards)


def _pairings(snapshot: Snapshot, runs: Sequence[Run]) -> list[Finding]:
    by_task: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.counts.delivered:  # of totals there are no items to pair
            by_task[run.task].append(run)
    return [
        finding
        for task, members in sorted(by_task.items())
        for finding in pairing_findings(pairing(snapshot, task, members), members)
    ]


def _speaking(snapshot: Snapshot, computed: Sequence[Aggregate]) -> list[Aggregate]:
    """One hard metric per task: the harness's own where it has one, else ours."""
    hard = {spec.id for spec in stored_specs(snapshot).values() if spec.kind == "hard" and spec.grain == "response"}
    by_task: dict[str, list[Aggregate]] = defaultdict(list)
    for row in computed:
        if row.source == "harness" or row.metric_id in hard:
            by_task[row.task].append(row)
    found = []
    for rows in by_task.values():
        main = min(rows, key=lambda row: (row.source != "harness", -row.n_scored, row.metric_id))
        found += [row for row in rows if (row.source, row.metric_id) == (main.source, main.metric_id)]
    return found


def _chances(snapshot: Snapshot, runs: Sequence[Run]) -> dict[str, float]:
    """Score of guessing by task: as declared, else the mean over its items of one over the number of options.

    An item that is answered freely counts 0, and so does one whose options were not logged: the two cannot be told
    apart. Items without text are told apart by their ids.
    """
    import polars as pl

    found = {run.task: run.chance for run in runs if run.chance is not None}
    open_tasks = sorted({run.task for run in runs} - found.keys())
    items = snapshot.scan("items", tasks=open_tasks, columns=["task", "item_key", "item_id", "choices"])
    name = pl.coalesce("item_key", pl.concat_str(pl.lit("id:"), "item_id")).alias("item")
    options = pl.col("choices").list.len().fill_null(0).max().alias("options")
    guessed = pl.when(pl.col("options") > 0).then(1 / pl.col("options")).otherwise(0.0)
    counted = items.group_by("task", name).agg(options).group_by("task").agg(guessed.mean().alias("chance"))
    return found | dict(counted.collect().iter_rows())
