"""A run as a row of a document."""

from __future__ import annotations

from typing import Any

import msgspec

from foreshock.records import Run
from foreshock.series._lines import conditions_text


def run_row(run: Run) -> dict[str, Any]:
    """Row of the table ``runs``: identity, counts and warnings."""
    return {
        "run_key": run.run_key,
        "model": run.model,
        "task": run.task,
        "status": run.status.value,
        "created": run.created,
        "format": run.format,
        "writer": run.writer,
        "conditions": conditions_text(run),
        **msgspec.to_builtins(run.counts),
        "warnings": run.warnings,
    }
