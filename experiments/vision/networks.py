"""The three networks, as torch modules: each takes images of shape ``[batch, channels, height, width]`` in [0, 1]."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

LAYERS = 2
POOLED = 4  # two poolings by two


def _kernel(shape: tuple[int, int, int]) -> int:
    """LeNet's 5 x 5 filters; 3 x 3 where an image has fewer than 24 pixels a side."""
    return 5 if min(shape[1:]) >= 24 else 3


class Autoencoder(nn.Module):  # type: ignore[misc, unused-ignore]  # nn.Module is Any where torch is not installed
    """One hidden layer: pixels to ``width`` units (tanh) and back (sigmoid)."""

    def __init__(self, shape: tuple[int, int, int], width: int) -> None:
        super().__init__()
        pixels = shape[0] * shape[1] * shape[2]
        self.encode, self.decode = nn.Linear(pixels, width), nn.Linear(width, pixels)

    def forward(self, images: Tensor) -> Tensor:
        """Reconstruction, shape ``[batch, pixels]``."""
        return torch.sigmoid(self.decode(torch.tanh(self.encode(images.flatten(1)))))


class LeNet(nn.Module):  # type: ignore[misc, unused-ignore]  # nn.Module is Any where torch is not installed
    """Two convolutions with pooling and two dense layers, all in proportion to ``width`` channels of the first."""

    def __init__(self, shape: tuple[int, int, int], width: int, classes: int) -> None:
        super().__init__()
        side = _kernel(shape)
        self.first = nn.Conv2d(shape[0], width, side, padding="same")
        self.second = nn.Conv2d(width, 2 * width, side, padding="same")
        flat = 2 * width * (shape[1] // POOLED) * (shape[2] // POOLED)
        self.hidden, self.head = nn.Linear(flat, 5 * width), nn.Linear(5 * width, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Logits, shape ``[batch, classes]``."""
        x = functional.max_pool2d(torch.tanh(self.first(images)), 2)
        x = functional.max_pool2d(torch.tanh(self.second(x)), 2)
        return self.head(torch.tanh(self.hidden(x.flatten(1))))


class Transformer(nn.Module):  # type: ignore[misc, unused-ignore]  # nn.Module is Any where torch is not installed
    """Decoder-only transformer over image, label, image, label, ...: predicts each label from all that precedes it.

    Images are embedded by a convolution, labels by a table; one head, two pre-norm layers, learned positions.
    """

    def __init__(self, shape: tuple[int, int, int], width: int, classes: int, pairs: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(shape[0], width, _kernel(shape), padding="same")
        self.embed = nn.Linear(width * (shape[1] // 2) * (shape[2] // 2), width)
        self.label = nn.Embedding(classes, width)
        self.position = nn.Parameter(torch.randn(2 * pairs, width) * 0.1)
        self.qkv = nn.ModuleList(nn.Linear(width, 3 * width, bias=False) for _ in range(LAYERS))
        self.out = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(LAYERS))
        self.up = nn.ModuleList(nn.Linear(width, 4 * width) for _ in range(LAYERS))
        self.down = nn.ModuleList(nn.Linear(4 * width, width) for _ in range(LAYERS))
        self.head = nn.Linear(width, classes)

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        """Logits of every label, shape ``[batch, pairs, classes]``.

        Args:
            images: Shape ``[batch, pairs, channels, height, width]``.
            labels: Shape ``[batch, pairs]``; the last one is seen by no prediction.
        """
        batch, pairs = labels.shape
        pixels = functional.max_pool2d(functional.relu(self.conv(images.flatten(0, 1))), 2)
        seen = self.embed(pixels.flatten(1)).view(batch, pairs, 1, -1)
        x = torch.cat([seen, self.label(labels)[:, :, None]], dim=2).flatten(1, 2) + self.position[: 2 * pairs]
        for layer in range(LAYERS):
            q, k, v = self.qkv[layer](_norm(x)).chunk(3, dim=-1)
            x = x + self.out[layer](functional.scaled_dot_product_attention(q, k, v, is_causal=True))
            x = x + self.down[layer](functional.relu(self.up[layer](_norm(x))))
        logits: Tensor = self.head(_norm(x))
        return logits[:, 0::2]


def _norm(x: Tensor) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:])


def parameter_count(network: nn.Module) -> int:
    """Exact number of trained parameters."""
    return sum(p.numel() for p in network.parameters())
