"""Rows of the tables that the report is drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from foreshock.check._lights import without_answer
from foreshock.check._task import Scored, Task
from foreshock.metrics import harness_metric
from foreshock.records import ModelCard, Run
from foreshock.series import Block, Line, Stop, axis_value, conditions_text, family_label


def model_rows(task: Task, rows: Iterable[Scored], harness: Mapping[str, float]) -> list[dict[str, Any]]:
    """Rows of ``models``: every run of a task on its main metric, on both denominators.

    Args:
        task: The task.
        rows: Its scores on the main metric.
        harness: The harness's own total on the same metric, by run key.
    """
    axes = _places(task.lines)
    found = []
    for row in rows:
        line, stop = axes.get(row.run.run_key, (None, None))
        replicate = stop is not None and all(group[0].run_key != row.run.run_key for group in stop.groups)
        found.append(
            {
                **_placed(row.run, task.cards[row.run.run_key], line.axis if line else None),
                "metric": row.measure.name,
                "unit": unit_of(row.measure.low, row.measure.high),
                "value": row.value,
                "low": row.low,
                "high": row.high,
                "n": row.n,
                "value_expected": _over_expected(row, task.blocks),
                "value_parsed": row.value_parsed,
                "harness_value": harness.get(row.run.run_key),
                "replicates": sum(len(group) for group in stop.groups) if stop else 1,
                "note": _note(row.run, replicate=replicate, placed=line is not None),
            }
        )
    return found


def _places(lines: Iterable[Line]) -> dict[str, tuple[Line, Stop]]:
    """Line and point of every run, by run key; of several lines the first."""
    return {
        run.run_key: (line, stop)
        for line in reversed(list(lines))
        for stop in line.stops
        for group in stop.groups
        for run in group
    }


def total_rows(
    runs: Iterable[Run], cards: Mapping[str, ModelCard], totals: Iterable[dict[str, Any]], lines: Iterable[Line]
) -> list[dict[str, Any]]:
    """Rows of ``models`` for runs of which only totals were logged, one per logged metric."""
    by_key = {run.run_key: run for run in runs}
    axes = _places(lines)
    found = []
    for total in totals:
        run = by_key[total["run_key"]]
        error, value = total["stderr"], total["value"]
        known = harness_metric(total["metric_id"])
        found.append(
            {
                **_placed(run, cards[run.run_key], axes[run.run_key][0].axis if run.run_key in axes else None),
                "metric": total["metric_id"] + (f",{total['filter']}" if total["filter"] else ""),
                "unit": unit_of(known.low, known.high) if known else "score",
                "value": value,
                "low": None if error is None else value - 1.96 * error,
                "high": None if error is None else value + 1.96 * error,
                "n": total["n"],
                "value_expected": None,
                "value_parsed": None,
                "harness_value": value,
                "replicates": 1,
                "note": "total from the log; no responses",
            }
        )
    return found


def unit_of(low: float | None, high: float | None) -> str:
    """Unit of a metric with this range; a fraction is shown in percent.

    Examples:
        >>> unit_of(0, 1), unit_of(None, 0)
        ('fraction', 'score')
    """
    return "fraction" if (low, high) == (0, 1) else "score"


def _placed(run: Run, card: ModelCard, axis: str | None) -> dict[str, Any]:
    counts = run.counts
    unparsed = without_answer(counts)
    return {
        "task": run.task,
        "run_key": run.run_key,
        "model": run.model,
        "family": family_label(card),
        "axis": axis,
        "x": axis_value(run, card, axis) if axis else None,
        "status": run.status.value,
        "conditions": conditions_text(run),
        **msgspec.to_builtins(counts),
        "unparsed": unparsed,
        "unparsed_share": unparsed / counts.delivered if counts.delivered else None,
    }


def _over_expected(row: Scored, blocks: Sequence[Block]) -> float | None:
    """The same right answers over every response that was expected; None for metrics that do not count answers.

    A run with several answer filters expects every response once for each of them; how many it expects of each
    perturbation is not known.
    """
    counts = row.run.counts
    expected = counts.expected or (counts.delivered + counts.refused + counts.error + counts.missing)
    if row.measure.kind != "hard" or not expected or any(block.perturbation is not None for block in blocks):
        return None
    return row.total * max(1, len(blocks)) / expected


def _note(run: Run, *, replicate: bool, placed: bool) -> str:
    if run.status.value != "complete":
        return f"{run.status.value}: not part of trends"
    if replicate:
        return "repeat: gives run-to-run noise"
    return "" if placed else "no place on an axis"
