"""How noisy models are about their curve: what the tasks of one family know of each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NoisePrior:
    """Noise of models in one family, learned from all its tasks on one link.

    Attributes:
        link: Name of the link on which noise is measured.
        kind: Kind of the twins.
        s0: Standard deviation of one model about its curve in a typical task, without item sampling.
        df: Degrees of freedom: how alike the tasks are, capped by how many tasks independent of each other there are.
        correlation: Mean correlation of residuals between tasks that share models.
        tasks: Tasks that it was learned from.
        independent: Tasks that would tell as much if they shared no models.
    """

    link: str
    kind: str
    s0: float
    df: float
    correlation: float
    tasks: int
    independent: float
