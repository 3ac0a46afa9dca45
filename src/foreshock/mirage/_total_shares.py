"""Totals as random numbers: how many items are behind each, and draws of what the true scores may be."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from foreshock.metrics import harness_metric
from foreshock.mirage._design import Floats
from foreshock.series import Point, Reading, Series

# a logged standard error is that of n items that are right or wrong when it is this near to theirs
_NEAR = 0.1
# rounded standard errors give the number of items of a task to this
_SAME_N = 0.02


class Shares(NamedTuple):
    """Totals of the hard metric at the points that its twin has too, items behind each, and the largest score."""

    points: tuple[Point, ...]
    counts: tuple[int | None, ...]
    high: float

    @property
    def each(self) -> Iterator[tuple[Point, int | None]]:
        return zip(self.points, self.counts, strict=True)


def shares_of(hard: Series, twin: Series | None) -> Shares:
    """The points of a hard metric that its twin has too."""
    known = zip(hard.points, counts_of(hard), strict=True)
    kept = [(p, n) for p, n in known if twin is None or point_at(twin, p) is not None]
    return Shares(tuple(p for p, _ in kept), tuple(n for _, n in kept), highest(hard))


def point_at(series: Series, point: Point) -> Point | None:
    """The point of a series that is of the same run at the same place."""
    return next((p for p in series.points if p.run_key == point.run_key and p.x == point.x), None)


def highest(hard: Series) -> float:
    """Largest value: the declared one, else by the metric's name, else 1."""
    known = harness_metric(hard.metric)
    told = hard.declared.high if hard.declared.high is not None else known.high if known else None
    return float(told) if told else 1.0


def counts_of(hard: Series) -> list[int | None]:
    """Items behind each point; where all that are known agree, they hold for the others too: it is one task."""
    known = [p.n for p in hard.points if p.n]
    alike = bool(known) and max(known) - min(known) <= _SAME_N * max(known)
    return [p.n or (min(known) if alike else None) for p in hard.points]


def worth(point: Point, n: int | None, high: float) -> int | None:
    """Items behind a point; from a standard error the number of 0/1 items that it is worth."""
    p = point.value / high
    if n or not point.stderr or not 0 < p < 1:
        return n
    return max(1, round(p * (1 - p) / (point.stderr / high) ** 2))


def is_count(point: Point, n: int | None, high: float) -> bool:
    """Whether the total is one of ``n`` items that are right or wrong, as far as its standard error tells."""
    if not n:
        return False
    p = point.value / high
    expected = np.sqrt(p * (1 - p) / max(n - 1, 1))
    return point.stderr is None or abs(point.stderr / high - expected) <= _NEAR * expected + 1e-12


def stream(series: Series, seed: int) -> np.random.Generator:
    """Randomness of its own for each series: tasks and conditions drawn alike would look as if they moved together."""
    name = "\0".join([series.task, series.family, series.metric, *(p.run_key for p in series.points)])
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def share_draws(shares: Shares, rng: np.random.Generator, draws: int) -> Floats:
    """Totals in row 0, and what the true scores may be in the others, shape (1 + draws, points)."""
    rows = np.empty((draws + 1, len(shares.points)))
    for i, (point, n) in enumerate(shares.each):
        rows[0, i] = point.value
        if n and is_count(point, n, shares.high):
            hits = point.value / shares.high * n
            rows[1:, i] = shares.high * rng.beta(hits + 0.5, n - hits + 0.5, draws)
        else:
            normal = point.value + (point.stderr or 0.0) * rng.standard_normal(draws)
            rows[1:, i] = np.clip(normal, 0.0, shares.high)
    return rows


def twin_draws(points: list[Point], told: Reading, rng: np.random.Generator, draws: int) -> Floats:
    """A twin without a standard error is taken as it is: its sampling is then seen in the scatter of models only."""
    value = np.array([p.value for p in points], float)
    mean, error = told.mean(value), told.error(value, np.array([p.stderr or 0.0 for p in points], float))
    return np.concatenate([mean[None], mean + error * rng.standard_normal((draws, value.size))])
