"""From a panel to the points that can be judged: one point per place on the axis, axis fit for a slope."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from foreshock._base import count_of
from foreshock.mirage._design import Floats
from foreshock.series import Panel

MOST = 48
"""Points of one line that are judged at most: 48 checkpoints take 3 CPU s, and the time grows with the square."""


def orderly(panel: Panel) -> tuple[Panel, list[str], list[NDArray[np.intp]]]:
    """Merge points that stand at the same place and drop those that a log axis cannot show.

    Two models at one place differ by everything but the axis: they are replicates of each other. Of more than
    :data:`MOST` places those count that are spread evenly over the axis; a step between two others lies between them.

    Returns:
        The panel, remarks on what was done, and which of the given points each of its points is made of.
    """
    notes = []
    groups = [np.array([i]) for i in range(panel.x.size) if not (panel.log_axis and panel.x[i] <= 0)]
    if panel.log_axis and np.any(panel.x <= 0):
        keep = np.flatnonzero(panel.x > 0)
        notes.append(f"{count_of(panel.x.size - keep.size, 'point')} at or below 0 left out of a log axis")
        panel = pick(panel, keep)
    places = np.unique(panel.x)
    if places.size < panel.x.size:
        notes.append(f"{panel.x.size} points stand at {places.size} places; those at one place count as replicates")
        first = int(groups[0][0])
        groups = [first + np.flatnonzero(panel.x == place) for place in places]
        panel = _merge(panel, places)
    if len(groups) > MOST:
        keep = _spread(panel)
        notes.append(f"{len(groups)} points, judged on {keep.size} that are spread evenly over the axis")
        panel, groups = pick(panel, keep), [groups[i] for i in keep]
    return panel, notes, groups


def _spread(panel: Panel) -> NDArray[np.intp]:
    """The points nearest to :data:`MOST` places from the first to the last; scores have no part in it."""
    at = np.log(panel.x) if panel.log_axis else panel.x
    return np.unique(np.abs(at[:, None] - np.linspace(at[0], at[-1], MOST)).argmin(axis=0))


def merged(draws: Floats, groups: list[NDArray[np.intp]]) -> Floats:
    """Draws of the given points, shape (draws, points), as draws of the points of :func:`orderly`."""
    return np.stack([draws[:, g].mean(axis=1) for g in groups], axis=1)


def pick(panel: Panel, keep: NDArray[np.intp]) -> Panel:
    """The panel with some of its points, in the given order."""
    rows = [int(i) for i in keep]
    return replace(
        panel,
        points=tuple(panel.points[i] for i in rows),
        x=panel.x[rows],
        values={name: v[rows] for name, v in panel.values.items()},
        replicates={name: [r[i] for i in rows] for name, r in panel.replicates.items()},
        positions=None if panel.positions is None else panel.positions[rows],
        runs=tuple(panel.runs[i] for i in rows) if panel.runs else (),
    )


def _merge(panel: Panel, places: Floats) -> Panel:
    groups = [np.flatnonzero(panel.x == place) for place in places]

    def mean(v: Floats) -> Floats:
        # an item counts at a place when every model there has a score for it
        return np.stack([v[g].mean(axis=0) for g in groups])

    means = {name: np.nanmean(v, axis=1) if v.shape[1] else np.full(v.shape[0], np.nan) for name, v in _all(panel)}
    replicates = {}
    for name, own in means.items():
        each = panel.replicates.get(name) or [np.array([m]) for m in own]
        replicates[name] = [np.concatenate([each[i] for i in g]) for g in groups]
    return replace(
        panel,
        points=tuple(" + ".join(panel.points[i] for i in g) for g in groups),
        x=places,
        values={name: mean(v) for name, v in panel.values.items()},
        replicates=replicates,
        # positions of merged models are no longer 0 or 1: the link check looks at single models only
        positions=None,
        runs=tuple(tuple(r for i in g for r in panel.runs[i]) for g in groups) if panel.runs else (),
    )


def _all(panel: Panel) -> list[tuple[str, Floats]]:
    return [(name, np.where(np.isnan(v).all(axis=1, keepdims=True), 0.0, v)) for name, v in panel.values.items()]


def counts(panel: Panel, name: str) -> tuple[int, ...]:
    """Number of replicates of a metric at each point, 1 where nothing is known."""
    each = panel.replicates.get(name)
    return tuple(max(1, len(r)) for r in each) if each else (1,) * len(panel.points)
