"""Abilities of models: principal components of the benchmarks they were measured on, fitted on training models only.

A benchmark whose scores all lie in [0, 1] is read as log-odds, another as it is; each is centred and scaled by the
training models. Missing scores are filled in from the components themselves, in turns (Ruan, Maddison & Hashimoto 2024,
section 3, with one component; regularised as in Josse & Husson 2012). A new model's abilities come from those
benchmarks it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreshock.stats import logit

Floats = NDArray[np.float64]

EDGE = 0.005
"""A share counts as no nearer than this to 0 or 1: below it the items of a benchmark are too few to tell."""
_TURNS = 100
_SETTLED = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Abilities:
    """Components of benchmarks.

    Attributes:
        used: Which benchmarks take part, shape (benchmarks,).
        as_share: Which of them are read as log-odds, shape (benchmarks,).
        centre, size: Mean and standard deviation of each that takes part, on the scale on which it is read.
        loadings: Orthonormal, each with a sum of 0 or more, shape (components, benchmarks that take part).
        explained: Share of the variance of the training models, shape (components,).
    """

    used: NDArray[np.bool_]
    as_share: NDArray[np.bool_]
    centre: Floats
    size: Floats
    loadings: Floats
    explained: Floats

    def of(self, benchmarks: Floats) -> Floats:
        """Abilities of models, shape (models, components); NaN where a model has too few benchmarks for them.

        Args:
            benchmarks: Scores, NaN where missing, shape (models, benchmarks).
        """
        scaled = (_read(benchmarks, self.as_share)[:, self.used] - self.centre) / self.size
        found = np.full((len(scaled), len(self.loadings)), np.nan)
        for i, row in enumerate(scaled):
            there = ~np.isnan(row)
            if there.sum() >= len(self.loadings):
                found[i] = np.linalg.lstsq(self.loadings[:, there].T, row[there], rcond=None)[0]
        return found


def abilities(benchmarks: Floats, components: int) -> Abilities:
    """Fit components on training models.

    Args:
        benchmarks: Scores, NaN where missing, shape (models, benchmarks). A benchmark that half of the models lack, or
            on which all score the same, takes no part.
        components: How many; fewer where fewer benchmarks take part.

    Raises:
        ValueError: No benchmark can take part.

    Examples:
        >>> able = np.linspace(-1, 1, 9)
        >>> scores = logit.inverse(np.outer(able, [1.0, 2.0, 0.5]))
        >>> found = abilities(scores, 1)
        >>> round(float(found.explained[0]), 6), bool(np.all(np.diff(found.of(scores)[:, 0]) > 0))
        (1.0, True)
    """
    with np.errstate(invalid="ignore"):
        as_share = np.all(np.isnan(benchmarks) | ((benchmarks >= 0) & (benchmarks <= 1)), axis=0)
    read = _read(benchmarks, as_share)
    there = ~np.isnan(read)
    enough = (there.mean(axis=0) > 0.5) & (there.sum(axis=0) >= 2)
    used = enough.copy()
    used[enough] = np.nanstd(read[:, enough], axis=0) > 1e-9
    if not used.any():
        raise ValueError("no benchmark was run on most of the models with scores that differ")
    centre, size = np.nanmean(read[:, used], axis=0), np.nanstd(read[:, used], axis=0)
    scaled = (read[:, used] - centre) / size
    loadings, explained = _components(scaled, min(components, int(used.sum()), len(scaled) - 1))
    return Abilities(used, as_share, centre, size, loadings, explained)


def _read(benchmarks: Floats, as_share: NDArray[np.bool_]) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.where(as_share, logit.forward(np.clip(benchmarks, EDGE, 1 - EDGE)), benchmarks)


def _components(scaled: Floats, components: int) -> tuple[Floats, Floats]:
    """Loadings and explained shares; missing cells are filled in from the components until they settle."""
    missing = np.isnan(scaled)
    filled = np.where(missing, 0.0, scaled)
    for _ in range(_TURNS):
        left, size, right = np.linalg.svd(filled, full_matrices=False)
        # what the components left out would have given by noise alone is taken off the size of those kept
        noise = float(np.mean(size[components:] ** 2)) if size.size > components else 0.0
        shrunk = np.maximum(size[:components] ** 2 - noise, 0.0) / np.maximum(size[:components], 1e-12)
        told = (left[:, :components] * shrunk) @ right[:components]
        moved = float(np.max(np.abs(told - filled)[missing], initial=0.0))
        filled = np.where(missing, told, filled)
        if moved < _SETTLED:
            break
    _, size, right = np.linalg.svd(filled, full_matrices=False)
    way = np.where(right[:components].sum(axis=1) < 0, -1.0, 1.0)
    return right[:components] * way[:, None], size[:components] ** 2 / float((size**2).sum())
