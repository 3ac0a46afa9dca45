"""Rows of the table ``curves``: everything that the forecasts of a curve rest on, and what to do now."""

from __future__ import annotations

from typing import Any

import numpy as np

from foreshock._base import count_of, digest
from foreshock.check._forecast_advice import advice
from foreshock.check._forecast_beside import advice_of
from foreshock.check._forecast_crossing import Crossing
from foreshock.check._forecast_fits import basis_of, calibration_id, whole_fit
from foreshock.check._forecast_judge import GUARANTEE, ForecastOptions, Foretold, number
from foreshock.check._forecast_words import place_text, score_text
from foreshock.records import Finding, Need, State, Subject
from foreshock.stats import normal_quantile, wilson

MOST_FORMS = 6
"""Forms that are drawn and named: the heaviest."""
_DRAWN_POINTS = 120


def curve_row(
    told: Foretold, options: ForecastOptions, line: Crossing | None, finding_id: str | None
) -> dict[str, Any]:
    """Row of ``curves`` for one curve."""
    made, curve = told.made, told.line.curve
    refused = told.refused
    fit = made.record if made is not None else None
    calibration = made.calibration if made is not None else None
    return {
        **told.line.placed,
        "finding_id": finding_id,
        "log_axis": curve.log_x,
        "link": curve.link.name,
        "points": _points(told),
        "held": _held(told),
        "band": _band(told) if options.draw and refused is None else [],
        "forms": _forms(told) if options.draw and refused is None else [],
        "threshold": options.threshold,
        "side": line.side if line else None,
        "ruled_out": ruled_out(told),
        "alike": alike(told),
        "no_law": no_law(told),
        "guarantee": None if refused is not None else guarantee(options.level),
        "basis": basis_of(told, options.level),
        "calibration": None if calibration is None else calibration_id(calibration, options.level),
        "refused": refused,
        "enough": told.enough,
        "notes": [*told.line.notes, *_two_stages(told)],
        "data_hash": fit.data_hash if fit else curve.data_hash,
        "seed": fit.seed if fit else options.seed,
        **whole_fit(told),
        "advice": advice_of(line) if line is not None else advice(told),
    }


def _two_stages(told: Foretold) -> list[str]:
    """What must be said of a forecast through the twin."""
    if not any(row["route"] == "two-stage" for row in told.rows):
        return []
    return [f"through its twin: {told.line.twin_metric} is forecast and read through; that interval is a belief"]


def guarantee(level: float) -> str:
    """What an interval promises, with its level."""
    return GUARANTEE.format(level=f"{100 * level:.4g}%")


def _points(told: Foretold) -> list[dict[str, Any]]:
    """What is known, each score with its 95% interval; of very many points those that are spread evenly."""
    curve, labels = told.line.curve, told.line.labels
    n = curve.points
    shown = np.unique(np.linspace(0, n - 1, min(n, _DRAWN_POINTS)).astype(int)) if n else np.empty(0, int)
    items = np.full(n, np.nan) if curve.items is None else curve.items
    low, high = _ends(told)
    return [
        {
            "x": told.line.told(float(curve.x[i])),
            "value": float(curve.y[i]),
            "low": number(low[i]),
            "high": number(high[i]),
            "label": labels[i] if labels else None,
            "n": None if np.isnan(items[i]) else int(items[i]),
        }
        for i in shown
    ]


def _ends(told: Foretold) -> tuple[np.ndarray, np.ndarray]:
    curve = told.line.curve
    reach = normal_quantile(0.975) * curve.sampling
    low, high = curve.y - reach, curve.y + reach
    if curve.items is None or curve.low is None or curve.high is None:
        return low, high
    width = curve.high - curve.low
    n = np.nan_to_num(curve.items, nan=1.0)
    ends = wilson(np.clip((curve.y - curve.low) / width, 0, 1) * n, n)
    counted = ~np.isnan(curve.items)
    return tuple(  # type: ignore[return-value]
        np.where(counted, curve.low + width * end, other) for end, other in zip(ends, (low, high), strict=True)
    )


def _held(told: Foretold) -> list[dict[str, Any]]:
    """Points that were kept; of very many those that are spread evenly."""
    kept = [target for target in told.found if target.why == "held-out"]
    shown = np.unique(np.linspace(0, len(kept) - 1, min(len(kept), _DRAWN_POINTS)).astype(int)) if kept else ()
    return [{"x": told.line.told(kept[i].x), "value": number(kept[i].observed)} for i in shown]


def _band(told: Foretold) -> list[dict[str, Any]]:
    made = told.made
    assert made is not None
    there = np.isin(told.places, told.drawn)
    ends = zip(told.drawn, made.value[there], made.low[there], made.high[there], strict=True)
    return [
        {"x": told.line.told(float(x)), "value": number(v), "low": number(a), "high": number(b)} for x, v, a, b in ends
    ]


def _forms(told: Foretold) -> list[dict[str, Any]]:
    """The forms along the places of the band, heaviest first."""
    made = told.made
    if made is None or made.forms is None:
        return []
    weights = dict(made.weights)
    fits = [fit for fit in made.forms.fits if fit.solved and fit.refused is None]
    fits = sorted(fits, key=lambda fit: (-weights.get(fit.form.name, 0.0), fit.form.name))[:MOST_FORMS]
    return [
        {
            "name": fit.form.name,
            "weight": weights.get(fit.form.name),
            "values": [number(v) for v in fit.predict(told.drawn)],
        }
        for fit in fits
    ]


def ruled_out(told: Foretold) -> list[str]:
    """Forms that the data rule out, each with its reason."""
    forms = told.made.forms if told.made is not None else None
    if forms is None:
        return []
    return [f"{one.form} (AICc {one.gap:.0f} worse than {one.best})" for one in forms.ruled_out]


def no_law(told: Foretold) -> str | None:
    """That no law is told apart from a constant, by what was compared; None where one is."""
    forms = told.made.forms if told.made is not None else None
    if forms is None or forms.no_law is None:
        return None
    best = "too few points for a form" if forms.best is None else f"{forms.best.form.name} the best form"
    steps = np.diff(told.line.curve.y)
    one_way = steps.size and ((steps > 0).all() or (steps < 0).all())
    return (
        f"no law is told apart from a constant by these {count_of(told.line.curve.points, 'point')}: no straight line "
        f"has a slope by a t test at 5%, and by AICc no form does clearly better ({best})"
        + ("; that they all go one way is not counted in either" if one_way else "")
    )


def alike(told: Foretold) -> list[str]:
    """Pairs of forms that the data cannot tell apart although they part beyond them."""
    forms = told.made.forms if told.made is not None else None
    if forms is None:
        return []
    line, found = told.line, []
    for one in forms.alike[:MOST_FORMS]:
        values = " and ".join(score_text(line, value) for value in one.values)
        found.append(f"{' and '.join(one.forms)} (at {place_text(line, one.at)}: {values})")
    return found


def refusal_of(told: Foretold) -> Finding | None:
    """Finding FS404: no forecast where one was asked for; None where there is one."""
    refused = told.refused
    if refused is None:
        return None
    line = told.line
    return Finding(
        id=digest(["FS404", line.group, line.axis], 12),
        code="FS404",
        subject=Subject(task=line.task, model_family=line.family, metric=line.metric, axis=line.axis),
        state=State.NO_DATA,
        title=f"no forecast: {refused}",
        needs=[Need(what=told.enough or refused, have=None, enough=None)],
        advice=advice(told),
    )
