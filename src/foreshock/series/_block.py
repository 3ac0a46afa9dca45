"""Scores of one task as arrays: runs x items, one array per metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from foreshock.series._types import Floats, Matrix


@dataclass(frozen=True, slots=True)
class Block:
    """Scores of one task under one answer filter and one perturbation of its items.

    Attributes:
        task: Task.
        filter: Answer-extraction filter of the harness, None where there is none.
        perturbation: How the items were altered (HELM), None for the items as they are.
        runs: Run keys, the rows.
        items: Item labels, the columns: the item key, or ``id:`` and the harness's id where there is no text; where one
            run asks the same question under several ids, both together.
        values: Metric id to scores, shape (runs, items); mean over epochs and samples; NaN where there is no score.
        counts: Metric id to the number of scores behind each of these means.
    """

    task: str
    filter: str | None
    perturbation: str | None
    runs: tuple[str, ...]
    items: tuple[str, ...]
    values: dict[str, Floats]
    counts: dict[str, Floats]

    @property
    def variant(self) -> str | None:
        """Filter and perturbation as one text; None without either."""
        return ", ".join(part for part in (self.filter, self.perturbation) if part is not None) or None

    def total(self, metric_id: str, run_key: str) -> float:
        """Sum over all scored responses of one run."""
        row = self.runs.index(run_key)
        return float(np.nansum(self.values[metric_id][row] * self.counts[metric_id][row]))

    def row(self, metric_id: str, run_key: str) -> Floats:
        """Scores of one run, shape (items,); all NaN when the run is not here."""
        if run_key not in self.runs or metric_id not in self.values:
            return np.full(len(self.items), np.nan)
        row: Floats = self.values[metric_id][self.runs.index(run_key)]
        return row

    def matrix(self, metric_id: str, models: Mapping[str, str]) -> Matrix:
        """Models x items of one metric; ``models`` names the model of each run key."""
        labels = tuple(models[key] for key in self.runs)
        return Matrix(self.task, metric_id, labels, self.items, self.values[metric_id])
