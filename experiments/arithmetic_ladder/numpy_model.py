"""The model again in numpy, and a reader of the packed weights: to look inside without torch or safetensors.

Written from the description of the architecture, in float64; the tests hold the shipped logs against it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

LAYERS, HEADS = 2, 4
Arrays = dict[str, np.ndarray]


def read_weights(path: Path, step: int) -> Arrays:
    """One checkpoint of a packed file as float64."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    prefix = f"step{step:05d}/"
    out: Arrays = {}
    for name, entry in header.items():
        if name.startswith(prefix):
            assert entry["dtype"] == "F16"
            low, high = entry["data_offsets"]
            values = np.frombuffer(raw[8 + size + low : 8 + size + high], dtype="<f2").reshape(entry["shape"])
            out[name.removeprefix(prefix)] = values.astype(np.float64)
    return out


def log_probabilities(weights: Arrays, tokens: np.ndarray) -> np.ndarray:
    """Log-probabilities of the next token, ``[n, length, vocabulary]``."""
    x = weights["token"][tokens] + weights["position"][: tokens.shape[1]]
    for layer in range(LAYERS):
        own = {n.removeprefix(f"layer{layer}."): v for n, v in weights.items() if n.startswith(f"layer{layer}.")}
        x = x + _attention(own, _norm(x)) @ own["out"].T
        hidden = np.maximum(_norm(x) @ own["up"].T + own["up_bias"], 0)
        x = x + hidden @ own["down"].T + own["down_bias"]
    logits = _norm(x) @ weights["head"].T
    logits -= logits.max(-1, keepdims=True)
    normalised: np.ndarray = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return normalised


def _norm(x: np.ndarray) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    scaled: np.ndarray = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return scaled


def _attention(own: Arrays, x: np.ndarray) -> np.ndarray:
    n, length, width = x.shape
    q, k, v = (x @ own["qkv"].T).reshape(n, length, 3, HEADS, width // HEADS).transpose(2, 0, 3, 1, 4)
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(width // HEADS)
    scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    share = np.exp(scores - scores.max(-1, keepdims=True))
    share /= share.sum(-1, keepdims=True)
    mixed: np.ndarray = (share @ v).transpose(0, 2, 1, 3).reshape(n, length, width)
    return mixed
