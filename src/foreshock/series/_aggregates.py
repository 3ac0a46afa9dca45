"""Series from totals alone: published tables, and logs that kept no responses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from foreshock.records import Run
from foreshock.series._lines import Line
from foreshock.series._types import Declared, Point, Series
from foreshock.store import Snapshot

_COLUMNS = [
    *("run_key", "task", "subset", "metric_id", "filter", "reducer", "value", "stderr", "n", "source"),
    *("low", "high", "higher_is_better"),
]


def aggregate_series(snapshot: Snapshot, lines: Iterable[Line]) -> list[Series]:
    """Series of every logged total of the runs of ``lines``, in order of line and metric.

    Only totals of whole tasks are taken. Where the number of items is not logged but a rate and its standard error
    are, the number is derived as ``p (1 - p) / stderr^2 + 1`` (the harness divides by n - 1); ``source`` then says so.
    For tables the reader has done so where the rows agree, and nothing is derived here.
    """
    wanted = list(lines)
    keys = sorted({run.run_key for line in wanted for stop in line.stops for group in stop.groups for run in group})
    if not keys:
        return []
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in snapshot.scan("aggregates", runs=keys, columns=_COLUMNS).collect().iter_rows(named=True):
        if row["value"] is not None and row["subset"] is None:
            rows[row["run_key"]].append(row)
    return [found for line in wanted for found in _of_line(line, rows)]


def _of_line(line: Line, rows: dict[str, list[dict[str, Any]]]) -> list[Series]:
    names = sorted({_name(row) for stop in line.stops for run in _newest(stop) for row in rows[run]})
    found = []
    for name in names:
        points = []
        derived = False
        said = Declared()
        for stop in line.stops:
            mine = [row for run in _newest(stop) for row in rows[run] if _name(row) == name]
            if not mine:
                continue
            n, guessed = _items(mine[0])
            said = declared(stop.groups[0][0], mine[0]) if said == Declared() else said
            derived |= guessed
            points.append(
                Point(
                    label=stop.label,
                    x=stop.x,
                    value=sum(row["value"] for row in mine) / len(mine),
                    stderr=mine[0]["stderr"] if len(mine) == 1 else None,
                    n=n,
                    run_key=mine[0]["run_key"],
                    replicates=tuple(row["value"] for row in mine),
                )
            )
        source = "aggregates, n derived from the standard error" if derived else "aggregates"
        family = line.family if not line.conditions else f"{line.family} ({line.conditions})"
        place = (line.task, family, name, line.axis, line.axis_known, line.log_axis)
        found.append(Series(*place, tuple(points), source, said))
    return found


def declared(run: Run, row: Mapping[str, Any]) -> Declared:
    """What is said about the metric of a total: by the run (``meta["metrics"]``), or by the total itself.

    Args:
        run: The run that the total is of.
        row: The total, with the columns ``metric_id``, ``low``, ``high`` and ``higher_is_better``.
    """
    facts = run.meta.get("metrics")
    told = facts.get(row["metric_id"]) if isinstance(facts, dict) else None
    told = told if isinstance(told, dict) else {}
    # a score of guessing is told of the metric that may be guessed, not of its twin
    chance = None if told.get("kind") == "continuous" else run.chance
    return Declared(
        *(told.get("kind"), told.get("twin"), chance, row["low"], row["high"], row["higher_is_better"]),
    )


def _newest(stop: Any) -> list[str]:
    return [group[0].run_key for group in stop.groups]


def _name(row: dict[str, Any]) -> str:
    """Metric with its filter and reducer, as harnesses write them: ``acc,none``, ``match[mean]``."""
    name: str = row["metric_id"] + (f",{row['filter']}" if row["filter"] else "")
    return name + (f"[{row['reducer']}]" if row["reducer"] else "")


def _items(row: dict[str, Any]) -> tuple[int | None, bool]:
    if row["n"] is not None:
        return int(row["n"]), False
    if row["source"] == "table":
        return None, False
    p, error = row["value"], row["stderr"]
    if error and 0 < p < 1:
        return round(p * (1 - p) / error**2 + 1), True
    return None, False
