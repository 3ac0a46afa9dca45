"""Look at every metric of every line against its own trend, after what is remembered; nothing is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np

from foreshock._base import AlarmsConfig, Progress, quiet
from foreshock.alarms._alarm import TrendAlarm
from foreshock.alarms._ledger import Seen
from foreshock.alarms._looks import SeriesLook, cut, look_key, prefix_of
from foreshock.alarms._mute import muted_until, today
from foreshock.alarms._online import for_heavy_tails
from foreshock.alarms._state import Memory
from foreshock.alarms._trend_alarm import trend_alarm
from foreshock.alarms._watched import Watched
from foreshock.alarms._watched_series import WatchedSeries, label_of, watched_series
from foreshock.curves import Curve, curve_of
from foreshock.records import State
from foreshock.scoring import Aggregate
from foreshock.series import Line
from foreshock.store import Snapshot


def watch_lines(
    snapshot: Snapshot,
    trails: Iterable[Line],
    settings: AlarmsConfig,
    memory: Memory | None = None,
    *,
    seed: int = 0,
    aggregates: Iterable[Aggregate] | None = None,
    progress: Progress = quiet,
) -> list[Watched]:
    """Look at every metric of every line; nothing is kept.

    Args:
        snapshot: What to look at.
        trails: Lines, as :func:`watched_lines` makes them.
        settings: Level, horizon, what is not watched, what is muted.
        memory: Earlier looks and decisions; None is none.
        seed: Seed of what is drawn.
        aggregates: Means over all metrics, where they are known already.
        progress: Told about series.
    """
    everything = watched_series(snapshot, trails, aggregates=aggregates)
    return watch_series(everything, settings, memory, seed=seed, progress=progress)


def watch_series(
    everything: Sequence[WatchedSeries],
    settings: AlarmsConfig,
    memory: Memory | None = None,
    *,
    seed: int = 0,
    progress: Progress = quiet,
) -> list[Watched]:
    """Look at some series; nothing is kept. Arguments as in :func:`watch_lines`."""
    remembered = memory if memory is not None else Memory()
    curves = {one.id: curve_of(one.series, counted=one.counted) for one in everything}
    by_id = {one.id: one for one in everything}
    chosen = [(one, also) for one, also in _apart(everything, curves) if not _is_ignored(one, settings.ignore)]
    found = []
    for done, (one, also) in enumerate(chosen):
        progress("look at series", done, len(chosen))
        twin = by_id.get(one.twin or "")
        made = _watch(one, curves, remembered, settings, seed)
        found.append(made._replace(also=also, twin=None if twin is None else twin.series.metric))
    progress("look at series", len(chosen), len(chosen))
    return found


def idle_patterns(everything: Sequence[WatchedSeries], patterns: Iterable[str]) -> tuple[str, ...]:
    """Patterns that fit none of the series: a typing error ignores nothing, and nobody would know."""
    return tuple(pattern for pattern in patterns if not any(_is_ignored(one, [pattern]) for one in everything))


def _watch(
    one: WatchedSeries, curves: Mapping[str, Curve], memory: Memory, settings: AlarmsConfig, seed: int
) -> Watched:
    curve, twin = curves[one.id], curves.get(one.twin or "")
    ack, before = memory.ack(one.id), memory.latest.get(one.id)
    baseline = None if ack is None else ack.baseline
    alarm = trend_alarm(
        curve,
        twin=twin,
        looks=settings.looks,
        level=settings.level,
        baseline_from=baseline,
        repeats=one.repeats,
        seed=seed,
    )
    since = curve if baseline is None else curve.take(curve.x >= baseline)
    same = before is not None and before.baseline == baseline and before.points <= since.points
    prefix = prefix_of(since, before.points) if same and before is not None else None
    said = one.series
    # the new trend is that of all points since the change, also of those before it was certain; of a bend, which began
    # nowhere, since it was off its line
    since_x = alarm.at if alarm.began is None or alarm.at is None else alarm.began
    look = SeriesLook(
        id=one.id,
        key=look_key(one.id, curve, baseline, None if twin is None else twin.data_hash),
        task=cut(said.task),
        family=cut(said.family),
        metric=cut(said.metric),
        axis=cut(said.axis),
        points=since.points,
        prefix=prefix_of(since, since.points),
        state="ok" if alarm.state is State.NO_DATA else alarm.state.value,
        baseline=baseline,
        at=since_x,
        label=label_of(one, since_x),
        p=_p(alarm),
    )
    return Watched(
        one=one,
        alarm=alarm,
        seen=Seen(look, _point_p(alarm), _e(alarm), prefix),
        ack=ack,
        muted=muted_until(memory, settings.muted, one.id, today()),
        remeasured=same and before is not None and prefix != before.prefix,
    )


def _takes_part(alarm: TrendAlarm) -> bool:
    """Whether a series is one of those among which alarms are judged: one without a rate adds nothing to theirs."""
    return alarm.state is not State.NO_DATA and alarm.guaranteed


def _p(alarm: TrendAlarm) -> float | None:
    """p-value for the ledger. Where a curve tells the points as well it is 1 and the series stays among the others, as
    leaving it out would lower their bar by what it showed."""
    if not _takes_part(alarm):
        return None
    return 1.0 if alarm.verdict == "bend" else alarm.p


def _point_p(alarm: TrendAlarm) -> tuple[float, ...]:
    """p-value of each point given those before it. Whether the newest ones count is decided by the look before them."""
    if alarm.state is State.NO_DATA or alarm.rule == "training":
        return ()
    # runs of one model have exact ones, of counts
    told = for_heavy_tails(alarm.look_p) if alarm.rule == "trend" else alarm.look_p
    return tuple(float(p) for p in told)


def _e(alarm: TrendAlarm) -> float | None:
    if alarm.e is None or not _takes_part(alarm):
        return None
    return 0.0 if alarm.verdict == "bend" else alarm.e


def _apart(ones: Sequence[WatchedSeries], curves: Mapping[str, Curve]) -> list[tuple[WatchedSeries, tuple[str, ...]]]:
    """Series without those that repeat another's values: the same question asked twice is no second look."""
    first: dict[tuple[str, ...], WatchedSeries] = {}
    more: dict[str, list[str]] = {}
    for one in ones:
        curve = curves[one.id]
        told = (one.line.task, one.series.family, one.series.axis, prefix_of(curve, curve.points))
        # a constant tells nothing apart: zero errors are not zero refusals
        if curve.points and np.ptp(curve.y) != 0 and told in first:
            more[first[told].id].append(one.series.metric)
            continue
        first.setdefault(told, one)
        more[one.id] = []
    return [(one, tuple(more[one.id])) for one in ones if one.id in more]


def _is_ignored(one: WatchedSeries, patterns: Sequence[str]) -> bool:
    names = (one.line.task, f"{one.line.task}:{one.series.metric}")
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
