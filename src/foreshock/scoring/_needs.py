"""What the logs would have to hold for a metric to apply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from foreshock.metrics import MetricSpec, get_metric
from foreshock.records import TABLES
from foreshock.scoring._defaults import specs_of
from foreshock.store import Snapshot

ADVICE = {
    "answer": "answers extracted by the harness, or a mapped column: --map answer=COLUMN",
    "targets": "reference answers in the log, or a mapped column: --map target=COLUMN",
    "choices": "the options of each item",
    "gold_index": "the index of the right option",
    "choice_logprobs": "log-likelihoods of the options: lm-eval multiple_choice tasks with --log_samples have them",
    "gold_logprob": "the reference answer's log-likelihood: lm-eval loglikelihood tasks with --log_samples have it",
    "gold_token_logprobs": "log-probabilities of the reference answer's tokens, as gold_token_logprobs in each sample",
    "output": "the model's output: log samples, not only totals",
    "trace": "the steps of each response: Inspect logs with messages or events have them",
    "harness_scores": "the harness's own scores of each response",
}
"""How each column that a default metric needs gets into a log."""

_BESIDE = {"trace": "trace", "harness_scores": "scores"}
_OF_CHOICES = {"choices", "choice_logprobs"}
_OF_ANOTHER = ("pass_at_k", "pass_rate")


class Lack(NamedTuple):
    """A metric that cannot be had for a task.

    Attributes:
        task: The task.
        metric: The metric, as :func:`get_metric` takes it.
        missing: Columns that no response or item of the task has, for the alternative that lacks least.
        advice: How to get them, one sentence.
    """

    task: str
    metric: str
    missing: tuple[str, ...]
    advice: str


def needs(
    snapshot: Snapshot, metrics: Iterable[MetricSpec | str] | None = None, *, tasks: Iterable[str] | None = None
) -> list[Lack]:
    """Metrics that cannot be had for some task because of what its logs lack, and what would give them.

    Looks at the columns, so nothing has to be scored before. A metric that makes no sense for a task (the similarity
    of "A" and "B", the Brier score of a free answer) is not listed: nothing is missing.

    Args:
        snapshot: What to look at.
        metrics: Metrics or names; None means the default ones.
        tasks: Only these tasks.
    """
    there = _columns(snapshot, None if tasks is None else sorted(set(tasks)))
    lacks = []
    for task, columns in sorted(there.items()):
        for spec in specs_of(metrics):
            if any(name in columns for name in spec.unless):
                continue
            lacking = [tuple(name for name in alternative if name not in columns) for alternative in spec.needs]
            if all(lacking):
                missing = sorted(lacking, key=len)[0]
                if not columns & _OF_CHOICES and set(missing) & _OF_CHOICES:
                    continue
                advice = "; ".join(ADVICE.get(name, f"the column {name}") for name in missing) + _instead(spec, columns)
                lacks.append(Lack(task, str(spec), missing, f"{spec} needs {advice}"))
    return lacks


def _instead(spec: MetricSpec, columns: set[str]) -> str:
    """The same metric of what the harness recorded, where that is there."""
    if spec.name not in _OF_ANOTHER or "harness_scores" not in columns:
        return ""
    return f"; or, made of the harness's own score: {get_metric(spec.name, **{**dict(spec.params), 'of': 'harness'})}"


def _columns(snapshot: Snapshot, tasks: list[str] | None) -> dict[str, set[str]]:
    """Per task, the columns of responses and items in which some row has something."""
    import polars as pl

    found: dict[str, set[str]] = {}
    for table in ("responses", "items"):
        kinds = {column.name: column.kind for column in TABLES[table] if column.name != "task"}
        something = [
            (pl.col(name).list.len() > 0).any() if kind.startswith("list") else pl.col(name).is_not_null().any()
            for name, kind in kinds.items()
        ]
        frame = snapshot.scan(table, tasks=tasks).group_by("task").agg(something).collect()
        for row in frame.iter_rows(named=True):
            found.setdefault(row["task"], set()).update(name for name in kinds if row[name])
    for name, table in _BESIDE.items():
        for task in frozenset[str]().union(*(segment.tasks for segment in snapshot.segments(table))):
            found.setdefault(task, set()).add(name)
    asked = {run.task for run in snapshot.runs() if tasks is None or run.task in tasks}
    return {task: found.get(task, set()) for task in asked}
