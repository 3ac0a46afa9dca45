"""Rows of the tables ``fits`` and ``calibration``: what repeats a forecast, and what its intervals were measured on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foreshock._base import digest
from foreshock.check._forecast_judge import Foretold, number

if TYPE_CHECKING:
    from foreshock.curves import Calibration


def fit_rows(told: Foretold, finding_id: str | None) -> list[dict[str, Any]]:
    """A row for each form that was fitted to a curve; none where no form was."""
    forms = told.made.forms if told.made is not None else None
    if told.made is None or forms is None:
        return []
    part = told.made.weights
    placed = {**told.line.placed, "finding_id": finding_id}
    return [
        {
            **placed,
            **{name: value for name, value in row.items() if name not in ("curve", "weight")},
            "akaike_weight": row["weight"],
            "weight": part.get(row["form"]),
        }
        for row in forms.rows()
    ]


def whole_fit(told: Foretold) -> dict[str, Any]:
    """The fields of a row of ``curves`` that sum its fits up: starts of all forms, and the objective of the best."""
    forms = told.made.forms if told.made is not None else None
    best = forms.best if forms is not None else None
    objective = None if best is None else best.record.objective
    return {
        "starts": sum(one.record.starts or 0 for one in forms.fits) if forms is not None else None,
        "objective": None if objective is None else number(objective),
        "best_form": None if best is None else best.form.name,
        "weights": dict(told.made.weights) if told.made is not None else {},
    }


def basis_of(told: Foretold, level: float) -> str | None:
    """What the intervals of a curve were calibrated on: those about the last score, where nothing else is told."""
    made = told.made
    if made is None:
        return None
    if made.refused is None:
        return made.basis
    known = made.calibration is not None and any(number(end) is not None for end in made.persistence_low)
    return made.calibration.basis(level, still=True) if known and made.calibration is not None else None


def calibration_id(calibration: Calibration, level: float) -> str:
    """Name of a calibration at one level: a hash of what its curves are and how they scored."""
    parts = [calibration.source, list(calibration.groups), [repr(float(s[0])) for s in calibration.scores], level]
    return digest(parts, 12)


def calibration_rows(calibration: Calibration, level: float) -> list[dict[str, Any]]:
    """Measured coverage on each group left out, and on all of them (``group`` null)."""
    direct, still = calibration.coverage(level), calibration.coverage(level, still=True)
    size = {name: calibration.groups.count(name) for name in direct}
    placed = {"id": calibration_id(calibration, level), "source": calibration.source, "level": level}
    rows = [
        {**placed, "group": name, "curves": size[name], "coverage": direct[name], "persistence_coverage": still[name]}
        for name in direct
    ]
    total: dict[str, Any] = {"group": None, "curves": calibration.curves}
    for name, shares in (("coverage", direct), ("persistence_coverage", still)):
        total[name] = sum(shares[group] * size[group] for group in size) / sum(size.values()) if size else None
    return [{**placed, **total}, *rows]
