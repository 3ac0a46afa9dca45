"""The three experiments, their sizes, seeds and steps. Everything else derives from here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"  # scores of single runs; ignored by git
RESULTS = HERE / "results"

SEEDS = (1, 2, 3, 4)
LENGTHS = (1, 2, 3, 4, 5)  # images that must all be right: L of a sequence, K of K
CUTS = (2, 4, 8, 16)  # Reconstruction_c: c is the mean squared error of the mean image divided by these
BATCH = 64
HELD_OUT_SEED = 2304


@dataclass(frozen=True)
class Kind:
    """One experiment.

    Attributes:
        name: Name in results and on disk.
        title: What it is.
        widths: Sizes, smallest first: units of the bottleneck, width of the transformer, channels of the first layer.
        steps: Updates of each model.
        rate: Learning rate; linear warm-up, then cosine to zero.
        data: The data set of the paper, as ``--data-set`` takes it.
    """

    name: str
    title: str
    widths: tuple[int, ...]
    steps: int
    rate: float
    data: str


KINDS = (
    Kind("autoencoder", "shallow nonlinear autoencoder", (1, 2, 3, 4, 6, 8, 12, 16, 24, 32), 4000, 5e-3, "cifar100"),
    Kind("transformer", "autoregressive transformer", (2, 3, 4, 5, 6, 8, 12, 16, 24), 1000, 3e-3, "omniglot"),
    Kind("lenet", "LeNet family", (1, 2, 3, 4, 5, 6, 8, 12, 16), 1000, 3e-3, "mnist"),
)


@dataclass(frozen=True)
class Run:
    """One trained model."""

    kind: Kind
    width: int
    seed: int

    @property
    def name(self) -> str:
        """Name on disk, such as ``lenet-w8-s1``."""
        return f"{self.kind.name}-w{self.width}-s{self.seed}"

    @property
    def random_seed(self) -> int:
        """Seed of weights and batches, unlike for any two runs."""
        return 1_000_000 * (1 + [k.name for k in KINDS].index(self.kind.name)) + 1000 * self.seed + self.width


def kind(name: str) -> Kind:
    """The experiment of this name."""
    return next(k for k in KINDS if k.name == name)


def runs(kinds: tuple[Kind, ...] = KINDS, seeds: tuple[int, ...] = SEEDS) -> list[Run]:
    """All runs: a whole set of sizes for each seed in turn, so that a stopped training has whole seeds."""
    return [Run(k, width, seed) for seed in seeds for k in kinds for width in k.widths]
