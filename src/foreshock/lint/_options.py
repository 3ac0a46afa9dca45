"""What lint is asked for."""

from __future__ import annotations

import math

import msgspec

from foreshock._base import ConfigError
from foreshock.records import ModelCard


class LintOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What to look at, and what the benchmark should be able to show.

    Attributes:
        runs: Only these run keys; None means all.
        tasks, models, families: Only those that fit one of these glob patterns; empty means all.
        corrections: Model cards by logged name (``models.toml``).
        select, ignore: Codes by prefix.
        difference: Smallest difference between two models that matters, in units of the score.
        scatter: Standard deviation of one model about the trend that is assumed, as a share of the whole rise.
        metrics: Further metrics whose kind is measured.
        samples: Most items per task on which metrics are perturbed.
        seed: Seed of the choice of items and of the perturbations.
    """

    runs: frozenset[str] | None = None
    tasks: list[str] = []
    models: list[str] = []
    families: list[str] = []
    corrections: dict[str, ModelCard] = {}
    select: list[str] = []
    ignore: list[str] = []
    difference: float = 0.05
    scatter: float = 0.05
    metrics: list[str] = []
    samples: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no design could be held against.

        Raises:
            ConfigError: A number is out of its range.
        """
        if not (math.isfinite(self.difference) and 0 < self.difference < 1):
            raise ConfigError(f"difference {self.difference}", expected="a number between 0 and 1, such as 0.05")
        if not (math.isfinite(self.scatter) and 0 < self.scatter < 1):
            raise ConfigError(f"scatter {self.scatter}", expected="a share of the rise between 0 and 1, such as 0.05")
        if self.samples < 1:
            raise ConfigError(f"samples {self.samples}", expected="a number of items from 1")

    def wants(self, code: str) -> bool:
        """Whether findings with this code are asked for."""
        chosen = not self.select or any(code.startswith(prefix) for prefix in self.select)
        return chosen and not any(code.startswith(prefix) for prefix in self.ignore)
