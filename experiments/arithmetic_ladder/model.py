"""A decoder-only transformer as plain functions of a dictionary of tensors.

One architecture for all sizes: two pre-norm layers of four heads, ReLU, learned absolute positions, norms without gain
(the next matrix can hold it). Width is the only axis. A version that trained the members of one size side by side with
``bmm`` cost the same per member from width 16 up (19 ms against 19 ms, width 64: 56 against 53), so runs are single.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from .problems import ANSWER, PAD, PROMPT, VOCABULARY

LAYERS = 2
HEADS = 4
POSITIONS = PROMPT + ANSWER - 1
Parameters = dict[str, Tensor]


def shapes(width: int) -> dict[str, tuple[int, ...]]:
    """Shape of every parameter."""
    out: dict[str, tuple[int, ...]] = {"token": (len(VOCABULARY), width), "position": (POSITIONS, width)}
    for layer in range(LAYERS):
        out[f"layer{layer}.qkv"] = (3 * width, width)
        out[f"layer{layer}.out"] = (width, width)
        out[f"layer{layer}.up"] = (4 * width, width)
        out[f"layer{layer}.up_bias"] = (4 * width,)
        out[f"layer{layer}.down"] = (width, 4 * width)
        out[f"layer{layer}.down_bias"] = (width,)
    out["head"] = (len(VOCABULARY), width)
    return out


def parameter_count(width: int) -> int:
    """Exact number of trained parameters."""
    return sum(math.prod(shape) for shape in shapes(width).values())


def initialise(width: int, seed: int) -> Parameters:
    """Fresh float32 parameters."""
    generator = torch.Generator().manual_seed(seed)
    return {name: _draw(name, shape, generator) for name, shape in shapes(width).items()}


def _draw(name: str, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    if name.endswith("bias"):
        return torch.zeros(shape)
    scale = 0.5 if name in ("token", "position") else shape[-1] ** -0.5
    if name.endswith((".out", ".down")):
        scale /= math.sqrt(2 * LAYERS)
    return torch.randn(shape, generator=generator) * scale


def forward(parameters: Mapping[str, Tensor], tokens: Tensor) -> Tensor:
    """Logits, shape ``[batch, length, vocabulary]``, of ``tokens``, int64, shape ``[batch, length]``."""
    x = parameters["token"][tokens] + parameters["position"][: tokens.shape[1]]
    for layer in range(LAYERS):
        own = {
            name: parameters[f"layer{layer}.{name}"] for name in ("qkv", "out", "up", "up_bias", "down", "down_bias")
        }
        x = x + _attend(own, _norm(x))
        hidden = functional.relu(functional.linear(_norm(x), own["up"], own["up_bias"]), inplace=True)
        x = x + functional.linear(hidden, own["down"], own["down_bias"])
    return functional.linear(_norm(x), parameters["head"])


def _norm(x: Tensor) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:])


def _attend(own: Mapping[str, Tensor], x: Tensor) -> Tensor:
    batch, length, width = x.shape
    qkv = functional.linear(x, own["qkv"]).view(batch, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
    mixed = functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], is_causal=True)
    return functional.linear(mixed.transpose(1, 2).reshape(batch, length, width), own["out"])


def answer_loss(parameters: Mapping[str, Tensor], tokens: Tensor) -> Tensor:
    """Mean cross-entropy of the answer tokens, end token included, of rows ``[batch, PROMPT + ANSWER]``."""
    logits = forward(parameters, tokens[:, :-1])[:, PROMPT - 1 :]
    return functional.cross_entropy(logits.flatten(0, 1), tokens[:, PROMPT:].flatten(), ignore_index=PAD)
