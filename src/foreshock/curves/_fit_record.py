"""The record of the fits of a curve: what repeats each, every optimum, and what the data say of the form."""

from __future__ import annotations

from typing import Any

import numpy as np

from foreshock.curves._fit import FormFit
from foreshock.curves._fit_all import RULED_OUT, FormFits


def record_rows(told: FormFits) -> list[dict[str, Any]]:
    """One row a form, in the order of the fits."""
    gone = {r.form: r.gap for r in told.ruled_out}
    weights = dict(told.weights)
    return [
        {
            "curve": told.curve.name,
            "form": f.form.name,
            "equation": f.form.equation,
            "parameters": _finite(f.parameters),
            "sd": f.sd if f.solved else None,
            "aicc": f.aicc if np.isfinite(f.aicc) else None,
            "weight": weights.get(f.form.name),
            "verdict": verdict_of(told, f),
            "ruled_out": f.form.name in gone,
            "gap": gone.get(f.form.name),
            "alike": _others(told, f.form.name),
            "refused": f.refused,
            "bounded": list(f.bounded),
            "optima": [{"objective": o.objective, "parameters": _finite(o.parameters)} for o in f.optima],
            "points": f.curve.points,
            "starts": f.record.starts,
            "seed": f.record.seed,
            "objective": f.record.objective,
            "data_hash": f.record.data_hash,
        }
        for f in told.fits
    ]


def verdict_of(told: FormFits, found: FormFit) -> str:
    """What the data say of one form.

    ``refused``: its parameters mean nothing, or nothing could be fitted. ``best``: the lowest AICc. ``ruled out``: its
    fit is without support. ``cannot be told apart``: no more than :data:`RULED_OUT` above the best. ``not needed``:
    further above it by the number of its parameters alone, which rules out nothing.
    """
    best = told.best
    if found.refused is not None or best is None:
        return "refused"
    if found is best:
        return "best"
    if any(gone.form == found.form.name for gone in told.ruled_out):
        return "ruled out"
    return "cannot be told apart" if found.aicc - best.aicc <= RULED_OUT else "not needed"


def _others(told: FormFits, name: str) -> list[str]:
    """Forms that the data cannot tell from it although they part beyond the last point."""
    return [other for pair in told.alike if name in pair.forms for other in pair.forms if other != name]


def _finite(parameters: dict[str, float]) -> dict[str, float | None]:
    return {name: float(value) if np.isfinite(value) else None for name, value in parameters.items()}
