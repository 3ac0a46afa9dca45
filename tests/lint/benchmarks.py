"""A design with nothing to find fault with, and a good line of models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from foreshock.lint._facts import Audit, Benchmark, Best, Flips, Metric, ModelLine
from foreshock.lint._shown import positions

HARD = Metric("acc", "hard", "argmax", 0, 1)
SOFT = Metric("brier", "continuous", "identity", 0, 2)
GOOD = Benchmark(
    place="good",
    task="good",
    metrics=(HARD, SOFT),
    twins=("choice_probability",),
    items=4_000,
    repeats=1,
    sampled=False,
    options=(4, 4),
    guess=0.25,
    audit=Audit(wrong=2, checked=200),
)


def benchmark(**facts: Any) -> Benchmark:
    return replace(GOOD, **facts)


def line(*values: float, seeds: int = 1, **facts: Any) -> ModelLine:
    told = {
        "family": "toy",
        "axis": "parameters",
        "position": positions(values, log=True),
        "values": tuple(values),
        "labels": tuple(f"{value:g}" for value in values),
        "seeds": (seeds,) * len(values),
    }
    return ModelLine(**{**told, **facts})


def ladder(points: int, **facts: Any) -> ModelLine:
    return line(*(10.0 ** (7 + 3 * i / (points - 1)) for i in range(points)), **facts)


def best(value: float, half: float = 0.01) -> Best:
    return Best("top", value, value - half, min(1.0, value + half))


def flips(value: float, half: float = 0.01) -> Flips:
    return Flips(value, value - half, value + half, pairs=3)
