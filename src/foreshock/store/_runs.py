"""Runs as a table: one row per run, nested facts flattened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from foreshock._base import canonical
from foreshock.records import Counts, ModelCard, Run

if TYPE_CHECKING:
    from foreshock.store._snapshot import Snapshot

_TEXT, _INT, _FLOAT, _LIST = pl.String(), pl.Int64(), pl.Float64(), pl.List(pl.String())

RUNS: dict[str, pl.DataType] = {
    **dict.fromkeys(("run_key", "ingest_id", "format", "reader", "writer", "model", "task", "task_version"), _TEXT),
    "conditions": _TEXT,
    **dict.fromkeys(("suite", "release", "trajectory"), _TEXT),
    "seed": _INT,
    **dict.fromkeys(("created", "known_at", "prompt_hash", "scorer_hash", "judge"), _TEXT),
    "chance": _FLOAT,
    "status": _TEXT,
    **dict.fromkeys(Counts.__struct_fields__, _INT),
    **dict.fromkeys(("warnings", "guesses", "sources"), _LIST),
    **dict.fromkeys(("card_name", "card_family", "card_organisation", "card_architecture"), _TEXT),
    **dict.fromkeys(("card_parameters", "card_active_parameters", "card_tokens", "card_flops"), _FLOAT),
    **dict.fromkeys(("card_step", "card_seed"), _INT),
    **dict.fromkeys(("card_post_training", "card_reasoning", "card_released"), _TEXT),
    "card_guesses": _LIST,
    "meta": _TEXT,
}
"""Columns of the table ``runs``; ``conditions`` and ``meta`` are JSON text, the model card's fields begin ``card_``."""


def runs_frame(snapshot: Snapshot) -> pl.DataFrame:
    """Visible runs of a snapshot as rows."""
    rows = run_rows(snapshot)
    return pl.DataFrame({name: [row[name] for row in rows] for name in RUNS}, schema=pl.Schema(RUNS))


def run_rows(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Visible runs of a snapshot as plain mappings with the keys of ``RUNS``."""
    return [{name: row[name] for name in RUNS} for row in map(_row, snapshot.runs())]


def _row(run: Run) -> dict[str, Any]:
    own = {name: getattr(run, name) for name in Run.__struct_fields__}
    card = {f"card_{name}": getattr(run.card, name) for name in ModelCard.__struct_fields__}
    counts = {name: getattr(run.counts, name) for name in Counts.__struct_fields__}
    own |= {
        "status": run.status.value,
        "conditions": canonical(run.conditions).decode(),
        "meta": canonical(run.meta).decode(),
        "sources": [
            source.path if source.member is None else f"{source.path}#{source.member}" for source in run.sources
        ],
    }
    return own | card | counts
