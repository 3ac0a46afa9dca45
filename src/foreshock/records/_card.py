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
