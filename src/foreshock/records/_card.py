"""What is known about a model."""

from __future__ import annotations

import msgspec


class ModelCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known or guessed about a model; null is unknown.

    Attributes:
        name: Name to show; the logged name unless ``models.toml`` says otherwise.
        family: Model family: checkpoints and sizes that share a recipe (``pythia``, ``llama-2``).
        organisation: Who trained it.
        architecture: Dense, mixture of experts, ...
        parameters: Total parameters.
        active_parameters: Parameters used per token, when they differ.
        tokens: Training tokens seen.
        flops: Training compute, FLOPs.
        step: Training step of this checkpoint.
        seed: Training seed.
        post_training: ``base``, ``instruct``, ...
        reasoning: Reasoning effort or budget.
        released: ISO date of release.
        guesses: Names of the fields above that were parsed from a name rather than stated.
    """

    name: str | None = None
    family: str | None = None
    organisation: str | None = None
    architecture: str | None = None
    parameters: float | None = None
    active_parameters: float | None = None
    tokens: float | None = None
    flops: float | None = None
    step: int | None = None
    seed: int | None = None
    post_training: str | None = None
    reasoning: str | None = None
    released: str | None = None
    guesses: list[str] = []

    @property
    def compute(self) -> float | None:
        """Training compute: :attr:`flops`, else 6 for each (active) parameter and token; None where not known.

        Kaplan et al. 2020, section 2.1: 2 FLOPs forward and 4 backward, without embeddings and attention.
        """
        size = self.parameters if self.active_parameters is None else self.active_parameters
        if self.flops is not None or size is None or self.tokens is None:
            return self.flops
        return 6.0 * size * self.tokens
