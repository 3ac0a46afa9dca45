"""What scoring gave, and what it could not give and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from foreshock._base import count_of
from foreshock.metrics import MetricSpec
from foreshock.report import one_line
from foreshock.scoring import Aggregate, Lack, Scored, aggregate
from foreshock.store import Snapshot

if TYPE_CHECKING:
    from rich.console import Console

SHOWN = 40
"""Rows of the table of values, and runs that are looked at for it."""
_NAMED = 6
_MORE = "select task, model, metric_id, avg(value), count(value) from scores where source = 'foreshock' group by all"
_PLAINER = {
    "has choices": "its items have options, and how alike two options are spelt means nothing; choices=allow lifts it"
}


def show_values(out: Console, snapshot: Snapshot, specs: Sequence[MetricSpec]) -> None:
    """Value, standard error and responses of each run and metric, of as many runs as one can read."""
    from rich.table import Table

    runs = [run.run_key for run in snapshot.runs()]
    found = aggregate(snapshot, specs, runs=runs[:SHOWN], source="foreshock")
    found = [row for row in found if row.value is not None]
    if not found:
        return
    names = {metric_id: _name(spec, metric_id) for spec in specs for metric_id in spec.ids}
    out.print("\nWhat the runs score")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("task", "model", "metric", "value", "stderr", "n"):
        table.add_column(name, overflow="fold", justify="right" if name in ("value", "stderr", "n") else "left")
    for row in found[:SHOWN]:
        error = "" if row.stderr is None else f"{row.stderr:.4f}"
        shown = (row.task, row.model, _label(names[row.metric_id], row))
        table.add_row(*map(one_line, shown), f"{row.value:.4f}", error, f"{row.n_scored:,}")
    out.print(table)
    if len(found) > SHOWN or len(runs) > SHOWN:
        rows = f"{SHOWN} of {len(found):,} rows" if len(found) > SHOWN else f"{count_of(len(found), 'row')}"
        out.print(
            f"{rows}, from {min(SHOWN, len(runs)):,} of {count_of(len(runs), 'run')}. All of them: --json FILE; or"
        )
        out.print(f'  foreshock sql "{_MORE}"', soft_wrap=True)


def show_gaps(out: Console, done: Scored, lacking: Sequence[Lack]) -> None:
    """Why metrics gave nothing, a line for each reason; then what the logs would have to hold."""
    told = {lack.metric for lack in lacking}
    names = {spec.id: str(spec) for spec in done.metrics}
    reasons: dict[str, dict[str, None]] = {}
    for metric_id, why in (
        *((i, reason) for i, by_task in done.inapplicable.items() for reason in by_task.values()),
        *((i, reason) for i, known in done.barred.items() for reason in known),
    ):
        if names[metric_id] not in told or not why.startswith("no "):
            reasons.setdefault(why, {})[names[metric_id]] = None
    if reasons:
        out.print("\nWhat does not apply to some or all responses")
    for why, metrics in sorted(reasons.items()):
        out.print(f"  {_several(metrics)}: {one_line(_PLAINER.get(why, why))}")
    if lacking:
        out.print("\nWhat would allow more")
    advice: dict[str, tuple[dict[str, None], set[str]]] = {}
    for lack in lacking:
        text = lack.advice.removeprefix(f"{lack.metric} needs ")
        metrics, tasks = advice.setdefault(text, ({}, set()))
        metrics[lack.metric] = None
        tasks.add(lack.task)
    for text, (metrics, tasks) in sorted(advice.items()):
        need = "needs" if len(metrics) == 1 else "need"
        out.print(f"  {_several(metrics)} {need} {one_line(text)} ({count_of(len(tasks), 'task')})")


def _several(names: Iterable[str]) -> str:
    """A few names, and how many more.

    Examples:
        >>> _several(["bleu", "chrf"])
        'bleu, chrf'
    """
    every = [one_line(name) for name in names]
    rest = len(every) - _NAMED
    return ", ".join(every) if rest <= 1 else f"{', '.join(every[:_NAMED])} and {rest} more"


def _name(spec: MetricSpec, metric_id: str) -> str:
    return str(spec) + metric_id.removeprefix(spec.id)


def _label(name: str, row: Aggregate) -> str:
    told = [part for part in (row.filter, row.perturbation, row.unit) if part is not None]
    return f"{name} [{', '.join(told)}]" if told else name
