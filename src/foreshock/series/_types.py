"""What the analysis rooms look at: labelled arrays, built in one place."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Models x items of one metric of one task.

    Attributes:
        task: Task.
        metric: Metric name.
        models: Row labels.
        items: Column labels (item keys, or item ids where there is no text).
        values: Shape (models, items); mean over epochs; NaN where there is no score.
    """

    task: str
    metric: str
    models: tuple[str, ...]
    items: tuple[str, ...]
    values: Floats


@dataclass(frozen=True, slots=True)
class Panel:
    """One task and one model family along one axis: everything that a mirage verdict looks at.

    A *point* is one place on the axis. Models that differ only by seed share a point: its rows are their mean and
    ``replicates`` holds each one's mean. Repeated runs of one model do not: the newest complete one is the point, and
    the others say nothing about how models differ.

    Attributes:
        task: Task.
        family: Model family.
        axis: What orders the points: parameters, tokens, flops, step, date, created, ...
        axis_known: False when the order is only the order of creation.
        log_axis: Whether the axis is meant to be read on a log scale.
        points: Label of each point: the step, the model, or its size where several seeds share the point.
        x: Axis value of each point, ascending, shape (points,).
        items: Items answered at every point, shape (items,).
        values: Metric name to scores, shape (points, items); NaN where an item has no score at a point.
        replicates: Metric name to one array per point with the mean of each replicate (length >= 1).
        positions: Per-position correctness (0/1), shape (points, items, positions), NaN past the end; or None.
        runs: Run keys per point.
        trajectory: True when the points are checkpoints of one training run (not independent of each other).
    """

    task: str
    family: str
    axis: str
    axis_known: bool
    log_axis: bool
    points: tuple[str, ...]
    x: Floats
    items: tuple[str, ...]
    values: dict[str, Floats]
    replicates: dict[str, list[Floats]] = field(default_factory=dict)
    positions: Floats | None = None
    runs: tuple[tuple[str, ...], ...] = ()
    trajectory: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """One place of a series: value with its standard error and counts; null is unknown."""

    label: str
    x: float
    value: float
    stderr: float | None
    n: int | None
    run_key: str
    replicates: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """What a log or the user of a table said about a metric; None is not said.

    Attributes:
        kind: ``hard`` or ``continuous``.
        twin: Metric of the same runs that is its continuous twin.
        chance: Score of guessing.
        low, high: Smallest and largest possible value.
        higher_is_better: Direction.
    """

    kind: str | None = None
    twin: str | None = None
    chance: float | None = None
    low: float | None = None
    high: float | None = None
    higher_is_better: bool | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one task for one model family along one axis, items or no items behind it."""

    task: str
    family: str
    metric: str
    axis: str
    axis_known: bool
    log_axis: bool
    points: tuple[Point, ...]
    source: str
    declared: Declared = Declared()
