"""Series of totals for the tests of this room: of worlds, and of published tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from foreshock.series import Declared, Point, Series
from foreshock.simulate import World


def series_of(metric: str, values: Sequence[float], **facts: Any) -> Series:
    """Totals of models at 1, 2, 4, ...; ``stderr`` and ``n`` are lists or one value for all."""
    each = {
        name: list(v) if isinstance(v, list | np.ndarray) else [v] * len(values)
        for name, v in (("stderr", facts.get("stderr")), ("n", facts.get("n")))
    }
    points = tuple(
        Point(
            f"m{i}", facts.get("x", 2.0**i) if not callable(facts.get("x")) else facts["x"](i), float(v), e, n, f"r{i}"
        )
        for i, (v, e, n) in enumerate(zip(values, each["stderr"], each["n"], strict=True))
    )
    declared = facts.get("declared", Declared())
    return Series("sums", "family", metric, facts.get("axis", "parameters"), True, True, points, "aggregates", declared)


def totals_of(world: World) -> tuple[Series, Series]:
    """What a harness would print of a world: exact match with its standard error, and perplexity per token."""
    n = world.hard.shape[1]
    share = world.hard.mean(axis=1)
    loss = -world.twins["gold_logprob"] / world.tokens
    mean, error = np.exp(loss.mean(axis=1)), loss.std(axis=1, ddof=1) / np.sqrt(n)
    hard = series_of("exact_match", share, stderr=np.sqrt(share * (1 - share) / (n - 1)), n=n)
    return hard, series_of("perplexity", mean, stderr=mean * error, n=n)


def table(path: Path, **wanted: Any) -> list[dict[str, Any]]:
    """Rows of a CSV file with these values, ordered by size."""
    import polars as pl

    frame = pl.read_csv(path)
    for name, value in wanted.items():
        frame = frame.filter(pl.col(name) == value)
    return frame.sort("params").to_dicts()


def published(rows: Sequence[dict[str, Any]], metric: str) -> Series:
    points = tuple(
        Point(r["model"], r["params"], r["value"], r.get("stderr"), r.get("n"), r["model"])
        for r in sorted(rows, key=lambda r: r["params"])
        if r.get("metric", metric) == metric
    )
    return Series("task", "family", metric, "parameters", True, True, points, "aggregates")


def arithmetic(path: Path, op: str, shots: int) -> list[dict[str, Any]]:
    """Totals over the first operand at the last checkpoint."""
    found: dict[str, dict[str, Any]] = {}
    for row in table(path, op=op, shots=shots, checkpoint=143000):
        mine = found.setdefault(row["model"], {"model": row["model"], "params": row["params"], "hits": 0.0, "n": 0})
        mine["hits"] += row["acc"] * row["n"]
        mine["n"] += row["n"]
    return [row | {"value": row["hits"] / row["n"]} for row in found.values()]
