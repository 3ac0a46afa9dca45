"""Panels for the tests of this room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from foreshock.mirage import Hard, Twin
from foreshock.series import Panel
from foreshock.simulate import World


def panel_of(world: World, *, trajectory: bool = False, seeds: bool = True) -> Panel:
    """The world as the series room would hand it over."""
    points, items = world.hard.shape
    return Panel(
        task="world",
        family="simulated",
        axis="parameters",
        axis_known=True,
        log_axis=True,
        points=tuple(f"m{i}" for i in range(points)),
        x=world.x,
        items=tuple(f"i{j}" for j in range(items)),
        values={"hard": world.hard, **world.twins},
        replicates=world.replicates if seeds else {},
        positions=world.positions,
        runs=tuple((f"r{i}",) for i in range(points)),
        trajectory=trajectory,
    )


def hard_of(world: World) -> Hard:
    return Hard("hard", "argmax" if world.chance else "all-of-N", world.chance)


def twins_of(world: World) -> list[Twin]:
    return [Twin(n, n, tokens=world.tokens, high=2.0 if n == "brier" else 1.0) for n in world.twins]


def first(panel: Panel, points: int) -> Panel:
    """The panel's first points."""
    return replace(
        panel,
        points=panel.points[:points],
        x=panel.x[:points],
        values={k: v[:points] for k, v in panel.values.items()},
        replicates={k: v[:points] for k, v in panel.replicates.items()},
        positions=None if panel.positions is None else panel.positions[:points],
        runs=panel.runs[:points],
    )


def with_values(panel: Panel, **values: np.ndarray) -> Panel:  # type: ignore[type-arg]
    return replace(panel, values=panel.values | values)
