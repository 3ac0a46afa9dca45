"""What is gathered about one panel on the way to its verdict."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage._design import Design, Floats
from foreshock.mirage._excess import Prior
from foreshock.mirage._judgement import Asked, Move, Verdict
from foreshock.mirage._measures import Hard, Twin
from foreshock.mirage._needs import Enough
from foreshock.mirage._positions import LinkCheck
from foreshock.mirage._share import ALPHA, OTHER, Share
from foreshock.mirage._through import Through
from foreshock.mirage._window import Window
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
        windows: Windows that the draws give, the most frequent first.
        design: Design of the most frequent one.
        prior: What the family knows of the noise, on the primary link.
        shares: Share carried by a break on each link of the twin, the primary link first.
        through: The hard metric through its link.
        others: What the other twins say to the verdict.
        enough: What would have been enough.
        verdict: The verdict so far.
        jump, moves, moved: Largest jump of the hard metric and the items that moved there.
        link_check: Exact match against the product of per-position accuracies.
        how_twin: Exact command that would create a twin.
        data_hash: Hash of exactly what the verdict is computed from.
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
    windows: list[Window] = field(default_factory=list)
    design: Design | None = None
    prior: Prior | None = None
    shares: list[Share] = field(default_factory=list)
    through: Through | None = None
    others: list[Asked] = field(default_factory=list)
    enough: Enough | None = None
    verdict: Verdict = "unresolved"
    jump: tuple[int, int] | None = None
    moves: list[Move] = field(default_factory=list)
    moved: int = 0
    link_check: LinkCheck | None = None
    how_twin: str | None = None
    data_hash: str = ""

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
    def kept(self) -> NDArray[np.intp] | None:
        """Points judged, in the most frequent window."""
        return self.windows[0].kept if self.windows else None

    @property
    def share(self) -> Share | None:
        """Share carried by a break on the primary link."""
        return self.shares[0] if self.shares else None

    @property
    def other(self) -> Share | None:
        """The same on that of the other links which says least of a break; the primary one where there is no other."""
        return min(self.shares[1:] or self.shares, key=lambda s: (s.low, -s.p)) if self.shares else None

    @property
    def p(self) -> float | None:
        """p-value of "no break": it must be seen on every link, on the primary one at 5%, on others at 10%."""
        if not self.shares:
            return None
        return max(self.shares[0].p, *(s.p * ALPHA / OTHER for s in self.shares[1:]), 0.0)

    @property
    def noise_source(self) -> str | None:
        """Where the noise of the twin was taken from."""
        if self.design is None:
            return None
        if self.design.by_replicates:
            return "replicates"
        if self.design.chained:
            return "checkpoints"
        return "family" if self.prior else "own"

    @property
    def jump_sure(self) -> bool:
        """Whether the largest jump is beyond what the choice of items explains."""
        hard = self.draws.get(self.hard.name)
        if hard is None or self.jump is None:
            return False
        return bool(np.quantile(hard[1:, self.jump[1]] - hard[1:, self.jump[0]], 0.025) > 0)
