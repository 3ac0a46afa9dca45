"""What each task adds to a document before its lines are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from foreshock.check._asked import There, fits, judged_on, there
from foreshock.check._facts import task_facts, total_facts
from foreshock.check._lights import TaskFacts
from foreshock.check._line_differences import DifferenceLine, differences_of_items, differences_of_totals
from foreshock.check._line_totals import TotalLine, total_lines
from foreshock.check._lines import ItemLine, item_lines
from foreshock.check._tables import model_rows, total_rows
from foreshock.check._task import load_task
from foreshock.check._whole_texts import WholeTexts
from foreshock.records import ModelCard, Run
from foreshock.series import Line, Shelf, aggregate_series
from foreshock.store import Snapshot

Waiting = ItemLine | TotalLine | DifferenceLine


class Context(NamedTuple):
    """What every task is looked at with.

    Attributes:
        shelf: Where scores come from.
        cards: Model card of each run, by run key.
        options: Numbers of options that the items of each task offer.
        logged: The harness's own totals of each run: metric and value.
        texts: Whether what stands for the answers of a task are whole texts.
        seed: Seed of everything that is drawn.
        length: Tokens of an answer, where somebody said it.
        hard: Metrics to judge (glob patterns); none are those that speak for the tasks.
    """

    shelf: Shelf
    cards: Mapping[str, ModelCard]
    options: Mapping[str, Sequence[int]]
    logged: Mapping[str, Sequence[tuple[str, float]]]
    texts: WholeTexts
    seed: int
    length: float | None = None
    hard: Sequence[str] = ()


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
        there: Metrics that it could be judged on, and others.
    """

    task: str
    facts: TaskFacts
    models: list[dict[str, Any]]
    waiting: Sequence[Waiting]
    metrics: list[str]
    there: There


def view(context: Context, subject: Subject) -> View:
    """Look at one task: by its responses where there are some, else by its totals."""
    if has_responses(subject.runs):
        return _item_view(context, subject)
    return _total_view(context, subject)


def has_responses(runs: Sequence[Run]) -> bool:
    """Whether some run of a task has responses: its totals count only where none has."""
    return any(run.counts.delivered for run in runs)


def _item_view(context: Context, subject: Subject) -> View:
    name, runs = subject.task, subject.runs
    task = load_task(
        context.shelf,
        name,
        runs,
        cards=context.cards,
        lines=subject.trails,
        options=context.options[name],
        texts=context.texts,
    )
    judged = judged_on(task, context.shelf.specs, context.texts, context.options[name], context.hard)
    waiting: list[Waiting] = []
    for alike in item_lines(task, judged):
        waiting += [*alike, *differences_of_items(alike)]
    rows = task.scored
    totals = _own_totals(context, runs, rows[0].measure.id if rows else None)
    return View(
        task=name,
        facts=task_facts(task, task.agreed),
        models=model_rows(task, rows, totals),
        waiting=waiting,
        metrics=[measure.name for measure in task.measures.all],
        there=there(task.measures),
    )


def _total_view(context: Context, subject: Subject) -> View:
    snapshot, runs = context.shelf.snapshot, subject.runs
    found = [one for one in aggregate_series(snapshot, subject.trails) if one.points]
    lines = total_lines(found, runs[0], context.seed, context.length)
    differences = differences_of_totals(snapshot, subject.trails, runs[0], context.seed)
    judged = list(dict.fromkeys(line.series.metric for line in lines if not line.continuous))
    beside = [one.metric for one in found if one.metric not in judged]
    if context.hard:
        lines = [line for line in lines if line.series.metric in judged and fits(line.series.metric, context.hard)]
        differences = [one for one in differences if fits(one.metric, context.hard)]
    keys = [run.run_key for run in runs]
    frame = snapshot.scan("aggregates", runs=keys, columns=["run_key", "metric_id", "filter", "value", "stderr", "n"])
    totals = [row for row in frame.collect().iter_rows(named=True) if row["value"] is not None]
    rows = total_rows(runs, context.cards, totals, subject.trails)
    facts = total_facts(subject.task, runs, rows, {one.metric: one.declared for one in found})
    return View(subject.task, facts, rows, [*lines, *differences], [], There(judged, beside))


def _own_totals(context: Context, runs: Sequence[Run], metric: str | None) -> dict[str, float]:
    """The harness's own total on the main metric (by its own name, or by ours where they are the same), by run key."""
    names = ["acc", "accuracy"] if metric is None else [metric, metric.partition("@")[0]]
    totals = {run.run_key: [v for name, v in context.logged.get(run.run_key, ()) if name in names] for run in runs}
    return {key: values[0] for key, values in totals.items() if values}


def logged_totals(snapshot: Snapshot, runs: Sequence[Run]) -> dict[str, list[tuple[str, float]]]:
    """What the harness gave as totals of runs, by run key."""
    keys = [run.run_key for run in runs]
    frame = snapshot.scan("aggregates", runs=keys, columns=["run_key", "metric_id", "value", "source"]).collect()
    found: dict[str, list[tuple[str, float]]] = {}
    for key, metric, value, source in frame.iter_rows():
        if source == "harness" and value is not None:
            found.setdefault(key, []).append((metric, value))
    return found
