"""Scores of larger models from those of smaller ones: Pythia 70M-1.4B to 2.8B, 6.9B and 12B.

Data: ``series/pythia_lmeval.csv.gz``, accuracy at the last checkpoint, eight tasks with 0 and 5 shots, trained on the
data with and without duplicates: 32 series, 96 held-out scores. The items behind a score come from its standard error,
and the score of guessing is not told. Another table of the same columns is scored with ``--table``, split after
``--last`` parameters; families with fewer than three smaller models count as withheld.

Chosen before these data were scored, on simulated worlds and on eight benchmarks of 18 other families in
``series/obsscaling/base_llm_benchmark_eval.csv`` (Pythia left out): the shapes and their weights, that guessing is not
used, the parts in the mean. Earlier versions were scored on these data at least five times on the way, several variants
at a time (.0240 with untuned shapes, .0217, .0210, .0196, .0174), and early checkpoints once; each change was made for
the other data, but these figures had been seen when the last was made. The interval's quantile is the shipped one, from
simulated scores alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from foreshock.curves import Curve, Forecast, forecast

LEVEL = 0.9
LAST = 1.4e9
RESAMPLED = 2000
SPARED = "hendrycksTest"
"""Tasks of 57 subjects at chance for every size: no part of the 96 targets."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options for other tables."""
    parser.add_argument(
        "--table", type=Path, help="another CSV: family, params, step, shots, task, metric, value, stderr"
    )
    parser.add_argument("--last", type=float, help="parameters of the largest model that is seen [default: 1.4e9]")


class Case(NamedTuple):
    """A history with what was held out."""

    curve: Curve
    task: str
    x: np.ndarray
    y: np.ndarray


def cases(table: Path, last: float) -> list[Case]:
    """One case for each family, shots and task."""
    import polars as pl

    rows = pl.read_csv(table, infer_schema_length=None).filter(
        (pl.col("metric") == "acc") & ~pl.col("task").str.starts_with(SPARED)
    )
    rows = rows.filter(pl.col("step") == pl.col("step").max().over("family", "params", "shots", "task"))
    found = []
    groups = rows.sort("params").group_by("family", "shots", "task", maintain_order=True)
    for key, part in sorted(groups, key=lambda pair: pair[0]):
        x, y, error = (part[name].to_numpy() for name in ("params", "value", "stderr"))
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(error > 0, y * (1 - y) / error**2 + 1, np.nan)
        items = np.full(y.size, np.round(np.nanmedian(each)) if np.isfinite(each).any() else np.nan)
        seen = x <= last
        if seen.any() and not seen.all():
            name, group = "/".join(map(str, key)), str(key[2])
            curve = Curve(x[seen], y[seen], items[seen], low=0.0, high=1.0, name=name, group=group)
            found.append(Case(curve, group, x[~seen], y[~seen]))
    return found


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Forecast every case with the shipped calibration."""
    table = args.table or args.data / "series" / "pythia_lmeval.csv.gz"
    rows, basis = [], ""
    for case in cases(table, args.last or LAST):
        told = forecast(case.curve, case.x, level=LEVEL, seed=args.seed)
        basis = told.basis
        rows += [_row(case, told, i) for i in range(case.x.size)]
    scored = [row for row in rows if not np.isnan(row["value"])]
    by_task = {task: _figures([r for r in scored if r["task"] == task]) for task in sorted({r["task"] for r in scored})}
    by_x = {f"{x:.3g}": _figures([r for r in scored if r["x"] == x]) for x in sorted({r["x"] for r in scored})}
    return {
        "all": _figures(scored) | _clustered(scored, args.seed),
        "by_task": by_task,
        "by_x": by_x,
        "withheld": 1 - len(scored) / max(len(rows), 1),
        "seeds": [args.seed],
        "basis": basis,
    }


def _row(case: Case, told: Forecast, i: int) -> dict[str, Any]:
    y, low, high = float(case.y[i]), float(told.low[i]), float(told.high[i])
    return {
        "task": case.task,
        "x": float(case.x[i]),
        "value": float(told.value[i]),
        "error": abs(float(told.value[i]) - y),
        "persistence": abs(float(told.persistence[i]) - y),
        "covered": float(low <= y <= high),
        "width": high - low,
        "score": high - low + 2 / (1 - LEVEL) * (max(low - y, 0.0) + max(y - high, 0.0)),
        "persistence_covered": float(told.persistence_low[i] <= y <= told.persistence_high[i]),
        "persistence_width": float(told.persistence_high[i] - told.persistence_low[i]),
    }


_SHOWN = ("error", "persistence", "covered", "width", "score", "persistence_covered", "persistence_width")


def _figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"targets": len(rows), **{name: float(np.mean([r[name] for r in rows])) for name in _SHOWN}}


def _clustered(rows: list[dict[str, Any]], seed: int) -> dict[str, Any]:
    """90% intervals of mean error and coverage when tasks are drawn again."""
    tasks = sorted({row["task"] for row in rows})
    sums = {
        name: np.array([sum(r[name] for r in rows if r["task"] == t) for t in tasks]) for name in ("error", "covered")
    }
    many = np.array([sum(r["task"] == t for r in rows) for t in tasks])
    drawn = np.random.default_rng(seed).integers(0, len(tasks), (RESAMPLED, len(tasks)))
    each = {name: value[drawn].sum(axis=1) / many[drawn].sum(axis=1) for name, value in sums.items()}
    return {f"{name}_by_task": [float(q) for q in np.quantile(value, [0.05, 0.95])] for name, value in each.items()}


def lines(result: dict[str, Any]) -> list[str]:
    """Tables of all, by task and by size."""
    head = (
        "| targets of | n | mean error | last value | 90% coverage | width | interval score | last value: coverage "
        "| width |"
    )
    rows = [
        ("all", result["all"]),
        *result["by_task"].items(),
        *((f"{k} parameters", v) for k, v in result["by_x"].items()),
    ]
    told = [head, "| --- |" + " ---: |" * 8]
    for name, r in rows:
        told.append(f"| {name} | {r['targets']} | " + " | ".join(f"{r[key]:.3f}" for key in _SHOWN) + " |")
    low, high = result["all"]["covered_by_task"]
    less, more = result["all"]["error_by_task"]
    return [
        *told,
        "",
        f"With tasks drawn again (90%): mean error {less:.3f} to {more:.3f}, coverage {low:.2f} to {high:.2f}.",
        f"Interval: {result['basis']}.",
    ]
