"""Repeated runs of one model on the same items: the alarm for a rate that should not change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from foreshock.alarms._binomial import change_of_rate, rate_changes, run_p
from foreshock.curves import Curve
from foreshock.records import Need, State

if TYPE_CHECKING:
    from foreshock.alarms._alarm import TrendAlarm

Floats = NDArray[np.float64]


def repeats_alarm(curve: Curve, start: TrendAlarm) -> TrendAlarm:
    """The exact binomial rule; the rate is promised whatever the constant rate of the model is.

    Args:
        curve: Runs in order, with the items of each; scores between its two ends.
        start: What was asked for.
    """
    asked = start.asked
    start = replace(start, rule="repeats")
    if curve.points <= asked.baseline:
        why = f"{curve.points} runs, of which {asked.baseline} are the baseline"
        lack = Need(what="runs since the baseline began", have=curve.points, enough=asked.baseline + 1)
        return replace(start, refused=why, unguaranteed=why, sentence=f"no alarm: {why}", needs=(lack,))
    items = np.asarray(curve.items, float)
    if np.isnan(items).any() or curve.low is None or curve.high is None:
        why = "the number of items, or the scale, of some runs is not known"
        lack = Need(what="runs with known items", have=int((~np.isnan(items)).sum()), enough=curve.points)
        return replace(start, refused=why, unguaranteed=why, sentence=f"no alarm: {why}", needs=(lack,))
    right = items * (curve.y - curve.low) / (curve.high - curve.low)
    if np.abs(right - np.round(right)).max() > 1e-6 * items.max() + 1e-3:
        why = "scores are not shares of right and wrong items"
        return replace(start, refused=why, unguaranteed=why, sentence=f"no alarm: {why}")
    return _judge(curve, np.round(right), items, start)


def promise(level: float) -> str:
    """The rate that is promised, and for what."""
    return (
        f"at most {100 * level:g}% at any number of looks for this series, if each run is the same model on the same "
        "items and its rate does not change."
    )


def _judge(curve: Curve, right: Floats, items: Floats, start: TrendAlarm) -> TrendAlarm:
    asked = start.asked
    values = rate_changes(right, items, asked.baseline, asked.looks)
    top, limit = float(values.max()), 1 / asked.level
    found = replace(
        start,
        state=State.OK,
        statistic=top,
        threshold=limit,
        e=float(values[-1]),
        p=min(1.0, 1 / top) if top > 0 else 1.0,
        look_p=run_p(right, items, asked.baseline),
        looks_used=curve.points - asked.baseline,
        guaranteed=True,
        sentence=promise(asked.level),
    )
    crossed = np.flatnonzero(values >= limit)
    if crossed.size == 0:
        near = bool(values[-1] >= limit**0.5)
        return replace(found, state=State.PENDING if near else State.OK)
    at, before, since = change_of_rate(right, items, asked.baseline)
    return replace(
        found,
        state=State.FIRING,
        verdict="break",
        at=float(curve.x[asked.baseline + int(crossed[0])]),
        began=float(curve.x[at]),
        direction="up" if since > before else "down",
        shape="jump",
        size=since - before,
        notes=(f"rate {before:.3g} before, {since:.3g} since",),
    )
