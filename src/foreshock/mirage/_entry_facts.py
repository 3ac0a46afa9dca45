"""What the table of predictions needs of a line's items, small enough to keep when the items are gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from foreshock.mirage._length_law import LengthLaw, length_law
from foreshock.mirage._measures import Hard
from foreshock.series import Panel


class Judged(Protocol):
    """A panel and its hard metric; :class:`foreshock.mirage.Entry` is one."""

    @property
    def panel(self) -> Panel:
        """Scores."""

    @property
    def hard(self) -> Hard:
        """Metric in question."""


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """Counts of right answers and how length acts, of one line of models.

    Attributes:
        task, family, metric: The line and its hard metric.
        models: Its points.
        right: Right answers at each point; empty where the metric is not right or wrong.
        items: Items at each point.
        chance: Score of guessing; None when not known.
        length: How the length of answers acts; None without per-position correctness.
    """

    task: str
    family: str
    metric: str
    models: tuple[str, ...]
    right: tuple[float, ...]
    items: tuple[int, ...]
    chance: float | None
    length: LengthLaw | None


def entry_facts(entry: Judged, *, seed: int = 0) -> EntryFacts:
    """Facts of one line for :func:`foreshock.mirage.predictions`.

    Args:
        entry: Panel and hard metric; its arrays are not kept.
        seed: Seed of the bootstrap of the length's exponent.
    """
    panel, hard = entry.panel, entry.hard
    values = panel.values.get(hard.name)
    right: tuple[float, ...] = ()
    items: tuple[int, ...] = ()
    if values is not None and values.size and hard.binary and hard.link != "identity":
        right = tuple(float(x) for x in np.nansum(values, axis=1) / hard.ceiling)
        items = tuple(int(n) for n in (~np.isnan(values)).sum(axis=1))
    law = None
    if panel.positions is not None and panel.positions.size:
        law = length_law(panel.positions, np.random.default_rng(seed))
    # guessing is possible where options are given; 0 then means that nobody said how many
    chance = None if hard.link == "argmax" and hard.chance == 0 else hard.chance
    return EntryFacts(panel.task, panel.family, hard.name, panel.points, right, items, chance, law)
