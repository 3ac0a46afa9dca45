"""What each task adds to a document before its lines are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from foreshock.check._facts import task_facts, total_facts
from foreshock.check._lights import TaskFacts
from foreshock.check._line_differences import DifferenceLine, differences_of_items, differences_of_totals
from foreshock.check._line_totals import TotalLine, total_lines
from foreshock.check._lines import ItemLine, item_lines
from foreshock.check._measures import PRIMARY
from foreshock.check._tables import model_rows, total_rows
from foreshock.check._task import load_task, main_scores
from foreshock.records import ModelCard, Run
from foreshock.scoring import Agreement
from foreshock.series import Line, aggregate_series
from foreshock.store import Snapshot

Waiting = ItemLine | TotalLine | DifferenceLine


class Context(NamedTuple):
    """What every task is looked at with.

    Attributes:
        snapshot: Where scores come from.
        cards: Model card of each run, by run key.
        agreed: Responses on which our hard metric equals the harness's own score, and how many were compared, by run.
        seed: Seed of everything that is drawn.
        length: Tokens of an answer, where somebody said it.
    """

    snapshot: Snapshot
    cards: Mapping[str, ModelCard]
    agreed: Mapping[str, tuple[int, int]]
    seed: int
    length: float | None = None


class Subject(NamedTuple):
    """One task with its runs and lines."""

    task: str
    runs: list[Run]
    trails: list[Line]


class View(NamedTuple):
    """What one task adds to the document.

    Attributes:
        task: The task.
        facts: What its trust card is judged from, but for its lines.
        models: Rows of the table ``models``.
        waiting: Its lines, still to be judged.
        metrics: Names of the metrics that have scores.
    """

    task: str
    facts: TaskFacts
    models: list[dict[str, Any]]
    waiting: Sequence[Waiting]
    metrics: list[str]


def agreed_by_run(agreed: Sequence[Agreement]) -> dict[str, tuple[int, int]]:
    """Responses on which our hard metric equals the harness's own score, and how many were compared, by run key.

    Where the harness gave several scores, one that by its name measures the same counts before one that may not.
    """
    found: dict[str, tuple[bool, int, int]] = {}
    for told in agreed:
        if told.n and told.metric in PRIMARY:
            found[told.run_key] = max(found.get(told.run_key, (False, 0, 0)), (told.comparable, told.agree, told.n))
    return {key: (agree, n) for key, (_, agree, n) in found.items()}


def view(context: Context, subject: Subject) -> View:
    """Look at one task: by its responses where there are some, else by its totals."""
    if any(run.counts.delivered for run in subject.runs):
        return _item_view(context, subject)
    return _total_view(context, subject)


def _item_view(context: Context, subject: Subject) -> View:
    name, runs, snapshot = subject.task, subject.runs, context.snapshot
    agreed = {run.run_key: context.agreed[run.run_key] for run in runs if run.run_key in context.agreed}
    trusted = all(equal == n for equal, n in agreed.values()) if agreed else None
    task = load_task(snapshot, name, runs, context.cards, subject.trails, trusted)
    rows = main_scores(task)
    waiting = item_lines(task)
    totals = _logged(snapshot, runs, rows[0].measure.id if rows else None)
    return View(
        task=name,
        facts=task_facts(task, agreed),
        models=model_rows(task, rows, totals),
        waiting=[*waiting, *differences_of_items(waiting)],
        metrics=[measure.name for measure in task.measures.all],
    )


def _total_view(context: Context, subject: Subject) -> View:
    snapshot, runs = context.snapshot, subject.runs
    found = [one for one in aggregate_series(snapshot, subject.trails) if one.points]
    waiting: list[Waiting] = [*total_lines(found, runs[0], context.seed, context.length)]
    waiting += differences_of_totals(snapshot, subject.trails, runs[0], context.seed)
    keys = [run.run_key for run in runs]
    frame = snapshot.scan("aggregates", runs=keys, columns=["run_key", "metric_id", "filter", "value", "stderr", "n"])
    totals = [row for row in frame.collect().iter_rows(named=True) if row["value"] is not None]
    rows = total_rows(runs, context.cards, totals, subject.trails)
    facts = total_facts(subject.task, runs, rows, {one.metric: one.declared for one in found})
    return View(subject.task, facts, rows, waiting, [])


def _logged(snapshot: Snapshot, runs: Sequence[Run], metric: str | None) -> dict[str, float]:
    """The harness's own total on the main metric (by its own name, or by ours where they are the same), by run key."""
    names = ["acc", "accuracy"] if metric is None else [metric, metric.partition("@")[0]]
    keys = [run.run_key for run in runs]
    frame = snapshot.scan("aggregates", runs=keys, columns=["run_key", "metric_id", "value", "source"]).collect()
    found: dict[str, float] = {}
    for row in frame.iter_rows(named=True):
        if row["source"] == "harness" and row["value"] is not None and row["metric_id"] in names:
            found.setdefault(row["run_key"], row["value"])
    return found
