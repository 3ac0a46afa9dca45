"""From a panel to the points that can be judged: one point per place on the axis, axis fit for a slope."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from foreshock._base import count_of
from foreshock.mirage._design import Floats, places
from foreshock.series import Panel

MOST = 48
"""Points of one line that are judged at most: 48 checkpoints take 3 CPU s, and the time grows with the square."""


def orderly(panel: Panel) -> tuple[Panel, list[str], list[NDArray[np.intp]]]:
    """Merge points that stand at the same place and drop those that the axis cannot show.

    Two models at one place differ by everything but the axis: they are replicates of each other. Two checkpoints of
    one run are not, and count as one. Places are those of :func:`foreshock.mirage._design.places`: points that are
    closer to each other than a ten-thousandth of the axis stand at one. Of more than :data:`MOST` places those count
    that are spread evenly over the axis; a step between two others lies between them.

    Returns:
        The panel, remarks on what was done, and which of the given points each of its points is made of.
    """
    notes = []
    keep = np.flatnonzero(np.isfinite(panel.x))
    if keep.size < panel.x.size:
        notes.append(f"{count_of(panel.x.size - keep.size, 'point')} without a finite place on the axis left out")
    if panel.log_axis and np.any(panel.x[keep] <= 0):
        above = keep[panel.x[keep] > 0]
        notes.append(f"{count_of(keep.size - above.size, 'point')} at or below 0 left out of a log axis")
        keep = above
    groups = [np.array([i]) for i in keep]
    if keep.size < panel.x.size:
        panel = pick(panel, keep)
    at = places(panel.x, log=panel.log_axis)
    shared = [np.flatnonzero(at == place) for place in np.unique(at)]
    if len(shared) < panel.x.size:
        as_one = "one point" if panel.trajectory else "replicates"
        notes.append(f"{panel.x.size} points stand at {len(shared)} places; those at one place count as {as_one}")
        groups = [keep[mine] for mine in shared]
        panel = _merge(panel, shared)
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


def _merge(panel: Panel, groups: list[NDArray[np.intp]]) -> Panel:
    def mean(v: Floats) -> Floats:
        # an item counts at a place when every model there has a score for it
        return np.stack([v[g].mean(axis=0) for g in groups])

    means = {name: np.nanmean(v, axis=1) if v.shape[1] else np.full(v.shape[0], np.nan) for name, v in _all(panel)}
    replicates = {}
    for name, own in means.items():
        each = panel.replicates.get(name) or [np.array([m]) for m in own]
        together = [np.concatenate([each[i] for i in g]) for g in groups]
        # the noise of neighbouring checkpoints is alike: they say nothing of how models differ
        replicates[name] = [np.array([r.mean()]) for r in together] if panel.trajectory else together
    return replace(
        panel,
        points=tuple(" + ".join(panel.points[i] for i in g) for g in groups),
        x=np.array([panel.x[g[0]] for g in groups]),
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
