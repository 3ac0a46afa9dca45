"""Every series of a store against its own trend: what each rule says, and what is left of it among all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from foreshock._base import AlarmsConfig, Config, Progress, quiet
from foreshock.alarms._account import Account
from foreshock.alarms._ledger import Ledger, Seen, take_look
from foreshock.alarms._looks import Ack, SeriesLook, cut, look_key, prefix_of
from foreshock.alarms._mute import muted_until, today
from foreshock.alarms._online import for_heavy_tails
from foreshock.alarms._state import Memory, read_memory
from foreshock.alarms._trend_alarm import TrendAlarm, trend_alarm
from foreshock.alarms._watched_lines import watched_lines
from foreshock.alarms._watched_series import WatchedSeries, label_of, watched_series
from foreshock.curves import Curve, curve_of
from foreshock.records import Finding, ModelCard, State
from foreshock.scoring import Aggregate, default_metrics, score
from foreshock.series import Line, model_cards
from foreshock.store import Snapshot, Store


class Watched(NamedTuple):
    """One series with what its own rule says.

    Attributes:
        one: The series.
        alarm: What the trend alarm said of it.
        seen: The same as the ledger takes it.
        also: Other metrics of the same line with the very same values: they are watched with this one.
        twin: Name of the metric that it was read against.
        ack: The acknowledgement from which its trend is learned.
        muted: The day up to which it is muted.
        remeasured: Whether points that an earlier look saw have other values now.
    """

    one: WatchedSeries
    alarm: TrendAlarm
    seen: Seen
    also: tuple[str, ...] = ()
    twin: str | None = None
    ack: Ack | None = None
    muted: str | None = None
    remeasured: bool = False


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
    remembered = memory if memory is not None else Memory()
    everything = watched_series(snapshot, trails, aggregates=aggregates)
    curves = {one.id: curve_of(one.series, counted=one.counted) for one in everything}
    by_id = {one.id: one for one in everything}
    chosen = [(one, also) for one, also in _apart(everything, curves) if not _ignored(one, settings.ignore)]
    found = []
    for done, (one, also) in enumerate(chosen):
        progress("look at series", done, len(chosen))
        twin = by_id.get(one.twin or "")
        made = _watch(one, curves, remembered, settings, seed)
        found.append(made._replace(also=also, twin=None if twin is None else twin.series.metric))
    progress("look at series", len(chosen), len(chosen))
    return found


@dataclass(frozen=True)
class Watch:
    """All series of one look, and the ledger after it.

    Attributes:
        watched: The series.
        ledger: What is said of them together.
    """

    watched: list[Watched]
    ledger: Ledger

    def state(self, one: Watched) -> str:
        """``firing``, ``pending``, ``ok``, ``no-data``, or ``muted`` (which is never green)."""
        if one.muted is not None:
            return "muted"
        return one.alarm.state.value

    def standing(self, one: Watched) -> str | None:
        """What the ledger makes of a series that fires: the rules that keep it, or ``not kept``.

        ``BH`` among all series, by its p-value for all looks; ``LORD++`` at some look since its baseline, by the points
        that were new then; ``e-LOND``. None where it does not fire, and where nothing is guaranteed.
        """
        if one.alarm.state is not State.FIRING or not one.alarm.guaranteed:
            return None
        key, q = (one.one.id, one.seen.look.baseline), self.ledger.q.get(one.one.id)
        rules = {
            "BH": q is not None and q <= self.ledger.level,
            "LORD++": key in self.account.found,
            "e-LOND": key in self.account.counted,
        }
        return ", ".join(rule for rule, keeps in rules.items() if keeps) or "not kept"

    @cached_property
    def account(self) -> Account:
        """Levels and discoveries over all looks."""
        return self.ledger.account

    @property
    def changed(self) -> list[Watched]:
        """Series that fire now and did not at the look before."""
        before = self.ledger.memory.latest
        return [one for one in self.watched if self.state(one) == "firing" and not _fired(before.get(one.one.id), one)]

    def findings(self) -> list[Finding]:
        """One finding for each series, in the order of the series."""
        from foreshock.alarms._alarm_rows import finding_of

        return [finding_of(self, one) for one in self.watched]

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table ``alarms``."""
        from foreshock.alarms._alarm_rows import row_of

        return [row_of(self, one) for one in self.watched]

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The tables ``alarms``, ``ledger`` and ``budget``."""
        return {"alarms": self.rows(), "ledger": self.ledger.rows(), "budget": [self.ledger.budget()]}


class WatchOptions(NamedTuple):
    """What to look at.

    Attributes:
        tasks, families: Only those that fit one of these patterns; empty means all.
        axis: Force this axis; see :data:`foreshock.series.AXES`.
        corrections: Model cards by logged name (``models.toml``).
        release: What the user calls this batch of runs.
    """

    tasks: Sequence[str] = ()
    families: Sequence[str] = ()
    axis: str | None = None
    corrections: Mapping[str, ModelCard] | None = None
    release: str | None = None


def watch_store(
    store: Store, config: Config | None = None, options: WatchOptions | None = None, *, progress: Progress = quiet
) -> Watch:
    """Score what is not scored yet, look at every series, and keep the look in the ledger.

    Args:
        store: The store; scores and the look are added to it.
        config: Settings; ``config.alarms`` says what is watched.
        options: What to look at.
        progress: Told about scoring and series.

    Raises:
        ConfigError: The axis is unknown.
        StoreError: A stream is damaged.
    """
    config, options = config or Config(), options or WatchOptions()
    score(store, [*default_metrics(), *config.alarms.metrics], progress=progress)
    snapshot, memory = store.snapshot(), read_memory(store)
    runs = [run for run in snapshot.runs() if _fits(run.task, options.tasks)]
    trails = watched_lines(runs, model_cards(runs, options.corrections), options.axis)
    trails = [line for line in trails if _fits(line.family, options.families)]
    watched = watch_lines(snapshot, trails, config.alarms, memory, seed=config.seed, progress=progress)
    return settle(store, watched, config.alarms, release=options.release)


def settle(store: Store, watched: list[Watched], settings: AlarmsConfig, *, release: str | None = None) -> Watch:
    """Keep the look in the ledger and say what it means for all series together."""
    told = [one.seen for one in watched if one.alarm.state is not State.NO_DATA]
    return Watch(watched, take_look(store, told, settings.level, release=release))


def _fired(before: SeriesLook | None, one: Watched) -> bool:
    """Whether an earlier look told the same alarm."""
    return before is not None and before.state == "firing" and before.baseline == one.seen.look.baseline


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
    # the new trend is that of all points since the change, also of those before it was certain
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


def _ignored(one: WatchedSeries, patterns: Sequence[str]) -> bool:
    names = (one.line.task, f"{one.line.task}:{one.series.metric}")
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
