"""What is gathered about one panel on the way to its verdict."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage._design import Design, Floats
from foreshock.mirage._judgement import Move, Verdict
from foreshock.mirage._measures import Hard, Twin
from foreshock.mirage._needs import Enough
from foreshock.mirage._share import Share
from foreshock.mirage._through import Through
from foreshock.series import Panel

# least number of ordered points: below it no noise can be estimated beside a step
POINTS = 4
# the bootstrap of fewer items says more about its own discreteness than about the metric
ITEMS = 10


@dataclass(slots=True)
class Case:
    """One panel under judgement; each stage of :func:`judge` fills in what it finds.

    Attributes:
        panel: Scores, one point per place on the axis.
        hard: Metric in question.
        twins: Twins with values, best first; the first is the primary one.
        seed, replicates: Bootstrap.
        checks: Alternatives that the caller has looked at.
        counted: Items behind each mean where draws were given instead of item scores.
        reasons: Why no verdict can be given.
        notes: Remarks that do not stand in the way of one.
        draws: Means per metric, row 0 as observed, further rows joint bootstrap draws, shape (1 + draws, points).
        kept: Points between floor and ceiling.
        design: Design of these.
        share, other: Share carried by a break, on the primary link and on the other.
        through: The hard metric through its link.
        enough: What would have been enough.
        verdict: The verdict so far.
        jump, moves, moved: Largest jump of the hard metric and the items that moved there.
    """

    panel: Panel
    hard: Hard
    twins: list[Twin]
    seed: int
    replicates: int
    checks: dict[str, tuple[str, str]]
    counted: int | None = None
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    draws: dict[str, Floats] = field(default_factory=dict)
    kept: NDArray[np.intp] | None = None
    design: Design | None = None
    share: Share | None = None
    other: Share | None = None
    through: Through | None = None
    enough: Enough | None = None
    verdict: Verdict = "unresolved"
    jump: tuple[int, int] | None = None
    moves: list[Move] = field(default_factory=list)
    moved: int = 0

    @property
    def items(self) -> int:
        """Number of items answered at every point."""
        return len(self.panel.items) if self.counted is None else self.counted

    @property
    def by_items(self) -> bool:
        """Whether there are item scores; otherwise the means came with draws of their own."""
        return self.counted is None

    def has(self, name: str) -> bool:
        """Whether a metric has a value at every point."""
        if not self.by_items:
            return name in self.draws and bool(np.isfinite(self.draws[name][0]).all())
        v = self.panel.values.get(name)
        return v is not None and v.size > 0 and bool((~np.isnan(v)).any(axis=1).all())

    def infinite(self, name: str) -> int:
        """How many item scores of a metric are infinite."""
        return int(np.isinf(self.panel.values[name]).sum()) if self.by_items else 0

    @property
    def twin(self) -> Twin | None:
        """Primary twin."""
        return self.twins[0] if self.twins else None

    @property
    def jump_sure(self) -> bool:
        """Whether the largest jump is beyond what the choice of items explains."""
        hard = self.draws.get(self.hard.name)
        if hard is None or self.jump is None:
            return False
        return bool(np.quantile(hard[1:, self.jump[1]] - hard[1:, self.jump[0]], 0.025) > 0)
