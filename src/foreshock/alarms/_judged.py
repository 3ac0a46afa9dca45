"""What a detector that ran over a series means: on its trend, nearly off it, a break or a bend, with its guarantee."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from foreshock.alarms._alarm import TrendAlarm, promise
from foreshock.alarms._autocorrelation import WITHDRAWN, independence_p, odds
from foreshock.alarms._bend import Bend, Shapes, curvature, shapes
from foreshock.alarms._detector import CLIP, PACE, by_change, evidence
from foreshock.alarms._prepared import Prepared
from foreshock.alarms._threshold import false_alarm, table, threshold
from foreshock.alarms._twin import change_of, look_at_twin
from foreshock.curves import Curve
from foreshock.records import State

Floats = NDArray[np.float64]

DRIFT = -10.0
"""Log-odds of drifting noise over a break from which on an alarm is not guaranteed.

Chosen on simulated lines (baseline 8, 60 looks): of series with autocorrelation one half two thirds cross, and the
alarms of about .04 of them are below this; so are two thirds (look 20) to nine tenths (look 40) of those with a jump of
3 standard deviations."""

BENT = 0.05
"""p-value of the quadratic term from which on a bend is told."""


def judged(curve: Curve, ready: Prepared, start: TrendAlarm, scores: Floats, twin: Curve | None = None) -> TrendAlarm:
    """Run the detector on normal scores of the looks and say what it means."""
    asked = start.asked
    seen = min(scores.size, table().looks[-1])
    values = evidence(scores[:seen], asked.baseline)
    limit = threshold(asked.baseline, asked.looks, asked.level)
    top = float(values.max())
    found = replace(
        start,
        state=State.OK,
        statistic=top,
        threshold=limit,
        look_p=look_p(scores),
        looks_used=curve.points - asked.baseline,
        bend=_bend(ready),
        notes=tuple(ready.notes),
    )
    crossed = np.flatnonzero(values >= limit)
    if crossed.size:
        found = _crossed(
            curve, ready, found, int(crossed[0]), _direction(scores[:seen], asked.baseline, int(crossed[0]))
        )
        if found.state is State.FIRING and twin is not None:
            found = _with_twin(found, curve, twin)
    elif _next_would(scores[:seen], asked.baseline, float(values[-1]), limit):
        found = replace(found, state=State.PENDING)
    return with_guarantee(found, [*ready.doubts, *_doubts(ready, found, crossed)], top)


def look_p(scores: Floats) -> tuple[float, ...]:
    """Two-sided p-values of normal scores."""
    from scipy.special import ndtr

    return tuple(float(p) for p in 2 * ndtr(-np.abs(scores)))


def with_guarantee(found: TrendAlarm, doubts: list[str], top: float) -> TrendAlarm:
    """Promise the rate, or say why not."""
    asked, most = found.asked, table().looks[-1]
    if found.looks_used > most:
        unseen = f"the rule is made for {most} looks: the newest {found.looks_used - most} are not watched"
        doubts = [*doubts, unseen]
    if found.looks_used > asked.looks:
        over = f"{found.looks_used} looks were taken, the rate was asked for {asked.looks}: begin a new baseline"
        doubts = [*doubts, over]
    if doubts:
        why = "; ".join(doubts)
        return replace(found, guaranteed=False, unguaranteed=why, sentence=f"no rate is promised: {why}")
    p = false_alarm(top, asked.baseline, asked.looks)
    return replace(found, guaranteed=True, sentence=promise(asked.level, asked.looks), p=p)


def _direction(scores: Floats, baseline: int, last: int) -> str:
    up, down = by_change(scores[: last + 1], baseline)[:, :, -1].sum(axis=1)
    return "up" if up >= down else "down"


def _next_would(scores: Floats, baseline: int, value: float, limit: float) -> bool:
    """Whether a next look as surprising as the newest one would fire."""
    newest = float(np.clip(scores[-1], -CLIP, CLIP))
    # no bet gains more than exp(u^2 / 2) from a score u, which settles nearly all series without another run
    most = (value * (scores.size + PACE) + 1) * np.exp(0.5 * newest**2) / (scores.size + 1 + PACE)
    if most < limit or scores.size >= table().looks[-1]:
        return False
    return bool(evidence(np.append(scores, newest), baseline)[-1] >= limit)


def _bend(ready: Prepared) -> Bend | None:
    found = curvature(ready.z, ready.x, ready.root)
    return found if found is not None and found.p <= BENT else None


def _crossed(curve: Curve, ready: Prepared, found: TrendAlarm, first: int, direction: str) -> TrendAlarm:
    """Break or bend: by all points so far; the first look at which it was a break is when the alarm began."""
    baseline = found.asked.baseline
    now = shapes(ready.z, ready.x, ready.root, baseline)
    if now is None:
        return replace(found, state=State.PENDING, direction=direction)
    if not now.changed:
        curved = found.bend or curvature(ready.z, ready.x, ready.root)
        bend = None if curved is None else replace(curved, instead=True)
        left = float(curve.x[baseline + first])
        return replace(found, state=State.PENDING, verdict="bend", at=left, direction=direction, bend=bend)
    at = curve.points - 1
    for points in range(baseline + first + 1, curve.points):
        part = shapes(ready.z[:points], ready.x[:points], ready.root[:points], baseline)
        if part is not None and part.changed:
            at = points - 1
            break
    form = shape_of(ready.x, now)
    change = change_of(ready.z, ready.x, form, ready.root)
    size = None if change is None or change.noise == 0 else change.value * float(form[-1]) / change.noise
    return replace(
        found,
        state=State.FIRING,
        verdict="break",
        at=float(curve.x[at]),
        direction=direction if change is None else ("up" if change.value > 0 else "down"),
        size=size,
        change=change,
        shape="jump" if now.jumps else "kink",
        began=float(curve.x[now.began]),
    )


def shape_of(x: Floats, found: Shapes) -> Floats:
    """The change at its best place: 0 before; 1 from it on for a jump, the way since for a kink, shape (points,)."""
    if found.jumps:
        return np.asarray((x >= x[found.jump_at]) * 1.0)
    return np.asarray(np.clip(x - x[found.kink_at - 1], 0.0, None))


def _with_twin(found: TrendAlarm, curve: Curve, twin: Curve) -> TrendAlarm:
    """Hold the break against the twin at the places that both have."""
    places, ours, theirs = np.intersect1d(curve.x, twin.x, return_indices=True)
    hard, soft = curve.z[ours], twin.z[theirs]
    fine = np.isfinite(hard) & np.isfinite(soft)
    x = curve.place(places[fine])
    began = curve.place(np.array([found.began if found.began is not None else places[-1]]))[0]
    if found.shape == "jump":
        form = (x >= began) * 1.0
    else:
        earlier = x[x < began]
        form = np.clip(x - (earlier[-1] if earlier.size else began), 0.0, None)
    view = look_at_twin(hard[fine], soft[fine], x, form, same_link=curve.link.name == twin.link.name)
    return replace(found, verdict=view.verdict, twin=view)


def _doubts(ready: Prepared, found: TrendAlarm, crossed: NDArray[np.intp]) -> list[str]:
    """Whether the noise looks independent: at the look at which the detector crossed, and now."""
    if crossed.size == 0:
        if independence_p(ready.weighted, ready.design()) <= WITHDRAWN:
            return ["neighbouring points stray together, so their noise is not independent"]
        return []
    if found.verdict == "bend":
        return ["its points curve, and a rate is promised for straight lines only"]
    baseline = found.asked.baseline
    at = baseline + int(crossed[0]) + 1
    for points in {at, ready.z.size}:
        best = shapes(ready.z[:points], ready.x[:points], ready.root[:points], baseline)
        if best is None:
            return ["too few points to tell a break from noise that drifts"]
        root = ready.root[:points]
        form = shape_of(ready.x[:points], best) * root
        if odds(ready.weighted[:points], ready.design()[:points], form) > DRIFT:
            return ["noise that drifts from point to point would explain this about as well as a break"]
    return []
