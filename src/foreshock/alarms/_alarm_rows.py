"""Series that were looked at, as findings and as rows of the table ``alarms``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from foreshock._base import count_of
from foreshock.alarms._mute import as_muted
from foreshock.alarms._watched_series import label_of
from foreshock.records import Alternative, Evidence, Finding, State, Subject

if TYPE_CHECKING:
    from foreshock.alarms._watched import Watch, Watched


def finding_of(watch: Watch, one: Watched) -> Finding:
    """The finding of one series, with what all series together make of it."""
    said = one.one.series
    subject = Subject(task=said.task, model_family=said.family, metric=said.metric, axis=said.axis)
    made = one.alarm.finding(subject, one.seen.look.label)
    title = f"{made.title}; {_not_kept(watch, one)}" if watch.standing(one) == "not kept" else made.title
    told = msgspec.structs.replace(
        made,
        # the same series keeps its id whatever runs come
        id=one.one.id,
        title=title,
        p=one.alarm.p if made.p is None else made.p,
        q=watch.ledger.q.get(one.one.id),
        alternatives=[*made.alternatives, *_more(one)],
        evidence=[Evidence(run=point.run_key, item=None, epoch=None, what=point.label) for point in _newest(one)],
        evidence_total=len(said.points),
        advice=_advice(watch, one, made.advice),
    )
    return told if one.muted is None else as_muted(told, one.muted)


def row_of(watch: Watch, one: Watched) -> dict[str, Any]:
    """The row of one series."""
    said, alarm, look = one.one.series, one.alarm, one.seen.look
    made, key = finding_of(watch, one), (one.one.id, look.baseline)
    return {
        "id": one.one.id,
        "state": watch.state(one),
        "own_state": alarm.state.value,
        "verdict": alarm.verdict,
        "title": made.title,
        "task": said.task,
        "family": said.family,
        "metric": said.metric,
        "metric_id": one.one.metric_id,
        "also": list(one.also),
        "axis": said.axis,
        "source": said.source,
        "unit": one.one.unit,
        "points": len(said.points),
        "since": look.label,
        "since_x": look.at,
        "fired_at": label_of(one.one, alarm.at if alarm.state is State.FIRING else None),
        "baseline": look.baseline,
        "baseline_label": None if one.ack is None else one.ack.label,
        "acknowledged": None if one.ack is None else {"at": one.ack.at, "reason": one.ack.reason},
        "muted_until": one.muted,
        "remeasured": one.remeasured,
        "statistic": alarm.statistic,
        "threshold": alarm.threshold,
        "looks_used": alarm.looks_used,
        "direction": alarm.direction,
        "size": alarm.size,
        "shape": alarm.shape,
        "rule": alarm.rule,
        "twin": one.twin,
        "guaranteed": alarm.guaranteed,
        "unguaranteed": alarm.unguaranteed,
        "p": alarm.p,
        "q": watch.ledger.q.get(one.one.id),
        "e": alarm.e,
        "ledger": watch.standing(one),
        "found": key in watch.account.found,
        "counted": key in watch.account.counted,
        "key": look.key,
        "sentence": alarm.sentence,
        "measured": made.rate.measured,
        "measured_n": made.rate.n,
        "code": made.code,
        "notes": list(alarm.notes),
        "needs": [msgspec.to_builtins(need) for need in made.needs],
        "advice": made.advice,
    }


def _not_kept(watch: Watch, one: Watched) -> str:
    among, q = len(watch.ledger.q), watch.ledger.q.get(one.one.id, 1.0)
    return (
        f"so it says by itself; the ledger does not keep it among {count_of(among, 'series', 'series')} (q = {q:.2g}, "
        f"kept up to {watch.ledger.level:g})"
    )


def _more(one: Watched) -> list[Alternative]:
    if not one.remeasured:
        return []
    why = "points that an earlier look saw have other values now; this counts as a look of its own"
    return [Alternative(name="measured anew", status="possible", why=why)]


def _newest(one: Watched) -> list[Any]:
    points = one.one.series.points
    if one.seen.look.at is None:
        return list(points[-1:])
    return [point for point in points if point.x >= one.seen.look.at][:20]


def _advice(watch: Watch, one: Watched, advice: str) -> str:
    """What to do now."""
    if watch.state(one) != "firing" and one.alarm.verdict != "bend":
        return advice
    return f"{advice.rstrip('. ')}: foreshock alarms ack {one.one.id} --reason TEXT"
