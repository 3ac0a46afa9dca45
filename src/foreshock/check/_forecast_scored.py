"""Forecasts beside what came, and beside the last score carried on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from foreshock.curves import interval_score

Row = Mapping[str, Any]
Floats = np.ndarray


def held_out_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows of ``backtest`` for points that were kept from the forecast: each curve, then all of them together.

    A place at which the forecast was withheld counts by the last score, so that withholding gains nothing; its interval
    counts nowhere. Means are over curves; each curve weighs the same.

    Args:
        rows: Rows of ``forecast``.
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row["observed"] is not None and row["route"] == "direct" and row["persistence"] is not None:
            groups.setdefault(row["group"], []).append(row)
    if not groups:
        return []
    found = [{**_named(mine[0]), "source": "held-out", **scored(mine)} for mine in groups.values()]
    if len(found) == 1:
        return found
    every = [row for mine in groups.values() for row in mine]
    whole = {**scored(every), **_means(found), **_coverage(groups.values()), "curves": len(groups)}
    return [*found, {"group": None, "unit": _common(every, "unit"), "source": "held-out", **whole}]


def scored(rows: Sequence[Row]) -> dict[str, Any]:
    """Errors, coverage and interval score of some forecasts, each beside those of the last score."""
    y, last = _column(rows, "observed"), _column(rows, "persistence")
    value = _column(rows, "y_hat")
    withheld = np.isnan(value)
    value = np.where(withheld, last, value)
    low, high = _column(rows, "low"), _column(rows, "high")
    told = ~(np.isnan(low) | np.isnan(high))
    level = float(rows[0]["level"])
    before = _column(rows, "persistence_low"), _column(rows, "persistence_high")
    both = ~(np.isnan(before[0]) | np.isnan(before[1]))
    return {
        "curves": len({row["group"] for row in rows}),
        "forecasts": len(rows),
        "withheld": int(withheld.sum()),
        "mae": float(np.abs(value - y).mean()),
        "mae_persistence": float(np.abs(last - y).mean()),
        "rmsle": rmsle(value, y),
        "rmsle_persistence": rmsle(last, y),
        "coverage": float(((low <= y) & (y <= high))[told].mean()) if told.any() else None,
        "interval_score": _mean(interval_score(y[told], low[told], high[told], level)),
        "interval_score_persistence": _mean(interval_score(y[both], before[0][both], before[1][both], level)),
        "level": level,
    }


def rmsle(value: Floats, y: Floats) -> float | None:
    """Root mean squared error of the natural logarithm; None where a score is not above 0.

    Examples:
        >>> rmsle(np.array([1.0, np.e]), np.array([1.0, 1.0])) == 0.5**0.5
        True
    """
    if not value.size or (value <= 0).any() or (y <= 0).any():
        return None
    return float(np.sqrt(np.mean((np.log(value) - np.log(y)) ** 2)))


def _named(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("group", "task", "family", "metric", "unit")}


def _means(found: Sequence[Row]) -> dict[str, Any]:
    """Means over curves of what each curve has."""
    names = ("mae", "mae_persistence", "rmsle", "rmsle_persistence", "interval_score", "interval_score_persistence")
    means: dict[str, Any] = {}
    for name in names:
        values = [row[name] for row in found if row[name] is not None]
        whole = len(values) == len(found) or name.startswith("interval")
        means[name] = float(np.mean(values)) if values and whole else None
    return means


def _coverage(groups: Any) -> dict[str, Any]:
    """Share of what came that was inside, mean over curves, with its 95% interval over curves."""
    from foreshock.stats import mean_interval

    shares = []
    for mine in groups:
        inside = [row["inside"] for row in mine if row["inside"] is not None]
        if inside:
            shares.append(float(np.mean(inside)))
    if not shares:
        return {"coverage": None, "coverage_low": None, "coverage_high": None}
    mean, low, high = mean_interval(shares)
    ends = [None if np.isnan(end) else min(1.0, max(0.0, float(end))) for end in (low, high)]
    return {"coverage": float(mean), "coverage_low": ends[0], "coverage_high": ends[1]}


def _column(rows: Sequence[Row], name: str) -> Floats:
    return np.array([np.nan if row[name] is None else row[name] for row in rows], float)


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if values.size else None


def _common(rows: Sequence[Row], name: str) -> Any:
    found = {row[name] for row in rows}
    return found.pop() if len(found) == 1 else None
