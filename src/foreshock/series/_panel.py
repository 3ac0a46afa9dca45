"""From a line of runs and the scores of its task to the arrays that a verdict looks at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from foreshock.series._block import Block
from foreshock.series._lines import Line, Stop
from foreshock.series._types import Floats, Panel, Point, Series

COVERED = 0.95
"""Share of the first metric's items that another one must have at every point to be followed beside it."""


def panel(line: Line, block: Block, metrics: Sequence[str], correct: Floats | None = None) -> Panel:
    """Arrays of one line.

    Args:
        line: Which runs stand where.
        block: Scores of the line's task under one answer filter.
        metrics: Metric ids; those without any score on this line are left out. The first decides which items count:
            those that have a score at every point. Another must have nearly all of these (:data:`COVERED`), or it is
            left out, because its mean would be over other items; the few that it lacks do not count either.
        correct: Per-position correctness of the block, shape (runs, items, positions).
    """
    stops = [
        stop
        for stop in line.stops
        # the untrained model at step 0 has no place on a log axis
        if (stop.x > 0 or not line.log_axis) and all(group[0].run_key in block.runs for group in stop.groups)
    ]
    # a metric that some point lacks altogether cannot be followed along the line
    there = [m for m in metrics if stops and all(not np.isnan(_seed_mean(block, m, stop)).all() for stop in stops)]
    rows = {m: np.stack([_seed_mean(block, m, stop) for stop in stops]) for m in there}
    shared = np.zeros(len(block.items), bool)
    if there:
        shared[:] = ~np.isnan(rows[there[0]]).any(axis=0)
        whole = {m: ~np.isnan(rows[m]).any(axis=0) & shared for m in there}
        there = [m for m in there if whole[m].sum() >= COVERED * shared.sum()]
        shared[:] = np.logical_and.reduce([whole[m] for m in there])
    return Panel(
        task=line.task,
        family=line.family if not line.conditions else f"{line.family} ({line.conditions})",
        axis=line.axis,
        axis_known=line.axis_known,
        log_axis=line.log_axis,
        points=tuple(stop.label for stop in stops),
        x=np.array([stop.x for stop in stops], float),
        items=tuple(label for label, keep in zip(block.items, shared, strict=True) if keep),
        values={m: rows[m][:, shared] for m in there},
        replicates={m: [_replicates(block, m, stop, shared) for stop in stops] for m in there},
        positions=None if correct is None or not there else _positions(block, correct, stops, shared),
        runs=tuple(tuple(run.run_key for group in stop.groups for run in group) for stop in stops),
        trajectory=line.trajectory,
    )


def _seed_mean(block: Block, metric: str, stop: Stop) -> Floats:
    """Scores of a point: the newest run of each seed, averaged over seeds; NaN where any of them has none."""
    newest = [block.row(metric, group[0].run_key) for group in stop.groups]
    mean: Floats = np.mean(newest, axis=0)
    return mean


def _positions(block: Block, correct: Floats, stops: Sequence[Stop], shared: np.ndarray) -> Floats | None:
    """Per-position correctness at each point, the mean over seeds; None when a run has none."""
    rows = [[block.runs.index(group[0].run_key) for group in stop.groups] for stop in stops]
    found = np.stack([correct[mine][:, shared].mean(axis=0) for mine in rows])
    return None if np.isnan(found).all(axis=(1, 2)).any() else found


def _replicates(block: Block, metric: str, stop: Stop, shared: np.ndarray) -> Floats:
    """Mean over the shared items of every training seed, its newest run.

    Repeats of one run are no replicates: evaluating the same weights twice shows nothing of how models of one size
    differ. Taken for such, they make a verdict trust degrees of freedom without model noise (false breaks .12, not 0).
    """
    rows = [block.row(metric, group[0].run_key)[shared] for group in stop.groups]
    means = [float(np.nanmean(row)) for row in rows if not np.isnan(row).all()]
    return np.array(means, float)


def series(panel: Panel, metric: str, stderr: Floats) -> Series:
    """One metric of a panel as a series of points; ``stderr`` has shape (points,)."""
    means = np.nanmean(panel.values[metric], axis=1)
    points = tuple(
        Point(
            label=panel.points[i],
            x=float(panel.x[i]),
            value=float(means[i]),
            stderr=float(stderr[i]),
            n=len(panel.items),
            run_key=panel.runs[i][0],
            replicates=tuple(panel.replicates[metric][i].tolist()),
        )
        for i in range(len(panel.points))
    )
    return Series(
        panel.task, panel.family, metric, panel.axis, panel.axis_known, panel.log_axis, points, source="foreshock"
    )
