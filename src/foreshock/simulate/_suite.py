"""Many tasks answered by the same models: what the models have in common shows in all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from foreshock.simulate._tokens import token_world
from foreshock.simulate._world import Floats, World, model_noise

# a step at the very end of the axis cannot be told from a model that is off
_PLACES = (0.15, 0.85)
_OFF = 4.0


def suite_world(  # noqa: PLR0913 - nature has many knobs, each with a default
    rng: np.random.Generator,
    *,
    make: Callable[..., World] = token_world,
    tasks: int = 20,
    points: int = 8,
    noise: ArrayLike = 0.1,
    correlation: float = 0.5,
    breaking: float = 0.0,
    share: float | tuple[float, float] = 0.8,
    common_step: float = 0.0,
    at: float | None = None,
    tails: str = "normal",
    chain: float = 0.0,
    seeds: int = 1,
    each: Sequence[Mapping[str, Any]] = (),
    **knobs: Any,
) -> list[World]:
    """Worlds of one model family on several tasks that share its models.

    The deviation of a model from the curve of a task is ``noise`` times a sum of what the model brings to every task
    (weight ``correlation``) and what is its own on this task (the rest), so that two tasks correlate by ``correlation``
    over models whatever their noise. Items are independent between tasks.

    Args:
        rng: Source of randomness.
        make: Kind of world of each task.
        tasks: Number of tasks.
        points: Models along the axis, the same in all tasks.
        noise: Standard deviation of models about the curve: one number, or one for each task.
        correlation: Correlation of deviations between tasks, 0 to 1.
        breaking: Share of the tasks that have a step, each at its own place (rounded to whole tasks, drawn at random).
        share: Share of the rise that such a step carries; or the ends between which it is drawn for each task.
        common_step: Share of the rise that a step carries at one and the same model in all tasks; 0 for none.
        at: Place of the steps along the axis (0 to 1); None draws it.
        tails: ``normal``, ``t3``, ``outlier`` (in each task a model of its own is off by 4 standard deviations) or
            ``outlier model`` (one model is, in all tasks).
        chain: Autocorrelation along the axis (checkpoints of one run).
        seeds: Models per point.
        each: What differs between tasks: arguments of ``make`` for the first task, the second and so on, from the start
            again when there are more tasks.
        **knobs: Further arguments of ``make`` for all tasks.

    Returns:
        One world per task.

    Raises:
        ValueError: The deviations cannot have this correlation, or two kinds of step were asked for.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> worlds = suite_world(rng, tasks=10, points=6, items=50, breaking=0.3, each=[{"lengths": 1}, {"lengths": 5}])
        >>> sum(w.truth.share > 0 for w in worlds), [w.tokens for w in worlds[:3]]
        (3, [1.0, 5.0, 1.0])
    """
    if not 0 <= correlation <= 1:
        raise ValueError(f"correlation {correlation} lies outside 0 to 1")
    if breaking > 0 and common_step > 0:
        raise ValueError("either some tasks have a step of their own or all have a common one")
    scale = np.broadcast_to(np.asarray(noise, float), (tasks,))
    off = scale[:, None, None] * _deviations(rng, (tasks, seeds, points), correlation, tails, chain)
    common = float(rng.uniform(*_PLACES)) if at is None else at
    broken = set(rng.permutation(tasks)[: round(breaking * tasks)].tolist())
    worlds = []
    for k in range(tasks):
        own = {**knobs, **(each[k % len(each)] if each else {})}
        if common_step > 0:
            own |= {"share": common_step, "at": common}
        elif k in broken:
            size = share if isinstance(share, int | float) else rng.uniform(*share)
            own |= {"share": float(size), "at": float(rng.uniform(*_PLACES)) if at is None else at}
        worlds.append(make(rng, points=points, seeds=seeds, deviations=off[k], **own))
    return worlds


def _deviations(
    rng: np.random.Generator, shape: tuple[int, int, int], correlation: float, tails: str, chain: float
) -> Floats:
    """Deviations of models with variance 1 but for outliers, shape (tasks, seeds, points)."""
    tasks, seeds, points = shape
    base = "normal" if tails.startswith("outlier") else tails
    shared = model_noise(rng, points, seeds, 1.0, base, chain)
    own = model_noise(rng, points, tasks * seeds, 1.0, base, chain).reshape(shape)
    off = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    if tails == "outlier model":
        off[:, :, rng.integers(points)] += rng.choice([-_OFF, _OFF])
    elif tails == "outlier":
        off[np.arange(tasks), :, rng.integers(points, size=tasks)] += rng.choice([-_OFF, _OFF], size=tasks)[:, None]
    return np.asarray(off)
