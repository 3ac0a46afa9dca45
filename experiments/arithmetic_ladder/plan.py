"""The runs of the ladder: sizes, seeds, controls, steps. Everything else derives from here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .data import CONTROLS

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"  # checkpoints and optimizer states; ignored by git
RESULTS = HERE / "results"

WIDTHS = (8, 12, 16, 20, 24, 28, 32, 48, 64, 96)
SEEDS = (1, 2, 3)
THRESHOLD_WIDTHS = (12, 16, 20, 24)  # where runs of one size end differently, two more seeds each
THRESHOLD_SEEDS = (4, 5)
CONTROL_WIDTHS = (16, 20, 24, 28, 32)
STEPS = 5000
BATCH_SUMS = 64
BATCH_PRODUCTS = 64
LEARNING_RATE = 3e-3
WARMUP = 100
DECAY_FROM = 0.5  # share of the steps after which the rate falls linearly
FLOOR = 0.02  # of the rate at the end
WEIGHT_DECAY = 0.05
CLIP = 1.0
CHECKPOINTS = (0, *(int(s) for s in np.unique(np.geomspace(20, STEPS, 23).round())))


@dataclass(frozen=True)
class Run:
    """One trained model: ``kind`` is ``learn`` or one of the controls."""

    kind: str
    width: int
    seed: int

    @property
    def name(self) -> str:
        """Name on disk and after the organisation in the logs, such as ``arith-w64-s1``."""
        stem = "arith" if self.kind == "learn" else f"control-{self.kind}"
        return f"{stem}-w{self.width}-s{self.seed}"

    @property
    def weight_decay(self) -> float:
        """Decay is off where the run is to memorise."""
        return 0.0 if self.kind in ("little-data", "random-labels") else WEIGHT_DECAY

    @property
    def random_seed(self) -> int:
        """Seed of weights and data, unlike for any two runs."""
        kinds = ("learn", *CONTROLS)
        return 100_000 * (1 + kinds.index(self.kind)) + 1000 * self.seed + self.width


def learners() -> list[Run]:
    """The ladder proper: a whole set of sizes for each seed in turn."""
    return [Run("learn", width, seed) for seed in SEEDS for width in WIDTHS]


def training_order() -> list[Run]:
    """What is needed first comes first: the dearest repeats and the additional seeds wait for the controls."""
    dear = [run for run in learners() if run.width == WIDTHS[-1] and run.seed != SEEDS[0]]
    return [*(run for run in learners() if run not in dear), *controls(), *dear, *threshold_learners()]


def threshold_learners() -> list[Run]:
    """More seeds of the sizes around the threshold of addition; they came last, so they stand last."""
    return [Run("learn", width, seed) for seed in THRESHOLD_SEEDS for width in THRESHOLD_WIDTHS]


def controls() -> list[Run]:
    """Runs that are given nothing from which the rule could be learnt."""
    return [Run(kind, width, 1) for width in CONTROL_WIDTHS for kind in CONTROLS]


def all_runs() -> list[Run]:
    """All runs, in the order of the dates in the logs."""
    return [*learners(), *controls(), *threshold_learners()]
