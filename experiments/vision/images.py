"""A data set as arrays, and the split into what is trained on and what is asked."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import plan

HELD_OUT = 1000  # images asked of each model; the embedded digits have 1,797


@dataclass(frozen=True)
class Images:
    """Images with labels.

    Attributes:
        name: Which data set this is.
        pixels: Values in [0, 1], float32, shape (images, channels, height, width).
        labels: Classes from 0, int64, shape (images,).
        held_out: Which images are asked and never trained on, shape (images,).
    """

    name: str
    pixels: NDArray[np.float32]
    labels: NDArray[np.int64]
    held_out: NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height, width of one image."""
        return self.pixels.shape[1], self.pixels.shape[2], self.pixels.shape[3]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.labels.max()) + 1

    def part(self, *, asked: bool) -> Images:
        """The images that are asked, or those that are trained on."""
        rows = self.held_out == asked
        return replace(self, pixels=self.pixels[rows], labels=self.labels[rows], held_out=self.held_out[rows])

    def digest(self) -> str:
        """SHA-256 of pixels, labels and split: says whether two results are of the same data."""
        parts = (self.pixels.tobytes(), self.labels.tobytes(), self.held_out.tobytes())
        return hashlib.sha256(b"".join(parts)).hexdigest()


def hold_out(images: int, asked: int = HELD_OUT) -> NDArray[np.bool_]:
    """A fixed random choice of images that are asked, for data sets that come without a split."""
    if not 0 < asked < images:
        raise ValueError(f"{asked} of {images} images cannot be held out")
    chosen = np.random.default_rng(plan.HELD_OUT_SEED).permutation(images)[:asked]
    return np.isin(np.arange(images), chosen)


def digits() -> Images:
    """The 1,797 handwritten digits of 8 x 8 pixels that scikit-learn ships (UCI, optical recognition, test part)."""
    from importlib.util import find_spec

    found = find_spec("sklearn")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("the embedded digits come with scikit-learn: pip install scikit-learn, or give --data DIR")
    # the file itself: importing the package for one table would cost seconds
    return read_digits((Path(found.submodule_search_locations[0]) / "datasets" / "data" / "digits.csv.gz").read_bytes())


def read_digits(packed: bytes) -> Images:
    """Digits from the bytes of scikit-learn's ``digits.csv.gz``: 64 values from 0 to 16 and the class in each row."""
    rows = list(csv.reader(io.TextIOWrapper(gzip.GzipFile(fileobj=io.BytesIO(packed)), "ascii")))
    table = np.array(rows, float)
    pixels = (table[:, :64] / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    asked = HELD_OUT if len(table) > HELD_OUT else len(table) // 2
    return Images("digits (scikit-learn)", pixels, table[:, 64].astype(np.int64), hold_out(len(table), asked))
